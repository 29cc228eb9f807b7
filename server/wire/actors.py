"""Actors, provenance and the other parts that versions of memory and of grants share: model -> wire.

`write_*` fill a message where it stands: made apart and handed to a constructor, it would be copied once for every
message around it, which costs a read or a change more than all else that is done for its answer.
"""

from typing import Any, Final, cast

from remit.v1 import common_pb2
from server.wire.times import optional_timestamp_of, timestamp_of, write_time
from storage.model.actor import ActorRef, AttestationValue
from storage.model.memory import QualitySignals
from storage.model.provenance import Integrity, Provenance

_TIME_SUFFIX: Final = "_us"


def actor_message(actor: ActorRef) -> common_pb2.Actor:
    """Returns the actor with everything the model keeps of it."""
    message = common_pb2.Actor()
    write_actor(message, actor)
    return message


def write_actor(message: common_pb2.Actor, actor: ActorRef) -> None:
    """Fills an empty message with the actor."""
    message.actor_id = actor.actor_id
    message.actor_kind = actor.actor_kind
    if actor.display_name is not None:
        message.display_name = actor.display_name
    if actor.on_behalf_of_actor_id is not None:
        message.on_behalf_of_actor_id = actor.on_behalf_of_actor_id
    if actor.delegation_id is not None:
        message.delegation_id = actor.delegation_id
    if actor.attestation is not None:
        message.attestation.CopyFrom(_attestation_message(dict(actor.attestation)))


def _attestation_message(attestation: dict[str, AttestationValue]) -> common_pb2.Attestation:
    fields: dict[str, Any] = {}
    for key, value in attestation.items():
        if key.endswith(_TIME_SUFFIX):
            fields[key.removesuffix(_TIME_SUFFIX)] = timestamp_of(cast("int", value))
        else:
            fields[key] = value
    return common_pb2.Attestation(**fields)


def provenance_message(provenance: Provenance) -> common_pb2.Provenance:
    """Returns the provenance record."""
    message = common_pb2.Provenance()
    write_provenance(message, provenance)
    return message


def write_provenance(message: common_pb2.Provenance, provenance: Provenance) -> None:
    """Fills an empty message with the provenance record."""
    message.provenance_id = provenance.provenance_id
    message.activity = provenance.activity
    write_actor(message.actor, provenance.actor)
    write_time(message.recorded_at, provenance.recorded_at_us)
    if provenance.source_ref is not None:
        message.source_ref = provenance.source_ref
    if provenance.evidence_refs:
        message.evidence_refs.extend(provenance.evidence_refs)
    if provenance.observed_at_us is not None:
        write_time(message.observed_at, provenance.observed_at_us)
    if provenance.transformation_parent is not None:
        message.transformation_parent = provenance.transformation_parent
    if provenance.source_confidence is not None:
        message.source_confidence = provenance.source_confidence
    if provenance.integrity_ref is not None:
        message.integrity_ref = provenance.integrity_ref
    if provenance.evaluation_run_id is not None:
        message.evaluation_run_id = provenance.evaluation_run_id


def integrity_message(integrity: Integrity) -> common_pb2.Integrity:
    """Returns the client's integrity metadata."""
    return common_pb2.Integrity(
        digest=integrity.digest,
        algorithm=integrity.algorithm,
        canonicalization_profile=integrity.canonicalization_profile or "",
        signature=integrity.signature or "",
        ledger_ref=integrity.ledger_ref or "",
    )


def signals_message(signals: QualitySignals) -> common_pb2.QualitySignals:
    """Returns the quality signals; a score that is absent stays absent."""
    return common_pb2.QualitySignals(
        assessed_confidence=signals.assessed_confidence,
        contradiction_score=signals.contradiction_score,
        staleness_score=signals.staleness_score,
        evidence_strength=signals.evidence_strength,
        source_diversity=signals.source_diversity,
        last_verified_at=optional_timestamp_of(signals.last_verified_at_us),
        last_verified_by_actor_id=signals.last_verified_by_actor_id or "",
        verification_method_id=signals.verification_method_id or "",
        assessed_at=optional_timestamp_of(signals.assessed_at_us),
        assessed_by_actor_id=signals.assessed_by_actor_id or "",
    )
