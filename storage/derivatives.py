"""Derived state as changes of a command, and what is read of it: spaces, lineage, index states (P-7.6-*, P-7.8-*)."""

from __future__ import annotations

from storage.commands import ColdChange


def dropped(object_id: str) -> ColdChange:
    """Returns the change that removes an object's vectors and tokens, in the transaction that hides the object.

    The lineage of artifacts in other stores stays: it says what is left to remove there.
    """
    return ColdChange("derived.drop", {"object_id": object_id})
