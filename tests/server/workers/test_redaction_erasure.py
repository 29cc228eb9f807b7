"""What an erasure leaves behind: nothing that any key still opens, nor anything by which to guess (P-10.9-02, P-16.5-01)."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from remit.v1 import memory_pb2
from storage.encryption import DeploymentKeys, open_part
from storage.keystore import DirectoryKeyStore, KeyId, KeyRing
from tests.cluster import ADMIN, TENANT, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.storied_ledger import verify, verify_offline
from tests.faults.waiting import until
from tests.server.operations.memory.redactions import ERASE, SUPPRESS, closing_of, content_of, redact, stored_bytes
from tests.server.operations.memory.requests import ACCEPT_ALL, history, query_ids, transition, update
from tests.server.operations.memory.test_query_versions import version_ids
from tests.server.workers.test_erasure import end_sessions, held_rows, someone_waits

SECRET = "canary-9d41"
CONTENT = f'{{"{SECRET}":{{"mail":"{SECRET}@example.com"}},"list":["{SECRET}",2],"name":"Ada"}}'.encode()
PROVENANCE = {"activity": "observed", "source_ref": f"urn:{SECRET}", "evidence_refs": [f"urn:e:{SECRET}", "urn:e:2"]}


@pytest.fixture(scope="module")
def own(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    """A cluster whose database holds nothing but what this module writes."""
    with running_cluster(clone_database) as cluster:
        yield cluster


def openable(cluster: Cluster, workspace: Workspace) -> list[bytes]:
    """Everything that the keys still in the key store open, of all that is stored of a workspace."""
    keys = DeploymentKeys.from_file(cluster.folder / "key-encryption-key")
    with cluster.superuser() as connection:
        rows: list[Any] = connection.execute(
            "select object_id, content_id, key_page, key_slot, ciphertext, commitment from remit.memory_contents "
            "where scope_id = %s",
            (workspace.scope_id,),
        ).fetchall()

    async def opened() -> list[bytes]:
        store = DirectoryKeyStore(cluster.folder / "keys", keys)
        await store.open()
        ring = KeyRing(store)
        try:
            found = await ring.keys(TENANT, [KeyId(page, slot) for _, _, page, slot, _, _ in rows])
        finally:
            await ring.close()
            await store.close()
        place = {"tenant_id": TENANT, "scope_id": workspace.scope_id}
        return [
            open_part(found[KeyId(page, slot)], text, commitment, object_id=object_id, content_id=content_id, **place)
            for object_id, content_id, page, slot, text, commitment in rows
            if KeyId(page, slot) in found
        ]

    return asyncio.run(opened())


def written(workspace: Workspace) -> tuple[str, list[str]]:
    """An object with the secret in three versions, one of them carrying the first one's content on."""
    integrity = {"digest": SECRET, "algorithm": "a"}
    made = workspace.create(
        object_id="mem:o", canonical_content=CONTENT, provenance=PROVENANCE, integrity=integrity, idempotency_key="k"
    )
    moved = transition(workspace, made.object_id, made.version_id, "lifecycle", "deprecated")
    last = update(
        workspace,
        made.object_id,
        moved.version_id,
        canonical_content=CONTENT.replace(b"Ada", b"Bob"),
        provenance=PROVENANCE,
        integrity=integrity,
    )
    return made.object_id, [made.version_id, moved.version_id, last.version_id]


def shown(workspace: Workspace, object_id: str, version_ids: list[str]) -> bytes:
    """All that the service tells of an object to who may see most."""
    found = [entry.SerializeToString() for entry in history(workspace, object_id=object_id)]
    found += [event.SerializeToString() for event in workspace.events()]
    for version_id in version_ids:
        try:
            found.append(workspace.read(object_id, version_id=version_id).SerializeToString())
        except Refusal as refusal:
            found.append(refusal.pamspec.SerializeToString())
    replay = workspace.create(
        object_id="mem:o",
        canonical_content=CONTENT,
        provenance=PROVENANCE,
        integrity={"digest": SECRET, "algorithm": "a"},
        idempotency_key="k",
    )
    return b"".join([*found, replay.SerializeToString()])


