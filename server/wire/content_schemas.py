"""Contents with a closed shape: tool_invocation, tool_result, working_memory (P-8.2-08, P-8.2-09, P-8.2-11, P-8.2-15).

Every other type's content is any JSON value and kept as it is (P-8.2-14). A refusal names the place in the content by
the names of the shape's own fields, never by a key that the caller made up.
"""

import calendar
import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Final, cast

from server.domain_errors import InvalidObject, UnsupportedObjectType
from server.wire.grammars import is_extension_object_type, is_standard_object_type, is_uri
from server.wire.json_text import JsonValue, read_json_text
from storage.model.identifiers import is_id

FIELD: Final = "canonical_content"

Rule = Callable[[JsonValue, str], None]


def check_object_type(object_type: str, schema_id: str, extension_types: Collection[str] | None) -> None:
    """Accepts a standard type, or an extension type with a schema id that the workspace permits (None: all of them).

    Raises UnsupportedObjectType for every other type, `relationship` included, and InvalidObject when an extension
    type comes without schema_id (P-8.2-01 to P-8.2-04, P-8.2-06).
    """
    if is_standard_object_type(object_type):
        return
    if not is_extension_object_type(object_type):
        raise UnsupportedObjectType
    if extension_types is not None and object_type not in extension_types:
        raise UnsupportedObjectType
    if not schema_id:
        raise InvalidObject("schema_id", "is required for an extension type")


def check_content(object_type: str, canonical_content: bytes) -> str | None:
    """Holds a content, whose text was validated before, to the shape of its type where the type has one.

    Returns the outcome that a tool_result states, None for every other type. Raises InvalidObject naming the place.
    """
    rule = _SHAPES.get(object_type)
    if rule is None:
        return None
    value = read_json_text(canonical_content)
    rule(value, FIELD)
    if object_type != "tool_result":
        return None
    return cast("str", cast("dict[str, JsonValue]", value)["outcome"])


def _any(value: JsonValue, path: str) -> None:
    """Accepts any JSON value."""


def _text(value: JsonValue, path: str) -> None:
    if not isinstance(value, str):
        raise InvalidObject(path, "must be a string")


def _text_not_empty(value: JsonValue, path: str) -> None:
    if not isinstance(value, str) or not value:
        raise InvalidObject(path, "must be a string that is not empty")


def _flag(value: JsonValue, path: str) -> None:
    if not isinstance(value, bool):
        raise InvalidObject(path, "must be true or false")


def _id(value: JsonValue, path: str) -> None:
    if not isinstance(value, str) or not is_id(value):
        raise InvalidObject(path, "must be an id, scheme:opaque, of at most 256 bytes")


def _uri(value: JsonValue, path: str) -> None:
    if not isinstance(value, str) or not is_uri(value):
        raise InvalidObject(path, "must be an absolute URI")


def _count(value: JsonValue, path: str) -> None:
    # JSON has one kind of number: 1.0 is an integer, true is no number.
    is_integer = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_integer or cast("float", value) < 0:
        raise InvalidObject(path, "must be an integer of at least 0")


def _amount(value: JsonValue, path: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise InvalidObject(path, "must be a number of at least 0")


def _fraction(value: JsonValue, path: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidObject(path, "must be a number between 0 and 1")


_DATE_TIME: Final = re.compile(
    r"(\d{4})-(0[1-9]|1[0-2])-(\d{2})[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


def is_date_time(text: str) -> bool:
    """Returns whether the text is an RFC 3339 date-time with its zone (P-8.1-27); leap seconds are not among them."""
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    return year > 0 and 1 <= day <= calendar.monthrange(year, month)[1]


def _date_time(value: JsonValue, path: str) -> None:
    if not isinstance(value, str) or not is_date_time(value):
        raise InvalidObject(path, "must be an RFC 3339 date-time with a zone")


def _one_of(*words: str) -> Rule:
    known = frozenset(words)
    problem = f"must be one of {', '.join(words)}"

    def rule(value: JsonValue, path: str) -> None:
        if not isinstance(value, str) or value not in known:
            raise InvalidObject(path, problem)

    return rule


def _shape(required: Mapping[str, Rule], optional: Mapping[str, Rule]) -> Rule:
    """Returns the rule of an object with exactly these fields."""
    fields = {**required, **optional}

    def rule(value: JsonValue, path: str) -> None:
        if not isinstance(value, dict):
            raise InvalidObject(path, "must be a JSON object")
        for name in required:
            if name not in value:
                raise InvalidObject(f"{path}.{name}", "is required")
        for name, item in value.items():
            item_rule = fields.get(name)
            if item_rule is None:
                raise InvalidObject(path, "has a key that the shape of its type does not define")
            item_rule(item, f"{path}.{name}")

    return rule


_SHAPES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "tool_invocation": _shape(
            {"tool_name": _text_not_empty, "arguments": _any},
            {
                "tool_version": _text,
                "tool_ref": _text,
                "arguments_schema_ref": _uri,
                "invocation_reason": _text,
                "requested_by_actor_id": _id,
                "safety_check_outcome": _shape(
                    {},
                    {
                        "checker": _text,
                        "outcome": _one_of("allowed", "denied", "flagged", "not_evaluated"),
                        "rationale": _text,
                    },
                ),
            },
        ),
        "tool_result": _shape(
            {
                "invocation_object_id": _id,
                "outcome": _one_of("success", "error", "partial", "timeout", "cancelled"),
            },
            {
                "invocation_version_id": _id,
                "result": _any,
                "result_schema_ref": _uri,
                "error": _shape({}, {"code": _text, "message": _text, "retryable": _flag}),
                "started_at": _date_time,
                "completed_at": _date_time,
                "latency_ms": _count,
                "cost": _shape({}, {"amount": _amount, "currency": _text, "unit": _text}),
                "resource_usage": _shape(
                    {}, {"input_tokens": _count, "output_tokens": _count, "wall_clock_ms": _count}
                ),
            },
        ),
        "working_memory": _shape(
            {"task_ref": _id, "content": _any},
            {
                "purpose": _text,
                "ttl_hint_seconds": _count,
                "producer_actor_id": _id,
                "supersedes_object_id": _id,
                "promotion_hint": _shape(
                    {}, {"target_object_type": _text, "confidence": _fraction, "rationale": _text}
                ),
            },
        ),
    }
)
"""The types whose content has a closed shape."""
