"""Stored relationships -> what may be given: authenticated, decrypted, and withheld where the gate says so.

As `server.memory.retrieval` does for objects: a row edited, moved or forged behind the service's back is refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from authz.permissions import PROVENANCE_READ
from remit.v1 import memory_pb2
from server.authority.refusals import StaleFacts
from server.call import Call
from server.memory.authenticity import DataKeys, data_keys_of, opened
from server.memory.retrieval import TOMBSTONE_CONTENT
from server.memory.versions import Plaintexts
from server.relationships.relating import relationship_columns
from server.views import WorkspaceView
from server.wire.relationships import relationship_message
from storage.encryption import IntegrityViolation
from storage.model.canonical import MalformedCanonical
from storage.model.memory import PartKind
from storage.model.provenance import parse_integrity, parse_provenance
from storage.model.relationship import RelationshipCore, content_owner, parse_relationship_core
from storage.model.states import AvailabilityState
from storage.object_types import load_object_types
from storage.objects import Heads
from storage.relationships import StoredRelationship
from storage.workspaces import load_heads

OpenedRelationship = tuple[RelationshipCore, Plaintexts]


def authenticated_relationship(call: Call, stored: StoredRelationship) -> RelationshipCore:
    """Returns the core of a stored version; raises IntegrityViolation unless it is what the service wrote there."""
    place = f"relationship_versions:{stored.version_id}"
    call.services.keys.verify_mac(stored.core, stored.mac, key_id=stored.mac_key_id, place=place)
    try:
        core = parse_relationship_core(stored.core)
    except MalformedCanonical:
        raise IntegrityViolation(place, "CORE") from None
    written = (core.tenant_id, core.scope_id, core.relationship_id, core.sequence, core.version_id)
    if written != (call.tenant_id, stored.scope_id, stored.relationship_id, stored.sequence, stored.version_id):
        raise IntegrityViolation(place, "MOVED")
    if any(getattr(stored, name) != value for name, value in relationship_columns(core).items()):
        raise IntegrityViolation(place, "COLUMNS")
    return core


async def open_relationships(
    call: Call, versions: Sequence[tuple[StoredRelationship, bool]], heads: Mapping[str, Heads]
) -> list[OpenedRelationship]:
    """Returns core and readable parts of each (version, whether its parts may be given).

    `heads` are those of the workspaces they were read at. Raises IntegrityViolation, and StaleFacts instead of it when a
    part is missing because something was removed since.
    """
    cores = [(authenticated_relationship(call, stored), stored, given) for stored, given in versions]
    parts = [
        part for _, stored, given in cores if given for part in (stored.content, stored.provenance, stored.integrity)
    ]
    data_keys = await data_keys_of(call, parts)
    try:
        return [
            (core, _opened(call, core, stored, data_keys) if given else Plaintexts()) for core, stored, given in cores
        ]
    except IntegrityViolation as violation:
        if violation.kind == "PART_MISSING":
            scopes = sorted(heads)
            found = await load_heads(call.services.database, call.tenant_id, scopes)
            for scope_id, now in zip(scopes, found, strict=True):
                if now is None or now.removal_revision != heads[scope_id].removal_revision:
                    raise StaleFacts from None
        raise


def _opened(call: Call, core: RelationshipCore, stored: StoredRelationship, data_keys: DataKeys) -> Plaintexts:
    texts: dict[PartKind, bytes] = {}
    parts = ((PartKind.CONTENT, stored.content), (PartKind.PROVENANCE, stored.provenance))
    for kind, part in (*parts, (PartKind.INTEGRITY, stored.integrity)):
        ref = core.parts.get(kind)
        if ref is not None:
            texts[kind] = opened(call, content_owner(core.relationship_id), ref, part, data_keys, core.scope_id)
    try:
        provenance, integrity = texts.get(PartKind.PROVENANCE), texts.get(PartKind.INTEGRITY)
        return Plaintexts(
            texts.get(PartKind.CONTENT),
            None if provenance is None else parse_provenance(provenance),
            None if integrity is None else parse_integrity(integrity),
        )
    except MalformedCanonical:
        raise IntegrityViolation(f"relationship_versions:{core.version_id}", "PART") from None


End = tuple[WorkspaceView, str, str]
"""An end of a relationship: the workspace it lies in, its stored type, its id."""


def readable_relationship(
    call: Call, core: RelationshipCore, plaintexts: Plaintexts, ends: Iterable[End]
) -> memory_pb2.RelationshipEnvelope:
    """Returns the envelope with the parts the caller may have: no provenance where a rule denies it on an end."""
    shown = plaintexts
    if any(
        view.enforcer.denies(actor_id, PROVENANCE_READ, object_type, object_id) is not None
        for view, object_type, object_id in ends
        for actor_id in call.standing_actor_ids()
    ):
        shown = Plaintexts(plaintexts.content, None, plaintexts.integrity)
    if core.availability_state is AvailabilityState.DELETED:
        shown = Plaintexts(TOMBSTONE_CONTENT, shown.provenance, None)
    return relationship_message(core, shown)


async def ends_of(call: Call, cores: Sequence[RelationshipCore], views: Mapping[str, WorkspaceView]) -> list[list[End]]:
    """Returns the ends of each relationship that lie in a workspace of `views`, by the types they are stored with.

    Empty where no rule of these workspaces denies anybody concerned to read provenance: then they do not matter.
    """
    denied = any(
        view.enforcer.reach(actor_id, PROVENANCE_READ).deny
        for view in views.values()
        for actor_id in call.standing_actor_ids()
    )
    if not denied:
        return [[] for _ in cores]
    places = [[(core.scope_id, core.source_object_id), (core.target_scope, core.target_object_id)] for core in cores]
    types: dict[tuple[str, str], str] = {}
    for scope_id in views:
        wanted = {object_id for pair in places for place, object_id in pair if place == scope_id}
        found = await load_object_types(call.services.database, call.tenant_id, scope_id, wanted)
        types |= {(scope_id, object_id): kind for object_id, kind in found.items()}
    return [[(views[place[0]], types[place], place[1]) for place in pair if place in types] for pair in places]
