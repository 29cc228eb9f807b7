"""Embedding spaces and vectors: what may be compared, and what a vector must be to be kept (PAMSPEC 7.8; P-7.8-*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from storage.model.actor import ActorRef

COMPONENT_MAX: Final = 1e15
"""The largest component of a vector: beyond it, sums of squares leave single precision."""
_SQUARE_MIN: Final = 1e-30


class DistanceMetric(StrEnum):
    """How vectors of a space are compared."""

    COSINE = "cosine"
    L2 = "l2"
    INNER_PRODUCT = "inner_product"

    def score(self, distance: float) -> float:
        """Returns the similarity of a distance, the higher the nearer: cosine similarity, minus distance, inner product."""
        return 1.0 - distance if self is DistanceMetric.COSINE else -distance


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """A descriptor: its id decides what may be compared, nothing else does. It never changes."""

    embedding_space_id: str
    provider: str
    model: str
    model_revision: str
    dimensions: int
    distance_metric: DistanceMetric
    normalization: str
    preprocessing_profile: str
    embedding_kind: str
    canonicalization_rules: str
    created_at_us: int = 0
    created_by: ActorRef | None = None


def vector_problem(space: EmbeddingSpace, vector: Sequence[float]) -> str | None:
    """Returns what keeps a vector of the right length from being compared in the space, None when nothing does."""
    if any(not -COMPONENT_MAX <= component <= COMPONENT_MAX for component in vector):
        return f"has a component beyond {COMPONENT_MAX:g}"
    if space.distance_metric is DistanceMetric.COSINE and sum(c * c for c in vector) < _SQUARE_MIN:
        return "has no direction, which the space's metric compares"
    return None


def vector_text(vector: Sequence[float]) -> bytes:
    """Returns the vector as a literal of the database; single precision comes back exactly."""
    return ("{" + ",".join(map(repr, vector)) + "}").encode()


def vector_index_id(embedding_space_id: str) -> str:
    """Returns the id of the index of a space's vectors."""
    return VECTOR_INDEX_PREFIX + embedding_space_id


VECTOR_INDEX_PREFIX: Final = "index:vector:"
LEXICAL_INDEX_ID: Final = "index:lexical"
EMBEDDING: Final = "embedding"
"""The artifact type of vectors that Create registers."""
