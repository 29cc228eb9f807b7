"""What keeps an object from being disposed of: a hold, or the retention its workspace demands (P-9.4-04, P-10.9-03)."""

from __future__ import annotations

from typing import Final

from server.call import Call
from server.domain_errors import LegalHold, ObjectDeleted, RetentionRestriction, VersionConflict
from server.memory.retrieval import Loaded
from storage.redactions import content_kept_since_us

_MICROSECONDS: Final = 1_000_000


async def demand_disposable(call: Call, loaded: Loaded, expected_version_id: str) -> None:
    """Returns when the object may be redacted or deleted now.

    The retention counts from when the newest content was recorded, by the database's clock. Raises ObjectDeleted,
    VersionConflict, LegalHold, RetentionRestriction, in this order.
    """
    standing, object_id = loaded.standing, loaded.version.object_id
    if standing.verdict == "deleted":
        raise ObjectDeleted(object_id)
    if standing.version_id != expected_version_id:
        current = standing.version_id if call.may_read(object_id, standing.object_type) else None
        raise VersionConflict(expected_version_id, current, object_id)
    if standing.retention_state == "legal_hold":
        raise LegalHold(object_id)
    seconds = call.view.workspace.policy.minimum_retention_seconds
    if not seconds:
        return
    kept_since_us = await content_kept_since_us(
        call.services.database, call.tenant_id, call.scope_id, object_id, loaded.version.content_id
    )
    if loaded.heads.now_us < kept_since_us + seconds * _MICROSECONDS:
        raise RetentionRestriction(object_id)
