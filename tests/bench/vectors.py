"""Searches by meaning over 100,000 vectors of 384 dimensions, of workspaces that own from all of them to 0.1 %.

Rows are copied in as the service would have written them: results are authenticated and decrypted like any other.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from remit.v1 import derived_pb2, memory_pb2
from storage.encryption import DeploymentKeys, seal_part
from storage.keystore import DirectoryKeyStore, KeyId, KeyRing
from storage.model.actor import ActorRef
from storage.model.identifiers import new_id, new_uuid
from storage.model.memory import PartKind, PartRef, VersionCore, core_bytes
from storage.model.provenance import Provenance, provenance_bytes
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState
from tests.cluster import ADMIN, TENANT, Client, Cluster, Workspace

DIMENSIONS: Final = 384
SIZES: Final = (100_000, 10_000, 1_000, 100)
LIMIT: Final = 10
SPACE: Final = "space:bench"
_FEW: Final = 100
_QUERIES: Final = 12
_ACTOR: Final = ActorRef(ADMIN, "human")
_TIME_US: Final = 1_790_000_000_000_000
_VERSION_COLUMNS: Final = (
    "tenant_id, scope_id, object_id, sequence, version_id, ledger_sequence, object_type, lifecycle_state,"
    " availability_state, retention_state, validation_state, actor_id, provenance_id, committed_at, recorded_at,"
    " content_id, provenance_content_id, core, mac, mac_key_id"
)
# Around each of 300 centres, with the sum of two of 1,000 noises: gathered as embeddings of texts are.
_NOISE: Final = """
create table bench_centres as select n, array(
    select (sqrt(-2 * ln(1 - random())) * cos(6.283185307179586 * random()))::real
      from generate_series(1, %(dimensions)s) where n > 0)::vector as e from generate_series(1, 300) n;
create table bench_noises as select n, array(
    select (0.45 * sqrt(-2 * ln(1 - random())) * cos(6.283185307179586 * random()))::real
      from generate_series(1, %(dimensions)s) where n > 0)::vector as e from generate_series(1, 1000) n;
create index on bench_centres (n); create index on bench_noises (n);
"""
_VECTORS: Final = """
insert into remit.vectors (tenant_id, scope_id, embedding_space_id, artifact_type, artifact_id, artifact_version, object_id,
                           object_type, content_id, ledger_sequence, embedding)
select v.tenant_id, v.scope_id, %(space)s, 'embedding', v.object_id, '', v.object_id, v.object_type, v.content_id, 1,
       (c.e + a.e + b.e)::real[]
  from (select m.*, row_number() over (order by m.object_id) as n from remit.memory_versions m
         where m.scope_id = %(scope)s) v
  join bench_centres c on c.n = 1 + v.n %% 300
  join bench_noises a on a.n = 1 + (hashint8(v.n) & 1048575) %% 1000
  join bench_noises b on b.n = 1 + (hashint8(v.n * 7919) & 1048575) %% 1000
