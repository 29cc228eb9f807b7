"""Canonical JSON equals what an independent RFC 8785 implementation writes."""

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from storage.model.canonical import (
    Fields,
    MalformedCanonical,
    canonical_json,
    canonical_json_with_floats,
    number_text,
    parse_object,
)

KEYS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=6)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
INTEGERS = st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20)


@given(trees(st.none() | st.booleans() | INTEGERS | TEXT))
def test_without_floats(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value) == canonical_json_with_floats(value)


@given(trees(st.none() | st.booleans() | INTEGERS | TEXT | FLOATS))
def test_with_floats(value: Any) -> None:
    assert canonical_json_with_floats(value) == rfc8785.dumps(value)


@given(FLOATS)
def test_numbers_read_back_as_the_same_double(value: float) -> None:
    assert float(number_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0, "0"), (1.0, "1"), (1e-7, "1e-7"), (1e-6, "0.000001"), (1e21, "1e+21"), (1e20, "1" + "0" * 20)],
)
def test_numbers_at_the_edges_of_the_notation(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_are_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        number_text(value)
    with pytest.raises(ValueError, match=r".+"):
        canonical_json_with_floats({"a": [value]})


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        canonical_json({"a": "\ud800"})


def test_integers_beyond_the_exact_doubles_stay_exact() -> None:
    far = 253_402_300_799_999_999
    assert json.loads(canonical_json({"valid_until_us": far})) == {"valid_until_us": far}


def test_fields_name_the_key_and_never_the_value() -> None:
    read = Fields({"a": "secret", "b": True, "c": [1]}, "thing")
    for miss in (
        lambda: read.integer("a"),
        lambda: read.integer("b"),
        lambda: read.optional_number("a"),
        lambda: read.optional_texts("c"),
        lambda: read.text("absent"),
        lambda: read.flag("a"),
        lambda: Fields("secret", "thing"),
        lambda: Fields({"a": "secret"}, "thing", frozenset({"b"})),
        lambda: parse_object(b"secret", "thing"),
    ):
        with pytest.raises(MalformedCanonical, match="thing") as caught:
            miss()
        assert "secret" not in str(caught.value)
