"""What an actor may not know of looks as what is not there: the same bytes, whatever limits its authority (P-14-04)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Client, Cluster, Workspace
from tests.contract.denials import events_of_operation, new_operation_id, payload_of
from tests.contract.requests import filled
from tests.contract.wire import OWN, Answer, Method, ask
from tests.server.operations.delegation.grants import grant
from tests.server.operations.memory.requests import delete

WORKER = "actor:worker"
DERIVED = ("derived.read", "derived.write")
"""What no grant conveys."""
ACTIONS = ("read", "update", "transition.lifecycle", "delete", "redact", "relate", "inspect_history", "query", *DERIVED)
OPERATIONS = ("read", "update", "transition", "delete", "redact", "relate", "inspect_history", "query")
METHODS = {method.name.split("/")[1]: method for method in OWN}
# Create makes its object: what is there is told apart below.
OF_OBJECTS = [method for method in OWN if method.access.object_id_fields and not method.access.object_type_fields]


@dataclass(frozen=True)
class Hidden:
    """A worker's client and grant, ids of what it may not know of, of what is not there, and of what it may read."""

    workspace: Workspace
    worker: Client
    delegation_id: str
    ids: dict[str, str]
    visible: str

    def ask(self, method: Method, object_id: str, operation_id: str) -> Answer:
        """The worker's call about an object."""
        request = filled(
            method.request_class,
            scope_id=self.workspace.scope_id,
            operation_id=operation_id,
            delegation_id=self.delegation_id,
            target_object_id=self.visible,
            **dict.fromkeys(method.access.object_id_fields, object_id),
            expected_version_id="urn:x:some-version",
            limit=10,
        )
        return ask(self.worker.channel, method, request, self.worker.metadata)

    def seen(self, method: Method, object_id: str) -> tuple[Any, ...]:
        """All that the worker learns, but for its operation's id."""
        operation_id = new_operation_id()
        return self.ask(method, object_id, operation_id).seen(operation_id)


def by_type(workspace: Workspace, _: str) -> str:
    """Rules for tasks."""
    workspace.allow(WORKER, *ACTIONS, object_type="task")
    return ""


def by_id(workspace: Workspace, visible: str) -> str:
    """Rules for one object."""
    workspace.allow(WORKER, *ACTIONS, object_id=visible)
    return ""


def by_deny_of_type(workspace: Workspace, _: str) -> str:
    """Rules for everything, but for claims."""
    workspace.allow(WORKER, *ACTIONS)
    workspace.deny(WORKER, *ACTIONS, object_type="claim")
    return ""


def by_grant_of_types(workspace: Workspace, _: str) -> str:
    """A grant for tasks."""
    return grant(workspace, *OPERATIONS, delegate=WORKER, granted_object_types=["task"]).delegation_id


def by_grant_of_ids(workspace: Workspace, visible: str) -> str:
    """A grant for one object."""
    return grant(workspace, *OPERATIONS, delegate=WORKER, granted_object_ids=[visible]).delegation_id


def by_grant_and_deny(workspace: Workspace, _: str) -> str:
    """A grant for everything, and rules that deny claims."""
    workspace.deny(WORKER, *ACTIONS, object_type="claim")
    return grant(workspace, *OPERATIONS, delegate=WORKER).delegation_id


def by_grantors_rules(workspace: Workspace, _: str) -> str:
    """A grant for tasks by somebody who holds no more."""
    workspace.allow("actor:lead", *ACTIONS, "transition.availability", "transition.retention", object_type="task")
    workspace.allow("actor:lead", "transition.validation", "delegate", object_type="task")
    lead = workspace.cluster.client("actor:lead")
    made = grant(workspace, *OPERATIONS, by=lead, delegate=WORKER, granted_object_types=["task"])
    return made.delegation_id


AUTHORITIES = [
    by_type,
    by_id,
    by_deny_of_type,
    by_grant_of_types,
    by_grant_of_ids,
    by_grant_and_deny,
    by_grantors_rules,
]