@pytest.mark.parametrize("whole", [False, True])
def test_nothing_opens_what_was_erased(own: Cluster, whole: bool, tmp_path: Path) -> None:
    workspace = Workspace(own)
    object_id, versions = written(workspace)
    assert sum(SECRET.encode() in text for text in openable(own, workspace)) == 6
    places = {"whole": True} if whole else {"provenance_pointers": ["/source_ref", "/evidence_refs/0"]}
    pointers = [] if whole else [f"/{SECRET}", "/list/0"]
    hidden = redact(workspace, object_id, versions[-1], *([] if whole else ["/list/0"]), whole=whole).result
    assert SECRET.encode() not in shown(workspace, object_id, versions) or not whole
    gone = redact(workspace, object_id, hidden.version_id, *pointers, mode=ERASE, **places).result
    closing_of(workspace, gone.propagation_job_id)
    versions += [hidden.version_id, gone.version_id]
    left = openable(own, workspace)
    if whole:
        assert not any(SECRET.encode() in text for text in left)
    else:
        # What is left is the pointer itself, which must go on masking: encrypted, and told to nobody who may not read.
        assert [json.loads(text)["erased"] for text in left if SECRET.encode() in text] == [sorted(pointers)]
        for version_id in versions:
            assert content_of(workspace, object_id, version_id)["list"] == [None, 2]
    assert SECRET.encode() not in shown(workspace, object_id, versions)
    stored = stored_bytes(own)
    for text in (SECRET.encode(), SECRET.encode().hex().encode()):
        assert text not in stored
    log = (own.folder / "server-0.log").read_bytes()
    assert SECRET.encode() not in log
    assert verify(workspace).ok
    assert verify_offline(workspace, tmp_path)["ok"]
    exported = (tmp_path / "ledger.jsonl").read_text()
    assert SECRET not in exported
    assert SECRET not in str([base64.b64decode(body) for body in re.findall(r'"(?:body|core)":"([^"]+)"', exported)])


@pytest.mark.parametrize("mode", [SUPPRESS, ERASE])
def test_nothing_confirms_a_guess(own: Cluster, mode: Any) -> None:
    workspace = Workspace(own)
    content = b'{"task_ref":"task:secret","content":1}'
    made = workspace.create(
        object_type="working_memory",
        canonical_content=content,
        provenance=PROVENANCE,
        integrity={"digest": "all-of-it", "algorithm": "a"},
    )
    guesses: list[dict[str, Any]] = [
        {"task_ref": "task:secret"},
        {"evidence_ref": f"urn:e:{SECRET}"},
        {"predicates": [{"field": "integrity_digest", "op": 1, "values": ["all-of-it"]}]},
    ]
    wide = ACCEPT_ALL | {"availability_state": [1, 2, 3, 4]}
    for guess in guesses:
        assert query_ids(workspace, filters=wide | guess) == [made.object_id]
    partial = redact(
        workspace, made.object_id, made.version_id, "/task_ref", provenance_pointers=["/evidence_refs/0"], mode=mode
    ).result
    for guess in guesses:
        assert query_ids(workspace, filters=wide | guess) == []
        assert version_ids(workspace, filters=wide | guess) == []
    assert query_ids(workspace, filters=wide | {"evidence_ref": "urn:e:2"}) == [made.object_id]
    if mode == ERASE:
        closing_of(workspace, partial.propagation_job_id)
        with own.superuser() as connection:
            row = connection.execute(
                "select count(*) from remit.memory_versions where scope_id = %s and integrity_lookup is not null",
                (workspace.scope_id,),
            ).fetchone()
        assert row == (0,)
        return
    transition(workspace, made.object_id, partial.version_id, "availability", "available")
    for guess in guesses[:2]:
        assert query_ids(workspace, filters=wide | guess) == [made.object_id]
    assert version_ids(workspace, filters=wide | guesses[2]) == [made.version_id]


