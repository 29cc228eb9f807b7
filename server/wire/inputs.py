"""What clients send about memory -> values of the model. The messages are validated already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.v1 import common_pb2
from server.domain_errors import InvalidRequest, PolicyDenied
from server.wire.times import microseconds_of
from storage.model.actor import ATTESTATION_TEXTS, ATTESTATION_TIMES, AttestationValue
from storage.model.memory import SCORES, QualitySignals
from storage.model.provenance import Integrity

if TYPE_CHECKING:
    from google.protobuf.message import Message


def time_us(message: Message, name: str) -> int | None:
    """Returns a timestamp field in microseconds, None when absent."""
    return microseconds_of(getattr(message, name)) if message.HasField(name) else None


def shown_by(block: common_pb2.Actor) -> tuple[str | None, dict[str, AttestationValue] | None]:
    """Returns display name and attestation of an actor block: data that give no right (P-8.1-17)."""
    if not block.HasField("attestation"):
        return block.display_name or None, None
    source = block.attestation
    attestation: dict[str, AttestationValue] = {
        name: value for name in ATTESTATION_TEXTS if (value := getattr(source, name))
    }
    for name in ATTESTATION_TIMES:
        value = time_us(source, name)
        if value is not None:
            attestation[f"{name}_us"] = value
    if source.capabilities_declared:
        attestation["capabilities_declared"] = tuple(source.capabilities_declared)
    return block.display_name or None, attestation


def check_actor_block(block: common_pb2.Actor, path: str) -> None:
    """Raises InvalidRequest for what only the server fills, PolicyDenied for an inverted attestation (P-8.1-18)."""
    for name in ("on_behalf_of_actor_id", "delegation_id"):
        if getattr(block, name):
            raise InvalidRequest(f"{path}.{name}", "is filled by the server")
    start_us, end_us = time_us(block.attestation, "not_before"), time_us(block.attestation, "not_after")
    if start_us is not None and end_us is not None and start_us > end_us:
        raise PolicyDenied("the attestation's window is inverted", field=f"{path}.attestation.not_before")


def integrity_from(request: Any) -> Integrity | None:
    """Returns the integrity metadata of a request, None when absent."""
    if not request.HasField("integrity"):
        return None
    given = request.integrity
    return Integrity(
        given.digest,
        given.algorithm,
        given.canonicalization_profile or None,
        given.signature or None,
        given.ledger_ref or None,
    )


def signals_from(request: Any) -> QualitySignals | None:
    """Returns the quality signals of a request, None when absent."""
    if not request.HasField("quality_signals"):
        return None
    given = request.quality_signals
    scores = {name: getattr(given, name) for name in SCORES if given.HasField(name)}
    return QualitySignals(
        **scores,
        last_verified_at_us=time_us(given, "last_verified_at"),
        last_verified_by_actor_id=given.last_verified_by_actor_id or None,
        verification_method_id=given.verification_method_id or None,
        assessed_at_us=time_us(given, "assessed_at"),
        assessed_by_actor_id=given.assessed_by_actor_id or None,
    )
