"""Every error a caller can reach: its code, its details and nothing of what was sent (PAMSPEC 14; surface.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest

from remit.v1 import admin_pb2, common_pb2, errors_pb2, ledger_pb2, memory_pb2
from server.errors import ERROR_DOMAIN, ERROR_TABLE
from tests.cluster import ADMIN, Client, Cluster, Workspace
from tests.contract.denials import CANARY, new_operation_id
from tests.contract.requests import filled
from tests.contract.wire import OWN, Answer, ask
from tests.server.operations.delegation.grants import at, grant, grant_request
from tests.server.operations.memory.requests import delete, transition

METHODS = {method.name.split("/")[1]: method for method in OWN}
CONTENT = f'{{"statement":"{CANARY}"}}'.encode()
STATUS = {
    "invalid_request": grpc.StatusCode.INVALID_ARGUMENT,
    "invalid_object": grpc.StatusCode.INVALID_ARGUMENT,
    "unsupported_object_type": grpc.StatusCode.INVALID_ARGUMENT,
    "embedding_space_mismatch": grpc.StatusCode.INVALID_ARGUMENT,
    "object_not_found": grpc.StatusCode.NOT_FOUND,
    "scope_not_found": grpc.StatusCode.NOT_FOUND,
    "snapshot_not_found": grpc.StatusCode.NOT_FOUND,
    "object_deleted": grpc.StatusCode.NOT_FOUND,
    "access_denied": grpc.StatusCode.PERMISSION_DENIED,
    "policy_denied": grpc.StatusCode.FAILED_PRECONDITION,
    "invalid_state_transition": grpc.StatusCode.FAILED_PRECONDITION,
    "relationship_conflict": grpc.StatusCode.FAILED_PRECONDITION,
    "retention_restriction": grpc.StatusCode.FAILED_PRECONDITION,
    "legal_hold": grpc.StatusCode.FAILED_PRECONDITION,
    "object_redacted": grpc.StatusCode.FAILED_PRECONDITION,
    "version_conflict": grpc.StatusCode.ABORTED,
    "duplicate_operation": grpc.StatusCode.ALREADY_EXISTS,
    "service_unavailable": grpc.StatusCode.UNAVAILABLE,
    "internal_error": grpc.StatusCode.INTERNAL,
}
"""The binding's fixed status of each code, written a second time."""


@dataclass(frozen=True)
class Cause:
    """A call that is refused: the method's name, what its request holds, who calls, and the details it must tell."""

    method: str
    fields: dict[str, Any]
    actor_id: str = ADMIN
    scope_id: str = ""
    told: dict[str, str] = field(default_factory=dict)
    bad_field: str = ""


Prepare = Callable[[Workspace], Cause]


def _missing_field(_: Workspace) -> Cause:
    return Cause("Read", {"object_id": ""}, bad_field="object_id")


def _score_beyond_one(_: Workspace) -> Cause:
    signals = common_pb2.QualitySignals(assessed_confidence=1.5)
    return Cause("Create", {"quality_signals": signals}, bad_field="quality_signals.assessed_confidence")


def _unknown_type(_: Workspace) -> Cause:
    return Cause("Create", {"object_type": "widget"})


def _unknown_object(_: Workspace) -> Cause:
    return Cause("Read", {"object_id": "urn:x:unknown"})


def _other_workspace(workspace: Workspace) -> Cause:
    return Cause("Read", {"object_id": Workspace(workspace.cluster).create().object_id})


def _unknown_scope(_: Workspace) -> Cause:
    return Cause("Read", {"object_id": "urn:x:unknown"}, scope_id="workspace:unknown")


def _reader_deletes(workspace: Workspace) -> Cause:
    workspace.allow("actor:reader", "read")
    made = workspace.create()
    fields = {"object_id": made.object_id, "expected_version_id": made.version_id}
    return Cause("Delete", fields, actor_id="actor:reader", told={"denial_reason": "NO_RULE"})


def _denied_by_rule(workspace: Workspace) -> Cause:
    [rule_id] = workspace.deny("actor:reader", "read")
    told = {"denial_reason": "EXPLICIT_DENY", "policy_rule_id": rule_id}
    return Cause("Read", {"object_id": "urn:x:1"}, actor_id="actor:reader", told=told)


def _inverted_window(workspace: Workspace) -> Cause:
    request = grant_request(workspace, "read", not_before=at(60), not_after=at(0))
    fields = {name.name: value for name, value in request.ListFields()}
    return Cause("GrantDelegation", fields | {"policy_basis": CANARY})


