"""Contents with a closed shape: ours accepts what the shared schemas accept, and refuses by place."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from server.domain_errors import InvalidObject, UnsupportedObjectType
from server.wire.content_schemas import check_content, check_object_type, is_date_time
from storage.model.states import OBJECT_TYPES
from tests.server.wire.shared_schemas import needs_shared, shared_validator

TYPES = ("tool_invocation", "tool_result", "working_memory")


def shared_accepts(object_type: str, content: Any) -> bool:
    return shared_validator(f"{object_type.replace('_', '-')}-content.schema.json").is_valid(content)


def ours_accepts(object_type: str, content: Any) -> bool:
    try:
        check_content(object_type, json.dumps(content).encode())
    except InvalidObject:
        return False
    return True


SOUND: dict[str, dict[str, Any]] = {
    "tool_invocation": {
        "tool_name": "search",
        "tool_version": "1",
        "tool_ref": "tool:search",
        "arguments": {"q": "x"},
        "arguments_schema_ref": "https://example.com/schema",
        "invocation_reason": "why",
        "requested_by_actor_id": "actor:a",
        "safety_check_outcome": {"checker": "c", "outcome": "allowed", "rationale": "r"},
    },
    "tool_result": {
        "invocation_object_id": "mem:1",
        "invocation_version_id": "ver:1",
        "outcome": "success",
        "result": [1],
        "result_schema_ref": "urn:a:b",
        "error": {"code": "c", "message": "m", "retryable": False},
        "started_at": "2026-01-01T00:00:00Z",
        "completed_at": "2026-01-01T00:00:00.5+09:00",
        "latency_ms": 5,
        "cost": {"amount": 0.5, "currency": "EUR", "unit": "call"},
        "resource_usage": {"input_tokens": 1, "output_tokens": 2, "wall_clock_ms": 3},
    },
    "working_memory": {
        "task_ref": "task:1",
        "purpose": "plan",
        "content": None,
        "ttl_hint_seconds": 0,
        "producer_actor_id": "actor:a",
        "supersedes_object_id": "mem:2",
        "promotion_hint": {"target_object_type": "claim", "confidence": 0.5, "rationale": "r"},
    },
}

ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.integers(2**53 - 1, 2**70),
    st.floats(-2, 2, allow_nan=False),
    st.sampled_from([1.0, -0.0, 1e300]),
    st.sampled_from(
        [
            "",
            "x",
            "a:b",
            "actor:a",
            "a:b c",
            "1a:b",
            "success",
            "SUCCESS",
            "allowed",
            "not_evaluated",
            "https://example.com/a?b#c",
            "http://exa mple",
            "relative/path",
            "urn:x",
            "2026-01-01T00:00:00Z",
            "2026-01-01t00:00:00z",
            "2026-01-01T00:00:00",
            "2026-01-01",
            "2026-02-29T00:00:00Z",
            "2024-02-29T23:59:59.123456789-23:59",
            "2026-01-01T24:00:00Z",
            "2026-01-01T23:59:60Z",
            "0000-01-01T00:00:00Z",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01 00:00:00Z",
        ]
    ),
    st.text(max_size=6),
    st.builds(list),
    st.builds(dict),
    st.dictionaries(st.sampled_from(["code", "outcome", "amount", "confidence", "x"]), st.integers(-1, 2), max_size=2),
)


@st.composite
def contents(draw: st.DrawFn, object_type: str) -> Any:
    """A sound content with some fields dropped, replaced or added, at the top or one level down."""
    content = copy.deepcopy(SOUND[object_type])
    for _ in range(draw(st.integers(0, 3))):
        inner = [value for value in content.values() if isinstance(value, dict)]
        place = draw(st.sampled_from([content, *inner]))
        key = draw(st.sampled_from([*place, "x", "extra"]))
        if draw(st.booleans()):
            place.pop(key, None)
        else:
            place[key] = draw(ODD_VALUES)
    return content


@needs_shared
@pytest.mark.parametrize("object_type", TYPES)
@settings(max_examples=400, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_ours_equal_the_shared_schemas(object_type: str, data: st.DataObject) -> None:
    content = data.draw(contents(object_type))
    assert ours_accepts(object_type, content) == shared_accepts(object_type, content), content


@needs_shared
@pytest.mark.parametrize("object_type", TYPES)
@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
@given(content=ODD_VALUES)
@example(content=[{}])
def test_ours_equal_the_shared_schemas_on_other_values(object_type: str, content: Any) -> None:
    assert ours_accepts(object_type, content) == shared_accepts(object_type, content)


@pytest.mark.parametrize("object_type", TYPES)
def test_sound_contents_pass_whole_and_bare(object_type: str) -> None:
    assert ours_accepts(object_type, SOUND[object_type])
    assert ours_accepts("tool_invocation", {"tool_name": "x", "arguments": None})
    assert ours_accepts("tool_result", {"invocation_object_id": "a:b", "outcome": "error"})
    assert ours_accepts("working_memory", {"task_ref": "a:b", "content": None})


def test_ids_in_contents_end_where_they_end_and_have_a_size() -> None:
    # Stricter than the schemas' pattern, whose end also matches before a newline and which has no size.
    for task_ref in ("task:1\n", "task:" + "x" * 300):
        assert not ours_accepts("working_memory", {"task_ref": task_ref, "content": 1})


def test_the_outcome_of_a_tool_result_is_returned() -> None:
    for outcome in ("success", "error", "partial", "timeout", "cancelled"):
        content = json.dumps({"invocation_object_id": "a:b", "outcome": outcome}).encode()
        assert check_content("tool_result", content) == outcome
    assert check_content("tool_invocation", b'{"tool_name":"x","arguments":1}') is None
    assert check_content("claim", b'{"anything":["goes"]}') is None
    assert check_content("com.acme.incident", b"1") is None


@pytest.mark.parametrize(
    ("object_type", "change", "place"),
    [
        ("tool_invocation", {"tool_name": ""}, "canonical_content.tool_name"),
        ("tool_invocation", {"safety_check_outcome": {"outcome": 1}}, "canonical_content.safety_check_outcome.outcome"),
        ("tool_invocation", {"c4n4ry": 1}, "canonical_content"),
        ("tool_result", {"latency_ms": -1}, "canonical_content.latency_ms"),
        ("tool_result", {"error": {"retryable": "c4n4ry"}}, "canonical_content.error.retryable"),
        ("tool_result", {"started_at": "2026-01-01T00:00:00"}, "canonical_content.started_at"),
        ("working_memory", {"promotion_hint": {"confidence": 2}}, "canonical_content.promotion_hint.confidence"),
        ("working_memory", {"task_ref": "c4n4ry"}, "canonical_content.task_ref"),
    ],
)
def test_the_place_is_named_and_the_value_is_not(object_type: str, change: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidObject) as caught:
        check_content(object_type, json.dumps({**SOUND[object_type], **change}).encode())
    assert caught.value.field == place
    assert "c4n4ry" not in caught.value.message


@pytest.mark.parametrize(
    ("object_type", "missing"),
    [
        ("tool_invocation", "tool_name"),
        ("tool_invocation", "arguments"),
        ("tool_result", "invocation_object_id"),
        ("tool_result", "outcome"),
        ("working_memory", "task_ref"),
        ("working_memory", "content"),
    ],
)
def test_a_required_field_is_named(object_type: str, missing: str) -> None:
    content = {key: value for key, value in SOUND[object_type].items() if key != missing}
    with pytest.raises(InvalidObject) as caught:
        check_content(object_type, json.dumps(content).encode())
    assert (caught.value.field, caught.value.problem) == (f"canonical_content.{missing}", "is required")


@pytest.mark.parametrize("text", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00+09:00", "2026-01-01t00:00:00.1z"])
def test_date_times(text: str) -> None:
    assert is_date_time(text)
    assert not is_date_time(text + "\n")


@pytest.mark.case("A30")
def test_a_date_time_without_a_zone_is_none() -> None:
    assert not is_date_time("2026-01-01T00:00:00")


@pytest.mark.parametrize("object_type", OBJECT_TYPES)
def test_standard_types_need_no_schema(object_type: str) -> None:
    check_object_type(object_type, "", None)
    check_object_type(object_type, "", ())


@pytest.mark.parametrize("object_type", ["relationship", "widget", "acme_incident", "acme.incident", "", "*", "CLAIM"])
def test_unknown_types_are_refused(object_type: str) -> None:
    with pytest.raises(UnsupportedObjectType) as caught:
        check_object_type(object_type, "urn:x:y", None)
    assert object_type not in caught.value.message or not object_type


def test_extension_types_need_a_schema() -> None:
    check_object_type("com.acme.incident", "urn:x:y", None)
    with pytest.raises(InvalidObject) as caught:
        check_object_type("com.acme.incident", "", None)
    assert caught.value.field == "schema_id"


def test_a_workspace_may_list_its_extension_types() -> None:
    check_object_type("com.acme.incident", "urn:x:y", ("com.acme.incident",))
    with pytest.raises(UnsupportedObjectType):
        check_object_type("com.acme.other", "urn:x:y", ("com.acme.incident",))
    with pytest.raises(UnsupportedObjectType):
        check_object_type("com.acme.other", "urn:x:y", ())
