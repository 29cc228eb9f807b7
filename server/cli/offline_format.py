"""The export format of a ledger: its lines, its event bodies and its hashes (ledger.md, Shape).

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service.
"""

from __future__ import annotations

import binascii
import json
import struct
import uuid
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

FORMAT = "remit-ledger-export/1"


class MalformedLineError(Exception):
    """A line is not what the format says."""


class UnknownFormatError(MalformedLineError):
    """The header names another format, or there is no header."""


def _refuse(literal: str) -> NoReturn:
    raise ValueError(literal)


# Numbers are integers everywhere: a fraction, an exponent or NaN is refused while parsing.
_decode = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse).decode
# Equals RFC 8785 for the values that bodies hold: no fractions, ASCII keys (whose code units sort like code points).
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode
# Cores alone may hold fractions (quality signals); their bytes are held by a digest, so only their fields are read.
_decode_core = json.JSONDecoder(parse_constant=_refuse).decode
_pack_lock_fields = struct.Struct(">qqq").pack

EVENT_COLUMNS = (
    *("event_id", "event_type", "operation_id", "actor_id"),
    *("object_id", "version_id", "delegation_id", "relationship_id"),
)
_EVENT_COLUMN_KEYS = frozenset(EVENT_COLUMNS)
_EVENT_KEYS = frozenset(
    ("kind", "sequence", "recorded_at_us", "use_number", "body", "leaf_hash", "chain_hash", "columns")
)
_BODY_TEXTS = ("tenant_id", "scope_id", "event_id", "event_type", "operation_id")
_BODY_OPTIONAL_TEXTS = (
    *("object_id", "version_id", "delegation_id", "relationship_id"),
    *("correlation_id", "purpose", "evaluation_run_id"),
)
_BODY_OTHERS = frozenset(("v", "actor", "payload"))
_BODY_REQUIRED = frozenset(_BODY_TEXTS) | _BODY_OTHERS
_BODY_KEYS = _BODY_REQUIRED | frozenset(_BODY_OPTIONAL_TEXTS)
_ACTOR_REQUIRED = frozenset(("actor_id", "actor_kind"))
_ACTOR_KEYS = _ACTOR_REQUIRED | frozenset(("on_behalf_of_actor_id", "delegation_id"))

VERSION_COLUMNS = (
    *("object_type", "schema_id", "lifecycle_state", "availability_state", "retention_state", "validation_state"),
    *("actor_id", "provenance_id", "observed_at_us", "asserted_at_us", "valid_from_us", "valid_until_us"),
    *("committed_at_us", "recorded_at_us"),
)
# What the pointer of a relationship repeats of its version, and what else the version's columns do.
RELATIONSHIP_POINTER_COLUMNS = (
    *("relationship_type", "source_object_id", "target_object_id", "target_scope_id", "directionality"),
    *("availability_state", "retention_state"),
)
RELATIONSHIP_COLUMNS = (
    *RELATIONSHIP_POINTER_COLUMNS,
    *("lifecycle_state", "validation_state", "actor_id", "provenance_id", "observed_at_us", "asserted_at_us"),
    *("valid_from_us", "valid_until_us", "committed_at_us", "recorded_at_us"),
)
_COLUMN_KEYS = {"version": frozenset(VERSION_COLUMNS), "relationship_version": frozenset(RELATIONSHIP_COLUMNS)}
# Fields of each record but the event, with their types.
_SHAPES: dict[str, dict[str, type]] = {
    "header": {"format": str, "tenant_id": str, "scope_id": str, "ledger_id": str},
    "version": {
        **{"object_id": str, "version_id": str, "sequence": int, "ledger_sequence": int},
        **{"core": str, "columns": dict},
    },
    "object": {"object_id": str, "object_type": str, "version_id": str, "sequence": int, "related": bool},
    "relationship_version": {
        **{"relationship_id": str, "version_id": str, "sequence": int, "ledger_sequence": int},
        **{"core": str, "columns": dict},
    },
    "relationship": {
        **{"relationship_id": str, "version_id": str, "sequence": int},
        **dict.fromkeys(RELATIONSHIP_POINTER_COLUMNS, str),
    },
    "delegation": {"delegation_id": str, "version_id": str, "sequence": int, "uses": int, "revoked": bool},
    "delegation_version": {"delegation_id": str, "version_id": str, "sequence": int, "core": str},
    "rule": {"rule_id": str, "subject": str, "action": str, "object_type": str, "object_id": str, "effect": str},
    "cross_scope_rule": {"rule_id": str, "source_scope_id": str, "cross_scope_kind": str},
    "binding": {"actor_id": str, "role_id": str},
    "head": {
        **{"sequence": int, "chain_hash": str, "epoch": int},
        **{"policy_revision": int, "restrict_revision": int, "removal_revision": int},
    },
}


def read_record(line: bytes | str) -> dict[str, Any]:
    """Returns the record of a line, of a known kind and with exactly its fields; raises MalformedLineError."""
    try:
        value = _decode(line if isinstance(line, str) else line.decode())
    except (ValueError, RecursionError):
        raise MalformedLineError("not JSON") from None
    record: dict[str, Any] = value if isinstance(value, dict) else {}
    kind = record.get("kind")
    if kind == "event":
        _check_event(record)
        return record
    shape = _SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise MalformedLineError("of no known kind")
    if len(record) != len(shape) + 1:
        raise MalformedLineError("fields")
    for key, expected in shape.items():
        if type(record.get(key)) is not expected:
            raise MalformedLineError(key)
    if kind in _COLUMN_KEYS and (
        record["columns"].keys() != _COLUMN_KEYS[kind]
        or not all(value is None or type(value) in (str, int) for value in record["columns"].values())
    ):
        raise MalformedLineError("columns")
    return record


