"""Grammars of strings, against independent readings of their standards."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rfc3986_validator import validate_rfc3986

from remit.v1 import access_pb2
from server.wire.grammars import STRING_GRAMMARS, is_extension_object_type, is_object_type, is_uri
from storage.model.states import OBJECT_TYPES

URIS = [
    "https://example.com/schemas/a?b=c#d",
    "http://[2001:db8::1]:80/x",
    "urn:example:a:b",
    "mailto:a@b.c",
    "file:///etc/x",
    "a:",
    "a:/",
    "x-y+z.1:?q",
    "http://user:pw@host:1/%20",
]
NOT_URIS = [
    "",
    "no-scheme",
    "/relative",
    "//host/path",
    "1a:b",
    "http://exa mple",
    "http://a/%2",
    "http://a/%zz",
    "http://[::g]/",
    "http://[1::2::3]/",
    "http://a\n",
    "http://ä/",
    "http://a/<b>",
    "http://a#b#c",
    "http://host:port/",
    "http:///a\\b",
]


@pytest.mark.parametrize("text", URIS)
def test_uris(text: str) -> None:
    assert is_uri(text)


@pytest.mark.parametrize("text", NOT_URIS)
def test_what_is_no_uri(text: str) -> None:
    assert not is_uri(text)


@given(st.from_regex(r"\A[a-z]{1,3}:[a-z0-9/?#:@%\[\].!\-]{0,12}\Z", fullmatch=True))
def test_uris_agree_with_another_implementation(text: str) -> None:
    assert is_uri(text) == bool(validate_rfc3986(text, "URI"))


@pytest.mark.parametrize("text", OBJECT_TYPES)
def test_standard_types(text: str) -> None:
    assert is_object_type(text)
    assert not is_extension_object_type(text)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("com.acme.incident", True),
        ("com.acme-labs.sub.incident-2", True),
        ("https://acme.example/types/incident", True),
        ("urn:acme:incident", True),
        ("acme.incident", False),
        ("acme_incident", False),
        ("relationship", False),
        ("widget", False),
        ("Com.acme.incident", False),
        ("com.acme.Incident", False),
        ("com.acme.1incident", False),
        ("com..acme.incident", False),
        ("com.acme.incident\n", False),
        ("HTTPS://acme.example/x", False),
        ("urn:a b", False),
        ("*", False),
        ("", False),
    ],
)
def test_extension_types(text: str, right: bool) -> None:
    assert is_extension_object_type(text) is right


def test_every_grammar_of_strings_has_a_rule() -> None:
    of_strings = set(access_pb2.Grammar.values()) - {access_pb2.GRAMMAR_UNSPECIFIED, access_pb2.GRAMMAR_JSON}
    assert set(STRING_GRAMMARS) == of_strings


@pytest.mark.parametrize("grammar", sorted(STRING_GRAMMARS))
@given(text=st.text(max_size=12))
def test_every_grammar_is_ascii_without_nul_or_newline(grammar: int, text: str) -> None:
    if STRING_GRAMMARS[grammar].accepts(text):
        assert re.fullmatch(r"[\x21-\x7e]+", text)
    assert not STRING_GRAMMARS[grammar].accepts(text + "\n")
    assert not STRING_GRAMMARS[grammar].accepts(text + "\0")
