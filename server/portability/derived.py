"""Embedding spaces and vectors of an export, out and in (PAMSPEC 7.8, 16.6; P-7.8-07).

A vector is worthless without the descriptor of its space, so an export that holds one holds the other, and an import
refuses a vector whose space or source the export does not hold.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from server.call import Call
from server.portability import records
from server.portability.draft_objects import DraftObject
from server.portability.draft_parts import actor_of, part, required_count, required_id, required_text
from server.portability.rights import demand_whole, standing_page
from server.wire.actors import actor_message
from server.wire.json_export import actor_json
from server.wire.refusal import FieldRefused
from storage.model.embedding import COMPONENT_MAX, DistanceMetric, EmbeddingSpace, vector_problem
from storage.model.times import iso_text
from storage.portable_vectors import ExportedVector, page_of_spaces, page_of_vectors

if TYPE_CHECKING:
    from server.portability.exporting import ExportPlan, Record

_TEXTS: Final = (
    *("provider", "model", "model_revision", "distance_metric", "normalization", "preprocessing_profile"),
    *("embedding_kind", "canonicalization_rules"),
)
_VECTOR: Final = (
    *("kind", "artifact_type", "artifact_id", "artifact_version", "embedding_space_id"),
    *("source_object_id", "source_version_id", "vector"),
)
_DIMENSIONS_MAX: Final = 16_000


def space_bytes(space: EmbeddingSpace) -> bytes:
    """Returns an embedding space as the draft's schema has it."""
    value: dict[str, Any] = {name: str(getattr(space, name)) for name in _TEXTS}
    value["embedding_space_id"] = space.embedding_space_id
    value["dimensions"] = space.dimensions
    value["created_at"] = iso_text(space.created_at_us)
    if space.created_by is not None:
        value["created_by"] = actor_json(actor_message(space.created_by))
    return records.value_bytes(value)


def _vector_bytes(vector: ExportedVector) -> bytes:
    value = {
        "kind": records.VECTOR,
        "artifact_type": vector.artifact_type,
        "artifact_id": vector.artifact_id,
        "artifact_version": vector.artifact_version,
        "embedding_space_id": vector.embedding_space_id,
        "source_object_id": vector.object_id,
        "source_version_id": vector.version_id,
        "vector": vector.vector,
    }
    return records.value_bytes(value)


async def derived_records(call: Call, plan: ExportPlan) -> AsyncIterator[Record]:
    """Yields embedding spaces by id, then vectors by artifact."""
    place = (call.services.database, call.tenant_id, call.scope_id, plan.bound.sequence)
    demand = partial(demand_whole, call, plan.actions(), reading=True)
    after = ""
    while True:
        spaces: list[EmbeddingSpace] = await standing_page(call, partial(page_of_spaces, *place, after), demand)
        for space in spaces:
            after = space.embedding_space_id
            yield records.EMBEDDING_SPACE, space_bytes(space)
        if not spaces:
            break
    last = ("", "", "")
    while True:
        vectors: list[ExportedVector] = await standing_page(call, partial(page_of_vectors, *place, last), demand)
        for vector in vectors:
            last = vector.key
            if plan.object_ids is None or vector.object_id in plan.object_ids:
                yield records.VECTOR, _vector_bytes(vector)
        if not vectors:
            return


@dataclass(frozen=True, slots=True)
class IncomingVector:
    """A vector of an export with the version it was derived of."""

    artifact_type: str
    artifact_id: str
    artifact_version: str
    embedding_space_id: str
    object_id: str
    version_id: str
    vector: tuple[float, ...]


def space_of_record(value: Any) -> EmbeddingSpace:
    """Returns the embedding space of a record; raises FieldRefused."""
    required = ("embedding_space_id", *_TEXTS, "dimensions")
    read = DraftObject(value, required, ("created_at", "created_by"))
    texts = {name: required_text(read, name) for name in _TEXTS}
    try:
        metric = DistanceMetric(texts.pop("distance_metric"))
    except ValueError:
        raise FieldRefused(f"must be one of {', '.join(DistanceMetric)}", "distance_metric") from None
    dimensions = required_count(read, "dimensions")
    if dimensions > _DIMENSIONS_MAX:
        raise FieldRefused(f"must be at most {_DIMENSIONS_MAX}", "dimensions")
    return EmbeddingSpace(
        embedding_space_id=required_id(read, "embedding_space_id"),
        dimensions=dimensions,
        distance_metric=metric,
        created_at_us=read.time_us("created_at") or 0,
        created_by=part(read, "created_by", actor_of),
        **texts,
    )


def vector_of_record(value: Any) -> IncomingVector:
    """Returns the vector of a record; raises FieldRefused."""
    read = DraftObject(value, _VECTOR, ())
    components = read.raw("vector")
    if not isinstance(components, list) or not all(
        isinstance(component, int | float) and not isinstance(component, bool) for component in components
    ):
        raise FieldRefused("must be a list of numbers", "vector")
    try:
        numbers = tuple(map(float, components))
    except OverflowError:
        raise FieldRefused(f"has a component beyond {COMPONENT_MAX:g}", "vector") from None
    return IncomingVector(
        artifact_type=required_text(read, "artifact_type"),
        artifact_id=required_text(read, "artifact_id"),
        artifact_version=read.text("artifact_version") or "",
        embedding_space_id=required_id(read, "embedding_space_id"),
        object_id=required_id(read, "source_object_id"),
        version_id=required_id(read, "source_version_id"),
        vector=numbers,
    )


@dataclass(slots=True)
class DerivedReader:
    """Judges the embedding spaces and vectors of an export in their order; `take` raises FieldRefused.

    `version_ids` gives the ids of an object's versions in this export.
    """

    spaces: dict[str, EmbeddingSpace] = field(default_factory=dict)
    space_numbers: dict[str, int] = field(default_factory=dict)
    count: int = 0
    _last_vector: tuple[str, str, str] = ("", "", "")

    def take(self, kind: str, value: Any, number: int, things: Mapping[tuple[str, str], Any]) -> None:
        """Takes the next record, the `number`-th of the export."""
        self.count += 1
        if kind == records.EMBEDDING_SPACE:
            space = space_of_record(value)
            if self.spaces and space.embedding_space_id <= next(reversed(self.spaces)):
                raise FieldRefused("is out of order", "embedding_space_id")
            self.spaces[space.embedding_space_id] = space
            self.space_numbers[space.embedding_space_id] = number
            return
        vector = vector_of_record(value)
        key = (vector.artifact_type, vector.artifact_id, vector.artifact_version)
        if key <= self._last_vector:
            raise FieldRefused("is out of order", "artifact_id")
        self._last_vector = key
        found = self.spaces.get(vector.embedding_space_id)
        if found is None:
            raise FieldRefused("is no space of the export", "embedding_space_id")
        if len(vector.vector) != found.dimensions:
            raise FieldRefused("is not as long as its space says", "vector")
        problem = vector_problem(found, vector.vector)
        if problem is not None:
            raise FieldRefused(problem, "vector")
        thing = things.get((records.MEMORY_OBJECT, vector.object_id))
        if thing is None or vector.version_id not in thing.version_ids:
            raise FieldRefused("is no version of the export", "source_version_id")