def _check_event(record: Mapping[str, Any]) -> None:
    if record.keys() != _EVENT_KEYS:
        raise MalformedLineError("fields")
    if not type(record["sequence"]) is type(record["recorded_at_us"]) is type(record["use_number"]) is int:
        raise MalformedLineError("numbers")
    if not type(record["body"]) is type(record["leaf_hash"]) is type(record["chain_hash"]) is str:
        raise MalformedLineError("texts")
    columns = record["columns"]
    if type(columns) is not dict or columns.keys() != _EVENT_COLUMN_KEYS:
        raise MalformedLineError("columns")


def read_object(text: str) -> dict[str, Any] | None:
    """Returns a JSON object without fractions, None when the text is none."""
    try:
        value = _decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_base64(text: str) -> bytes:
    """Returns the bytes of a base64 text, written in the one way that stands for them; else MalformedLineError."""
    try:
        value = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        raise MalformedLineError("base64") from None
    # Strict as it is, the decoder passes over bits behind the last byte, and over a fill behind whole groups.
    if len(text) % 4 or (
        text[-1:] == "=" and text[-2] not in "AEIMQUYcgkosw048" and (text[-2] != "=" or text[-3] not in "AQgw")
    ):
        raise MalformedLineError("base64")
    return value


def read_hash(text: str) -> bytes:
    """Returns the 32 bytes of a hash in lower-case hex; else MalformedLineError."""
    try:
        value = bytes.fromhex(text)
        if len(value) == 32 and value.hex() == text:
            return value
    except ValueError:
        pass
    raise MalformedLineError("hash")


def genesis_hash(header: Mapping[str, Any]) -> bytes:
    """Returns the chain hash of sequence 0; raises UnknownFormatError when the header is not of a known format."""
    if header["kind"] != "header" or header["format"] != FORMAT:
        raise UnknownFormatError("format")
    try:
        ledger_id = uuid.UUID(header["ledger_id"])
        tenant, scope = header["tenant_id"].encode(), header["scope_id"].encode()
    except ValueError:
        raise MalformedLineError("header") from None
    if str(ledger_id) != header["ledger_id"]:
        raise MalformedLineError("ledger_id")
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in (tenant, scope))
    return sha256(b"\x02" + framed + ledger_id.bytes).digest()


def leaf_hash(sequence: int, recorded_at_us: int, use_number: int, body: bytes) -> bytes:
    """Returns the hash of an event's lock fields and body; MalformedLineError when a number is out of range."""
    try:
        return sha256(b"\x00" + _pack_lock_fields(sequence, recorded_at_us, use_number) + body).digest()
    except struct.error:
        raise MalformedLineError("numbers") from None


def chain_hash(previous: bytes, leaf: bytes) -> bytes:
    """Returns the hash that links a leaf to all before it."""
    return sha256(b"\x01" + previous + leaf).digest()


def read_body(body: bytes) -> tuple[dict[str, Any] | None, bool]:
    """Returns an event body, None when it is none, and whether its bytes are the canonical ones."""
    try:
        text = body.decode()
        value = _decode(text)
        canonical = _encode(value) == text and (body.isascii() or _has_ascii_keys(value))
    except (ValueError, RecursionError):
        return None, False
    if type(value) is not dict or not _BODY_REQUIRED <= value.keys() <= _BODY_KEYS:
        return None, canonical
    actor = value["actor"]
    right = (
        type(value["v"]) is int
        and value["v"] == 1
        and type(value["payload"]) is dict
        and type(actor) is dict
        and _ACTOR_REQUIRED <= actor.keys() <= _ACTOR_KEYS
        and {str}.issuperset(map(type, actor.values()))
        and {str}.issuperset(map(type, map(value.__getitem__, value.keys() - _BODY_OTHERS)))
    )
    return (value if right else None), canonical


def _has_ascii_keys(value: object) -> bool:
    if isinstance(value, dict):
        return all(key.isascii() and _has_ascii_keys(item) for key, item in value.items())
    return all(_has_ascii_keys(item) for item in value) if isinstance(value, list) else True


def read_core(core: bytes) -> dict[str, Any] | None:
    """Returns the fields of a version's core, None when it is no JSON object."""
    try:
        value = _decode_core(core.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class MalformedPayloadError(Exception):
    """A payload lacks a field or gives it another type."""


def read_text(holder: object, key: str) -> str:
    """Returns a field that is a text."""
    value = holder.get(key) if isinstance(holder, dict) else None
    if type(value) is not str:
        raise MalformedPayloadError(key)
    return value


def read_count(holder: Mapping[str, Any], key: str) -> int:
    """Returns a field that is an integer of 0 or more."""
    value = holder.get(key)
    if type(value) is not int or value < 0:
        raise MalformedPayloadError(key)
    return value


def read_integer(holder: Mapping[str, Any], key: str) -> int:
    """Returns a field that is an integer."""
    value = holder.get(key)
    if type(value) is not int:
        raise MalformedPayloadError(key)
    return value


def read_items(holder: Mapping[str, Any], key: str) -> list[Any]:
    value = holder.get(key, [])
    if not isinstance(value, list):
        raise MalformedPayloadError(key)
    return value
