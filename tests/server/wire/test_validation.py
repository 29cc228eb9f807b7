"""Requests are judged by the rules of their fields, all levels down, and refused by the field's name."""

import math
from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from remit.v1 import admin_pb2, common_pb2, delegation_pb2, ledger_pb2, memory_pb2
from server.access import declared_access
from server.domain_errors import InvalidObject, InvalidRequest
from server.wire.limits import Limits
from server.wire.validation import compile_validator

REQUESTS = sorted({item.request_class for item in declared_access().values()}, key=lambda item: item.__name__)
VALIDATORS = {item: compile_validator(item) for item in REQUESTS}


def judge(message: Message) -> None:
    VALIDATORS[type(message)](message)


def refused(message: Message) -> tuple[str, str, type[Exception]]:
    with pytest.raises((InvalidRequest, InvalidObject)) as caught:
        judge(message)
    return caught.value.field, caught.value.problem, type(caught.value)


def read(**fields: Any) -> memory_pb2.ReadRequest:
    return memory_pb2.ReadRequest(**{"scope_id": "workspace:a", "object_id": "claim:1", **fields})


def create(**fields: Any) -> memory_pb2.CreateRequest:
    sound: dict[str, Any] = {
        "scope_id": "workspace:a",
        "object_type": "claim",
        "canonical_content": b'{"text":"x"}',
        "provenance": common_pb2.ProvenanceInput(activity="observed"),
    }
    return memory_pb2.CreateRequest(**{**sound, **fields})


def query(**filters: Any) -> memory_pb2.QueryRequest:
    expression = memory_pb2.QueryExpression(
        kind=memory_pb2.QUERY_KIND_STRUCTURED, filters=memory_pb2.QueryFilters(**filters)
    )
    return memory_pb2.QueryRequest(scope_id="workspace:a", query=expression)


def grant(**fields: Any) -> delegation_pb2.GrantDelegationRequest:
    sound: dict[str, Any] = {
        "scope_id": "workspace:a",
        "policy_basis": "ticket 1",
        "delegated_actor": common_pb2.Actor(actor_id="actor:b"),
        "granted_operations": ["read"],
        "not_before": Timestamp(seconds=1),
        "not_after": Timestamp(seconds=2),
    }
    return delegation_pb2.GrantDelegationRequest(**{**sound, **fields})


def test_sound_requests_pass() -> None:
    judge(read())
    judge(create())
    judge(grant())
    judge(query(lifecycle_state=[common_pb2.LIFECYCLE_STATE_ACTIVE], object_type=["claim", "com.acme.incident"]))


def test_a_required_field_is_named() -> None:
    assert refused(memory_pb2.ReadRequest(object_id="claim:1")) == ("scope_id", "is required", InvalidRequest)
    assert refused(create(provenance=None)) == ("provenance", "is required", InvalidObject)
    assert refused(create(provenance=common_pb2.ProvenanceInput())) == (
        "provenance.activity",
        "is required",
        InvalidObject,
    )
    assert refused(grant(granted_operations=[])) == ("granted_operations", "is required", InvalidRequest)
    assert refused(memory_pb2.QueryRequest(scope_id="workspace:a")) == ("query", "is required", InvalidRequest)


@pytest.mark.parametrize(
    "value",
    ["no colon", "nocolon", ":x", "a:", "1a:b", "a:b\n", "a:b c", "ä:b", "a:ä", "a:b\0", "a:" + "b" * 255, "a:*"],
)
def test_ids_are_matched_whole(value: str) -> None:
    field, problem, error = refused(read(object_id=value))
    assert (field, error) == ("object_id", InvalidRequest)
    assert "256 bytes" in problem


def test_an_id_of_256_bytes_passes() -> None:
    judge(read(object_id="a:" + "b" * 254))


@pytest.mark.case("A07")
@pytest.mark.parametrize(
    "scope_id", ["x' OR 1=1", "workspace:a' OR '1'='1", "workspace:a;DROP TABLE", "workspace:a\\", "workspace:%00"]
)
def test_injection_through_the_scope_is_refused(scope_id: str) -> None:
    assert refused(read(scope_id=scope_id))[0] == "scope_id"