@pytest.fixture(params=AUTHORITIES, ids=lambda limit: limit.__name__, scope="module")
def hidden(request: pytest.FixtureRequest, cluster: Cluster) -> Hidden:
    """Objects that an authority of one kind does not reach."""
    limit: Callable[[Workspace, str], str] = request.param
    workspace = Workspace(cluster)
    visible = workspace.create(object_type="task").object_id
    gone = workspace.create()
    delete(workspace, gone.object_id, gone.version_id)
    ids = {
        "live": workspace.create().object_id,
        "tombstoned": gone.object_id,
        "of another workspace": Workspace(cluster).create().object_id,
        "absent": "urn:uuid:01900000-0000-7000-8000-000000000000",
        "of a short name": "urn:x:1",
    }
    return Hidden(workspace, cluster.client(WORKER), limit(workspace, visible), ids, visible)


@pytest.mark.req("P-14-04")
@pytest.mark.parametrize("method", OF_OBJECTS, ids=lambda method: method.name)
def test_hidden_and_absent_are_told_alike(hidden: Hidden, method: Method) -> None:
    seen = {name: hidden.seen(method, object_id) for name, object_id in hidden.ids.items()}
    assert len(set(seen.values())) == 1, seen
    answer = hidden.ask(method, hidden.ids["live"], new_operation_id())
    assert (answer.code, answer.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ACCESS_DENIED")
    if hidden.delegation_id and method.access.action in DERIVED:
        return
    # The authority is one, and not of nothing.
    assert hidden.ask(method, hidden.visible, new_operation_id()).reason != "ACCESS_DENIED"


@pytest.mark.parametrize("method", OF_OBJECTS, ids=lambda method: method.name)
def test_the_ledger_names_no_object_to_who_may_not_know_of_it(hidden: Hidden, method: Method) -> None:
    """An event is read by those who may read the ledger; it holds a digest of the id, the same for hidden and absent."""
    keys = set()
    for object_id in (hidden.ids["live"], hidden.ids["absent"]):
        operation_id = new_operation_id()
        hidden.ask(method, object_id, operation_id)
        [event] = events_of_operation(hidden.workspace.owner, hidden.workspace.scope_id, operation_id)
        assert event.event_type == ledger_pb2.EVENT_TYPE_ACCESS_DENIED
        assert object_id not in str(event)
        keys.add(frozenset(payload_of(event)) - {"policy_rule_id"})
    assert len(keys) == 1


def rows_seen(hidden: Hidden, name: str, **fields: Any) -> bytes:
    """What a listing answers the worker, its operation's id taken out."""
    operation_id = new_operation_id()
    method = METHODS[name]
    request = filled(
        method.request_class,
        scope_id=hidden.workspace.scope_id,
        operation_id=operation_id,
        delegation_id=hidden.delegation_id,
        limit=10,
        **fields,
    )
    answer = ask(hidden.worker.channel, method, request, hidden.worker.metadata)
    assert answer.code is grpc.StatusCode.OK, answer
    return b"".join(answer.responses).replace(operation_id.encode(), b"-" * len(operation_id))


def test_a_query_for_hidden_objects_finds_nothing(hidden: Hidden) -> None:
    for object_id in hidden.ids.values():
        predicate = memory_pb2.Predicate(field="object_id", op=memory_pb2.COMPARISON_OPERATOR_EQ, values=[object_id])
        filters = memory_pb2.QueryFilters(
            predicates=[predicate], lifecycle_state=range(1, 7), validation_state=range(1, 5)
        )
        expression = memory_pb2.QueryExpression(kind=memory_pb2.QUERY_KIND_STRUCTURED, filters=filters)
        response = memory_pb2.QueryResponse.FromString(rows_seen(hidden, "Query", query=expression))
        assert (len(response.results), response.cursor) == (0, "")


def test_a_listing_of_grants_tells_no_hidden_object(hidden: Hidden) -> None:
    """Of a hidden object one learns which grants name it or name nothing, as of an absent one."""
    seen = {rows_seen(hidden, "ListDelegations", object_id=object_id) for object_id in hidden.ids.values()}
    assert len(seen) == 1


def test_an_explanation_tells_no_hidden_object(hidden: Hidden) -> None:
    for operation in ("read", "update", "delete"):
        seen = set()
        for object_id in hidden.ids.values():
            fields = {"object_id": object_id, "operation": operation, "target_delegation_id": hidden.delegation_id}
            seen.add(rows_seen(hidden, "ExplainAccess", **fields))
        assert len(seen) == 1


def test_a_check_tells_no_hidden_object(hidden: Hidden) -> None:
    for name, method in (("CheckDelegation", METHODS["CheckDelegation"]), ("Batch", METHODS["BatchCheckDelegation"])):
        seen = set()
        for object_id in hidden.ids.values():
            operation_id = new_operation_id()
            check = {
                "target_delegation_id": hidden.delegation_id or "urn:x:none",
                "delegated_actor_id": WORKER,
                "operation": "read",
                "object_id": object_id,
            }
            fields = {"check": check, "dry_run": True} if name == "CheckDelegation" else {"checks": [check]}
            scope_id = hidden.workspace.scope_id
            request = filled(method.request_class, scope_id=scope_id, operation_id=operation_id, **fields)
            answer = ask(hidden.worker.channel, method, request, hidden.worker.metadata)
            seen.add((answer.seen(operation_id)[:3], answer.raw.replace(operation_id.encode(), b"")))
        assert len(seen) == 1, seen


@pytest.mark.parametrize("expect_absent", [False, True])
def test_an_id_that_is_taken_is_told_one_way(cluster: Cluster, workspace: Workspace, expect_absent: bool) -> None:
    workspace.allow(WORKER, "create")
    live, gone = workspace.create(), workspace.create(object_type="task")
    delete(workspace, gone.object_id, gone.version_id)
    worker = cluster.client(WORKER)
    method = METHODS["Create"]
    seen = set()
    for object_id in (live.object_id, gone.object_id):
        operation_id = new_operation_id()
        request = filled(
            method.request_class,
            scope_id=workspace.scope_id,
            operation_id=operation_id,
            object_id=object_id,
            expect_absent=expect_absent,
        )
        answer = ask(worker.channel, method, request, worker.metadata)
        assert answer.reason == ("VERSION_CONFLICT" if expect_absent else "INVALID_REQUEST")
        assert live.version_id.encode() not in answer.raw
        seen.add(answer.seen(operation_id))
    assert len(seen) == 1


OF_GRANTS = [
    method
    for method in OWN
    if method.takes("target_delegation_id") and method.name != "DelegationService/ExplainAccess"
]


@pytest.mark.parametrize("method", OF_GRANTS, ids=lambda method: method.name)
def test_a_grant_of_others_is_told_as_one_that_is_not_there(
    cluster: Cluster, workspace: Workspace, method: Method
) -> None:
    workspace.allow(WORKER, "read")
    there = grant(workspace, "read", delegate="actor:somebody").delegation_id
    elsewhere = grant(Workspace(cluster), "read", delegate="actor:somebody").delegation_id
    worker = cluster.client(WORKER)
    seen = set()
    for delegation_id in (there, elsewhere, "urn:x:none"):
        operation_id = new_operation_id()
        request = filled(
            method.request_class,
            scope_id=workspace.scope_id,
            operation_id=operation_id,
            target_delegation_id=delegation_id,
        )
        answer = ask(worker.channel, method, request, worker.metadata)
        assert answer.reason == "ACCESS_DENIED"
        seen.add(answer.seen(operation_id))
        [event] = events_of_operation(workspace.owner, workspace.scope_id, operation_id)
        assert event.delegation_id == ""
    assert len(seen) == 1