def _stale_version(workspace: Workspace) -> Cause:
    made = workspace.create()
    newer = transition(workspace, made.object_id, made.version_id, "lifecycle", "archived")
    told = {"current_version_id": newer.version_id, "expected_version_id": made.version_id}
    fields = {"object_id": made.object_id, "expected_version_id": made.version_id}
    return Cause("Update", fields | {"canonical_content": CONTENT}, told=told)


def _stale_without_read(workspace: Workspace) -> Cause:
    cause = _stale_version(workspace)
    workspace.allow("actor:writer", "update")
    told = {"expected_version_id": cause.told["expected_version_id"], "current_version_id": ""}
    return Cause("Update", cause.fields, actor_id="actor:writer", told=told)


def _used_key(workspace: Workspace) -> Cause:
    workspace.create(idempotency_key="used", canonical_content=b'"another"')
    return Cause("Create", {"idempotency_key": "used"})


def _archived_to_scratch(workspace: Workspace) -> Cause:
    made = workspace.create()
    moved = transition(workspace, made.object_id, made.version_id, "lifecycle", "archived")
    fields = {
        "object_id": made.object_id,
        "expected_version_id": moved.version_id,
        "dimension": memory_pb2.DIMENSION_LIFECYCLE,
        "target_state": "scratch",
    }
    return Cause("Transition", fields)


def _pending_deletion(workspace: Workspace) -> Cause:
    made = workspace.create()
    moved = transition(workspace, made.object_id, made.version_id, "retention", "pending_deletion")
    fields = {"object_id": made.object_id, "expected_version_id": moved.version_id, "canonical_content": CONTENT}
    return Cause("Update", fields)


def _kept_for_a_minimum(workspace: Workspace) -> Cause:
    scope_id = f"{workspace.scope_id}-kept"
    workspace.owner.admin.CreateWorkspace(
        admin_pb2.CreateWorkspaceRequest(
            scope_id=f"tenant:{workspace.tenant_id}",
            new_scope_id=scope_id,
            scope_kind="workspace",
            policy={"minimum_retention_seconds": 3600},
        )
    )
    made = workspace.owner.memory.Create(
        memory_pb2.CreateRequest(
            scope_id=scope_id, object_type="claim", canonical_content=CONTENT, provenance={"activity": "observed"}
        )
    ).result
    fields = {"object_id": made.object_id, "expected_version_id": made.version_id}
    return Cause("Delete", fields, scope_id=scope_id)


def _deleted_target(workspace: Workspace) -> Cause:
    source, target = workspace.create(), workspace.create()
    delete(workspace, target.object_id, target.version_id)
    fields = {
        "source_object_id": source.object_id,
        "target_object_id": target.object_id,
        "relationship_type": "supports",
        "directionality": memory_pb2.DIRECTIONALITY_DIRECTED,
    }
    return Cause("Relate", fields)


def _vector_without_space(workspace: Workspace) -> Cause:
    made = workspace.create()
    fields = {
        "source_object_id": made.object_id,
        "source_version_id": made.version_id,
        "artifact_type": "embedding",
        "artifact_id": "artifact:1",
        "vector": [1.0, 0.0],
    }
    return Cause("RegisterDerivative", fields)


def _unknown_snapshot(workspace: Workspace) -> Cause:
    return Cause("Read", {"object_id": workspace.create().object_id, "snapshot_id": "urn:x:unknown"})


def _held(workspace: Workspace) -> Cause:
    made = workspace.create()
    moved = transition(workspace, made.object_id, made.version_id, "retention", "legal_hold")
    return Cause("Delete", {"object_id": made.object_id, "expected_version_id": moved.version_id})


def _redacted(workspace: Workspace) -> Cause:
    made = workspace.create(canonical_content=CONTENT)
    transition(workspace, made.object_id, made.version_id, "availability", "redacted")
    return Cause("Read", {"object_id": made.object_id})


def _deleted(workspace: Workspace) -> Cause:
    made = workspace.create(canonical_content=CONTENT)
    delete(workspace, made.object_id, made.version_id)
    return Cause("Read", {"object_id": made.object_id})


def _case(code: str, prepare: Prepare, *ids: str) -> Any:
    marks = [pytest.mark.req(*ids)] if ids else []
    return pytest.param(code, prepare, id=f"{code}-{prepare.__name__.strip('_')}", marks=marks)


