"""Parts that the draft's records share, JSON -> model: actors, provenance, integrity, signals (PAMSPEC 8.1, 8.6, 8.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from server.portability.draft_objects import DraftObject
from server.wire.json_export import EVALUATION_RUN_PREFIX
from server.wire.refusal import FieldRefused
from storage.model.actor import ATTESTATION_TEXTS, ATTESTATION_TIMES, ActorRef, AttestationValue
from storage.model.identifiers import is_id
from storage.model.memory import SCORES, SPEC_VERSION, QualitySignals
from storage.model.provenance import Integrity, Provenance
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState

Part = TypeVar("Part")

CLAIMED_TIMES: Final = ("observed_at", "asserted_at", "valid_from", "valid_until")
STATES: Final = ("lifecycle_state", "availability_state", "retention_state", "validation_state")


def part(read: DraftObject, key: str, parse: Callable[[Any], Part]) -> Part | None:
    """Returns a member that is an object of its own, None when it is absent."""
    if key not in read:
        return None
    return required_part(read, key, parse)


def required_part(read: DraftObject, key: str, parse: Callable[[Any], Part]) -> Part:
    """Returns a member that is an object of its own and known to be there."""
    try:
        return parse(read.raw(key))
    except FieldRefused as refusal:
        raise refusal.within(key) from None


def required_id(read: DraftObject, key: str) -> str:
    """Returns the id of a required member."""
    value = read.id(key)
    assert value is not None, "required members were judged before"
    return value


def required_time_us(read: DraftObject, key: str) -> int:
    """Returns the date-time of a required member."""
    value = read.time_us(key)
    assert value is not None, "required members were judged before"
    return value


def required_count(read: DraftObject, key: str) -> int:
    """Returns the integer, at least 1, of a required member."""
    value = read.count(key)
    assert value is not None, "required members were judged before"
    return value


def required_text(read: DraftObject, key: str) -> str:
    """Returns the string, not empty, of a required member."""
    value = read.text(key, empty=False)
    assert value is not None, "required members were judged before"
    return value


def check_spec_version(read: DraftObject) -> None:
    """Raises FieldRefused for a record of another version of the draft (P-8.1-02)."""
    if read.raw("spec_version") != SPEC_VERSION:
        raise FieldRefused(f"must be {SPEC_VERSION}", "spec_version")


def states_of(read: DraftObject) -> dict[str, Any]:
    """Returns the four states by their names."""
    return {
        "lifecycle_state": read.one_of("lifecycle_state", LifecycleState),
        "availability_state": read.one_of("availability_state", AvailabilityState),
        "retention_state": read.one_of("retention_state", RetentionState),
        "validation_state": read.one_of("validation_state", ValidationState),
    }


def actor_of(value: Any) -> ActorRef:
    """Returns an actor (P-8.1-15)."""
    optional = ("display_name", "on_behalf_of_actor_id", "delegation_id", "attestation")
    read = DraftObject(value, ("actor_id", "actor_kind"), optional)
    return ActorRef(
        required_id(read, "actor_id"),
        required_text(read, "actor_kind"),
        read.text("display_name") or None,
        read.id("on_behalf_of_actor_id"),
        read.id("delegation_id"),
        part(read, "attestation", _attestation_of),
    )


def _attestation_of(value: Any) -> dict[str, AttestationValue]:
    read = DraftObject(value, (), (*ATTESTATION_TEXTS, *ATTESTATION_TIMES, "capabilities_declared"))
    attestation: dict[str, AttestationValue] = {name: text for name in ATTESTATION_TEXTS if (text := read.text(name))}
    for name in ATTESTATION_TIMES:
        time_us = read.time_us(name)
        if time_us is not None:
            attestation[f"{name}_us"] = time_us
    capabilities = read.texts("capabilities_declared")
    if capabilities:
        if len(set(capabilities)) < len(capabilities):
            raise FieldRefused("must not repeat a string", "capabilities_declared")
        attestation["capabilities_declared"] = capabilities
    return attestation


def provenance_of(value: Any) -> Provenance:
    """Returns a provenance record (P-8.6-01)."""
    read = DraftObject(
        value,
        ("provenance_id", "actor", "activity", "recorded_at"),
        (
            *("source_ref", "evidence_refs", "observed_at", "transformation_parent"),
            *("source_confidence", "integrity_ref"),
        ),
    )
    evidence_refs, run_id = _evidence_of(read)
    return Provenance(
        provenance_id=required_id(read, "provenance_id"),
        actor=required_part(read, "actor", actor_of),
        activity=required_text(read, "activity"),
        recorded_at_us=required_time_us(read, "recorded_at"),
        source_ref=read.text("source_ref") or None,
        evidence_refs=evidence_refs,
        evaluation_run_id=run_id,
        observed_at_us=read.time_us("observed_at"),
        transformation_parent=read.text("transformation_parent") or None,
        source_confidence=read.fraction("source_confidence"),
        integrity_ref=read.text("integrity_ref") or None,
    )


def _evidence_of(read: DraftObject) -> tuple[tuple[str, ...], str | None]:
    """The evidence, and the evaluation run that stands behind it in an export (Q04)."""
    references = read.texts("evidence_refs") or ()
    if references and references[-1].startswith(EVALUATION_RUN_PREFIX):
        run_id = references[-1].removeprefix(EVALUATION_RUN_PREFIX)
        if is_id(run_id):
            return references[:-1], run_id
    return references, None


def integrity_of(value: Any) -> Integrity:
    """Returns a client's integrity metadata, of which the draft requires nothing."""
    names = ("digest", "algorithm", "canonicalization_profile", "signature", "ledger_ref")
    read = DraftObject(value, (), names)
    return Integrity(
        read.text("digest", empty=False) or "",
        read.text("algorithm", empty=False) or "",
        read.text("canonicalization_profile", empty=False),
        read.text("signature") or None,
        read.text("ledger_ref") or None,
    )


def signals_of(value: Any) -> QualitySignals:
    """Returns the quality signals (P-8.1-22 to P-8.1-25)."""
    others = ("last_verified_at", "last_verified_by_actor_id", "verification_method_id", "assessed_at")
    read = DraftObject(value, (), (*SCORES, *others, "assessed_by_actor_id"))
    return QualitySignals(
        **{name: read.fraction(name) for name in SCORES},
        last_verified_at_us=read.time_us("last_verified_at"),
        last_verified_by_actor_id=read.id("last_verified_by_actor_id"),
        verification_method_id=read.text("verification_method_id") or None,
        assessed_at_us=read.time_us("assessed_at"),
        assessed_by_actor_id=read.id("assessed_by_actor_id"),
    )
