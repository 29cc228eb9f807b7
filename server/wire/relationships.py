"""A version of a relationship, model <-> wire (PAMSPEC 8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from remit.v1 import memory_pb2
from server.wire.actors import integrity_message, write_actor, write_provenance
from server.wire.envelopes import state_numbers
from server.wire.times import write_time
from storage.model.memory import SPEC_VERSION
from storage.model.relationship import Directionality, RelationshipCore

if TYPE_CHECKING:
    from server.memory.versions import Plaintexts

_DIRECTIONS: Final = {
    memory_pb2.DIRECTIONALITY_DIRECTED: Directionality.DIRECTED,
    memory_pb2.DIRECTIONALITY_BIDIRECTIONAL: Directionality.BIDIRECTIONAL,
    memory_pb2.DIRECTIONALITY_UNDIRECTED: Directionality.UNDIRECTED,
}
_DIRECTION_NUMBERS: Final = {direction: number for number, direction in _DIRECTIONS.items()}


def directionality_of(number: int) -> Directionality:
    """Returns the directionality of a validated number."""
    return _DIRECTIONS[cast("memory_pb2.Directionality", number)]


def relationship_message(core: RelationshipCore, plaintexts: Plaintexts) -> memory_pb2.RelationshipEnvelope:
    """Returns the envelope of a version with those of its encrypted parts that may be given.

    Of provenance that is withheld, its id stays: it stands in the version itself.
    """
    message = memory_pb2.RelationshipEnvelope(
        spec_version=SPEC_VERSION,
        relationship_id=core.relationship_id,
        version_id=core.version_id,
        scope_id=core.scope_id,
        relationship_type=core.relationship_type,
        source_object_id=core.source_object_id,
        target_object_id=core.target_object_id,
        target_scope_id=core.target_scope_id or "",
        directionality=_DIRECTION_NUMBERS[core.directionality],
        canonical_content=plaintexts.content or b"",
        sequence=core.sequence,
        policy_basis=core.policy_basis or "",
        **state_numbers(core.lifecycle_state, core.availability_state, core.retention_state, core.validation_state),
    )
    for name in ("observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at"):
        time_us = getattr(core, f"{name}_us")
        if time_us is not None:
            write_time(getattr(message, name), time_us)
    write_actor(message.actor, core.actor)
    if plaintexts.provenance is None:
        message.provenance.provenance_id = core.provenance_id
    else:
        write_provenance(message.provenance, plaintexts.provenance)
    if plaintexts.integrity is not None:
        message.integrity.CopyFrom(integrity_message(plaintexts.integrity))
    return message
