"""Each limit is reached and overstepped by one, through the wire (surface.md, section 1; A07, A30, A46, B06)."""

from __future__ import annotations

import uuid
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from remit.v1 import access_pb2, memory_pb2
from tests.cluster import Workspace
from tests.contract.conftest import IssuedCluster
from tests.contract.requests import filled, rules_of
from tests.contract.wire import OWN, SCOPED, Answer, Method, ask
from tests.server.operations.delegation.grants import grant

MEBIBYTE = 1 << 20
ID_BYTES_MAX = 256
SECONDS_MAX = 253_402_300_799
CREATE = next(method for method in OWN if method.name == "MemoryService/Create")
QUERY = next(method for method in OWN if method.name == "MemoryService/Query")


def sent(workspace: Workspace, method: Method, request: Any) -> Answer:
    """The owner's call."""
    owner = workspace.owner
    return ask(owner.channel, method, request, owner.metadata)


def with_fields(workspace: Workspace, method: Method, **fields: Any) -> Any:
    """A sound request with some fields set."""
    return filled(method.request_class, **({"scope_id": method.scope(workspace)} | fields))


def refused(answer: Answer, field: str, reason: str = "INVALID_REQUEST") -> None:
    """Holds an answer to be a refusal of one field."""
    assert (answer.code, answer.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason), answer
    assert answer.fields == [field]


def content_of(size: int) -> bytes:
    """A JSON text of so many bytes."""
    return b'"' + b"x" * (size - 2) + b'"'


@pytest.mark.case("A46")
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_the_largest_content(workspace: Workspace, over: int) -> None:
    content = content_of(MEBIBYTE + over)
    answer = sent(workspace, CREATE, with_fields(workspace, CREATE, canonical_content=content))
    if over > 0:
        refused(answer, "canonical_content", "INVALID_OBJECT")
        return
    object_id = memory_pb2.CreateResponse.FromString(answer.responses[0]).result.object_id
    assert workspace.read(object_id).envelope.canonical_content == content


@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_a_message_beyond_the_largest_is_refused_by_the_transport(workspace: Workspace, method: Method) -> None:
    answer = sent(workspace, method, bytes(4 * MEBIBYTE + 1))
    assert (answer.code, answer.pamspec) == (grpc.StatusCode.RESOURCE_EXHAUSTED, None)
    # Of the largest size a message is read, and judged by what it says.
    assert sent(workspace, method, bytes(4 * MEBIBYTE)).reason == "INVALID_REQUEST"


def _id_fields() -> list[Any]:
    grammars = {access_pb2.GRAMMAR_ID, access_pb2.GRAMMAR_ACTOR_ID, access_pb2.GRAMMAR_ROLE_ID}
    return [
        pytest.param(method, field.name, id=f"{method.name}-{field.name}")
        for method in SCOPED
        for field in method.request_class.DESCRIPTOR.fields
        if rules_of(field).grammar in grammars and field.type == field.TYPE_STRING
    ]


@pytest.mark.req("P-8.1-26")
@pytest.mark.case("B06")
@pytest.mark.parametrize(("method", "field"), _id_fields())
def test_ids_have_one_form(workspace: Workspace, method: Method, field: str) -> None:
    prefix = "role:" if field == "role_id" else "actor:"
    longest = (prefix + uuid.uuid4().hex).ljust(ID_BYTES_MAX, "x")
    outside = [
        "no colon",
        "nocolon",
        f"{prefix}with space",
        f"{prefix}x\n",
        f"\n{prefix}x",
        f"{prefix}x\0",
        f"{prefix}\u00e9",
        f"{prefix}e\u0301",
        f"\uff41{prefix}x",
        prefix,
        ":x",
        "1:x",
        f"{prefix}x' OR 1=1",
        f"{longest}x",
    ]
    repeated = method.request_class.DESCRIPTOR.fields_by_name[field].is_repeated
    for value in outside:
        request = with_fields(workspace, method, **{field: [value] if repeated else value})
        refused(sent(workspace, method, request), f"{field}[0]" if repeated else field)
    answer = sent(workspace, method, with_fields(workspace, method, **{field: [longest] if repeated else longest}))
    # Of the right form it may still be the id of nothing.
    assert "ASCII" not in answer.message, answer