@pytest.mark.case("A07")
def test_injection_through_filters_is_refused_or_literal() -> None:
    predicate = memory_pb2.Predicate(field="a'}) DETACH DELETE n//", op=memory_pb2.COMPARISON_OPERATOR_EQ, values=["x"])
    assert refused(query(predicates=[predicate]))[0] == "query.filters.predicates[0].field"
    literal = memory_pb2.Predicate(
        field="schema_id", op=memory_pb2.COMPARISON_OPERATOR_EQ, values=["#memory_type:fact' OR 1=1--"]
    )
    judge(query(predicates=[literal]))
    assert refused(query(object_type=["claim' OR 1=1"]))[0] == "query.filters.object_type[0]"


@pytest.mark.case("A46")
@pytest.mark.parametrize("name", ["purpose", "policy_basis"])
def test_nul_in_text_is_refused(name: str) -> None:
    assert refused(create(**{name: "a\0b"})) == (name, "holds a NUL character", InvalidRequest)


@pytest.mark.case("A46")
def test_sizes_count_bytes_at_the_edge() -> None:
    judge(create(purpose="x" * 256))
    judge(create(purpose="é" * 128))
    assert refused(create(purpose="x" * 257)) == ("purpose", "is longer than 256 bytes", InvalidRequest)
    assert refused(create(purpose="é" * 128 + "x"))[0] == "purpose"
    judge(create(canonical_content=b'"' + b"x" * (1_048_576 - 2) + b'"'))
    assert refused(create(canonical_content=b'"' + b"x" * (1_048_576 - 1) + b'"'))[2] is InvalidObject


@pytest.mark.case("A46")
@pytest.mark.parametrize(
    "content",
    [b'"\xed\xa0\x80"', b'"\\ud800"', b'"a\\u0000"', b'"\0"', b'"\xff"', b'{"a":1,"a":2}', b"NaN", b"1 2", b"{"],
)
def test_content_that_is_no_json_text_is_refused(content: bytes) -> None:
    field, _, error = refused(create(canonical_content=content))
    assert (field, error) == ("canonical_content", InvalidObject)


@pytest.mark.case("A46")
@pytest.mark.parametrize(
    "content", ['"\u00e9"', '"e\u0301"', "9007199254740993", '"\\ud83d\\ude00"', '"\U0001f600"', "null", "1e999"]
)
def test_content_in_any_form_passes(content: str) -> None:
    judge(create(canonical_content=content.encode()))


@pytest.mark.case("A30")
def test_a_time_is_an_instant_within_range() -> None:
    # A Timestamp has no zone to forget: 2024-01-01T09:00+09:00 is the instant of midnight in UTC.
    judge(create(observed_at=Timestamp(seconds=1_704_067_200)))
    judge(create(observed_at=Timestamp(seconds=-62_135_596_800)))
    judge(create(observed_at=Timestamp(seconds=253_402_300_799, nanos=999_999_999)))
    for bad in (
        Timestamp(seconds=-62_135_596_801),
        Timestamp(seconds=253_402_300_800),
        Timestamp(seconds=1, nanos=-1),
        Timestamp(seconds=1, nanos=1_000_000_000),
    ):
        assert refused(create(observed_at=bad)) == (
            "observed_at",
            "must be a time of the years 1 to 9999",
            InvalidRequest,
        )
    signals = common_pb2.QualitySignals(assessed_at=Timestamp(seconds=253_402_300_800))
    assert refused(create(quality_signals=signals))[0::2] == ("quality_signals.assessed_at", InvalidObject)


@pytest.mark.parametrize("value", [1.5, -0.1, math.nan, math.inf, -math.inf])
def test_scores_lie_within_0_and_1(value: float) -> None:
    signals = common_pb2.QualitySignals(assessed_confidence=value)
    assert refused(create(quality_signals=signals)) == (
        "quality_signals.assessed_confidence",
        "must be between 0 and 1",
        InvalidObject,
    )


def test_pages_have_a_size() -> None:
    for limit in (0, -1, 1001):
        request = query()
        request.limit = limit
        assert refused(request) == ("limit", "must be between 1 and 1000", InvalidRequest)
    request = query()
    request.limit = 1000
    judge(request)
    judge(query())


