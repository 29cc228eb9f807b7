"""What was removed where an export was made is not stored where it comes to (PAMSPEC 8.4, 10.9, 10.11)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster import OTHER_TENANT, Refusal, Workspace
from tests.server.operations.derived.embeddings import register, register_space
from tests.server.operations.memory.redactions import ERASE, redact
from tests.server.operations.memory.requests import delete
from tests.server.operations.portability.drafts import SCOPE, a_version, draft_export
from tests.server.operations.portability.exports import take_export, take_import
from tests.server.operations.portability.rich import verified

SPACE = {
    **{"embedding_space_id": "space:a", "provider": "example", "model": "small", "model_revision": "3"},
    **{"dimensions": 2, "distance_metric": "cosine", "normalization": "none", "preprocessing_profile": "none"},
    **{"embedding_kind": "dense", "canonicalization_rules": "utf-8"},
}
SECRET = "task:of-the-secret"
TOMBSTONE = {"availability_state": "deleted", "canonical_content": {"tombstone": True}}


def a_vector(object_id: str, sequence: int = 1, **members: Any) -> tuple[str, dict[str, Any]]:
    """A vector of a version that `a_version` made."""
    return "vector", {
        "kind": "vector",
        "artifact_type": "embedding",
        "artifact_id": f"artifact:{object_id}:{sequence}",
        "artifact_version": "",
        "embedding_space_id": "space:a",
        "source_object_id": object_id,
        "source_version_id": f"ver:{object_id}:{sequence}",
        "vector": [0.5, 0.25],
    } | members


def a_relationship(object_id: str, sequence: int = 1, **members: Any) -> tuple[str, dict[str, Any]]:
    """A version of a relationship of an object to itself."""
    version = a_version("rel:1", sequence, scope_id=SCOPE)
    del version["object_id"], version["object_type"]
    ends = {"source_object_id": object_id, "target_object_id": object_id}
    named = {"relationship_id": "rel:1", "relationship_type": "supports", "directionality": "directed"}
    return "relationship", version | ends | named | members


def stored(workspace: Workspace, table: str, owner: str = "") -> list[str]:
    """The owners of a table's rows that are of an object or a relationship, for each row once."""
    with workspace.cluster.superuser() as connection:
        rows = connection.execute(
            f"select object_id from remit.{table} where scope_id = %s and object_id like %s order by 1",
            (workspace.scope_id, f"%{owner}"),
        ).fetchall()
    return [row[0] for row in rows]


def test_of_what_was_deleted_only_the_tombstone_is_kept(workspace: Workspace) -> None:
    """Nothing could erase it later: the object is deleted already."""
    working = {
        "object_type": "working_memory",
        "integrity": {"digest": "d", "algorithm": "a"},
        "canonical_content": {"task_ref": SECRET, "content": "secret"},
    }
    answer = take_import(
        workspace,
        draft_export(
            ("memory_object", a_version("mem:gone", **working)),
            ("memory_object", a_version("mem:gone", 2, object_type="working_memory", **TOMBSTONE)),
            ("memory_object", a_version("mem:kept", **working)),
            a_relationship("mem:kept"),
            a_relationship("mem:kept", 2, **TOMBSTONE),
            ("embedding_space", SPACE),
            a_vector("mem:gone"),
            a_vector("mem:kept"),
        ),
        remap=True,
    )
    assert (answer.objects, answer.versions, answer.relationships) == (2, 3, 1)
    # One space and one vector.
    assert answer.derived == 2
    # The provenance of the tombstone, as a deletion here leaves it.
    assert stored(workspace, "memory_contents", "mem:gone") == ["mem:gone"]
    assert stored(workspace, "memory_contents", "rel:1") == ["relationship/rel:1"]
    for table in ("memory_lookups", "vectors", "derivatives"):
        assert stored(workspace, table) == ["mem:kept"]
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:gone")
    assert refusal.value.reason == "OBJECT_DELETED"
    verified(workspace)
    again = take_export(workspace, include_derived=True)
    [first, last] = [each for each in again.kinds("memory_object") if each["object_id"] == "mem:gone"]
    assert (first["availability_state"], last["availability_state"]) == ("available", "deleted")
    assert first["canonical_content"] == last["canonical_content"] == {"tombstone": True}


