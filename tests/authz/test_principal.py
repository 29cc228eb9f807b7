"""Subjects become actor ids, one each."""

import re
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from authz.errors import InvalidActorName
from authz.principal import actor_id_of, is_actor_prefix

ID = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[A-Za-z0-9+._:\-/]+")
subjects = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
near = st.text(alphabet="+2Baéé%/: ", min_size=1, max_size=6)


def decoded(actor_id: str) -> str:
    raw = re.sub(r"\+([0-9A-F]{2})", lambda hit: chr(int(hit[1], 16)), actor_id.removeprefix("actor:"))
    return raw.encode("latin-1").decode("utf-8")


@given(subject=subjects | near)
def test_an_id_is_in_the_grammar_and_gives_its_subject_back(subject: str) -> None:
    actor_id = actor_id_of(subject) if len(subject.encode()) <= 80 else ""
    assume(actor_id)
    assert ID.fullmatch(actor_id)
    assert decoded(actor_id) == subject


@given(one=near, other=near)
def test_no_two_subjects_share_an_id(one: str, other: str) -> None:
    assert (actor_id_of(one) == actor_id_of(other)) == (one == other)


@pytest.mark.parametrize(
    ("subject", "actor_id"),
    [
        ("alice", "actor:alice"),
        ("a+b@example.org", "actor:a+2Bb+40example.org"),
        ("100%", "actor:100+25"),
        ("line\n", "actor:line+0A"),
        ("role:owner", "actor:role:owner"),
        ("*", "actor:+2A"),
    ],
)
def test_examples(subject: str, actor_id: str) -> None:
    assert actor_id_of(subject) == actor_id


@pytest.mark.case("B06")
def test_case_and_unicode_forms_stay_apart() -> None:
    composed, decomposed = unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")
    assert actor_id_of(composed) != actor_id_of(decomposed)
    assert actor_id_of("A") != actor_id_of("a")


def test_the_longest_id_has_256_bytes() -> None:
    assert len(actor_id_of("x" * 250)) == 256
    for subject in ("x" * 251, "é" * 42, "x" * 100_000):
        with pytest.raises(InvalidActorName):
            actor_id_of(subject)


@pytest.mark.parametrize("subject", ["", "\ud800"])
def test_what_is_no_name_is_refused(subject: str) -> None:
    with pytest.raises(InvalidActorName):
        actor_id_of(subject)


@pytest.mark.parametrize(
    ("prefix", "valid"),
    [
        ("actor:", True),
        ("actor:idp-1/", True),
        ("role:", False),
        ("", False),
        ("xactor:", False),
        ("actor:%", False),
        ("actor:\n", False),
    ],
)
def test_a_prefix_makes_actors_only(prefix: str, valid: bool) -> None:
    assert is_actor_prefix(prefix) == valid