CASES = [
    _case("invalid_request", _missing_field, "P-14-05"),
    _case("invalid_object", _score_beyond_one, "P-14-06"),
    _case("unsupported_object_type", _unknown_type, "P-14-07"),
    _case("object_not_found", _unknown_object, "P-14-08"),
    _case("object_not_found", _other_workspace, "P-14-08"),
    _case("scope_not_found", _unknown_scope),
    _case("access_denied", _reader_deletes, "P-14-10"),
    _case("access_denied", _denied_by_rule, "P-14-02"),
    _case("policy_denied", _inverted_window, "P-14-11"),
    _case("version_conflict", _stale_version, "P-14-12", "P-14-03", "P-12-02"),
    _case("version_conflict", _stale_without_read, "P-12-02"),
    _case("duplicate_operation", _used_key, "P-14-13"),
    _case("invalid_state_transition", _archived_to_scratch, "P-14-14"),
    _case("retention_restriction", _pending_deletion),
    _case("retention_restriction", _kept_for_a_minimum, "P-14-18"),
    _case("relationship_conflict", _deleted_target, "P-14-15"),
    _case("embedding_space_mismatch", _vector_without_space, "P-14-16"),
    _case("snapshot_not_found", _unknown_snapshot, "P-14-17"),
    _case("legal_hold", _held, "P-14-19"),
    _case("object_redacted", _redacted, "P-14-20"),
    _case("object_deleted", _deleted, "P-14-21"),
]


def refusal_of(cluster: Cluster, workspace: Workspace, cause: Cause, operation_id: str) -> Answer:
    """Makes the call, with the canary wherever free text may stand."""
    client: Client = cluster.client(cause.actor_id)
    values = {
        "scope_id": cause.scope_id or workspace.scope_id,
        "operation_id": operation_id,
        "correlation_id": "correlation-1",
        "purpose": CANARY,
        "policy_basis": CANARY,
        "provenance": {"activity": CANARY, "source_ref": CANARY},
        "canonical_content": CONTENT,
        "object_id": "",
    }
    method = METHODS[cause.method]
    known = {name: value for name, value in (values | cause.fields).items() if name != "object_id" or value}
    if cause.fields.get("object_id") == "":
        known["object_id"] = ""
    if cause.method != "Update" or "canonical_content" in cause.fields:
        known.setdefault("canonical_content", CONTENT)
    return ask(client.channel, method, filled(method.request_class, **known), client.metadata)


@pytest.mark.req("P-14-01", "P-18.10-01")
@pytest.mark.parametrize(("code", "prepare"), CASES)
def test_each_code_comes_with_its_details(cluster: Cluster, workspace: Workspace, code: str, prepare: Prepare) -> None:
    cause = prepare(workspace)
    operation_id = new_operation_id()
    answer = refusal_of(cluster, workspace, cause, operation_id)
    assert answer.pamspec is not None, answer
    assert answer.pamspec.code == code, answer
    mapping = next(mapping for mapping in ERROR_TABLE.values() if mapping.code == code)
    assert answer.code is mapping.grpc_status is STATUS[code]
    assert answer.status.code == answer.code.value[0]
    info, pamspec = answer.info, answer.pamspec
    assert (info.reason, info.domain) == (code.upper(), ERROR_DOMAIN)
    assert answer.message == answer.status.message == pamspec.message != ""
    assert pamspec.retryable is mapping.retryable is (info.metadata["retryable"] == "true")
    assert pamspec.operation_id == info.metadata["operation_id"] == operation_id
    assert pamspec.correlation_id == info.metadata["correlation_id"] == "correlation-1"
    for name, value in cause.told.items():
        assert info.metadata.get(name, "") == value, name
    assert answer.fields == ([cause.bad_field] if cause.bad_field else [])
    assert answer.retry is None
    kinds = [detail.type_url.rsplit(".", 1)[1] for detail in answer.status.details]
    assert kinds[:2] == ["ErrorInfo", "PamspecError"]
    # Nothing of what was sent comes back but ids.
    assert CANARY.encode() not in answer.raw, answer


def test_every_code_is_reached() -> None:
    codes = {mapping.code: mapping.grpc_status for mapping in ERROR_TABLE.values() if mapping.code is not None}
    # The other two are met in test_outages.py.
    reached = {case.values[0] for case in CASES} | {"service_unavailable", "internal_error"}
    assert codes == STATUS
    assert reached == STATUS.keys()
    assert len(codes) == 19


