"""The draft's vectors that only an import can attempt: no other operation takes a version id."""

from __future__ import annotations

from server.wire.json_export import JsonObject
from tests.server.operations.portability.drafts import a_version, export_of
from tests.server.operations.portability.exports import take_import
from tests.spec.vector_drives import Stage


def refused_reuse(stage: Stage, instance: JsonObject) -> None:
    """Two versions under one id: the vector's first, and its second under the id of the first."""
    first = instance["first"]
    second = instance["second"] | {"version_id": first["version_id"], "sequence": 1}
    take_import(stage.workspace, export_of(first, second, scope_id=first["scope_id"]), remap=True)


def refused_overwrite(stage: Stage, instance: JsonObject) -> None:
    """Other content under the id of a version that stands."""
    standing = a_version(instance["object_id"], version_id=instance["expected_version_id"])
    take_import(stage.workspace, export_of(standing), remap=True)
    other = {"version_id": instance["replacement_version_id"], "canonical_content": {"statement": "overwritten"}}
    take_import(stage.workspace, export_of(standing | other), remap=True)
