"""The binding as a client meets it: its names, its messages, what it has and what it leaves out (PAMSPEC 3, 6, 10, 13)."""

from __future__ import annotations

import re

import pytest

from remit.v1 import discovery_pb2, memory_pb2
from tests.cluster import ADMIN, Refusal, Workspace
from tests.contract.conftest import IssuedCluster
from tests.contract.reflected import Contract

TWELVE = {
    "create",
    "read",
    "update",
    "transition",
    "relate",
    "query",
    "inspect_history",
    "redact",
    "delete",
    "promote",
    "subscribe",
    "unsubscribe",
}


@pytest.fixture(scope="module")
def contract(issued: IssuedCluster) -> Contract:
    client = issued.client(ADMIN)
    return Contract(client.channel, client.metadata)


@pytest.mark.req("P-13-01", "P-10-02")
def test_the_manifest_names_the_binding_and_the_twelve_operations(issued: IssuedCluster, contract: Contract) -> None:
    manifest = issued.client("actor:anybody").discovery.GetManifest(discovery_pb2.GetManifestRequest())
    assert (manifest.binding, manifest.binding_version) == ("grpc", "remit.v1")
    assert all(method.full_name.startswith(f"{manifest.binding_version}.") for method in contract.methods)
    assert len(manifest.operations) == len(TWELVE)
    assert set(manifest.operations) == TWELVE
    # Each has its method, under its own name.
    assert set(manifest.available_operations) == TWELVE
    methods = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in contract.requests}
    assert methods >= TWELVE


_EXPECTING = {"Update", "Transition", "Redact", "Delete", "Promote", "Relate"}
_IN_SNAPSHOT = {"Read", "Query", "InspectHistory", "TraverseRelationships", "ExportWorkspace", "GetSnapshot"}
_AFTER = {"ListEvents", "InspectHistory", "Subscribe", "ResetSubscription"}
_OTHER_NAMES = re.compile(
    r"^(request_id|idempotency|client_token|page_token|next_page_token|etag|if_match|expected_version|"
    r"workspace_id|namespace|since|offset|start_after)$"
)


@pytest.mark.req("P-13-05")
def test_the_names_of_the_draft_are_the_names_of_the_fields(contract: Contract) -> None:
    takes = {name: {field.name for field in request.fields} for name, request in contract.requests.items()}

    def taking(field_name: str) -> set[str]:
        return {name for name, fields in takes.items() if field_name in fields}

    assert taking("scope_id") == takes.keys() - {"GetManifest"}
    assert taking("operation_id") == takes.keys()
    assert taking("expected_version_id") == _EXPECTING
    assert taking("snapshot_id") >= _IN_SNAPSHOT
    assert taking("after_sequence") == _AFTER
    # Whatever is paged hands out what it takes, under one name.
    gives = {method.name for method in contract.methods if "cursor" in method.output_type.fields_by_name}
    assert taking("cursor") == gives - {"PollSubscription"}
    changes = {"Create", "GrantDelegation", "RevokeDelegation", "Subscribe", "SealSnapshot"} | _EXPECTING
    assert taking("idempotency_key") >= changes
    # Each is one field everywhere: the same number where requests share it, the same kind, and no second name for it.
    for name, number in (("scope_id", 1), ("operation_id", 2), ("idempotency_key", 3)):
        fields = [
            request.fields_by_name[name] for request in contract.requests.values() if name in request.fields_by_name
        ]
        assert {(field.number, field.type) for field in fields} == {(number, fields[0].TYPE_STRING)}
    assert [field.full_name for field in contract.fields if _OTHER_NAMES.match(field.name)] == []


_THOUGHT = re.compile(r"thought|reasoning|chain_of|inner_|monologue|rationale", re.IGNORECASE)
_AGENTS = re.compile(
    r"discover_?agent|agent_?discover|register_?agent|find_?agent|route|routing|negotiat|handshake", re.I
)


@pytest.mark.req("P-6-01")
def test_there_is_no_place_for_hidden_reasoning_and_no_traffic_between_agents(
    contract: Contract, issued_workspace: Workspace
) -> None:
    names = [field.full_name for field in contract.fields] + [method.full_name for method in contract.methods]
    names += [value.name for enum in contract.enums.values() for value in enum.values]
    assert [name for name in names if _THOUGHT.search(name) or _AGENTS.search(name)] == []
    # What agents can do is stated by an attestation that the draft defines, and nowhere else.
    capable = [field.full_name for field in contract.fields if "capabilit" in field.name]
    assert capable == ["remit.v1.Attestation.capabilities_declared"]
    bare = memory_pb2.CreateRequest(
        scope_id=issued_workspace.scope_id,
        object_type="decision",
        canonical_content=b'{"decision":"wait"}',
        provenance={"activity": "decided"},
    )
    assert issued_workspace.owner.memory.Create(bare).result.version_id


_OWN_IDS = {
    "MemoryEnvelope": "object_id",
    "RelationshipEnvelope": "relationship_id",
    "Delegation": "delegation_id",
    "LedgerEvent": "event_id",
    "Snapshot": "snapshot_id",
    "EmbeddingSpace": "embedding_space_id",
}


@pytest.mark.req("P-3-02")
def test_what_the_draft_tells_apart_are_messages_with_ids_of_their_own(
    contract: Contract, issued_workspace: Workspace
) -> None:
    assert contract.messages.keys() >= _OWN_IDS.keys()
    for name, own_id in _OWN_IDS.items():
        assert own_id in contract.messages[name].fields_by_name
    source, target = issued_workspace.create().object_id, issued_workspace.create().object_id
    relation = memory_pb2.RelateRequest(
        scope_id=issued_workspace.scope_id,
        source_object_id=source,
        target_object_id=target,
        relationship_type="supports",
        directionality=memory_pb2.DIRECTIONALITY_DIRECTED,
        provenance={"activity": "related"},
    )
    made = issued_workspace.owner.memory.Relate(relation).relationship
    for foreign_id in (made.relationship_id, made.version_id, issued_workspace.scope_id):
        with pytest.raises(Refusal) as refused:
            issued_workspace.read(foreign_id)
        assert refused.value.pamspec.code == "object_not_found"
