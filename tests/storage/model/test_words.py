"""Words: folded the same however they are written, counted, bounded, and hashed under a workspace's key."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from storage.encryption import DeploymentKeys
from storage.model.words import TOKEN_BYTES, WORDS_MAX, counted_words, token_of, words_of


def test_a_word_is_folded_whole() -> None:
    assert words_of("Straße, STRASSE; ﬁne  cafe\u0301") == ["strasse", "strasse", "fine", "café"]
    assert words_of("हिन्दी-भाषा") == ["हिन्दी", "भाषा"]
    assert words_of("a_b 42 — !") == ["a_b", "42"]


@given(st.text())
def test_writing_does_not_matter(text: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert words_of(unicodedata.normalize(form, text)) == words_of(text)


@given(st.text())
def test_words_are_words_of_themselves(text: str) -> None:
    for word in words_of(text):
        assert words_of(word) == [word]


def test_words_of_content_are_those_of_its_values() -> None:
    value = {"key": ["one two", {"deeper": "two"}], "n": 42, "f": 1.5, "yes": True, "none": None}
    assert counted_words(value) == {"one": 1, "two": 2, "42": 1, "1": 1, "5": 1}


def test_distinct_words_are_bounded() -> None:
    counted = counted_words(" ".join(f"w{number}" for number in range(WORDS_MAX + 10)) + " w0 w0")
    assert len(counted) == WORDS_MAX
    assert counted["w0"] == 3


def test_a_word_has_unrelated_hashes_in_two_workspaces() -> None:
    keys = DeploymentKeys(bytes(32))
    places = [("acme", "workspace:a"), ("acme", "workspace:b"), ("globex", "workspace:a")]
    tokens = {token_of(keys.lexical_key(*place), "probe") for place in places}
    assert len(tokens) == len(places)
    assert {len(token) for token in tokens} == {TOKEN_BYTES}