"""


@dataclass(frozen=True, slots=True)
class VectorFigures:
    """Median milliseconds of a query of LIMIT rows, by how many vectors the workspace or the caller owns; recalls."""

    exact_ms: dict[int, float]
    exact_few_ms: float
    few_found: int
    approximate_ms: float
    exact_recall: float
    approximate_recall: float
    rebuild_seconds: float


def measure(cluster: Cluster, report: Callable[[str], None]) -> VectorFigures:
    """Loads and measures; `report` is told each step."""
    report("vectors: load")
    workspaces = {size: Workspace(cluster) for size in SIZES}
    with cluster.superuser() as connection:
        connection.execute("select setseed(0.5)")
        connection.execute(_NOISE % {"dimensions": DIMENSIONS})
        for size, workspace in workspaces.items():
            _load(cluster, connection, workspace, size)
        connection.execute("analyze remit.memory_objects, remit.memory_versions, remit.memory_contents, remit.vectors")
        whole = workspaces[SIZES[0]]
        asked = [_sample(connection, whole.scope_id, number) for number in range(_QUERIES)]
        nearest = [_brute_force(connection, whole.scope_id, vector) for vector in asked]
    report("vectors: exact")
    exact = {size: _queried(workspace.owner, workspace, asked) for size, workspace in workspaces.items()}
    few = cluster.client("actor:few")
    whole.allow("actor:few", "query", object_type="task")
    of_few = _queried(few, whole, asked, limit=_FEW)
    report("vectors: approximate")
    started = time.perf_counter()
    whole.owner.derived.RecordIndexRebuild(
        derived_pb2.RecordIndexRebuildRequest(scope_id=whole.scope_id, index_id=f"index:vector:{SPACE}"), timeout=300
    )
    rebuild_seconds = time.perf_counter() - started
    approximate = _queried(whole.owner, whole, asked, mode=memory_pb2.SEARCH_MODE_APPROXIMATE)
    return VectorFigures(
        exact_ms={size: _median_ms(found) for size, found in exact.items()},
        exact_few_ms=_median_ms(of_few),
        few_found=min(len(ids) for _, ids in of_few),
        approximate_ms=_median_ms(approximate),
        exact_recall=_recall(exact[SIZES[0]], nearest),
        approximate_recall=_recall(approximate, nearest),
        rebuild_seconds=rebuild_seconds,
    )


_Answers = list[tuple[float, list[str]]]


def _median_ms(answers: _Answers) -> float:
    return statistics.median(seconds for seconds, _ in answers) * 1000


def _recall(answers: _Answers, nearest: Sequence[Sequence[str]]) -> float:
    found = sum(len(set(ids) & set(best)) for (_, ids), best in zip(answers, nearest, strict=True))
    return found / sum(len(best) for best in nearest)


def _queried(
    client: Client, workspace: Workspace, asked: Sequence[Sequence[float]], limit: int = LIMIT, mode: Any = 0
) -> _Answers:
    answers = []
    for vector in asked:
        request = memory_pb2.QueryRequest(
            scope_id=workspace.scope_id,
            query={"kind": memory_pb2.QUERY_KIND_SEMANTIC},
            limit=limit,
            embedding_space_id=SPACE,
            query_vector=vector,
            search_mode=mode,
        )
        started = time.perf_counter()
        page = client.memory.Query(request)
        answers.append((time.perf_counter() - started, [row.object_id for row in page.results]))
    return answers


def _sample(connection: psycopg.Connection[Any], scope_id: str, number: int) -> list[float]:
    """A vector near one that is there."""
    [(vector,)] = connection.execute(
        "select (x.embedding::vector + n.e)::real[] from remit.vectors x, bench_noises n"
        " where x.scope_id = %s and n.n = %s order by x.object_id offset %s limit 1",
        (scope_id, number + 1, number * 700),
    ).fetchall()
    return list(vector)


def _brute_force(connection: psycopg.Connection[Any], scope_id: str, vector: Sequence[float]) -> list[str]:
    rows = connection.execute(
        "select x.object_id from remit.vectors x where x.scope_id = %s"
        " order by x.embedding::vector <=> %s::real[]::vector, x.object_id limit %s",
        (scope_id, list(vector), LIMIT),
    ).fetchall()
    return [object_id for (object_id,) in rows]


def _load(cluster: Cluster, connection: psycopg.Connection[Any], workspace: Workspace, size: int) -> None:
    space = derived_pb2.EmbeddingSpace(
        embedding_space_id=SPACE,
        provider="bench",
        model="bench",
        model_revision="1",
        dimensions=DIMENSIONS,
        distance_metric="cosine",
        normalization="none",
        preprocessing_profile="none",
        embedding_kind="dense",
        canonicalization_rules="none",
    )
    workspace.owner.derived.RegisterEmbeddingSpace(
        derived_pb2.RegisterEmbeddingSpaceRequest(scope_id=workspace.scope_id, embedding_space=space)
    )
    keys = DeploymentKeys.from_file(cluster.folder / "key-encryption-key")
    key_id, data_key = asyncio.run(_drawn(cluster, keys))
    with connection.transaction(), connection.cursor() as cursor:
        # One after another: a copy takes the connection for itself.
        made = list(_objects(keys, key_id, data_key, workspace.scope_id, size))
        for table, columns, rows in (
            ("memory_objects", "tenant_id, scope_id, object_id, object_type, version_id, sequence", 0),
            ("memory_versions", _VERSION_COLUMNS, 1),
            (
                "memory_contents",
                "tenant_id, scope_id, object_id, content_id, part, key_page, key_slot, ciphertext, commitment",
                2,
            ),
        ):
            with cursor.copy(f"copy remit.{table} ({columns}) from stdin") as copy:
                for item in made:
                    for row in item[rows]:
                        copy.write_row(row)
    connection.execute(_VECTORS, {"space": SPACE, "scope": workspace.scope_id})


async def _drawn(cluster: Cluster, keys: DeploymentKeys) -> tuple[KeyId, bytes]:
    store = DirectoryKeyStore(cluster.folder / "keys", keys)
    await store.open()
    ring = KeyRing(store)
    try:
        return await ring.draw(TENANT)
    finally:
        await ring.close()
        await store.close()


_Rows = list[tuple[Any, ...]]


def _objects(
    keys: DeploymentKeys, key_id: KeyId, data_key: bytes, scope_id: str, size: int
) -> Iterator[tuple[_Rows, _Rows, _Rows]]:
    few = set(random.Random(1).sample(range(size), min(_FEW, size)))
    for number in range(size):
        object_id, version_id = new_id(), new_id()
        object_type = "task" if number in few else "claim"
        provenance = Provenance(provenance_id=new_id(), actor=_ACTOR, activity="observed", recorded_at_us=_TIME_US)
        refs, contents = {}, []
        texts = ((PartKind.CONTENT, b'{"statement":"x"}'), (PartKind.PROVENANCE, provenance_bytes(provenance)))
        for kind, text in texts:
            content_id = new_uuid()
            sealed = seal_part(
                data_key, text, tenant_id=TENANT, scope_id=scope_id, object_id=object_id, content_id=content_id
            )
            refs[kind] = PartRef(content_id, sealed.commitment)
            place = (TENANT, scope_id, object_id, content_id, kind.value, key_id.page_id, key_id.slot)
            contents.append((*place, sealed.ciphertext, sealed.commitment))
        core = VersionCore(
            tenant_id=TENANT,
            scope_id=scope_id,
            object_id=object_id,
            version_id=version_id,
            sequence=1,
            object_type=object_type,
            lifecycle_state=LifecycleState.ACTIVE,
            availability_state=AvailabilityState.AVAILABLE,
            retention_state=RetentionState.RETAINED,
            validation_state=ValidationState.CORROBORATED,
            committed_at_us=_TIME_US,
            recorded_at_us=_TIME_US,
            actor=_ACTOR,
            provenance_id=provenance.provenance_id,
            parts=refs,
        )
        yield [(TENANT, scope_id, object_id, object_type, version_id, 1)], [_version_row(keys, core)], contents


def _version_row(keys: DeploymentKeys, core: VersionCore) -> tuple[Any, ...]:
    written = core_bytes(core)
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(_TIME_US // 1_000_000))
    states = (core.lifecycle_state, core.availability_state, core.retention_state, core.validation_state)
    return (
        core.tenant_id,
        core.scope_id,
        core.object_id,
        1,
        core.version_id,
        1,
        core.object_type,
        *(state.value for state in states),
        ADMIN,
        core.provenance_id,
        at,
        at,
        core.parts[PartKind.CONTENT].content_id,
        core.parts[PartKind.PROVENANCE].content_id,
        written,
        keys.mac(written),
        keys.key_id,
    )
