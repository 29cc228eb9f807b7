"""Later exports of a source that was imported before: what got another id here keeps it (PAMSPEC 7.5, 8.3)."""

from __future__ import annotations

import pytest

from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.relationships import permit, relate
from tests.server.operations.memory.requests import delete, update
from tests.server.operations.portability.exports import take_export, take_import
from tests.server.operations.portability.rich import verified


def test_what_was_renamed_before_is_known_again(cluster: Cluster, workspace: Workspace) -> None:
    """A later export of the same source is taken: what is new comes, and ends in what was renamed by the first."""
    source = Workspace(cluster)
    clashing, other = source.create(object_id="mem:clash"), source.create(object_id="mem:other")
    related = relate(source, clashing.object_id, other.object_id).relationship
    workspace.create(object_id="mem:clash")
    first = take_import(workspace, take_export(source), remap=True)
    [name] = [each.id for each in first.id_map if each.kind == "memory_object"]
    source.create(object_id="mem:later")
    added = relate(source, "mem:later", clashing.object_id).relationship
    again = take_import(workspace, take_export(source), remap=True)
    assert not again.replayed
    assert [(each.source_id, each.id) for each in again.id_map if each.kind == "memory_object"] == [("mem:clash", name)]
    assert (again.objects, again.relationships) == (1, 1)
    assert {refusal.id: refusal.reason for refusal in again.refusals} == dict.fromkeys(
        ("mem:clash", "mem:other", related.relationship_id), "identical"
    )
    ends = {
        each["relationship_id"]: (each["source_object_id"], each["target_object_id"])
        for each in take_export(workspace).kinds("relationship")
    }
    assert ends == {
        related.relationship_id: (name, "mem:other"),
        added.relationship_id: ("mem:later", name),
    }
    verified(workspace)


def test_what_was_renamed_before_is_never_overwritten_nor_brought_back(cluster: Cluster, workspace: Workspace) -> None:
    source = Workspace(cluster)
    clashing = source.create(object_id="mem:clash")
    workspace.create(object_id="mem:clash")
    first = take_import(workspace, take_export(source), remap=True)
    [name] = [each.id for each in first.id_map if each.kind == "memory_object"]
    update(source, "mem:clash", clashing.version_id)
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, take_export(source), remap=True)
    assert refusal.value.reason == "VERSION_CONFLICT"
    delete(workspace, name, clashing.version_id)
    answer = take_import(workspace, take_export(source), remap=True)
    assert (answer.objects, [(each.id, each.reason) for each in answer.refusals]) == (0, [("mem:clash", "tombstoned")])
    verified(workspace)


def test_a_replay_tells_which_relationships_were_left_out(cluster: Cluster, workspace: Workspace) -> None:
    source, target = Workspace(cluster), Workspace(cluster)
    permit(target, source)
    begin, end = source.create(), target.create()
    relate(source, begin.object_id, end.object_id, target_scope_id=target.scope_id, policy_basis="policy:across")
    exported = take_export(source)
    first = take_import(workspace, exported, remap=True)
    assert [refusal.reason for refusal in first.refusals] == ["cross_scope"]
    again = take_import(workspace, exported, remap=True)
    assert (again.replayed, list(again.refusals)) == (True, list(first.refusals))
