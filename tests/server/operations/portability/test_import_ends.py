"""What the relationships of an import may end in: what stands, where the caller may relate (PAMSPEC 7.5, 8.5)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remit.v1 import ledger_pb2, portability_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.faults.stalling import stalled_head, waiting_appends
from tests.faults.waiting import until
from tests.server.operations.memory.relationships import permit, relate
from tests.server.operations.memory.requests import delete
from tests.server.operations.portability.drafts import a_version, draft_export
from tests.server.operations.portability.exports import Export, take_export, take_import
from tests.server.operations.portability.rich import verified

SOURCE = "mem:source"
IMPORTER = "actor:importer"


def a_relationship(relationship_id: str, target_id: str, target: Workspace | None = None) -> dict[str, Any]:
    """A Relationship Object of the draft from SOURCE."""
    version = a_version()
    del version["object_id"], version["object_type"]
    across = {} if target is None else {"target_scope_id": target.scope_id, "policy_basis": "policy:across"}
    return version | {
        "relationship_id": relationship_id,
        "version_id": f"ver:{relationship_id}",
        "relationship_type": "supports",
        "source_object_id": SOURCE,
        "target_object_id": target_id,
        "directionality": "directed",
        **across,
    }


def export_with(*relationships: dict[str, Any]) -> Export:
    """SOURCE and relationships from it."""
    return draft_export(
        ("memory_object", a_version(SOURCE)), *(("relationship", relationship) for relationship in relationships)
    )


def left_out(answer: portability_pb2.ImportWorkspaceResponse) -> dict[str, str]:
    return {refusal.id: refusal.reason for refusal in answer.refusals}


def is_related(cluster: Cluster, workspace: Workspace, object_id: str) -> bool:
    """Whether the object was marked as an end of a relationship."""
    with cluster.superuser() as connection:
        [related] = connection.execute(
            "select related from remit.memory_objects where scope_id = %s and object_id = %s",
            (workspace.scope_id, object_id),
        ).fetchone() or (None,)
    return bool(related)


@pytest.mark.req("P-7.5-04")
def test_an_import_relates_into_another_workspace_by_right_alone(cluster: Cluster, workspace: Workspace) -> None:
    """The permit is not the caller's right: it must be allowed to relate at both ends, and the target must be there."""
    target = Workspace(cluster)
    permit(target, workspace)
    target.create(object_id="mem:secret")
    gone = target.create(object_id="mem:gone")
    delete(target, gone.object_id, gone.version_id)
    workspace.allow(IMPORTER, "import")
    importer = cluster.client(IMPORTER)
    exported = export_with(
        a_relationship("rel:absent", "mem:absent", target),
        a_relationship("rel:gone", "mem:gone", target),
        a_relationship("rel:secret", "mem:secret", target),
    )

    def dry(client: Client) -> dict[str, str]:
        return left_out(take_import(workspace, exported, client, remap=True, dry_run=True))

    nothing = dict.fromkeys(("rel:absent", "rel:gone", "rel:secret"), "cross_scope")
    assert dry(importer) == nothing
    target.allow(IMPORTER, "relate")
    assert dry(importer) == nothing  # not at the source yet
    workspace.allow(IMPORTER, "relate")
    denied = target.deny(IMPORTER, "relate", object_id="mem:secret")
    assert denied
    answer = take_import(workspace, exported, importer, remap=True)
    assert (answer.objects, answer.relationships, left_out(answer)) == (1, 0, nothing)
    assert not is_related(cluster, target, "mem:secret")
    with pytest.raises(Refusal) as refusal:
        relate(workspace, SOURCE, "mem:secret", importer, target_scope_id=target.scope_id, policy_basis="policy:across")
    assert refusal.value.reason == "ACCESS_DENIED"
    other = Workspace(cluster)
    permit(target, other)
    stored = take_import(other, exported, remap=True)
    assert (stored.relationships, left_out(stored)) == (
        1,
        {"rel:absent": "cross_scope", "rel:gone": "cross_scope"},
    )
    assert is_related(cluster, target, "mem:secret")
    verified(other)


def test_an_import_reaches_into_one_other_workspace(cluster: Cluster, workspace: Workspace) -> None:
    """A change is guarded by one other workspace, so what reaches into a second is left out and told."""
    first, second = Workspace(cluster), Workspace(cluster)
    for target in (first, second):
        permit(target, workspace)
        target.create(object_id="mem:end")
    answer = take_import(
        workspace,
        export_with(
            a_relationship("rel:1", "mem:end", first),
            a_relationship("rel:2", "mem:end", second),
            a_relationship("rel:3", "mem:end", first),
        ),
        remap=True,
    )
    assert (answer.relationships, left_out(answer)) == (2, {"rel:2": "cross_scope"})
    assert not is_related(cluster, second, "mem:end")


@pytest.mark.parametrize("across", [False, True])
def test_an_end_that_is_deleted_meanwhile(replicas: Cluster, across: bool) -> None:
    """Deleted after the import was planned and before it is applied: it is planned again, without the relationship."""
    workspace = Workspace(replicas)
    target = Workspace(replicas) if across else workspace
    if across:
        permit(target, workspace)
    end = target.create(object_id="mem:z-end")
    elsewhere = replicas.client("actor:admin", server=1)
    exported = export_with(a_relationship("rel:1", end.object_id, target if across else None))
    with ThreadPoolExecutor(2) as pool:
        with stalled_head(replicas, workspace):
            importing = pool.submit(take_import, workspace, exported, remap=True)
            until(lambda: waiting_appends(replicas) == 1, "the import's rows wait for the head")
            deleting = pool.submit(delete, target, end.object_id, end.version_id, elsewhere)
            if across:
                deleting.result()
            else:
                until(lambda: waiting_appends(replicas) == 2, "the deletion waits behind them")
        deleting.result()
        answer = importing.result()
    # Both were waiting: which comes first is the lock's to say, and then the other must follow from it.
    types = [event.event_type for event in workspace.events()]
    if ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED in types:
        assert not across
        deleted_at = types.index(ledger_pb2.EVENT_TYPE_OBJECT_DELETED)
        assert types.index(ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED) < deleted_at
        assert (answer.objects, answer.relationships, left_out(answer)) == (1, 1, {})
    else:
        assert (answer.objects, answer.relationships) == (1, 0)
        assert left_out(answer) == {"rel:1": "cross_scope" if across else "tombstoned"}
        assert take_export(workspace).kinds("relationship") == []
    verified(workspace)
