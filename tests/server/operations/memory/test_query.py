"""Query: defaults, the gate, and what it refuses (PAMSPEC 10.6, 11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import pytest

from remit.v1 import common_pb2, memory_pb2
from tests.cluster import Refusal, Workspace
from tests.server.operations.memory.requests import (
    ACCEPT_ALL,
    CORROBORATED,
    delete,
    grant,
    query_ids,
    query_page,
    transition,
    update,
)

LIFECYCLES = ("scratch", "candidate", "active", "superseded", "deprecated", "archived")
VALIDATIONS = ("unverified", "corroborated", "disputed", "rejected")
RETENTIONS = ("retained", "expired", "pending_deletion", "legal_hold")


def _lifecycle(name: str) -> int:
    return common_pb2.LifecycleState.Value(f"LIFECYCLE_STATE_{name.upper()}")


def _validation(name: str) -> int:
    return common_pb2.ValidationState.Value(f"VALIDATION_STATE_{name.upper()}")


def _retention(name: str) -> int:
    return common_pb2.RetentionState.Value(f"RETENTION_STATE_{name.upper()}")


@pytest.mark.req("P-9.1-01", "P-9.1-02", "P-9.1-05", "P-9.1-03", "P-10.6-03")
def test_lifecycle_states_but_active_are_found_when_asked_for(workspace: Workspace) -> None:
    made = {
        name: workspace.create(lifecycle_state=_lifecycle(name), validation_state=CORROBORATED).object_id
        for name in LIFECYCLES
    }
    workspace.create()  # active, and unverified
    assert query_ids(workspace) == [made["active"]]
    for name, object_id in made.items():
        assert query_ids(workspace, filters={"lifecycle_state": [_lifecycle(name)]}) == [object_id]


@pytest.mark.req("P-9.2-01", "P-9.2-02", "P-9.2-03", "P-10.6-03")
def test_validation_states_but_corroborated_are_found_when_asked_for(workspace: Workspace) -> None:
    made = {name: workspace.create(validation_state=_validation(name)).object_id for name in VALIDATIONS}
    assert query_ids(workspace) == [made["corroborated"]]
    for name, object_id in made.items():
        assert query_ids(workspace, filters={"validation_state": [_validation(name)]}) == [object_id]


@pytest.mark.req("P-9.4-01", "P-9.4-02", "P-9.4-03", "P-10.6-03")
def test_retention_states_but_retained_are_found_when_asked_for(workspace: Workspace) -> None:
    made = {name: workspace.create(validation_state=CORROBORATED) for name in RETENTIONS}
    assert made["retained"].envelope.retention_state == common_pb2.RETENTION_STATE_RETAINED
    for name in RETENTIONS[1:]:
        transition(workspace, made[name].object_id, made[name].version_id, "retention", name)
    assert query_ids(workspace) == [made["retained"].object_id]
    for name in RETENTIONS:
        # The owner may review, so it sees what is pending deletion.
        assert query_ids(workspace, filters={"retention_state": [_retention(name)]}) == [made[name].object_id]
    assert workspace.read(made["expired"].object_id).content_state == memory_pb2.CONTENT_STATE_PRESENT


@pytest.mark.req("P-9.4-03")
def test_pending_deletion_is_for_reviewers_that_ask(workspace: Workspace) -> None:
    made = [workspace.create(validation_state=CORROBORATED, object_type=kind) for kind in ("claim", "task")]
    for result in made:
        transition(workspace, result.object_id, result.version_id, "retention", "pending_deletion")
    asked = {"retention_state": [_retention("retained"), _retention("pending_deletion")]}
    workspace.allow("actor:reader", "query", "read")
    reader = workspace.cluster.client("actor:reader")
    assert query_ids(workspace, reader, filters=asked) == []
    with pytest.raises(Refusal) as refused:
        workspace.read(made[0].object_id, reader)
    assert refused.value.reason == "RETENTION_RESTRICTION"
    workspace.allow("actor:reader", "review", object_type="task")
    assert query_ids(workspace, reader, filters=asked) == [made[1].object_id]
    assert query_ids(workspace, reader) == []


@pytest.mark.req("P-11-12")
def test_one_object_per_state_and_the_defaults_give_one(workspace: Workspace) -> None:
    wanted = workspace.create(validation_state=CORROBORATED)
    for name in LIFECYCLES:
        if name != "active":
            workspace.create(lifecycle_state=_lifecycle(name), validation_state=CORROBORATED)
    for name in VALIDATIONS:
        if name != "corroborated":
            workspace.create(validation_state=_validation(name))
    for name in RETENTIONS[1:]:
        made = workspace.create(validation_state=CORROBORATED)
        transition(workspace, made.object_id, made.version_id, "retention", name)
    gone = workspace.create(validation_state=CORROBORATED)
    delete(workspace, gone.object_id, gone.version_id)
    page = query_page(workspace)
    assert [row.object_id for row in page.results] == [wanted.object_id]
    assert page.applied_filters == memory_pb2.QueryFilters(
        lifecycle_state=[common_pb2.LIFECYCLE_STATE_ACTIVE],
        availability_state=[common_pb2.AVAILABILITY_STATE_AVAILABLE],
        retention_state=[common_pb2.RETENTION_STATE_RETAINED],
        validation_state=[common_pb2.VALIDATION_STATE_CORROBORATED],
    )
    given = {"object_type": ["claim"], "validation_state": [_validation("disputed")]}
    applied = query_page(workspace, filters=given).applied_filters
    assert list(applied.object_type) == ["claim"]
    assert list(applied.validation_state) == [_validation("disputed")]
    assert list(applied.lifecycle_state) == [common_pb2.LIFECYCLE_STATE_ACTIVE]


def test_removed_objects_come_without_their_parts_and_only_when_asked_for(workspace: Workspace) -> None:
    secret = b'{"secret":"cerulean"}'
    made = workspace.create(
        canonical_content=secret, provenance={"activity": "cerulean"}, validation_state=CORROBORATED
    )
    delete(workspace, made.object_id, made.version_id)
    assert query_ids(workspace) == []
    page = query_page(workspace, filters={"availability_state": [common_pb2.AVAILABILITY_STATE_DELETED]})
    [row] = page.results
    assert row.canonical_content == b'{"tombstone":true}'
    assert b"cerulean" not in page.SerializeToString()
    assert not row.provenance.activity


def _query(scope_id: str, **fields: Any) -> memory_pb2.QueryRequest:
    query = {"kind": memory_pb2.QUERY_KIND_STRUCTURED}
    return memory_pb2.QueryRequest(scope_id=scope_id, **({"query": query, "limit": 10} | fields))


INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "no kind": ({"query": {"filters": {}}}, "query.kind"),
    "no query": ({"query": None}, "query"),
    "no limit": ({"limit": None}, "limit"),
    "limit 0": ({"limit": 0}, "limit"),
    "limit below 0": ({"limit": -7}, "limit"),
    "limit above the maximum": ({"limit": 1001}, "limit"),
    "unknown kind": ({"query": {"kind": 9}}, "query.kind"),
    "unknown order": ({"order": 77}, "order"),
    "cursor of nothing": ({"cursor": "AAAA"}, "cursor"),
    "cursor in other letters": ({"cursor": "ä"}, "cursor"),
}


@pytest.mark.req("P-10.6-01")
@pytest.mark.case("A41")
@pytest.mark.parametrize("name", INVALID)
def test_what_is_missing_or_out_of_bounds_is_refused(workspace: Workspace, name: str) -> None:
    fields, field = INVALID[name]
    with pytest.raises(Refusal) as refused:
        workspace.owner.memory.Query(_query(workspace.scope_id, **fields))
    assert refused.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", [field])


EQ, IN, LT, PRESENT = (
    memory_pb2.ComparisonOperator.Value(f"COMPARISON_OPERATOR_{o}") for o in ("EQ", "IN", "LT", "PRESENT")
)
NE, NOT_IN = (memory_pb2.ComparisonOperator.Value(f"COMPARISON_OPERATOR_{o}") for o in ("NE", "NOT_IN"))
BAD_PREDICATES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown field": ({"field": "dataset_name", "op": EQ, "values": ["other"]}, "field"),
    "a column that is no field": ({"field": "core", "op": PRESENT}, "field"),
    "no operator": ({"field": "object_id", "values": ["x"]}, "op"),
    "unknown operator": ({"field": "object_id", "op": 99, "values": ["x"]}, "op"),
    "order on a text": ({"field": "object_id", "op": LT, "values": ["x"]}, "op"),
    "order on a hash": ({"field": "integrity_digest", "op": LT, "values": ["x"]}, "op"),
    "inequality on a hash": ({"field": "integrity_digest", "op": NE, "values": ["x"]}, "op"),
    "exclusion on a hash": ({"field": "integrity_digest", "op": NOT_IN, "values": ["x"]}, "op"),
    "no value": ({"field": "object_id", "op": EQ}, "values"),
    "two values": ({"field": "sequence", "op": LT, "values": ["1", "2"]}, "values"),
    "an empty list": ({"field": "object_id", "op": IN}, "values"),
    "a value where none belongs": ({"field": "schema_id", "op": PRESENT, "values": ["x"]}, "values"),
    "no number": ({"field": "sequence", "op": IN, "values": ["1", "one"]}, "values[1]"),
    "a number with a space": ({"field": "sequence", "op": EQ, "values": [" 1"]}, "values[0]"),
    "a number beyond 64 bits": ({"field": "sequence", "op": EQ, "values": ["9223372036854775808"]}, "values[0]"),
    "a time without a zone": ({"field": "observed_at", "op": EQ, "values": ["2026-01-01T00:00:00"]}, "values[0]"),
    "a date": ({"field": "observed_at", "op": EQ, "values": ["2026-01-01"]}, "values[0]"),
    "no such day": ({"field": "observed_at", "op": EQ, "values": ["2026-02-30T00:00:00Z"]}, "values[0]"),
    "a leap second": ({"field": "observed_at", "op": EQ, "values": ["2016-12-31T23:59:60Z"]}, "values[0]"),
    "no such zone": ({"field": "observed_at", "op": EQ, "values": ["2026-01-01T00:00:00+24:00"]}, "values[0]"),
    "the year 0": ({"field": "observed_at", "op": EQ, "values": ["0001-01-01T00:00:00+00:01"]}, "values[0]"),
    "digits of another script": ({"field": "sequence", "op": EQ, "values": ["\u0661"]}, "values[0]"),
}


@pytest.mark.case("A03")
@pytest.mark.case("A39")
@pytest.mark.parametrize("name", BAD_PREDICATES)
def test_a_condition_is_refused_when_it_is_not_understood(workspace: Workspace, name: str) -> None:
    predicate, field = BAD_PREDICATES[name]
    good = {"field": "object_id", "op": PRESENT}
    with pytest.raises(Refusal) as refused:
        query_page(workspace, filters={"predicates": [good, predicate]})
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", [f"query.filters.predicates[1].{field}"])


@pytest.mark.case("A03")
def test_a_field_the_contract_does_not_have_is_refused(workspace: Workspace) -> None:
    workspace.create(validation_state=CORROBORATED)
    raw = _query(workspace.scope_id).SerializeToString() + b"\xfa\x07\x05other"  # field 127: "other"
    call = workspace.owner.channel.unary_unary("/remit.v1.MemoryService/Query")
    with pytest.raises(grpc.RpcError) as caught:
        call(raw, metadata=workspace.owner.metadata, timeout=60)
    refused = Refusal(caught.value)
    assert (refused.reason, refused.fields) == ("INVALID_REQUEST", ["#127"])


@pytest.mark.case("A07")
def test_texts_that_look_like_code_are_texts(workspace: Workspace) -> None:
    workspace.create(validation_state=CORROBORATED)
    other = Workspace(workspace.cluster)
    other.create(validation_state=CORROBORATED)
    with pytest.raises(Refusal) as refused:
        workspace.owner.memory.Query(_query(f"{workspace.scope_id}' OR 1=1 --"))
    assert refused.value.reason == "INVALID_REQUEST"
    with pytest.raises(Refusal) as refused:
        query_page(workspace, filters={"predicates": [{"field": "a'}) DETACH DELETE n//", "op": EQ, "values": ["x"]}]})
    assert refused.value.reason == "INVALID_REQUEST"
    for text in ("x' OR '1'='1", "'; delete from remit.memory_objects; --", "%(p0)s", "#memory_type:fact", "%", "\\"):
        for field in ("object_id", "schema_id", "actor_id", "integrity_digest"):
            for operator in (EQ, IN):
                one = {"field": field, "op": operator, "values": [text]}
                assert query_ids(workspace, filters={"predicates": [one]}) == []
    assert len(query_ids(workspace)) == 1
    assert len(query_ids(other)) == 1


@pytest.mark.req("P-11-11", "P-11-10")
def test_the_same_state_gives_the_same_bytes(workspace: Workspace) -> None:
    made = [
        workspace.create(integrity={"digest": "ab", "algorithm": "sha-256"}, observed_at={"seconds": number})
        for number in range(5)
    ]
    pages = [query_page(workspace, filters=ACCEPT_ALL) for _ in range(3)]
    assert len(pages[0].results) == 5
    assert len({b"".join(row.SerializeToString() for row in page.results) for page in pages}) == 1
    reads = [workspace.read(made[0].object_id).envelope.SerializeToString() for _ in range(2)]
    assert reads == [pages[0].results[0].SerializeToString()] * 2


@pytest.mark.req("P-11-07")
def test_times_of_clients_settle_neither_conflicts_nor_order(workspace: Workspace) -> None:
    future = {"seconds": 4_000_000_000}
    first = workspace.create(observed_at=future, asserted_at=future)
    second = workspace.create(observed_at={"seconds": 1}, asserted_at={"seconds": 1})
    assert query_ids(workspace, filters=ACCEPT_ALL) == [first.object_id, second.object_id]
    update(workspace, second.object_id, second.version_id)
    with pytest.raises(Refusal) as refused:
        update(workspace, second.object_id, second.version_id, observed_at=future)
    assert refused.value.reason == "VERSION_CONFLICT"


def _by(predicate: Callable[[Any], bool], made: list[Any]) -> list[str]:
    return [result.object_id for result in made if predicate(result)]


def test_authority_limited_by_type_and_id_filters_rows_before_the_page_is_cut(workspace: Workspace) -> None:
    made = [workspace.create(object_type=("claim", "task", "decision")[number % 3]) for number in range(18)]
    workspace.allow("actor:limited", "query", object_type="task")
    workspace.allow("actor:limited", "query", object_id=made[0].object_id)
    workspace.allow("actor:limited", "query", object_type="decision", object_id=made[2].object_id)
    workspace.allow("actor:limited", "query", object_type="claim", object_id=made[5].object_id)  # it is a decision
    workspace.deny("actor:limited", "query", object_id=made[1].object_id)
    limited = workspace.cluster.client("actor:limited")
    allowed = {made[0].object_id, made[2].object_id}
    expected = _by(lambda r: r.object_id in allowed or r.envelope.object_type == "task", made)
    expected.remove(made[1].object_id)
    assert query_ids(workspace, limited, filters=ACCEPT_ALL) == expected
    page = query_page(workspace, limited, filters=ACCEPT_ALL, limit=3)
    assert [row.object_id for row in page.results] == expected[:3]
    assert query_ids(workspace, limited, filters=ACCEPT_ALL, limit=3) == expected
    # A right that was just given is not missed by an older copy of the rules.
    workspace.allow("actor:limited", "query", object_type="claim")
    assert len(query_ids(workspace, limited, filters=ACCEPT_ALL)) == len(expected) + 5
    workspace.deny("actor:limited", "query")
    with pytest.raises(Refusal) as refused:
        query_page(workspace, limited)
    assert refused.value.denial_reason == "EXPLICIT_DENY"


@pytest.mark.case("A03")
@pytest.mark.req("P-7.5-03")
def test_rows_of_other_workspaces_and_tenants_never_come(workspace: Workspace) -> None:
    with pytest.raises(Refusal) as refused:
        workspace.owner.memory.Query(_query(""))
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", ["scope_id"])
    for other in (Workspace(workspace.cluster), Workspace(workspace.cluster, "globex")):
        other.create(validation_state=CORROBORATED)
    assert query_ids(workspace) == []


def test_a_grant_limits_rows_and_each_page_takes_a_use(workspace: Workspace) -> None:
    made = [workspace.create(object_type=("claim", "task")[number % 2]) for number in range(8)]
    listed = [result.object_id for result in made[2:7]]
    delegation_id = grant(
        workspace,
        "actor:delegate",
        "query",
        granted_object_ids={"values": listed},
        granted_object_types={"values": ["claim"]},
        usage_limit=2,
    )
    delegate = workspace.cluster.client("actor:delegate")
    by_grant: dict[str, Any] = {"client": delegate, "filters": ACCEPT_ALL, "delegation_id": delegation_id}
    first = query_page(workspace, limit=2, **by_grant)
    assert [row.object_id for row in first.results] == [made[2].object_id, made[4].object_id]
    second = query_page(workspace, limit=2, cursor=first.cursor, **by_grant)
    assert [row.object_id for row in second.results] == [made[6].object_id]
    assert not second.cursor
    uses = [event for event in workspace.events() if event.delegation_id == delegation_id and event.use_number]
    assert [event.event_id for event in uses] == [*first.event_ids, *second.event_ids]
    with pytest.raises(Refusal) as refused:
        query_page(workspace, **by_grant)
    assert refused.value.denial_reason == "USAGE_LIMIT_EXHAUSTED"
    # A grant is never a fallback for the lack of one's own right, nor the other way round.
    with pytest.raises(Refusal) as refused:
        query_page(workspace, delegate)
    assert refused.value.denial_reason == "NO_RULE"


def test_a_refused_query_takes_no_use(workspace: Workspace) -> None:
    delegation_id = grant(workspace, "actor:delegate", "query", usage_limit=1)
    delegate = workspace.cluster.client("actor:delegate")
    with pytest.raises(Refusal):
        workspace.owner.memory.Query(_query(workspace.scope_id, limit=None))
    with pytest.raises(Refusal) as refused:
        query_page(workspace, delegate, delegation_id=delegation_id, cursor="AAAA")
    assert refused.value.fields == ["cursor"]
    assert query_page(workspace, delegate, delegation_id=delegation_id).event_ids