@pytest.mark.case("B06")
def test_ids_compare_byte_for_byte(issued: IssuedCluster, issued_workspace: Workspace) -> None:
    workspace = issued_workspace
    workspace.allow("actor:A", "read", "create")
    for object_id in ("urn:x:Case", "urn:x:case"):
        workspace.create(object_id=object_id, canonical_content=f'"{object_id}"'.encode())
    upper = issued.client("actor:A")
    for object_id in ("urn:x:Case", "urn:x:case"):
        assert workspace.read(object_id, upper).envelope.canonical_content == f'"{object_id}"'.encode()
    read = next(method for method in OWN if method.name == "MemoryService/Read")
    request = memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id="urn:x:case")
    # Neither another case nor another form of the same letter is the same actor.
    for name in ("actor:a", "actor:A\u0301", "actor:\u00c1", "actor:\uff21"):
        other = issued.client(name)
        assert ask(other.channel, read, request, other.metadata).reason == "SCOPE_NOT_FOUND"
        other.close()
    upper.close()
    request.scope_id = workspace.scope_id.upper()
    assert sent(workspace, read, request).reason == "SCOPE_NOT_FOUND"


def _time_fields() -> list[Any]:
    name = Timestamp.DESCRIPTOR.full_name
    return [
        pytest.param(method, field.name, id=f"{method.name}-{field.name}")
        for method in SCOPED
        for field in method.request_class.DESCRIPTOR.fields
        if field.message_type is not None and field.message_type.full_name == name
    ]


@pytest.mark.case("A30")
@pytest.mark.parametrize(("method", "field"), _time_fields())
def test_times_are_of_the_years_1_to_9999(workspace: Workspace, method: Method, field: str) -> None:
    for seconds, nanos in (
        (SECONDS_MAX + 1, 0),
        (-62_135_596_801, 0),
        (2**63 - 1, 0),
        (-(2**63), 0),
        (0, -1),
        (0, 1_000_000_000),
        (0, 2**31 - 1),
    ):
        bad = Timestamp(seconds=seconds, nanos=nanos)
        refused(sent(workspace, method, with_fields(workspace, method, **{field: bad})), field)


@pytest.mark.case("A30")
def test_times_are_instants_whatever_the_zone_of_the_process(issued_workspace: Workspace) -> None:
    """The process under test runs in America/Los_Angeles."""
    workspace = issued_workspace
    ends = {
        "valid_from": Timestamp(seconds=-62_135_596_800),
        "valid_until": Timestamp(seconds=SECONDS_MAX, nanos=999_999_000),
    }
    observed = Timestamp(seconds=1_767_225_600, nanos=123_456_789)
    made = workspace.create(observed_at=observed, **ends)
    envelope = workspace.read(made.object_id).envelope
    assert (envelope.observed_at.seconds, envelope.observed_at.nanos) == (1_767_225_600, 123_456_000)
    assert (envelope.valid_from, envelope.valid_until) == (ends["valid_from"], ends["valid_until"])
    # 2026-01-01T00:00:00 UTC, said in the zones of Tokyo and of nowhere.
    for text, matches in (("2026-01-01T09:00:00.123456+09:00", True), ("2026-01-01T00:00:00.123456+09:00", False)):
        assert found(workspace, "observed_at", text) == ([made.object_id] if matches else [])
    answer = sent(workspace, QUERY, query_request(workspace, "observed_at", "2026-01-01T09:00:00"))
    refused(answer, "query.filters.predicates[0].values[0]")


def query_request(workspace: Workspace, field: str, text: str) -> memory_pb2.QueryRequest:
    """All objects whose field is equal to a value."""
    predicate = memory_pb2.Predicate(field=field, op=memory_pb2.COMPARISON_OPERATOR_EQ, values=[text])
    states = range(1, 5)
    filters = memory_pb2.QueryFilters(predicates=[predicate], lifecycle_state=range(1, 7), validation_state=states)
    return memory_pb2.QueryRequest(
        scope_id=workspace.scope_id, query={"kind": memory_pb2.QUERY_KIND_STRUCTURED, "filters": filters}, limit=10
    )


def found(workspace: Workspace, field: str, text: str) -> list[str]:
    """The ids that a query finds."""
    return [row.object_id for row in workspace.owner.memory.Query(query_request(workspace, field, text)).results]


