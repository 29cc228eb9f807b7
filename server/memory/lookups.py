"""Keyed hashes of values inside encrypted parts, so that they are found without reading content (memory.md, "Encrypted
parts"): the task of working memory, and the evidence that provenance refers to (P-8.2-13, P-App-01)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.call import Call
from server.memory.redactions import REDACTED_REFERENCE
from server.memory.versions import Plaintexts
from server.wire.json_text import read_json_text
from storage.commands import ColdChange
from storage.encryption import DeploymentKeys
from storage.model.memory import PartKind, PartRef

TASK_REF: Final = "task_ref"
EVIDENCE_REF: Final = "evidence_ref"
LOOKUP_FIELDS: Final = (TASK_REF, EVIDENCE_REF)

Lookup = dict[str, str]


def lookup_of(keys: DeploymentKeys, tenant_id: str, field: str, value: str) -> bytes:
    """Returns the 32-byte hash that a value of one of LOOKUP_FIELDS is found by."""
    return keys.lookup(field, value, tenant_id=tenant_id)


def lookups_of(call: Call, object_type: str, plaintexts: Plaintexts, refs: Mapping[PartKind, PartRef]) -> list[Lookup]:
    """Returns the hashes of what may be found in the parts that `refs` name and `plaintexts` show."""
    found: list[Lookup] = []
    if object_type == "working_memory" and plaintexts.content is not None and PartKind.CONTENT in refs:
        value = read_json_text(plaintexts.content)
        task_ref = value.get("task_ref") if isinstance(value, dict) else None
        if isinstance(task_ref, str):
            found.append(_lookup(call, TASK_REF, task_ref, refs[PartKind.CONTENT]))
    if plaintexts.provenance is not None and PartKind.PROVENANCE in refs:
        references = sorted({*plaintexts.provenance.evidence_refs} - {REDACTED_REFERENCE})
        found += [_lookup(call, EVIDENCE_REF, reference, refs[PartKind.PROVENANCE]) for reference in references]
    return found


def lookups_changed(object_id: str, add: Sequence[Lookup], drop: Sequence[str] = ()) -> list[ColdChange]:
    """Returns the change that first drops all hashes of some fields of an object and then adds others; none for nothing."""
    if not add and not drop:
        return []
    fields: dict[str, Any] = {"object_id": object_id, "drop": list(drop), "add": list(add)}
    return [ColdChange("redaction.lookups", fields)]


def _lookup(call: Call, field: str, value: str, ref: PartRef) -> Lookup:
    hashed = lookup_of(call.services.keys, call.tenant_id, field, value)
    return {"field": field, "lookup": hashed.hex(), "content_id": str(ref.content_id)}
