"""Stored rows -> what the service wrote: authenticated cores and opened parts (memory.md, "Encrypted parts").

A row edited, moved, replayed under another id or forged behind the service's back is refused here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from server.call import Call
from server.memory.versions import COLUMNS, column_values
from storage.encryption import DeploymentKeys, IntegrityViolation, open_part
from storage.keystore import KeyId
from storage.model.canonical import MalformedCanonical
from storage.model.memory import PartRef, VersionCore, parse_core
from storage.objects import OWN_WIDTH, StoredPart, StoredVersion
from storage.redactions import StoredCore

_columns_of = attrgetter(*COLUMNS)
# Rows remembered, and the longest core of one, so that their memory is bounded in bytes as well.
_JUDGED_MAX: Final = 8192
_JUDGED_CORE_BYTES_MAX: Final = 4096


def authenticated_core(call: Call, stored: StoredVersion) -> VersionCore:
    """Returns the core of a stored version; raises IntegrityViolation unless it is what the service wrote there.

    Versions never change: a row that was judged before is taken for what it was then while it is the same, byte by byte.
    """
    judge = _judged if len(stored.core) > _JUDGED_CORE_BYTES_MAX else _judged_once
    return judge(call.services.keys, call.tenant_id, call.scope_id, stored[:OWN_WIDTH])


def _judged(keys: DeploymentKeys, tenant_id: str, scope_id: str, row: tuple[Any, ...]) -> VersionCore:
    stored = StoredVersion._make((*row, 0, None, None, None))
    core = _proven(keys, tenant_id, scope_id, stored)
    if _columns_of(stored) != column_values(core):
        raise IntegrityViolation(f"memory_versions:{stored.version_id}", "COLUMNS")
    return core


_judged_once: Final = lru_cache(_JUDGED_MAX)(_judged)


def core_alone(call: Call, stored: StoredVersion | StoredCore) -> VersionCore:
    """Returns the core as `authenticated_core` does, for a row whose repeated columns nobody relies on."""
    return _proven(call.services.keys, call.tenant_id, call.scope_id, stored)


def _proven(keys: DeploymentKeys, tenant_id: str, scope_id: str, stored: StoredVersion | StoredCore) -> VersionCore:
    place = f"memory_versions:{stored.version_id}"
    keys.verify_mac(stored.core, stored.mac, key_id=stored.mac_key_id, place=place)
    try:
        core = parse_core(stored.core)
    except MalformedCanonical:
        raise IntegrityViolation(place, "CORE") from None
    written = (core.tenant_id, core.scope_id, core.object_id, core.sequence, core.version_id)
    if written != (tenant_id, scope_id, stored.object_id, stored.sequence, stored.version_id):
        raise IntegrityViolation(place, "MOVED")
    return core


DataKeys = dict[KeyId, bytes]


async def data_keys_of(call: Call, parts: Iterable[StoredPart | None]) -> DataKeys:
    """Returns the keys of those of the parts whose keys exist."""
    wanted = [KeyId(part.key_page, part.key_slot) for part in parts if part is not None]
    return await call.services.key_ring.keys(call.tenant_id, wanted) if wanted else {}


def opened(
    call: Call,
    object_id: str,
    ref: PartRef,
    part: StoredPart | None,
    data_keys: DataKeys,
    scope_id: str | None = None,
) -> bytes:
    """Returns the plaintext of the part that `ref` names; raises IntegrityViolation, PART_MISSING when it is gone.

    `scope_id` is the workspace it lies in, where that is not the call's.
    """
    data_key = None if part is None else data_keys.get(KeyId(part.key_page, part.key_slot))
    if part is None or data_key is None:
        raise IntegrityViolation(f"memory_contents:{ref.content_id}", "PART_MISSING")
    if part.content_id != ref.content_id or part.commitment != ref.commitment:
        raise IntegrityViolation(f"memory_contents:{ref.content_id}", "COMMITMENT")
    return open_part(
        data_key,
        part.ciphertext,
        ref.commitment,
        tenant_id=call.tenant_id,
        scope_id=scope_id or call.scope_id,
        object_id=object_id,
        content_id=ref.content_id,
    )
