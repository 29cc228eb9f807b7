"""The grammars of string fields, one predicate each (access.proto, Grammar; P-8.1-26, P-8.2-03).

A predicate judges form only; sizes are judged beside it, except where the size is part of the grammar (ids).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from types import MappingProxyType
from typing import Final

from remit.v1 import access_pb2
from storage.model.identifiers import ID, ID_BYTES_MAX, is_actor_id, is_role_id, is_subject_id
from storage.model.states import OBJECT_TYPES

ANY: Final = "*"

_LABEL: Final = re.compile(r"[A-Za-z0-9_\-.:]+", re.ASCII)
_REVERSE_DOMAIN: Final = re.compile(r"[a-z0-9]+(?:\.[a-z0-9-]+)+\.[a-z][a-z0-9-]*", re.ASCII)
_LOWER_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.\-]*:", re.ASCII)
_STANDARD_TYPES: Final = frozenset(OBJECT_TYPES)


def _uri_pattern() -> re.Pattern[str]:
    """RFC 3986, appendix A, `URI`; what stands in brackets as an address is judged apart."""
    plain = r"[A-Za-z0-9\-._~!$&'()*+,;=]"
    escaped = r"%[0-9A-Fa-f]{2}"
    pchar = rf"(?:{plain}|[:@]|{escaped})"
    authority = rf"(?:(?:{plain}|:|{escaped})*@)?(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?:{plain}|{escaped})*)(?::[0-9]*)?"
    hierarchy = rf"(?://{authority}(?:/{pchar}*)*|/(?:{pchar}+(?:/{pchar}*)*)?|{pchar}+(?:/{pchar}*)*|)"
    tail = rf"(?:{pchar}|[/?])*"
    return re.compile(rf"[A-Za-z][A-Za-z0-9+.\-]*:{hierarchy}(?:\?{tail})?(?:\#{tail})?", re.ASCII)


_URI: Final = _uri_pattern()


def is_uri(text: str) -> bool:
    """Returns whether the text is an absolute URI with a scheme (RFC 3986), a fragment allowed."""
    match = _URI.fullmatch(text)
    if match is None:
        return False
    address = match["address"]
    if address is None:
        return True
    try:
        IPv6Address(address)
    except ValueError:
        return False
    return True


def is_standard_object_type(text: str) -> bool:
    """Returns whether the text is one of the ten standard object types (P-8.2-01)."""
    return text in _STANDARD_TYPES


def is_extension_object_type(text: str) -> bool:
    """Returns whether the text names an extension type (P-8.2-03).

    That is a reverse-domain name with three labels or more, or an absolute URI whose scheme is in lower case.
    """
    if _REVERSE_DOMAIN.fullmatch(text) is not None:
        return True
    return _LOWER_SCHEME.match(text) is not None and is_uri(text)


def is_object_type(text: str) -> bool:
    """Returns whether the text is a standard or an extension object type."""
    return text in _STANDARD_TYPES or is_extension_object_type(text)


def _is_id(text: str, match: Callable[[str], re.Match[str] | None] = ID.fullmatch) -> bool:
    # The model's predicate with one call less: ids are most of what a request holds.
    return len(text) <= ID_BYTES_MAX and match(text) is not None


@dataclass(frozen=True, slots=True)
class GrammarRule:
    """A grammar: its predicate, and the rule in words that a refusal gives instead of the value."""

    accepts: Callable[[str], bool]
    problem: str


_ID_WORDS: Final = "ASCII letters, digits and + . _ : - / after the scheme, at most 256 bytes"

STRING_GRAMMARS: Final[Mapping[int, GrammarRule]] = MappingProxyType(
    {
        access_pb2.GRAMMAR_ID: GrammarRule(_is_id, f"must be an id, scheme:opaque: {_ID_WORDS}"),
        access_pb2.GRAMMAR_URI: GrammarRule(is_uri, "must be an absolute URI"),
        access_pb2.GRAMMAR_OBJECT_TYPE: GrammarRule(
            is_object_type,
            "must be a standard object type or an extension type: reverse-domain of three labels or more, or a URI",
        ),
        access_pb2.GRAMMAR_OBJECT_TYPE_OR_ANY: GrammarRule(
            lambda text: text == ANY or is_object_type(text), "must be an object type or *"
        ),
        access_pb2.GRAMMAR_ID_OR_ANY: GrammarRule(
            lambda text: text == ANY or _is_id(text), f"must be * or an id, scheme:opaque: {_ID_WORDS}"
        ),
        access_pb2.GRAMMAR_ACTOR_ID: GrammarRule(is_actor_id, f"must be an actor's id, actor:opaque: {_ID_WORDS}"),
        access_pb2.GRAMMAR_ROLE_ID: GrammarRule(is_role_id, f"must be a role's id, role:opaque: {_ID_WORDS}"),
        access_pb2.GRAMMAR_SUBJECT_ID: GrammarRule(is_subject_id, f"must be the id of an actor or a role: {_ID_WORDS}"),
        access_pb2.GRAMMAR_LABEL: GrammarRule(
            lambda text: _LABEL.fullmatch(text) is not None, "must be a label: ASCII letters, digits and _ - . :"
        ),
    }
)
"""Every grammar of strings by its number in access.proto; GRAMMAR_UNSPECIFIED is any text without NUL."""
