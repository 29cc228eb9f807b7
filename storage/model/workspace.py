"""A workspace: one scope of one tenant, with one ledger and one policy (PAMSPEC 7.5)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace and what it demands of its calls.

    `extension_types` lists the extension types that may be created, None allows all; `created_at_us` is in microseconds
    since 1970 UTC.
    """

    scope_id: str
    scope_kind: str
    parent_scope_id: str | None
    require_purpose: bool
    extension_types: tuple[str, ...] | None
    created_at_us: int
