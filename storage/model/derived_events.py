"""Events of derived state: they make no version (P-7.8-08, P-8.4-04; surface.md, section 5)."""

from dataclasses import dataclass
from typing import ClassVar

from storage.model.event_record import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpaceRegistered(Event):
    """An embedding space was registered; its descriptor never changes."""

    TYPE: ClassVar[str] = "embedding_space_registered"

    embedding_space_id: str
    dimensions: int
    distance_metric: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingGenerated(Event):
    """A vector was registered for the version that the record names."""

    TYPE: ClassVar[str] = "embedding_generated"

    artifact_type: str
    artifact_id: str
    store_id: str
    artifact_version: str | None = None
    embedding_space_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageRegistered(Event):
    """A derived artifact without a vector was registered for the version that the record names."""

    TYPE: ClassVar[str] = "lineage_registered"

    artifact_type: str
    artifact_id: str
    store_id: str
    artifact_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivativeRemoved(Event):
    """A derived artifact was removed; its source stays as it is."""

    TYPE: ClassVar[str] = "derivative_removed"

    artifact_type: str
    artifact_id: str
    store_id: str
    artifact_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRebuilt(Event):
    """A derived index was rebuilt up to a ledger sequence."""

    TYPE: ClassVar[str] = "index_rebuilt"

    index_id: str
    indexed_sequence: int