def test_a_forged_projection_is_refused(own: Cluster) -> None:
    workspace = Workspace(own)
    made = workspace.create(canonical_content=CONTENT)
    other = workspace.create(canonical_content=b'{"forged":true}')
    erased = redact(workspace, made.object_id, made.version_id, "/list", mode=ERASE).result
    closing_of(workspace, erased.propagation_job_id)
    assert "list" not in content_of(workspace, made.object_id, made.version_id)
    with own.superuser() as connection:
        connection.execute(
            "update remit.memory_contents c set ciphertext = o.ciphertext, commitment = o.commitment, "
            "key_page = o.key_page, key_slot = o.key_slot from remit.memory_contents o "
            "where c.scope_id = %s and o.scope_id = c.scope_id and c.object_id = %s and o.object_id = %s "
            "and c.part = 'content' and o.part = 'content'",
            (workspace.scope_id, made.object_id, other.object_id),
        )
    for version_id in ("", made.version_id):
        with pytest.raises(Refusal) as refusal:
            workspace.read(made.object_id, version_id=version_id)
        assert [detail.value for detail in refusal.value.pamspec.details] == ["INTEGRITY"]


def test_masks_can_not_be_taken_away_behind_the_service(own: Cluster) -> None:
    workspace = Workspace(own)
    made = workspace.create(canonical_content=CONTENT)
    hidden = redact(workspace, made.object_id, made.version_id, "/list").result
    read = memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id=made.object_id, version_id=made.version_id)
    with own.superuser() as connection:
        named = (workspace.scope_id, made.object_id)
        connection.execute(
            "update remit.memory_versions set availability_state = 'available' where scope_id = %s and object_id = %s",
            named,
        )
        assert "list" not in json.loads(workspace.owner.memory.Read(read).envelope.canonical_content)
        connection.execute(
            "delete from remit.memory_contents where scope_id = %s and object_id = %s and part = 'redaction'", named
        )
    for version_id in (made.version_id, hidden.version_id):
        read.version_id = version_id
        with pytest.raises(Refusal) as refusal:
            workspace.owner.memory.Read(read)
        assert [detail.value for detail in refusal.value.pamspec.details] == ["INTEGRITY"]


def test_a_redaction_that_a_killed_process_left_is_finished(
    clone_database: Callable[[], AbstractContextManager[DatabaseDsns]],
) -> None:
    with running_cluster(clone_database) as cluster:
        workspace = Workspace(cluster)
        made = workspace.create(canonical_content=CONTENT)
        statement = "select 1 from remit.memory_contents where scope_id = %s and object_id = %s"
        dsn = cluster.database.superuser
        with held_rows(dsn, statement, (workspace.scope_id, made.object_id)):
            gone = redact(workspace, made.object_id, made.version_id, f"/{SECRET}", "/list/0", mode=ERASE).result
            until(lambda: someone_waits(dsn), "the erasure reaches what is held")
            # What is still there is hidden already.
            assert content_of(workspace, made.object_id, made.version_id) == {"list": [None, 2], "name": "Ada"}
            cluster.servers[0].kill()
            end_sessions(dsn)
        cluster.servers[0].start()
        workspace.owner = cluster.client(ADMIN)
        # The key was destroyed before the process ended, and is destroyed once.
        assert closing_of(workspace, gone.propagation_job_id)["keys_destroyed"] == 0
        assert content_of(workspace, made.object_id, made.version_id) == {"list": [None, 2], "name": "Ada"}
        left = [json.loads(text) for text in openable(cluster, workspace) if SECRET.encode() in text]
        assert ["erased" in part for part in left] == [True]
