"""Events of exports and imports (surface.md, section 5)."""

from dataclasses import dataclass
from typing import ClassVar

from storage.model.event_record import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceExported(Event):
    """The workspace was exported; `export_digest` is the hex digest of the records."""

    TYPE: ClassVar[str] = "workspace_exported"

    export_digest: str
    record_count: int
    bound_sequence: int
    includes_derived: bool
    includes_ledger: bool
    includes_delegations: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceImported(Event):
    """An export was imported, all of it."""

    TYPE: ClassVar[str] = "workspace_imported"

    import_id: str
    source_scope_id: str
    export_digest: str
    record_count: int
    objects: int
    versions: int
    relationships: int
    policy_basis: str
    remapped: bool
