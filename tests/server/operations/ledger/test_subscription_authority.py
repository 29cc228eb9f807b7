"""Delivery by the authority of now: whatever takes it away ends the subscription before the next event (P-10.8-09; Q37)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from remit.v1 import admin_pb2, ledger_pb2
from tests.cluster import Client, Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.server.operations.delegation.grants import (
    events_of,
    grant,
    payload,
    permit,
    remove_rule,
    revoke,
    sub_request,
)
from tests.server.operations.ledger.subscriptions import (
    CLOSED,
    CREATED,
    end_of,
    poll,
    stream,
    subscribe,
    take,
)
from tests.server.operations.memory.relationships import permit as permit_relationships
from tests.server.operations.memory.relationships import relate

SUBSCRIBER = "actor:subscriber"
ROLE = "role:watcher"
CloneDatabase = Callable[[], AbstractContextManager[DatabaseDsns]]
Given = tuple[str, Callable[[], object]]
"""The grant to subscribe under, if any, and what takes the authority away."""


def bind(workspace: Workspace) -> None:
    request = admin_pb2.BindRoleRequest(scope_id=workspace.scope_id, actor_id=SUBSCRIBER, role_id=ROLE)
    workspace.owner.admin.BindRole(request)


def by_rule(workspace: Workspace) -> Given:
    [rule_id] = workspace.allow(SUBSCRIBER, "subscribe")
    return "", lambda: remove_rule(workspace, rule_id)


def by_deny(workspace: Workspace) -> Given:
    workspace.allow(SUBSCRIBER, "subscribe")
    return "", lambda: workspace.deny(SUBSCRIBER, "subscribe")


def by_role(workspace: Workspace) -> Given:
    workspace.allow(ROLE, "subscribe")
    bind(workspace)
    request = admin_pb2.UnbindRoleRequest(scope_id=workspace.scope_id, actor_id=SUBSCRIBER, role_id=ROLE)
    return "", lambda: workspace.owner.admin.UnbindRole(request)


def by_denied_role(workspace: Workspace) -> Given:
    workspace.allow(SUBSCRIBER, "subscribe")
    workspace.deny(ROLE, "subscribe")
    return "", lambda: bind(workspace)


def by_grant(workspace: Workspace) -> Given:
    made = grant(workspace, "subscribe", delegate=SUBSCRIBER)
    return made.delegation_id, lambda: revoke(workspace, made.delegation_id)


def by_parent_grant(workspace: Workspace) -> Given:
    parent = grant(workspace, "subscribe", delegate="actor:middle", max_redelegations=1)
    middle = workspace.cluster.client("actor:middle")
    request = sub_request(workspace, parent, "subscribe", delegate=SUBSCRIBER)
    child = middle.delegation.GrantDelegation(request).delegation
    return child.delegation_id, lambda: revoke(workspace, parent.delegation_id)


def by_grantor(workspace: Workspace) -> Given:
    workspace.allow("actor:grantor", "delegate")
    [rule_id] = workspace.allow("actor:grantor", "subscribe")
    made = grant(workspace, "subscribe", delegate=SUBSCRIBER, by=workspace.cluster.client("actor:grantor"))
    return made.delegation_id, lambda: remove_rule(workspace, rule_id)


def by_grant_from_elsewhere(workspace: Workspace) -> Given:
    """Revoked where it lives, which is another workspace's ledger."""
    home = Workspace(workspace.cluster)
    permit(workspace, home)
    made = grant(home, "subscribe", delegate=SUBSCRIBER, target_scope_id=workspace.scope_id)
    return made.delegation_id, lambda: revoke(home, made.delegation_id)


def by_permit(workspace: Workspace) -> Given:
    home = Workspace(workspace.cluster)
    rule_id = permit(workspace, home)
    made = grant(home, "subscribe", delegate=SUBSCRIBER, target_scope_id=workspace.scope_id)
    return made.delegation_id, lambda: remove_rule(workspace, rule_id)


WAYS = [
    by_rule,
    by_deny,
    by_role,
    by_denied_role,
    by_grant,
    by_parent_grant,
    by_grantor,
    by_grant_from_elsewhere,
    by_permit,
]


@pytest.mark.req("P-10.8-06", "P-10.8-09")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("server", [0, 1])
def test_a_stream_ends_before_the_next_event(replicas: Cluster, way: Callable[[Workspace], Given], server: int) -> None:
    workspace = Workspace(replicas)
    delegation_id, take_away = way(workspace)
    client = replicas.client(SUBSCRIBER, server=server)
    subscription = subscribe(workspace, CREATED, client=client, delegation_id=delegation_id)
    with stream(subscription, client) as opened:
        workspace.create()
        [seen] = take(opened, 1)
        take_away()
        workspace.create()
        events, closed = end_of(opened)
    assert events == []
    assert (closed.close_reason, closed.last_delivered_sequence) == ("access_lost", seen.sequence)
    [ended] = events_of(workspace, CLOSED)
    assert payload(ended) == {
        "subscription_id": subscription.subscription_id,
        "reason": "access_lost",
        "closed_by": "service",
        "last_delivered_sequence": seen.sequence,
    }
    told = poll(subscription, client)
    assert (list(told.events), told.closed, told.close_reason) == ([], True, "access_lost")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_quiet_stream_ends_without_an_event(replicas: Cluster, way: Callable[[Workspace], Given]) -> None:
    """Nothing else has to happen in the workspace for the end to be noticed."""
    workspace = Workspace(replicas)
    delegation_id, take_away = way(workspace)
    client = replicas.client(SUBSCRIBER, server=2)
    subscription = subscribe(workspace, CREATED, client=client, delegation_id=delegation_id)
    with stream(subscription, client) as opened:
        take_away()
        assert end_of(opened)[1].close_reason == "access_lost"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_poll_finds_it_closed(replicas: Cluster, way: Callable[[Workspace], Given]) -> None:
    workspace = Workspace(replicas)
    delegation_id, take_away = way(workspace)
    client = replicas.client(SUBSCRIBER, server=1)
    subscription = subscribe(workspace, CREATED, client=client, delegation_id=delegation_id)
    workspace.create()
    take_away()
    told = poll(subscription, client)
    assert (list(told.events), told.closed, told.close_reason) == ([], True, "access_lost")
    assert len(events_of(workspace, CLOSED)) == 1