def test_only_a_conflict_is_worth_trying_again_after_a_refetch(workspace: Workspace) -> None:
    cause = _stale_version(workspace)
    fields = cause.fields | {"expected_version_id": cause.told["current_version_id"]}
    answer = refusal_of(workspace.cluster, workspace, Cause("Update", fields), new_operation_id())
    assert answer.code is grpc.StatusCode.OK


def test_an_operation_without_id_gets_one(workspace: Workspace) -> None:
    owner = workspace.owner
    for request in (b"\xff", memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id="urn:x:1")):
        answer = ask(owner.channel, METHODS["Read"], request, owner.metadata)
        assert answer.pamspec.operation_id.startswith("urn:uuid:")
        assert answer.pamspec.operation_id == answer.info.metadata["operation_id"]


@pytest.mark.parametrize("bad", ["no grammar", "a:b\n", "x" * 400])
def test_ids_that_are_none_are_not_echoed(workspace: Workspace, bad: str) -> None:
    """And those that are, are, whatever else the request breaks."""
    owner = workspace.owner
    for name in ("operation_id", "correlation_id"):
        request = memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id="urn:x:1", **{name: bad})
        answer = ask(owner.channel, METHODS["Read"], request, owner.metadata)
        assert answer.fields == [name]
        assert bad.encode() not in answer.raw


@pytest.mark.req("P-13-04")
def test_a_denial_holds_no_content(cluster: Cluster, workspace: Workspace) -> None:
    [rule_id] = workspace.deny("actor:reader", "read")
    made = workspace.create(canonical_content=CONTENT, provenance={"activity": CANARY, "source_ref": CANARY})
    reader = cluster.client("actor:reader")
    request = memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id=made.object_id)
    answer = ask(reader.channel, METHODS["Read"], request, reader.metadata)
    assert answer.pamspec.policy_rule_id == rule_id
    told = {detail.name for detail in answer.pamspec.details}
    assert told == {"denial_reason"}
    empty = errors_pb2.PamspecError()
    assert (answer.pamspec.object_id, answer.pamspec.current_version_id) == (empty.object_id, empty.current_version_id)
    assert CANARY.encode() not in answer.raw


@pytest.mark.req("P-13-03")
def test_a_batch_with_one_denied_part_tells_no_other_part(cluster: Cluster, workspace: Workspace) -> None:
    own = grant(workspace, "read", delegate="actor:worker").delegation_id
    other = grant(workspace, "read", delegate="actor:somebody").delegation_id
    worker = cluster.client("actor:worker")
    method = METHODS["BatchCheckDelegation"]
    mine, theirs = (
        {"target_delegation_id": target, "delegated_actor_id": actor_id, "operation": "read"}
        for target, actor_id in ((own, "actor:worker"), (other, "actor:somebody"))
    )
    for checks, reason in (([mine], ""), ([mine, theirs], "ACCESS_DENIED"), ([theirs, mine], "ACCESS_DENIED")):
        request = filled(method.request_class, scope_id=workspace.scope_id, checks=checks)
        answer = ask(worker.channel, method, request, worker.metadata)
        assert (answer.reason, len(answer.responses)) == (reason, 0 if reason else 1)
        assert other.encode() not in answer.raw


@pytest.mark.parametrize("name", ["Read", "Update", "Query", "InspectHistory", "ListEvents", "VerifyLedger"])
def test_a_denied_call_across_workspaces_is_no_partial_success(
    cluster: Cluster, workspace: Workspace, name: str
) -> None:
    """With rights in one workspace, nothing of another comes back."""
    other = Workspace(cluster)
    made = other.create(canonical_content=CONTENT)
    workspace.allow("actor:worker", "read", "update", "query", "inspect_history", "ledger.read", "ledger.verify")
    worker = cluster.client("actor:worker")
    method = METHODS[name]
    request = filled(method.request_class, scope_id=other.scope_id, object_id=made.object_id, limit=10)
    answer = ask(worker.channel, method, request, worker.metadata)
    assert (answer.reason, answer.responses) == ("SCOPE_NOT_FOUND", ())
    own = filled(method.request_class, scope_id=workspace.scope_id, object_id=made.object_id, limit=10)
    answer = ask(worker.channel, method, own, worker.metadata)
    assert CANARY.encode() not in answer.raw
    assert made.version_id.encode() not in answer.raw
    assert ledger_pb2.EVENT_TYPE_ACCESS_DENIED in {event.event_type for event in other.events()}
