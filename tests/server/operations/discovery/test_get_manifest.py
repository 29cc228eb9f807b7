"""GetManifest, and `remit manifest`."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import grpc
import pytest
from click.testing import CliRunner

from remit.v1 import common_pb2, discovery_pb2
from server.cli.manifest import manifest
from storage.model.states import STATES, moves
from tests.cluster import Client, Refusal, Workspace
from tests.server.operations.memory.requests import grant


def _manifest(client: Client) -> discovery_pb2.GetManifestResponse:
    found: discovery_pb2.GetManifestResponse = client.discovery.GetManifest(discovery_pb2.GetManifestRequest())
    return found


@pytest.mark.req("P-13-06", "P-7.5-09")
def test_the_manifest_is_as_the_actor_may_see_it(workspace: Workspace) -> None:
    hidden = Workspace(workspace.cluster)
    reader_id = f"actor:reader-{uuid4()}"
    workspace.allow(reader_id, "read", object_type="task")
    workspace.allow(reader_id, "query")
    workspace.deny(reader_id, "query")
    reader, owner = _manifest(workspace.cluster.client(reader_id)), _manifest(workspace.owner)
    assert [(scope.scope_id, list(scope.actions)) for scope in reader.scopes] == [(workspace.scope_id, ["read"])]
    owned = {scope.scope_id: scope.actions for scope in owner.scopes}
    assert {workspace.scope_id, hidden.scope_id, "tenant:acme"} <= set(owned)
    assert {"create", "ledger.verify", "admin.policy"} <= set(owned[workspace.scope_id])
    assert not {"transition_override", "release_hold"} & set(owned[workspace.scope_id])
    assert (owner.spec_version, owner.binding, owner.binding_version) == ("0.1.0-draft", "grpc", "remit.v1")
    assert owner.service_version
    assert owner.authorization_model
    # What a rule takes away is gone from the next manifest.
    workspace.deny(reader_id, "read")
    assert [list(scope.actions) for scope in _manifest(workspace.cluster.client(reader_id)).scopes] == [[]]


def test_a_delegate_sees_the_workspace_of_its_grant_and_tenants_are_apart(workspace: Workspace) -> None:
    delegate_id = f"actor:delegate-{uuid4()}"
    grant(workspace, delegate_id, "read")
    delegate = _manifest(workspace.cluster.client(delegate_id))
    assert [(scope.scope_id, list(scope.actions)) for scope in delegate.scopes] == [(workspace.scope_id, [])]
    other = _manifest(workspace.cluster.client(delegate_id, "globex"))
    assert other.scopes == []


@pytest.mark.req("P-9.1-07")
def test_states_and_moves_are_declared_and_others_refused(workspace: Workspace) -> None:
    found = _manifest(workspace.owner)
    declared = {states.dimension: list(states.states) for states in found.states}
    assert declared == {dimension.value: [state.value for state in states] for dimension, states in STATES.items()}
    assert len(found.moves) == len(list(moves())) == 43
    needs = {(move.dimension, move.from_state, move.to_state): move.required_action for move in found.moves}
    assert needs["lifecycle", "candidate", "active"] == "activate"
    assert needs["retention", "legal_hold", "retained"] == "release_hold"
    assert needs["lifecycle", "active", "archived"] == ""
    request: dict[str, Any] = {"lifecycle_state": len(common_pb2.LifecycleState.keys())}
    with pytest.raises(Refusal) as refused:
        workspace.create(**request)
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", ["lifecycle_state"])


def test_every_operation_has_an_rpc_in_the_order_of_the_draft(workspace: Workspace) -> None:
    found = _manifest(workspace.owner)
    assert len(found.operations) == 12
    assert list(found.available_operations) == list(found.operations)


def test_without_a_token_there_is_no_manifest(workspace: Workspace) -> None:
    stranger = Client(workspace.cluster.servers[0].address, None)
    with pytest.raises(Refusal) as refused:
        _manifest(stranger)
    stranger.close()
    assert refused.value.code is grpc.StatusCode.UNAUTHENTICATED


def test_the_command_prints_it(workspace: Workspace) -> None:
    cluster = workspace.cluster
    address, token = cluster.servers[0].address, cluster.token("actor:admin")
    result = CliRunner().invoke(manifest, ["--address", address, "--token", token, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["spec_version"] == "0.1.0-draft"
    assert workspace.scope_id in {scope["scope_id"] for scope in found["scopes"]}
    shown = CliRunner().invoke(manifest, ["--address", address, "--token", "-"], input=token + "\n")
    assert shown.exit_code == 0, shown.output
    assert "Operations" in shown.stdout
    assert "inspect_history" in shown.stdout
    refused = CliRunner().invoke(manifest, ["--address", address, "--token", "nonsense"])
    assert refused.exit_code == 1
    assert "UNAUTHENTICATED" in refused.output