def test_unknown_enum_numbers_are_refused_everywhere() -> None:
    assert refused(create(lifecycle_state=99))[0] == "lifecycle_state"
    assert refused(query(lifecycle_state=[3, 99]))[0] == "query.filters.lifecycle_state[1]"
    assert refused(query(lifecycle_state=[0]))[0] == "query.filters.lifecycle_state[0]"
    request = query()
    request.query.kind = 7
    assert refused(request)[0] == "query.kind"
    rule = admin_pb2.NewPolicyRule(subject="actor:a", action="read", object_type="*", object_id="*", effect=9)
    assert refused(admin_pb2.AddPolicyRuleRequest(scope_id="workspace:a", rule=rule))[0] == "rule.effect"


def test_lists_have_a_size_and_distinct_items() -> None:
    assert refused(grant(granted_operations=["read", "read"])) == (
        "granted_operations",
        "has an item twice",
        InvalidRequest,
    )
    check = delegation_pb2.DelegationCheck(target_delegation_id="d:1", delegated_actor_id="actor:b", operation="read")
    batch = delegation_pb2.BatchCheckDelegationRequest(scope_id="workspace:a", checks=[check] * 1000)
    judge(batch)
    batch.checks[3].operation = ""
    assert refused(batch) == ("checks[3].operation", "is required", InvalidRequest)
    batch.checks[3].operation = "read"
    batch.checks.append(check)
    assert refused(batch) == ("checks", "has more than 1000 items", InvalidRequest)


def test_a_restriction_takes_the_grammar_of_its_field() -> None:
    judge(grant(granted_object_types=delegation_pb2.Restriction(values=["task"])))
    assert refused(grant(granted_object_types=delegation_pb2.Restriction(values=["tasks"])))[0] == (
        "granted_object_types.values[0]"
    )
    judge(grant(granted_object_ids=delegation_pb2.Restriction(values=["claim:1"])))
    assert refused(grant(granted_object_ids=delegation_pb2.Restriction(values=["claim:1", "task"])))[0] == (
        "granted_object_ids.values[1]"
    )
    assert refused(grant(granted_object_ids=delegation_pb2.Restriction()))[:2] == (
        "granted_object_ids.values",
        "is required",
    )


def test_typed_ids_are_told_apart() -> None:
    bind = admin_pb2.BindRoleRequest(scope_id="workspace:a", actor_id="role:owner", role_id="role:owner")
    assert refused(bind)[0] == "actor_id"
    bind = admin_pb2.BindRoleRequest(scope_id="workspace:a", actor_id="actor:a", role_id="actor:a")
    assert refused(bind)[0] == "role_id"


def with_unknown(message: Message, number: int = 99) -> bytes:
    return message.SerializeToString() + bytes([number << 3 & 0x7F | 0x80, number >> 4]) + b"\x01"


def test_unknown_fields_are_refused_at_any_depth_by_their_number() -> None:
    assert refused(memory_pb2.ReadRequest.FromString(with_unknown(read()))) == (
        "#99",
        "is not a field of this message",
        InvalidRequest,
    )
    inner = memory_pb2.QueryFilters.FromString(with_unknown(memory_pb2.QueryFilters(object_type=["claim"])))
    request = query()
    request.query.filters.CopyFrom(inner)
    assert refused(request)[0] == "query.filters.#99"
    stamped = create(observed_at=Timestamp.FromString(with_unknown(Timestamp(seconds=1))))
    assert refused(stamped)[0] == "observed_at.#99"
    checks = [delegation_pb2.DelegationCheck.FromString(b"\x98\x06\x01")]
    assert refused(delegation_pb2.BatchCheckDelegationRequest(scope_id="workspace:a", checks=checks))[0] == (
        "checks[0].#99"
    )


def test_a_delegation_id_where_none_is_taken_is_refused() -> None:
    # Field 4 is reserved in requests of methods without a PAMSPEC operation.
    request = ledger_pb2.GetEventRequest.FromString(
        ledger_pb2.GetEventRequest(scope_id="workspace:a", event_id="event:1").SerializeToString() + b"\x22\x03d:1"
    )
    assert refused(request)[0] == "#4"


def test_limits_are_settings() -> None:
    strict = compile_validator(memory_pb2.CreateRequest, Limits(content_bytes_max=4, json_depth_max=1))
    strict(create(canonical_content=b"[[]]"[1:3]))
    with pytest.raises(InvalidObject, match="nests deeper"):
        strict(create(canonical_content=b"[[]]"))
    with pytest.raises(InvalidObject, match="longer than 4 bytes"):
        strict(create(canonical_content=b"[1,2]"))
