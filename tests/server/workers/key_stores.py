"""The two key stores a cluster can run on, and what they hold."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from storage.embedded import EmbeddedServer
from storage.embedded.bootstrap import restrict_database
from storage.encryption import DeploymentKeys
from storage.keystore import DirectoryKeyStore, KeyStore, PostgresKeyStore, create_schema
from tests.cluster import TENANT, Cluster, Workspace
from tests.conftest import DatabaseDsns, dsns

KINDS = ("directory", "postgres")
KeyPlace = tuple[UUID, int]


@dataclass(frozen=True)
class OneKeyStore:
    """A key store beside the content database; `database` is its own, None for a folder of the cluster."""

    database: DatabaseDsns | None
    settings: dict[str, str] = field(default_factory=dict)

    def existing(self, folder: Path, places: Sequence[KeyPlace]) -> set[KeyPlace]:
        """Those of the keys that the store still has, read afresh."""
        keys = DeploymentKeys.from_file(folder / "key-encryption-key")
        store: KeyStore
        if self.database is None:
            store = DirectoryKeyStore(folder / "keys", keys)
        else:
            store = PostgresKeyStore(self.database.server, keys)

        async def look() -> set[KeyPlace]:
            await store.open()
            try:
                pages = {page_id: await store.load_page(TENANT, page_id) for page_id, _ in places}
                return {(page_id, slot) for page_id, slot in places if pages[page_id].key(slot) is not None}
            finally:
                await store.close()

        return asyncio.run(look())


@contextmanager
def key_store_of_kind(kind: str, server: EmbeddedServer) -> Iterator[OneKeyStore]:
    """A key store of the kind; the one in PostgreSQL has a new database on the server."""
    if kind == "directory":
        yield OneKeyStore(None)
        return
    database = dsns(server, f"k_{uuid.uuid4().hex}")
    with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(f"create database {database.name} owner remit_ddl".encode())
        restrict_database(connection, database.name)
        try:
            create_schema(database.ddl, server_role="remit_server")
            yield OneKeyStore(database, {"REMIT_KEYSTORE_URL": database.server})
        finally:
            connection.execute(f"drop database {database.name} with (force)".encode())


def parts_of(cluster: Cluster, workspace: Workspace, object_id: str) -> dict[str, list[KeyPlace]]:
    """Where the keys of an object's stored parts are, by kind of part."""
    with cluster.superuser() as connection:
        rows: list[Any] = connection.execute(
            "select part, key_page, key_slot from remit.memory_contents where scope_id = %s and object_id = %s",
            (workspace.scope_id, object_id),
        ).fetchall()
    found: dict[str, list[KeyPlace]] = {}
    for part, page_id, slot in rows:
        found.setdefault(part, []).append((page_id, slot))
    return found
