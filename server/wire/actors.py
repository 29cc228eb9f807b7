"""Actors, provenance and the other parts that versions of memory and of grants share: model -> wire."""

from typing import Any, Final, cast

from remit.v1 import common_pb2
from server.wire.times import optional_timestamp_of, timestamp_of
from storage.model.actor import ActorRef, AttestationValue
from storage.model.memory import QualitySignals
from storage.model.provenance import Integrity, Provenance

_TIME_SUFFIX: Final = "_us"


def actor_message(actor: ActorRef) -> common_pb2.Actor:
    """Returns the actor with everything the model keeps of it."""
    message = common_pb2.Actor(
        actor_id=actor.actor_id,
        actor_kind=actor.actor_kind,
        display_name=actor.display_name or "",
        on_behalf_of_actor_id=actor.on_behalf_of_actor_id or "",
        delegation_id=actor.delegation_id or "",
    )
    if actor.attestation is not None:
        message.attestation.CopyFrom(_attestation_message(dict(actor.attestation)))
    return message


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
    return common_pb2.Provenance(
        provenance_id=provenance.provenance_id,
        source_ref=provenance.source_ref or "",
        actor=actor_message(provenance.actor),
        activity=provenance.activity,
        evidence_refs=provenance.evidence_refs,
        observed_at=optional_timestamp_of(provenance.observed_at_us),
        recorded_at=timestamp_of(provenance.recorded_at_us),
        transformation_parent=provenance.transformation_parent or "",
        source_confidence=provenance.source_confidence,
        integrity_ref=provenance.integrity_ref or "",
    )


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
