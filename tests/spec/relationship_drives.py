"""How the draft's vectors of relationships are brought about, or attempted, by calls of this service."""

from __future__ import annotations

import json
from typing import Any

from remit.v1 import memory_pb2
from server.wire.json_export import JsonObject, export_relationship
from tests.cluster import Workspace
from tests.server.operations.memory.relationships import permit
from tests.server.operations.memory.requests import history
from tests.spec.vector_drives import Stage, comparable, told


def related(stage: Stage, given: JsonObject) -> memory_pb2.RelationshipEnvelope:
    """Relates the vector's two objects; a target elsewhere is there and permitted, and the actor holds the right."""
    workspace, target = stage.workspace, stage.workspace
    named: dict[str, Any] = {name: given[name] for name in ("policy_basis",) if name in given}
    actor = given["actor"]
    rights = ("relate", "assert_state", "inspect_history")
    client = stage.actor(actor["actor_id"], actor["actor_kind"], *rights)
    if "target_scope_id" in given:
        target = Workspace(stage.cluster)
        target.allow(actor["actor_id"], *rights)
        permit(target, workspace)
        named["target_scope_id"] = target.scope_id
    workspace.create(object_id=given["source_object_id"])
    target.create(object_id=given["target_object_id"], object_type="artifact")
    states: dict[str, Any] = {
        f"{name}_state": f"{name.upper()}_STATE_{given[f'{name}_state'].upper()}"
        for name in ("lifecycle", "availability", "retention", "validation")
    }
    request = memory_pb2.RelateRequest(
        scope_id=workspace.scope_id,
        relationship_id=given["relationship_id"],
        source_object_id=given["source_object_id"],
        target_object_id=given["target_object_id"],
        relationship_type=given["relationship_type"],
        directionality=f"DIRECTIONALITY_{given['directionality'].upper()}",
        canonical_content=json.dumps(given["canonical_content"]).encode(),
        **states,
        **named,
        **told(given),
    )
    response: memory_pb2.RelateResponse = client.memory.Relate(request)
    return response.relationship


def driven_relationship(stage: Stage, given: JsonObject) -> None:
    made = related(stage, given)
    assert comparable(export_relationship(made).draft) == comparable(given)
    [kept] = [
        entry.relationship
        for entry in history(stage.workspace, relationship_id=given["relationship_id"])
        if entry.HasField("relationship")
    ]
    assert kept == made
