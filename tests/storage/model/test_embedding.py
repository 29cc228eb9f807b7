"""Vectors: what can be compared in a space, and that single precision survives the database's text form."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.model.embedding import COMPONENT_MAX, DistanceMetric, EmbeddingSpace, vector_problem, vector_text


def _space(metric: DistanceMetric) -> EmbeddingSpace:
    return EmbeddingSpace(
        embedding_space_id="space:a",
        provider="p",
        model="m",
        model_revision="1",
        dimensions=2,
        distance_metric=metric,
        normalization="none",
        preprocessing_profile="none",
        embedding_kind="dense",
        canonicalization_rules="none",
    )


@pytest.mark.parametrize("metric", DistanceMetric)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2 * COMPONENT_MAX])
def test_what_has_no_distance_is_no_vector(metric: DistanceMetric, bad: float) -> None:
    assert vector_problem(_space(metric), [bad, 1.0]) is not None
    assert vector_problem(_space(metric), [1.0, -1.0]) is None


def test_only_directions_need_one() -> None:
    assert vector_problem(_space(DistanceMetric.COSINE), [0.0, 0.0]) is not None
    assert vector_problem(_space(DistanceMetric.L2), [0.0, 0.0]) is None
    assert vector_problem(_space(DistanceMetric.INNER_PRODUCT), [0.0, 0.0]) is None


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_the_text_of_a_vector_keeps_every_bit(vector: list[float]) -> None:
    texts = vector_text(vector).decode().strip("{}").split(",")
    assert [struct.pack("f", float(text)) for text in texts] == [struct.pack("f", component) for component in vector]