@pytest.mark.req("P-10.8-09")
def test_events_out_of_bounds_are_left_out_and_the_others_go_on(workspace: Workspace) -> None:
    rules = {kind: workspace.allow(SUBSCRIBER, "subscribe", object_type=kind)[0] for kind in ("claim", "task")}
    client = workspace.cluster.client(SUBSCRIBER)
    subscription = subscribe(workspace, CREATED, client=client)
    task = {"object_type": "task", "canonical_content": b'{"title":"x"}'}
    with stream(subscription, client) as opened:
        first = [workspace.create(**task), workspace.create()]
        assert [event.object_id for event in take(opened, 2)] == [made.object_id for made in first]
        remove_rule(workspace, rules["task"])
        workspace.create(**task)
        second = workspace.create()
        assert [event.object_id for event in take(opened, 1)] == [second.object_id]
        # A right just given counts at once, for what comes after it.
        workspace.allow(SUBSCRIBER, "subscribe", object_type="task")
        third = workspace.create(**task)
        assert [event.object_id for event in take(opened, 1)] == [third.object_id]


def test_an_event_of_a_relationship_is_one_of_both_its_ends(workspace: Workspace) -> None:
    created = ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED
    workspace.allow(SUBSCRIBER, "subscribe", object_type="claim")
    client = workspace.cluster.client(SUBSCRIBER)
    one, other = workspace.create().object_id, workspace.create().object_id
    task = workspace.create(object_type="task", canonical_content=b'{"title":"x"}').object_id
    elsewhere = Workspace(workspace.cluster)
    permit_relationships(elsewhere, workspace)
    everything = subscribe(workspace, created, client=client)
    of_other = subscribe(workspace, created, client=client, wanted={"object_id": other})
    relate(workspace, one, task)
    relate(workspace, task, one)
    relate(workspace, one, elsewhere.create().object_id, target_scope_id=elsewhere.scope_id, policy_basis="basis")
    inside = relate(workspace, one, other).relationship.relationship_id
    for subscription in (everything, of_other):
        assert [event.relationship_id for event in poll(subscription, client).events] == [inside]
    assert len(poll(subscribe(workspace, created, after_sequence=0), workspace.owner).events) == 4


def test_a_right_given_back_does_not_open_what_was_closed(workspace: Workspace) -> None:
    _, take_away = by_rule(workspace)
    client = workspace.cluster.client(SUBSCRIBER)
    subscription = subscribe(workspace, CREATED, client=client)
    take_away()
    workspace.create()
    assert poll(subscription, client).closed
    workspace.allow(SUBSCRIBER, "subscribe")
    workspace.create()
    told = poll(subscription, client)
    assert (list(told.events), told.closed) == ([], True)
    assert len(events_of(workspace, CLOSED)) == 1


@pytest.fixture
def timed(clone_database: CloneDatabase) -> Iterator[Cluster]:
    with running_cluster(clone_database) as cluster:
        yield cluster


def test_the_end_of_a_grants_window_ends_its_stream(timed: Cluster) -> None:
    """By the database's clock, and though nothing happens in any ledger."""
    workspace = Workspace(timed)
    made = grant(workspace, "subscribe", delegate=SUBSCRIBER)
    client: Client = timed.client(SUBSCRIBER)
    subscription = subscribe(workspace, CREATED, client=client, delegation_id=made.delegation_id)
    with stream(subscription, client) as opened:
        first = workspace.create()
        assert [event.object_id for event in take(opened, 1)] == [first.object_id]
        timed.set_clock(f"{made.not_after.ToDatetime().isoformat()}Z")
        workspace.create()
        # The last instant is within.
        assert len(take(opened, 1)) == 1
        timed.set_clock("2100-01-01T00:00:00Z")
        events, closed = end_of(opened)
    assert (events, closed.close_reason) == ([], "access_lost")


def test_a_restored_ledger_ends_the_subscriptions_of_before(workspace: Workspace) -> None:
    """Their cursors may be ahead of what is there now: whoever subscribes anew says where to begin."""
    streamed, polled = (subscribe(workspace, CREATED) for _ in range(2))
    with stream(streamed, workspace.owner) as opened:
        with workspace.cluster.superuser() as connection:
            raised = "update remit.ledger_heads set epoch = epoch + 1 where scope_id = %s"
            connection.execute(raised, [workspace.scope_id])
        assert end_of(opened)[1].close_reason == "ledger_restored"
    assert poll(polled, workspace.owner).close_reason == "ledger_restored"
    workspace.create()
    assert len(poll(subscribe(workspace, CREATED, after_sequence=0), workspace.owner).events) == 1


def test_the_service_closes_under_its_own_name(workspace: Workspace) -> None:
    _, take_away = by_rule(workspace)
    client = workspace.cluster.client(SUBSCRIBER)
    with stream(subscribe(workspace, client=client), client) as opened:
        take_away()
        end_of(opened)
    [ended] = events_of(workspace, CLOSED)
    assert (ended.actor.actor_id, ended.actor.actor_kind) == ("actor:remit:subscriptions", "service")
    verified = workspace.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id))
    assert verified.ok
