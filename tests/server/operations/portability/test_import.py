"""What an import does where it comes to: what is new is stored, nothing that stands is overwritten (PAMSPEC 8.2, 8.4)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from remit.v1 import admin_pb2, delegation_pb2, ledger_pb2, portability_pb2
from tests.cluster import ADMIN, OTHER_TENANT, Cluster, Refusal, Workspace
from tests.faults.stalling import stalled_head, waiting_appends
from tests.faults.waiting import until
from tests.server.operations.memory.relationships import permit, relate
from tests.server.operations.memory.requests import delete, grant, transition, update
from tests.server.operations.portability.drafts import SCOPE, a_version, draft_export, export_of
from tests.server.operations.portability.exports import messages, take_export, take_import
from tests.server.operations.portability.rich import verified

IMPORTED = ledger_pb2.EVENT_TYPE_WORKSPACE_IMPORTED
DENIED = ledger_pb2.EVENT_TYPE_ACCESS_DENIED


def reasons(answer: portability_pb2.ImportWorkspaceResponse) -> dict[str, str]:
    """Why each was left out."""
    return {refusal.id: refusal.reason for refusal in answer.refusals}


@pytest.mark.req("P-18.1-07")
def test_a_lite_export_is_taken_as_it_is(workspace: Workspace) -> None:
    answer = take_import(
        workspace,
        export_of(a_version(), a_version(sequence=2, lifecycle_state="archived"), a_version("mem:claim:2")),
        remap=True,
    )
    assert (answer.objects, answer.versions, answer.relationships, list(answer.refusals)) == (2, 3, 0, [])
    envelope = workspace.read("mem:claim:1").envelope
    assert (envelope.version_id, envelope.sequence) == ("ver:mem:claim:1:2", 2)
    assert json.loads(envelope.canonical_content) == {"statement": "number 2"}
    assert envelope.committed_at.ToJsonString() == "2026-07-12T00:00:01Z"
    assert envelope.recorded_at.ToJsonString() == "2026-07-12T00:00:02Z"
    assert (envelope.actor.actor_id, envelope.actor.actor_kind) == ("actor:editor:001", "human")
    for absent in ("observed_at", "asserted_at", "valid_from", "valid_until", "integrity", "quality_signals"):
        assert not envelope.HasField(absent)
    [updated] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_UPDATED])
    told = json.loads(updated.payload_json)["changed_fields"]
    assert told == ["canonical_content", "lifecycle_state", "provenance"]
    verified(workspace)
    # And a version made here goes on from there.
    changed = update(workspace, "mem:claim:1", envelope.version_id)
    assert changed.sequence == 3
    verified(workspace)


def test_each_version_has_one_primary_event_after_that_of_the_import(workspace: Workspace) -> None:
    tombstone = a_version(sequence=3, availability_state="deleted", canonical_content={"tombstone": True})
    answer = take_import(
        workspace, export_of(a_version(), a_version(sequence=2, validation_state="disputed"), tombstone), remap=True
    )
    events = workspace.events()
    start = next(index for index, event in enumerate(events) if event.event_type == IMPORTED)
    names = [ledger_pb2.EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in events[start:]]
    assert names == ["WORKSPACE_IMPORTED", "OBJECT_CREATED", "OBJECT_UPDATED", "OBJECT_DELETED"]
    told = json.loads(events[start].payload_json)
    assert told["import_id"] == answer.import_id
    assert (told["source_scope_id"], told["versions"], told["remapped"]) == (SCOPE, 3, True)
    assert [event.version_id for event in events[start + 1 :]] == [f"ver:mem:claim:1:{n}" for n in (1, 2, 3)]
    # That its content changed is not told: of what was deleted, none comes.
    assert json.loads(events[start + 2].payload_json)["changed_fields"] == ["provenance", "validation_state"]
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:claim:1")
    assert refusal.value.reason == "OBJECT_DELETED"


@pytest.mark.req("P-8.4-05")
@pytest.mark.parametrize("remap", [False, True])
def test_a_version_is_never_replaced_under_its_own_id(workspace: Workspace, remap: bool) -> None:
    take_import(workspace, export_of(a_version()), remap=True)
    scope = SCOPE if remap else workspace.scope_id
    other = a_version(canonical_content={"statement": "replaced"}, scope_id=scope)
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, export_of(other, a_version("mem:new", scope_id=scope), scope_id=scope), remap=remap)
    assert refusal.value.reason == "VERSION_CONFLICT"
    assert refusal.value.pamspec.object_id == "mem:claim:1"
    assert json.loads(workspace.read("mem:claim:1").envelope.canonical_content) == {"statement": "number 1"}
    with pytest.raises(Refusal):
        workspace.read("mem:new")  # nothing of the import was stored


def test_what_stands_here_already_is_left_alone(workspace: Workspace) -> None:
    made = workspace.create()
    exported = take_export(workspace)
    update(workspace, made.object_id, made.version_id)
    answer = take_import(workspace, exported)
    assert reasons(answer) == {made.object_id: "identical"}
    assert (answer.objects, answer.versions) == (0, 0)
    assert workspace.read(made.object_id).envelope.sequence == 2
    verified(workspace)


@pytest.mark.case("A19")
@pytest.mark.parametrize("remap", [False, True])
def test_what_was_deleted_here_does_not_come_back(workspace: Workspace, remap: bool) -> None:
    gone = workspace.create(canonical_content=b'{"statement":"forget me"}')
    kept = workspace.create()
    relate(workspace, kept.object_id, gone.object_id)
    exported = take_export(workspace)
    delete(workspace, gone.object_id, gone.version_id)
    answer = take_import(workspace, exported, remap=remap)
    assert reasons(answer)[gone.object_id] == "tombstoned"
    assert reasons(answer)[kept.object_id] == "identical"
    assert list(answer.id_map) == []
    with pytest.raises(Refusal) as refusal:
        workspace.read(gone.object_id)
    assert refusal.value.reason == "OBJECT_DELETED"
    assert b"forget me" not in b"".join(record for _, record in take_export(workspace, include_ledger=True).records)
    again = take_import(workspace, exported, remap=remap)
    assert again.replayed
    assert reasons(again)[gone.object_id] == "tombstoned"
    verified(workspace)


@pytest.mark.case("A21")
def test_a_hold_is_not_overwritten_and_survives_the_journey(cluster: Cluster, workspace: Workspace) -> None:
    made = workspace.create()
    before = take_export(workspace)
    held = transition(workspace, made.object_id, made.version_id, "retention", "legal_hold")
    other = before.edited(0, canonical_content={"statement": "other"})
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, other)
    assert refusal.value.reason == "LEGAL_HOLD"
    denial = workspace.events(event_classes=[DENIED])[-1]
    assert json.loads(denial.payload_json)["denial_reason"] == "LEGAL_HOLD"
    assert denial.object_id == made.object_id
    # An export from before the hold does not lift it either.
    assert reasons(take_import(workspace, before)) == {made.object_id: "identical"}
    assert workspace.read(made.object_id).envelope.version_id == held.version_id
    restored = Workspace(cluster, OTHER_TENANT)
    take_import(restored, take_export(workspace), remap=True)
    version = restored.read(made.object_id).envelope
    assert version.retention_state == held.envelope.retention_state
    with pytest.raises(Refusal) as refusal:
        delete(restored, made.object_id, version.version_id)
    assert refusal.value.reason == "LEGAL_HOLD"


def test_an_id_that_is_taken_here_is_changed_and_told(workspace: Workspace) -> None:
    workspace.create(object_id="mem:claim:1")
    answer = take_import(workspace, export_of(a_version(), a_version("mem:claim:2")), remap=True)
    assert [(each.kind, each.source_id) for each in answer.id_map] == [
        ("scope", SCOPE),
        ("memory_object", "mem:claim:1"),
    ]
    scope, renamed = answer.id_map
    assert scope.id == workspace.scope_id
    assert renamed.id not in ("", "mem:claim:1")
    assert json.loads(workspace.read(renamed.id).envelope.canonical_content) == {"statement": "number 1"}
    assert json.loads(workspace.read("mem:claim:1").envelope.canonical_content) == {"statement": "x"}
    verified(workspace)


def test_a_version_id_of_another_object_here_is_refused(workspace: Workspace) -> None:
    made = workspace.create()
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, export_of(a_version(version_id=made.version_id)), remap=True)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_OBJECT", ["records[1].version_id"])


def test_a_dry_run_says_the_same_and_stores_nothing(workspace: Workspace) -> None:
    exported = export_of(a_version(), a_version("mem:claim:2"))
    count = len(workspace.events())
    dry = take_import(workspace, exported, remap=True, dry_run=True)
    assert dry.dry_run
    assert not dry.event_ids
    assert len(workspace.events()) == count
    with pytest.raises(Refusal):
        workspace.read("mem:claim:1")
    real = take_import(workspace, exported, remap=True)
    assert (dry.objects, dry.versions, list(dry.id_map)) == (real.objects, real.versions, list(real.id_map))
    other = export_of(a_version(canonical_content=1))
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, other, remap=True, dry_run=True)
    assert refusal.value.reason == "VERSION_CONFLICT"


@pytest.mark.case("A48")
def test_the_same_export_again_stores_nothing_twice(workspace: Workspace) -> None:
    exported = export_of(*(a_version(f"mem:claim:{number:02}") for number in range(20)))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: take_import(workspace, exported, remap=True), range(4)))
    assert sorted(answer.replayed for answer in answers) == [False, True, True, True]
    assert {tuple(answer.event_ids) for answer in answers} == {tuple(answers[0].event_ids)}
    assert len(workspace.events(event_classes=[IMPORTED])) == 1
    assert len(take_export(workspace).kinds("memory_object")) == 20
    verified(workspace)


def test_references_to_relationships_are_kept_with_their_version(workspace: Workspace) -> None:
    first = a_version(relationship_refs=[])
    second = a_version(sequence=2, relationship_refs=["rel:1", "rel:2"])
    take_import(workspace, export_of(first, second, a_version("mem:other")), remap=True)
    assert [record.get("relationship_refs") for record in take_export(workspace).kinds("memory_object")] == [
        [],
        ["rel:1", "rel:2"],
        None,
    ]


@pytest.mark.req("P-7.7-08")
def test_a_ledger_without_a_chain_comes_as_history(workspace: Workspace) -> None:
    actor = {"actor_id": "actor:editor:001", "actor_kind": "human"}
    denial = {
        "event_id": "evt:access:001",
        "operation_id": "op:access:001",
        "scope_id": SCOPE,
        "object_id": "mem:task:001",
        "event_type": "access_denied",
        "recorded_at": "2026-07-12T00:00:03Z",
        "sequence": 6,
        "actor": actor,
        "payload": {"policy_rule_id": "policy:scope"},
    }
    answer = take_import(workspace, draft_export(("event", denial), includes_ledger=True), remap=True)
    assert answer.foreign_events == 1
    for event_type in ("object_updated", "relationship_created", "provenance_updated"):
        lacking = denial | {"event_type": event_type, "sequence": 7}
        with pytest.raises(Refusal) as refusal:
            take_import(workspace, draft_export(("event", lacking)), remap=True)
        assert (refusal.value.reason, refusal.value.fields) == ("INVALID_OBJECT", ["records[1].version_id"])
    own = workspace.events()
    assert all(event.event_id != "evt:access:001" for event in own)
    updated = workspace.create()
    update(workspace, updated.object_id, updated.version_id)
    assert [
        event.version_id for event in workspace.events() if event.event_type == ledger_pb2.EVENT_TYPE_OBJECT_UPDATED
    ]
    kinds = [kind for kind, _ in take_export(workspace, include_ledger=True).records if kind.startswith("history.")]
    assert kinds == ["history.ledger", "history.event"]
    verified(workspace)


def test_imported_grants_give_no_right(cluster: Cluster, workspace: Workspace) -> None:
    source = Workspace(cluster)
    made = source.create()
    delegation_id = grant(source, "actor:delegate", "read")
    take_import(workspace, take_export(source, include_delegations=True), remap=True)
    delegate = cluster.client("actor:delegate")
    with pytest.raises(Refusal) as refusal:
        workspace.read(made.object_id, delegate, delegation_id=delegation_id)
    assert refusal.value.reason in {"SCOPE_NOT_FOUND", "ACCESS_DENIED"}
    listed = workspace.owner.delegation.ListDelegations
    assert list(listed(delegation_pb2.ListDelegationsRequest(scope_id=workspace.scope_id)).delegations) == []


def test_relationships_across_workspaces_come_where_they_are_permitted(cluster: Cluster, workspace: Workspace) -> None:
    target = Workspace(cluster)
    permit(target, workspace)
    source, end = workspace.create(), target.create()
    relate(workspace, source.object_id, end.object_id, target_scope_id=target.scope_id, policy_basis="policy:across")
    exported = take_export(workspace)
    stranger, permitted = Workspace(cluster), Workspace(cluster)
    permit(target, permitted)
    left_out = take_import(stranger, exported, remap=True)
    assert [(each.kind, each.reason) for each in left_out.refusals] == [("relationship", "cross_scope")]
    assert (left_out.objects, left_out.relationships) == (1, 0)
    assert take_import(permitted, exported, remap=True).relationships == 1
    verified(permitted)


def test_only_who_may_import_over_everything_does(workspace: Workspace) -> None:
    client = workspace.cluster.client("actor:importer")
    workspace.allow("actor:importer", "import", object_type="claim")
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, export_of(a_version()), client, remap=True)
    assert refusal.value.reason == "ACCESS_DENIED"
    workspace.allow("actor:importer", "import")
    assert take_import(workspace, export_of(a_version()), client, remap=True).objects == 1
    denied = workspace.deny("actor:importer", "import", object_type="decision")
    assert denied
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, export_of(a_version("mem:claim:3")), client, remap=True)
    assert (refusal.value.reason, refusal.value.denial_reason) == ("ACCESS_DENIED", "EXPLICIT_DENY")


def test_what_a_workspace_rules_out_does_not_come_by_import(cluster: Cluster) -> None:
    lite = Workspace(cluster, policy={"lite_states": True, "extension_types": {"values": ["com.acme.known"]}})
    odd = {"object_type": "com.acme.odd", "schema_id": "https://acme.example/odd"}
    known = {"object_type": "com.acme.known", "schema_id": "https://acme.example/known"}
    for members, field in (
        ({"lifecycle_state": "deprecated"}, "records[1].lifecycle_state"),
        ({"retention_state": "legal_hold"}, "records[1].retention_state"),
        (odd, "records[1].object_type"),
    ):
        with pytest.raises(Refusal) as refusal:
            take_import(lite, export_of(a_version(**members)), remap=True)
        assert refusal.value.reason == "POLICY_DENIED"
        assert {detail.name: detail.value for detail in refusal.value.pamspec.details}["field"] == field
    assert take_import(lite, export_of(a_version(**known)), remap=True).objects == 1


@pytest.mark.req("P-7.5-07")
def test_a_remap_is_recorded_with_old_and_new_ids(workspace: Workspace) -> None:
    source = Workspace(workspace.cluster)
    made = source.create()
    workspace.create(object_id=made.object_id)
    exported = take_export(source)
    assert exported.header.scope_id == source.scope_id
    assert {record["scope_id"] for record in exported.kinds("memory_object")} == {source.scope_id}
    answer = take_import(workspace, exported, remap=True)
    mapped = {(each.kind, each.source_id): each.id for each in answer.id_map}
    assert mapped["scope", source.scope_id] == workspace.scope_id
    renamed = mapped["memory_object", made.object_id]
    assert workspace.read(renamed).envelope.scope_id == workspace.scope_id
    [imported] = workspace.events(event_classes=[IMPORTED])
    told = json.loads(imported.payload_json)
    assert (told["source_scope_id"], told["remapped"]) == (source.scope_id, True)
    # Asked again, the same ids are told.
    again = take_import(workspace, exported, remap=True)
    assert (again.replayed, list(again.id_map)) == (True, list(answer.id_map))


def test_what_is_created_meanwhile_is_not_overwritten(replicas: Cluster) -> None:
    """The id is taken after the import was planned and before it is applied: it is planned again."""
    workspace = Workspace(replicas)
    elsewhere = replicas.client("actor:admin", server=1)
    with ThreadPoolExecutor(2) as pool:
        with stalled_head(replicas, workspace):
            importing = pool.submit(
                take_import, workspace, export_of(a_version(), a_version("mem:claim:2")), remap=True
            )
            until(lambda: waiting_appends(replicas) == 1, "the import's rows wait for the head")
            creating = pool.submit(workspace.create, elsewhere, object_id="mem:claim:1")
            until(lambda: waiting_appends(replicas) == 2, "the object waits behind them")
        answer = importing.result()
    renamed = [each.source_id for each in answer.id_map if each.kind == "memory_object"]
    # Both were waiting: which comes first is the lock's to say, and the other finds the id taken.
    if creating.exception() is None:
        assert renamed == ["mem:claim:1"]
        assert json.loads(workspace.read("mem:claim:1").envelope.canonical_content) == {"statement": "x"}
    else:
        assert isinstance(creating.exception(), Refusal)
        assert renamed == []
    assert json.loads(workspace.read("mem:claim:2").envelope.canonical_content) == {"statement": "number 1"}
    verified(workspace)
    with replicas.superuser() as connection:
        [left] = connection.execute(
            "select count(*) from remit.import_rows where scope_id = %s", (workspace.scope_id,)
        ).fetchone() or (None,)
    assert left == 0


@pytest.mark.parametrize("right", ["import", "member"])
def test_a_right_that_ends_meanwhile_ends_the_import(cluster: Cluster, right: str) -> None:
    """Taken away while the rows wait for the head: refused, recorded, and nothing is stored."""
    workspace = Workspace(cluster)
    [rule_id] = workspace.allow("actor:importer", "import")
    if right == "import":
        workspace.allow("actor:importer", "read")
    client = cluster.client("actor:importer")

    def requests() -> Iterator[portability_pb2.ImportWorkspaceRequest]:
        first, *rest = messages(workspace.scope_id, export_of(a_version()), remap=True)
        yield first
        removal = admin_pb2.RemovePolicyRuleRequest(scope_id=workspace.scope_id, rule_id=rule_id)
        workspace.owner.admin.RemovePolicyRule(removal)
        yield from rest

    with pytest.raises(Refusal) as refusal:
        client.portability.ImportWorkspace(requests())
    # Who is no member any more when the first message is looked at learns nothing of the workspace.
    assert refusal.value.reason in ({"ACCESS_DENIED"} if right == "import" else {"ACCESS_DENIED", "SCOPE_NOT_FOUND"})
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:claim:1")
    assert refusal.value.reason == "OBJECT_NOT_FOUND"
    denials = workspace.events(event_classes=[DENIED])
    assert [json.loads(event.payload_json)["operation"] for event in denials] == ["import"]


def test_a_caller_that_hangs_up_leaves_nothing_behind(cluster: Cluster, workspace: Workspace) -> None:
    client = cluster.client(ADMIN)

    def staged() -> int:
        with cluster.superuser() as connection:
            row = connection.execute(
                "select count(*) from remit.import_rows where scope_id = %s", (workspace.scope_id,)
            ).fetchone()
        assert row is not None
        return int(row[0])

    sent = messages(workspace.scope_id, export_of(*(a_version(f"mem:claim:{n:04}") for n in range(600))), remap=True)
    with stalled_head(cluster, workspace):
        call = client.channel.stream_unary(
            "/remit.v1.PortabilityService/ImportWorkspace",
            request_serializer=portability_pb2.ImportWorkspaceRequest.SerializeToString,
        ).future(sent, metadata=client.metadata)
        until(lambda: waiting_appends(cluster) > 0, "the first rows wait for the head")
        call.cancel()
    assert workspace.create().sequence == 1  # behind what was on its way
    until(lambda: staged() == 0, "what was put aside is dropped")
    assert len(take_export(workspace).kinds("memory_object")) == 1
    assert workspace.events(event_classes=[IMPORTED]) == []


def test_provenance_that_may_not_be_read_stays_behind(cluster: Cluster, workspace: Workspace) -> None:
    made = workspace.create(provenance={"activity": "observed", "source_ref": "urn:secret"})
    workspace.allow("actor:exporter", "export")
    workspace.deny("actor:exporter", "provenance.read")
    exported = take_export(workspace, cluster.client("actor:exporter"))
    assert b"urn:secret" not in b"".join(record for _, record in exported.records)
    target = Workspace(cluster)
    take_import(target, exported, remap=True)
    envelope = target.read(made.object_id).envelope
    assert (envelope.provenance.provenance_id, envelope.provenance.activity) == (
        made.envelope.provenance.provenance_id,
        "",
    )
    assert take_export(target).trailer.memory_digest == exported.trailer.memory_digest
    update(target, made.object_id, made.version_id)
    verified(target)
