"""A version of memory, model -> wire: the envelope (PAMSPEC 8.1; memory.md, Objects and versions).

The same version with the same parts gives the same bytes, always: nothing here reads a clock, a map or the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.v1 import common_pb2
from server.wire.actors import integrity_message, signals_message, write_actor, write_provenance
from server.wire.enum_numbers import AVAILABILITY_NUMBERS, LIFECYCLE_NUMBERS, RETENTION_NUMBERS, VALIDATION_NUMBERS
from server.wire.times import write_time
from storage.model.memory import SPEC_VERSION, VersionCore

if TYPE_CHECKING:
    from server.memory.versions import Plaintexts


def envelope_of(core: VersionCore, plaintexts: Plaintexts) -> common_pb2.MemoryEnvelope:
    """Returns the envelope of a version with those of its encrypted parts that may be given."""
    envelope = common_pb2.MemoryEnvelope()
    write_envelope(envelope, core, plaintexts)
    return envelope


def write_envelope(envelope: common_pb2.MemoryEnvelope, core: VersionCore, plaintexts: Plaintexts) -> None:
    """Fills an empty envelope, where it stands in an answer, with a version and those of its parts that may be given.

    Of provenance that is withheld, its id stays: it stands in the version itself.
    """
    envelope.spec_version = SPEC_VERSION
    envelope.object_id = core.object_id
    envelope.version_id = core.version_id
    envelope.scope_id = core.scope_id
    envelope.object_type = core.object_type
    envelope.sequence = core.sequence
    envelope.lifecycle_state = LIFECYCLE_NUMBERS[core.lifecycle_state]
    envelope.availability_state = AVAILABILITY_NUMBERS[core.availability_state]
    envelope.retention_state = RETENTION_NUMBERS[core.retention_state]
    envelope.validation_state = VALIDATION_NUMBERS[core.validation_state]
    write_time(envelope.committed_at, core.committed_at_us)
    write_time(envelope.recorded_at, core.recorded_at_us)
    write_actor(envelope.actor, core.actor)
    if core.schema_id is not None:
        envelope.schema_id = core.schema_id
    if core.observed_at_us is not None:
        write_time(envelope.observed_at, core.observed_at_us)
    if core.asserted_at_us is not None:
        write_time(envelope.asserted_at, core.asserted_at_us)
    if core.valid_from_us is not None:
        write_time(envelope.valid_from, core.valid_from_us)
    if core.valid_until_us is not None:
        write_time(envelope.valid_until, core.valid_until_us)
    if plaintexts.content is not None:
        envelope.canonical_content = plaintexts.content
    if plaintexts.provenance is None:
        envelope.provenance.provenance_id = core.provenance_id
    else:
        write_provenance(envelope.provenance, plaintexts.provenance)
    if plaintexts.integrity is not None:
        envelope.integrity.CopyFrom(integrity_message(plaintexts.integrity))
    if core.quality_signals is not None:
        envelope.quality_signals.CopyFrom(signals_message(core.quality_signals))


def state_numbers(lifecycle: str, availability: str, retention: str, validation: str) -> dict[str, Any]:
    """Returns the four state fields of an envelope or a grant as keyword arguments of its message."""
    return {
        "lifecycle_state": LIFECYCLE_NUMBERS[lifecycle],
        "availability_state": AVAILABILITY_NUMBERS[availability],
        "retention_state": RETENTION_NUMBERS[retention],
        "validation_state": VALIDATION_NUMBERS[validation],
    }
