"""Ids of the input's own are brought into the grammar, and stay apart."""

from hypothesis import given
from hypothesis import strategies as st

from server.demo.identifiers import ID_BYTES_MAX, object_id
from storage.model.identifiers import is_id

SOURCE_IDS = st.text(st.characters(), min_size=1, max_size=400)
# Texts that try to look like an escape of another.
LOOKALIKES = st.text("#+23aA/%:sh56", min_size=1, max_size=12)


@given(SOURCE_IDS)
def test_every_id_is_in_the_grammar(source_id: str) -> None:
    made = object_id("order", source_id)
    assert is_id(made)
    assert len(made.encode()) <= ID_BYTES_MAX


@given(st.one_of(SOURCE_IDS, LOOKALIKES), st.one_of(SOURCE_IDS, LOOKALIKES))
def test_different_ids_stay_different(one: str, other: str) -> None:
    assert (object_id("order", one) == object_id("order", other)) == (one == other)


def test_plain_ids_stay_as_they_are() -> None:
    assert object_id("customer", "noor_haddad_77") == "customer:noor_haddad_77"


def test_what_is_outside_the_grammar_is_escaped() -> None:
    assert object_id("order", "#T-1") == "order:+23T-1"
    assert object_id("order", "+23T-1") == "order:+2B23T-1"
    assert object_id("order", "é") == "order:+C3+A9"


def test_a_long_id_becomes_its_digest() -> None:
    one, other = object_id("order", "x" * 300), object_id("order", "x" * 301)
    assert one.startswith("order:+sha256/")
    assert one != other


def test_an_id_of_half_a_surrogate_pair_is_escaped() -> None:
    assert object_id("order", "\ud800") == "order:+ED+A0+80"
