"""Sealed snapshots, authenticated whenever they are read (P-14-17, P-18.11-02)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.domain_errors import SnapshotNotFound
from storage.encryption import IntegrityViolation
from storage.model.canonical import MalformedCanonical
from storage.model.snapshot import Snapshot, parse_snapshot
from storage.snapshots import load_snapshot

if TYPE_CHECKING:
    from server.services import Services


async def sealed_snapshot(services: Services, tenant_id: str, scope_id: str, snapshot_id: str) -> Snapshot:
    """Returns a snapshot of the workspace, as it was sealed.

    Decide on the caller's authority before: the answer tells whether the id is taken. Raises SnapshotNotFound,
    IntegrityViolation.
    """
    stored = await load_snapshot(services.database, tenant_id, scope_id, snapshot_id)
    if stored is None:
        raise SnapshotNotFound
    place = f"snapshots:{snapshot_id}"
    services.keys.verify_mac(stored.core, stored.mac, key_id=stored.mac_key_id, place=place)
    try:
        snapshot = parse_snapshot(stored.core)
    except MalformedCanonical:
        raise IntegrityViolation(place, "CORE") from None
    if (snapshot.tenant_id, snapshot.scope_id, snapshot.snapshot_id) != (tenant_id, scope_id, snapshot_id):
        raise IntegrityViolation(place, "MOVED")
    return snapshot
