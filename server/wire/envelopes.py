"""A version of memory, model -> wire: the envelope (PAMSPEC 8.1; memory.md, Objects and versions).

The same version with the same parts gives the same bytes, always: nothing here reads a clock, a map or the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from remit.v1 import common_pb2
from server.wire.actors import actor_message, integrity_message, provenance_message, signals_message
from server.wire.enum_numbers import AVAILABILITY_NUMBERS, LIFECYCLE_NUMBERS, RETENTION_NUMBERS, VALIDATION_NUMBERS
from server.wire.times import optional_timestamp_of, timestamp_of
from storage.model.memory import SPEC_VERSION, VersionCore

if TYPE_CHECKING:
    from server.versions import Plaintexts


def envelope_of(core: VersionCore, plaintexts: Plaintexts) -> common_pb2.MemoryEnvelope:
    """Returns the envelope of a version with those of its encrypted parts that may be given.

    Of provenance that is withheld, its id stays: it stands in the version itself.
    """
    provenance = plaintexts.provenance
    if provenance is None:
        provenance_part = common_pb2.Provenance(provenance_id=core.provenance_id)
    else:
        provenance_part = provenance_message(provenance)
    return common_pb2.MemoryEnvelope(
        spec_version=SPEC_VERSION,
        object_id=core.object_id,
        version_id=core.version_id,
        scope_id=core.scope_id,
        object_type=core.object_type,
        schema_id=core.schema_id or "",
        canonical_content=plaintexts.content or b"",
        observed_at=optional_timestamp_of(core.observed_at_us),
        asserted_at=optional_timestamp_of(core.asserted_at_us),
        valid_from=optional_timestamp_of(core.valid_from_us),
        valid_until=optional_timestamp_of(core.valid_until_us),
        committed_at=timestamp_of(core.committed_at_us),
        recorded_at=timestamp_of(core.recorded_at_us),
        sequence=core.sequence,
        actor=actor_message(core.actor),
        provenance=provenance_part,
        integrity=None if plaintexts.integrity is None else integrity_message(plaintexts.integrity),
        quality_signals=None if core.quality_signals is None else signals_message(core.quality_signals),
        **state_numbers(core.lifecycle_state, core.availability_state, core.retention_state, core.validation_state),
    )


def state_numbers(lifecycle: str, availability: str, retention: str, validation: str) -> dict[str, Any]:
    """Returns the four state fields of an envelope or a grant as keyword arguments of its message."""
    return {
        "lifecycle_state": cast("common_pb2.LifecycleState", LIFECYCLE_NUMBERS[lifecycle]),
        "availability_state": cast("common_pb2.AvailabilityState", AVAILABILITY_NUMBERS[availability]),
        "retention_state": cast("common_pb2.RetentionState", RETENTION_NUMBERS[retention]),
        "validation_state": cast("common_pb2.ValidationState", VALIDATION_NUMBERS[validation]),
    }
