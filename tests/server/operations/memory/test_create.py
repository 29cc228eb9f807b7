"""Create: what it needs, what it answers, and which ids and states it takes (PAMSPEC 10.1; Q07, Q08, Q11)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import ADMIN, Refusal, Workspace
from tests.server.operations.memory.requests import delete, history, query_ids
from tests.server.operations.memory.standings import states

EXTENSION: dict[str, Any] = {"object_type": "com.acme.incident", "schema_id": "urn:acme:schemas:incident"}


def refused(workspace: Workspace, **fields: Any) -> Refusal:
    """The refusal of a Create."""
    with pytest.raises(Refusal) as refusal:
        workspace.create(**fields)
    return refusal.value


def create_request(workspace: Workspace) -> memory_pb2.CreateRequest:
    """A request that names all it needs."""
    return memory_pb2.CreateRequest(
        scope_id=workspace.scope_id,
        operation_id="op:create",
        canonical_content=b"{}",
        provenance={"activity": "observed"},
        **EXTENSION,
    )


@pytest.mark.req("P-10.1-01", "P-8.1-19", "P-8.2-04")
@pytest.mark.parametrize(
    ("missing", "code"),
    [
        ("scope_id", "INVALID_REQUEST"),
        ("object_type", "INVALID_REQUEST"),
        ("schema_id", "INVALID_OBJECT"),
        ("canonical_content", "INVALID_OBJECT"),
        ("provenance", "INVALID_OBJECT"),
    ],
)
def test_a_create_names_all_it_needs(workspace: Workspace, missing: str, code: str) -> None:
    request = create_request(workspace)
    request.ClearField(missing)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Create(request)
    assert (refusal.value.reason, refusal.value.fields) == (code, [missing])


@pytest.mark.req("P-10.1-01", "P-8.2-12")
def test_states_that_are_left_out_take_their_defaults(workspace: Workspace) -> None:
    made = workspace.owner.memory.Create(create_request(workspace)).result
    rest = {"availability": "available", "retention": "retained", "validation": "unverified"}
    assert states(made.envelope) == {"lifecycle": "active", **rest}
    content = b'{"task_ref":"task:1","content":"draft"}'
    scratch = workspace.create(object_type="working_memory", canonical_content=content)
    assert states(scratch.envelope) == {"lifecycle": "scratch", **rest}
    corroborated = workspace.create(
        object_type="working_memory",
        canonical_content=content,
        validation_state=common_pb2.VALIDATION_STATE_CORROBORATED,
    )
    assert states(corroborated.envelope)["lifecycle"] == "scratch"
    assert query_ids(workspace) == []


@pytest.mark.req("P-10.1-04", "P-10.1-05", "P-8.1-14", "P-7.7-02")
def test_a_create_answers_what_it_committed(workspace: Workspace) -> None:
    results = [workspace.create(object_id=f"mem:{number}", operation_id=f"op:{number}") for number in range(2)]
    for number, made in enumerate(results):
        assert (made.object_id, made.scope_id, made.sequence) == (f"mem:{number}", workspace.scope_id, 1)
        assert made.version_id
        assert made.envelope == workspace.read(made.object_id).envelope
        assert made.envelope.sequence == 1
        found = ledger_pb2.GetEventRequest(scope_id=workspace.scope_id, event_id=made.event_ids[0])
        event = workspace.owner.ledger.GetEvent(found).event
        assert event.event_type == ledger_pb2.EVENT_TYPE_OBJECT_CREATED
        assert (event.object_id, event.version_id) == (made.object_id, made.version_id)
        assert (event.operation_id, made.operation_id) == (f"op:{number}", f"op:{number}")
        assert '"object_sequence":1' in event.payload_json


@pytest.mark.req("P-10.1-03", "P-7.7-01")
def test_a_denied_create_leaves_a_denial_and_nothing_else(workspace: Workspace) -> None:
    workspace.allow("actor:reader", "read")
    before = len(workspace.events())
    with pytest.raises(Refusal) as refusal:
        workspace.create(workspace.cluster.client("actor:reader"), object_id="mem:denied")
    assert refusal.value.reason == "ACCESS_DENIED"
    [event] = workspace.events()[before:]
    assert event.event_type == ledger_pb2.EVENT_TYPE_ACCESS_DENIED
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:denied")
    assert refusal.value.reason == "OBJECT_NOT_FOUND"
    assert [entry.HasField("version") for entry in history(workspace, after_sequence=before)] == [False]


@pytest.mark.req("P-8.1-13")
def test_times_of_commit_and_record_are_the_service_s(workspace: Workspace) -> None:
    assert {"committed_at", "recorded_at"}.isdisjoint(memory_pb2.CreateRequest.DESCRIPTOR.fields_by_name)
    started = time.time()
    envelope = workspace.create(observed_at={"seconds": 1}).envelope
    ended = time.time()
    for stamp in (envelope.committed_at, envelope.recorded_at):
        # The database's clock is carried forward from a reading that is at most a second old.
        assert started - 1 <= stamp.seconds + stamp.nanos / 1e9 <= ended + 1


@pytest.mark.req("P-8.1-11", "P-8.1-12")
def test_claims_about_time_order_nothing_and_move_nothing(workspace: Workspace) -> None:
    corroborated: dict[str, Any] = {"validation_state": common_pb2.VALIDATION_STATE_CORROBORATED}
    claims: dict[str, Any] = {
        "observed_at": {"seconds": 4_000_000_000, "nanos": 123_456_789},
        "asserted_at": {"seconds": 2},
        "valid_from": {"seconds": 3},
        "valid_until": {"seconds": 4},
    }
    first = workspace.create(**claims, **corroborated)
    second = workspace.create(observed_at={"seconds": 5}, **corroborated)
    assert query_ids(workspace) == [first.object_id, second.object_id]
    read = workspace.read(first.object_id).envelope
    assert (read.observed_at.seconds, read.observed_at.nanos) == (4_000_000_000, 123_456_000)
    assert (read.asserted_at.seconds, read.valid_from.seconds, read.valid_until.seconds) == (2, 3, 4)
    assert states(read) == states(second.envelope)
    created = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_CREATED])
    assert [event.object_id for event in created] == [first.object_id, second.object_id]


@pytest.mark.req("P-8.1-26")
@pytest.mark.parametrize("bad", ["no colon", "a b:c", "9a:b", "a:", ":b", "a:b\n", "ä:b", "a:b c"])
def test_ids_are_a_scheme_and_an_opaque_part(workspace: Workspace, bad: str) -> None:
    for name in ("scope_id", "object_id"):
        request = create_request(workspace)
        setattr(request, name, bad)
        with pytest.raises(Refusal) as refusal:
            workspace.owner.memory.Create(request)
        assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [name])
    workspace.create(object_id="a+b.c-1:x/y:z_.+-")


@pytest.mark.req("P-8.1-03")
def test_an_id_is_taken_once(workspace: Workspace) -> None:
    made = workspace.create(object_id="mem:taken")
    assert refused(workspace, object_id="mem:taken").reason == "INVALID_REQUEST"
    conflict = refused(workspace, object_id="mem:taken", expect_absent=True)
    assert (conflict.reason, conflict.info.metadata["current_version_id"]) == ("VERSION_CONFLICT", made.version_id)
    assert workspace.read("mem:taken").envelope == made.envelope
    elsewhere = Workspace(workspace.cluster)
    assert elsewhere.create(object_id="mem:taken").version_id != made.version_id


@pytest.mark.req("P-10.1-08")
@pytest.mark.case("A17")
def test_a_deleted_object_is_not_brought_back(workspace: Workspace) -> None:
    made = workspace.create(object_id="mem:gone")
    gone = delete(workspace, "mem:gone", made.version_id)
    attempts: list[dict[str, Any]] = [{}, {"expect_absent": True}, {"idempotency_key": "again"}]
    for fields in attempts:
        assert refused(workspace, object_id="mem:gone", **fields).reason == "OBJECT_DELETED"
    versions = [entry.version for entry in history(workspace, object_id="mem:gone") if entry.HasField("version")]
    assert [version.version_id for version in versions] == [made.version_id, gone.version_id]
    assert states(versions[-1])["availability"] == "deleted"
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:gone")
    assert refusal.value.reason == "OBJECT_DELETED"


def test_who_may_not_read_learns_only_that_the_id_can_t_be_had(workspace: Workspace) -> None:
    made = workspace.create(object_id="mem:gone")
    delete(workspace, "mem:gone", made.version_id)
    workspace.create(object_id="mem:live", object_type="task", canonical_content=b'"secret"')
    workspace.allow("actor:writer", "create")
    writer = workspace.cluster.client("actor:writer")
    attempts: list[dict[str, Any]] = [{}, {"expect_absent": True}]
    for fields in attempts:
        told = []
        for object_id in ("mem:gone", "mem:live"):
            with pytest.raises(Refusal) as refusal:
                workspace.create(writer, object_id=object_id, operation_id=f"op:{len(fields)}:{object_id}", **fields)
            told.append(
                (str(refusal.value).replace(object_id, "ID"), str(refusal.value.pamspec).replace(object_id, "ID"))
            )
        assert told[0] == told[1]
        assert made.version_id not in told[0][1]


def test_other_initial_states_need_the_right_to_assert_them(workspace: Workspace) -> None:
    workspace.allow("actor:writer", "create")
    writer = workspace.cluster.client("actor:writer")
    candidate: dict[str, Any] = {"lifecycle_state": common_pb2.LIFECYCLE_STATE_CANDIDATE}
    corroborated: dict[str, Any] = {"validation_state": common_pb2.VALIDATION_STATE_CORROBORATED}
    for fields in (candidate, corroborated):
        with pytest.raises(Refusal) as refusal:
            workspace.create(writer, **fields)
        assert refusal.value.reason == "POLICY_DENIED"
    workspace.allow("actor:writer", "assert_state")
    assert states(workspace.create(writer, **candidate, **corroborated).envelope)["validation"] == "corroborated"
    for name, value in (("availability_state", 3), ("retention_state", 4)):
        refusal_of = refused(workspace, **{name: value})
        assert (refusal_of.reason, refusal_of.fields) == ("INVALID_REQUEST", [name])


@pytest.mark.req("P-8.1-16")
def test_a_version_names_who_made_it(workspace: Workspace) -> None:
    made = workspace.create()
    workspace.allow("actor:editor", "update")
    editor = workspace.cluster.client("actor:editor")
    request = memory_pb2.UpdateRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=made.version_id,
        canonical_content=b"2",
        provenance={"activity": "revised"},
    )
    editor.memory.Update(request)
    assert workspace.read(made.object_id).envelope.actor.actor_id == "actor:editor"
    assert workspace.read(made.object_id, version_id=made.version_id).envelope.actor.actor_id == ADMIN


@pytest.mark.req("P-8.1-17", "P-8.1-18")
def test_an_attestation_is_kept_and_gives_nothing(workspace: Workspace) -> None:
    attestation: dict[str, Any] = {
        "agent_manifest_ref": "urn:manifest:1",
        "manifest_digest": "ab",
        "manifest_digest_algorithm": "sha-256",
        "attestation_authority": "urn:authority",
        "attestation_method": "tpm",
        "signature": "c2ln",
        "signature_algorithm": "ed25519",
        "issued_at": {"seconds": 1},
        "not_before": {"seconds": 2},
        "not_after": {"seconds": 3},
        "capabilities_declared": ["delete", "admin.policy"],
        "did_ref": "did:example:1",
    }
    actor: dict[str, Any] = {"actor_id": "actor:attested", "display_name": "An agent", "attestation": attestation}
    workspace.allow("actor:attested", "create")
    client = workspace.cluster.client("actor:attested")
    made = workspace.create(client, actor=actor)
    kept = workspace.read(made.object_id).envelope.actor
    assert (kept.display_name, kept.attestation) == ("An agent", common_pb2.Attestation(**attestation))
    with pytest.raises(Refusal) as refusal:
        delete(workspace, made.object_id, made.version_id, client, actor=actor)
    assert refusal.value.reason == "ACCESS_DENIED"
    inverted = attestation | {"not_before": {"seconds": 3, "nanos": 1000}}
    for fields in (
        {"actor": actor | {"attestation": inverted}},
        {"provenance": {"activity": "observed", "actor": actor | {"attestation": inverted}}},
    ):
        with pytest.raises(Refusal) as refusal:
            workspace.create(client, **fields)
        assert refusal.value.reason == "POLICY_DENIED"
    doubled = attestation | {"capabilities_declared": ["x", "x"]}
    with pytest.raises(Refusal) as refusal:
        workspace.create(client, actor=actor | {"attestation": doubled})
    assert refusal.value.reason == "INVALID_REQUEST"


@pytest.mark.req("P-7.5-01", "P-8.1-05")
@pytest.mark.case("A01")
def test_an_object_never_leaves_its_workspace(workspace: Workspace) -> None:
    corroborated: dict[str, Any] = {"validation_state": common_pb2.VALIDATION_STATE_CORROBORATED}
    made = workspace.create(canonical_content=b'{"user_id":"bob"}', **corroborated)
    bob = Workspace(workspace.cluster)
    assert made.envelope.scope_id == workspace.scope_id
    request = memory_pb2.UpdateRequest(
        object_id=made.object_id,
        expected_version_id=made.version_id,
        update_mask=["canonical_content", "scope_id"],
        canonical_content=b"1",
        provenance={"activity": "revised"},
        scope_id=workspace.scope_id,
    )
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Update(request)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["update_mask[1]"])
    del request.update_mask[:]
    request.scope_id = bob.scope_id
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Update(request)
    assert refusal.value.reason == "OBJECT_NOT_FOUND"
    with pytest.raises(Refusal) as refusal:
        bob.read(made.object_id)
    assert refusal.value.reason == "OBJECT_NOT_FOUND"
    assert query_ids(workspace) == [made.object_id]
    assert query_ids(bob) == []
    assert workspace.read(made.object_id).envelope == made.envelope