def test_a_vector_from_before_a_redaction_is_left_out(workspace: Workspace) -> None:
    """What was redacted may be in it; RegisterDerivative refuses it as well."""
    masked = {"availability_state": "partially_redacted", "canonical_content": {"statement": None}}
    hidden = {"availability_state": "redacted", "canonical_content": {"tombstone": True}}
    answer = take_import(
        workspace,
        draft_export(
            ("memory_object", a_version("mem:hidden")),
            ("memory_object", a_version("mem:hidden", 2, **hidden)),
            ("memory_object", a_version("mem:masked")),
            ("memory_object", a_version("mem:masked", 2, **masked)),
            ("memory_object", a_version("mem:open")),
            ("memory_object", a_version("mem:open", 2)),
            ("embedding_space", SPACE),
            *(a_vector(f"mem:{name}", sequence) for name in ("hidden", "masked", "open") for sequence in (1, 2)),
        ),
        remap=True,
    )
    assert stored(workspace, "vectors") == ["mem:masked", "mem:open", "mem:open"]
    assert answer.derived == 1 + 3
    verified(workspace)


@pytest.mark.parametrize("kind", ["memory_object", "relationship"])
def test_a_tombstone_is_final(workspace: Workspace, kind: str) -> None:
    records = [("memory_object", a_version("mem:1"))]
    if kind == "relationship":
        records += [a_relationship("mem:1"), a_relationship("mem:1", 2, **TOMBSTONE), a_relationship("mem:1", 3)]
    else:
        records += [(kind, a_version("mem:1", 2, **TOMBSTONE)), (kind, a_version("mem:1", 3))]
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, draft_export(*records), remap=True)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_OBJECT", [f"records[{len(records)}].sequence"])
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:1")
    assert refusal.value.reason == "OBJECT_NOT_FOUND"


def test_content_has_the_shape_of_its_type_where_nothing_was_removed(workspace: Workspace) -> None:
    """As Create demands it; what is left after a redaction has no shape to be held to."""
    odd = {"object_type": "tool_result", "canonical_content": "nonsense"}
    with pytest.raises(Refusal) as refusal:
        take_import(
            workspace,
            draft_export(("memory_object", a_version()), ("memory_object", a_version("mem:odd", **odd))),
            remap=True,
        )
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_OBJECT", ["records[2].canonical_content"])
    assert "(memory_object mem:odd)" in refusal.value.message
    made = workspace.create(
        object_type="working_memory", canonical_content=b'{"task_ref":"task:1","content":1,"purpose":"why"}'
    )
    redact(workspace, made.object_id, made.version_id, "/task_ref", mode=ERASE)
    gone = workspace.create(object_type="working_memory", canonical_content=b'{"task_ref":"task:1","content":1}')
    delete(workspace, gone.object_id, gone.version_id)
    restored = Workspace(workspace.cluster, OTHER_TENANT)
    assert take_import(restored, take_export(workspace), remap=True).objects == 2
    verified(restored)


def test_a_vector_whose_name_is_taken_is_not_counted(workspace: Workspace) -> None:
    exported = draft_export(
        ("memory_object", a_version("mem:1")),
        ("memory_object", a_version("mem:2")),
        ("embedding_space", SPACE),
        a_vector("mem:1"),
        a_vector("mem:2"),
    )
    register_space(workspace, **{name: value for name, value in SPACE.items() if name != "embedding_space_id"})
    made = workspace.create()
    register(workspace, made, (0.1, 0.2), artifact_id="artifact:mem:1:1")
    assert take_import(workspace, exported, remap=True).derived == 1
    assert stored(workspace, "vectors") == ["mem:2", made.object_id]
    verified(workspace)