PAGED = [method for method in SCOPED if method.takes("limit")]


@pytest.mark.parametrize("method", PAGED, ids=lambda method: method.name)
def test_a_page_has_from_1_to_1000_rows(workspace: Workspace, method: Method) -> None:
    fields = dict.fromkeys(method.access.object_id_fields, workspace.create().object_id)
    fields |= {"target_delegation_id": grant(workspace, "read").delegation_id}
    for limit in (0, -1, 1001, 2**31 - 1, -(2**31)):
        refused(sent(workspace, method, with_fields(workspace, method, limit=limit, **fields)), "limit")
    for limit in (1, 1000):
        answer = sent(workspace, method, with_fields(workspace, method, limit=limit, **fields))
        assert "limit" not in answer.fields
        assert answer.reason not in {"INVALID_REQUEST", "INVALID_OBJECT"}, answer
    for cursor in ("x", "x" * 4096, "\u00e9"):
        refused(sent(workspace, method, with_fields(workspace, method, limit=1, cursor=cursor, **fields)), "cursor")
    refused(sent(workspace, method, with_fields(workspace, method, limit=1, cursor="x" * 4097, **fields)), "cursor")


CONTENTS = [m for m in SCOPED if m.takes("canonical_content")]
REFUSED_TEXTS = {
    "duplicate key": b'{"a":1,"a":2}',
    "duplicate key, escaped": b'{"a":1,"\\u0061":2}',
    "duplicate key, deep": b'[{"a":{"b":1,"b":1}}]',
    "NaN": b'{"a":NaN}',
    "infinity": b"-Infinity",
    "lone surrogate": b'"\\ud800"',
    "surrogates in the wrong order": b'"\\udc00\\ud800"',
    "surrogate in bytes": b'"\xed\xa0\x80"',
    "NUL": b'"\\u0000"',
    "NUL in bytes": b'"\0"',
    "NUL in a key": b'{"\\u0000":1}',
    "depth 65": b"[" * 65 + b"]" * 65,
    "depth 65 of objects": b'{"a":' * 65 + b"1" + b"}" * 65,
    "never closed": b"[" * 100_000,
    "cut through a character": '"\u00e9"'.encode()[:-2],
    "not UTF-8": b'"\xff"',
    "two values": b"1 2",
    "a byte order mark": b"\xef\xbb\xbf1",
    "single quotes": b"{'a':1}",
    "a comma too many": b"[1,]",
    "a leading zero": b"01",
    "nothing but space": b"  ",
}
TAKEN_TEXTS = {
    "depth 64": b"[" * 64 + b"]" * 64,
    "brackets in a string": b'"' + b"[" * 1000 + b'"',
    "integer beyond 2^53": b"9007199254740993",
    "number beyond a double": b"1e400",
    "4000 digits": b"1" * 4000,
    "emoji": '"\U0001f600"'.encode(),
    "emoji, escaped": b'"\\ud83d\\ude00"',
    "composed and not": '"\u00e9 e\u0301"'.encode(),
    "spaces as they were": b' { "a" :\n1 } ',
    "escaped backslash before u0000": b'"\\\\u0000"',
    "empty key": b'{"":1}',
    "null": b"null",
    "true": b"true",
    "object": b'{"a":{"b":[1,2.50,"x"]}}',
    "array": b"[]",
}


@pytest.mark.case("A46")
@pytest.mark.parametrize("method", CONTENTS, ids=lambda method: method.name)
@pytest.mark.parametrize("content", REFUSED_TEXTS.values(), ids=REFUSED_TEXTS.keys())
def test_a_text_that_is_not_one_json_value_is_refused(workspace: Workspace, method: Method, content: bytes) -> None:
    answer = sent(workspace, method, with_fields(workspace, method, canonical_content=content))
    refused(answer, "canonical_content", "INVALID_OBJECT")
    assert content.decode("latin-1") not in answer.message


@pytest.mark.req("P-8.1-08")
@pytest.mark.case("A46")
def test_contents_come_back_byte_for_byte(workspace: Workspace) -> None:
    for name, content in TAKEN_TEXTS.items():
        made = workspace.create(canonical_content=content)
        assert made.envelope.canonical_content == content, name
        assert workspace.read(made.object_id).envelope.canonical_content == content, name
