"""Whatever is sent, every method answers with a result or a typed error that names the field, and nothing breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from server.errors import ERROR_TABLE
from tests.cluster import Workspace
from tests.contract import generated
from tests.contract.conftest import IssuedCluster
from tests.contract.generated import is_field_of, settled
from tests.contract.requests import filled
from tests.contract.wire import OWN, SCOPED, Answer, Method, ask
from tests.server.operations.delegation.grants import grant

FEW = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
REASONS = {mapping.reason: mapping for mapping in ERROR_TABLE.values()}
# What no input may cause.
OURS_TO_AVOID = {"INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "RESOURCE_EXHAUSTED", "UNAUTHENTICATED"}
# Where a request names what is really there, unless the field is drawn.
NAMED = {
    "object_id": "$object",
    "expected_version_id": "$version",
    "target_delegation_id": "$grant",
    "rule_id": "$rule",
    "event_id": "$event",
}


def holds_typed(method: Method, answer: Answer) -> None:
    """Holds an answer to be a result, or an error of the table with its details."""
    if answer.code is grpc.StatusCode.OK:
        method.response_class.FromString(answer.responses[0])
        return
    assert answer.reason in REASONS.keys() - OURS_TO_AVOID, answer
    mapping = REASONS[answer.reason]
    assert answer.code is mapping.grpc_status
    assert answer.pamspec.code == mapping.code
    assert answer.pamspec.message == answer.message
    assert answer.pamspec.operation_id == answer.info.metadata["operation_id"]
    if answer.reason in {"INVALID_REQUEST", "INVALID_OBJECT"}:
        [field] = answer.fields
        assert field == "request" or is_field_of(method.request_class, field), field


@pytest.fixture(scope="module")
def scratch(issued: IssuedCluster) -> Workspace:
    """A workspace that anything may be done to."""
    clients: Any = issued
    return Workspace(clients)


@pytest.fixture(scope="module")
def places(scratch: Workspace) -> dict[str, str]:
    """Ids that are there."""
    made = scratch.create()
    rules = scratch.allow("actor:somebody", "read")
    return {
        "$object": made.object_id,
        "$version": made.version_id,
        "$event": made.event_ids[0],
        "$grant": grant(scratch, "read", "create").delegation_id,
        "$rule": rules[0],
    }


@pytest.fixture
def still_sound(scratch: Workspace) -> Callable[[], None]:
    """Holds the workspace to verify and to serve."""

    def check() -> None:
        request = ledger_pb2.VerifyLedgerRequest(scope_id=scratch.scope_id)
        verified = scratch.owner.ledger.VerifyLedger(request)
        assert verified.ok, verified.findings
        assert scratch.create().sequence == 1

    return check


@pytest.mark.case("A07")
@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_generated_requests(
    scratch: Workspace, places: dict[str, str], still_sound: Callable[[], None], method: Method
) -> None:
    owner, is_new = scratch.owner, bool(method.access.object_type_fields)

    @FEW
    @given(values=generated.requests(method.request_class), own_scope=st.integers(0, 9))
    def send(values: dict[str, Any], own_scope: int) -> None:
        if own_scope and method.takes("scope_id"):
            values = values | {"scope_id": method.scope(scratch)}
        there = places
        if method.takes("expected_version_id"):
            made = scratch.create(lifecycle_state=common_pb2.LIFECYCLE_STATE_CANDIDATE)
            there = places | {"$object": made.object_id, "$version": made.version_id}
        named = {name: there[place] for name, place in NAMED.items() if place != "$object" or not is_new}
        request = settled(method.request_class, values, there, limit=10, after_sequence=0, **named)
        holds_typed(method, ask(owner.channel, method, request, owner.metadata))

    send()
    still_sound()


@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_raw_bytes(scratch: Workspace, places: dict[str, str], still_sound: Callable[[], None], method: Method) -> None:
    owner = scratch.owner
    sound = filled(method.request_class, scope_id=method.scope(scratch)).SerializeToString(deterministic=True)
    edits = st.lists(st.tuples(st.integers(0, len(sound)), st.binary(max_size=3)), min_size=1, max_size=4)

    @FEW
    @given(data=st.one_of(st.binary(max_size=60), edits))
    def send(data: bytes | list[tuple[int, bytes]]) -> None:
        raw = data if isinstance(data, bytes) else _edited(sound, data)
        holds_typed(method, ask(owner.channel, method, raw, owner.metadata))

    send()
    still_sound()


def _edited(sound: bytes, edits: list[tuple[int, bytes]]) -> bytes:
    raw = bytearray(sound)
    for place, new in edits:
        raw[place : place + len(new)] = new
    return bytes(raw)


@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_what_is_no_message_is_told_so(scratch: Workspace, method: Method) -> None:
    owner = scratch.owner
    for raw in (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x02\xff\xfe"):
        answer = ask(owner.channel, method, raw, owner.metadata)
        assert (answer.reason, answer.code) == ("INVALID_REQUEST", grpc.StatusCode.INVALID_ARGUMENT)


@pytest.mark.case("A03")
@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_an_unknown_field_is_refused_by_its_number(scratch: Workspace, method: Method) -> None:
    """dataset_name, sent by a client that believes in it: never an answer that ignores it."""
    owner = scratch.owner
    number = max(field.number for field in method.request_class.DESCRIPTOR.fields) + 900
    raw = filled(method.request_class, scope_id=method.scope(scratch)).SerializeToString()
    answer = ask(owner.channel, method, raw + _text_field(number, b"dataset_name"), owner.metadata)
    assert (answer.reason, answer.fields) == ("INVALID_REQUEST", [f"#{number}"])


def _text_field(number: int, text: bytes) -> bytes:
    tag = number << 3 | 2
    encoded = b""
    while tag > 0x7F:
        encoded += bytes([tag & 0x7F | 0x80])
        tag >>= 7
    return encoded + bytes([tag, len(text)]) + text


@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_an_enum_number_that_is_none_is_refused(scratch: Workspace, method: Method) -> None:
    owner = scratch.owner
    enums = [field for field in method.request_class.DESCRIPTOR.fields if field.enum_type is not None]
    for field in enums:
        number = max(value.number for value in field.enum_type.values) + 1
        value: Any = [number] if field.is_repeated else number
        request = filled(method.request_class, scope_id=method.scope(scratch), **{field.name: value})
        answer = ask(owner.channel, method, request, owner.metadata)
        path = f"{field.name}[0]" if field.is_repeated else field.name
        assert (answer.reason, answer.fields) == ("INVALID_REQUEST", [path])


@pytest.mark.case("A07")
@pytest.mark.parametrize("text", ["x' OR 1=1", "a'}) DETACH DELETE n//", "#memory_type:fact", "$1", "%(a)s", "\\'; --"])
def test_query_text_of_another_language_is_literal_or_refused(scratch: Workspace, text: str) -> None:
    kept = scratch.create(canonical_content=b'{"statement":"kept"}')
    filters = [
        {"object_type": [text]},
        {"predicates": [{"field": text, "op": "COMPARISON_OPERATOR_EQ", "values": ["a"]}]},
        {"predicates": [{"field": "object_id", "op": "COMPARISON_OPERATOR_EQ", "values": [text]}]},
        {"predicates": [{"field": "schema_id", "op": "COMPARISON_OPERATOR_IN", "values": [text, "a"]}]},
    ]
    query = next(method for method in OWN if method.name == "MemoryService/Query")
    owner = scratch.owner
    for given_filters in filters:
        request = memory_pb2.QueryRequest(
            scope_id=scratch.scope_id,
            query={"kind": memory_pb2.QUERY_KIND_STRUCTURED, "filters": given_filters},
            limit=10,
        )
        answer = ask(owner.channel, query, request, owner.metadata)
        if answer.code is grpc.StatusCode.OK:
            assert not memory_pb2.QueryResponse.FromString(answer.responses[0]).results
        else:
            assert answer.reason == "INVALID_REQUEST"
    for scope_id in (f"{scratch.scope_id}' OR 1=1", text):
        request = memory_pb2.QueryRequest(scope_id=scope_id, query={"kind": memory_pb2.QUERY_KIND_STRUCTURED}, limit=10)
        assert ask(owner.channel, query, request, owner.metadata).fields == ["scope_id"]
    assert scratch.read(kept.object_id).envelope.lifecycle_state == common_pb2.LIFECYCLE_STATE_ACTIVE
