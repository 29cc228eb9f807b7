"""Who acts: the reference to an actor that versions, grants and events carry (P-8.1-15..18; surface.md, section 1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from storage.model.canonical import Fields, JsonValue, MalformedCanonical, Shape

AttestationValue = str | int | tuple[str, ...]

ATTESTATION_TEXTS: Final = (
    "agent_manifest_ref",
    "manifest_digest",
    "manifest_digest_algorithm",
    "attestation_authority",
    "attestation_method",
    "signature",
    "signature_algorithm",
    "did_ref",
)
ATTESTATION_TIMES: Final = ("issued_at", "not_before", "not_after")
"""Members of an attestation that are texts and times; the one that is left, `capabilities_declared`, is a list."""

_SHAPE: Final = Shape(
    "actor",
    {"actor_id": (str,), "actor_kind": (str,)},
    {
        "display_name": (str,),
        "on_behalf_of_actor_id": (str,),
        "delegation_id": (str,),
        "attestation": (dict,),
    },
)


@dataclass(frozen=True, slots=True)
class ActorRef:
    """An actor as it was when it acted.

    `attestation` holds the fields of the Attestation message that were present, times as `*_us` integers of
    microseconds and `capabilities_declared` as a tuple; it is kept and returned, and gives no right.
    """

    actor_id: str
    actor_kind: str
    display_name: str | None = None
    on_behalf_of_actor_id: str | None = None
    delegation_id: str | None = None
    attestation: Mapping[str, AttestationValue] | None = field(default=None, hash=False)

    def for_event(self) -> dict[str, JsonValue]:
        """Returns the identity as event bodies carry it: no display name and no attestation (ledger.md, Shape)."""
        value: dict[str, JsonValue] = {"actor_id": self.actor_id, "actor_kind": self.actor_kind}
        if self.on_behalf_of_actor_id is not None:
            value["on_behalf_of_actor_id"] = self.on_behalf_of_actor_id
        if self.delegation_id is not None:
            value["delegation_id"] = self.delegation_id
        return value

    def for_core(self) -> dict[str, JsonValue]:
        """Returns the whole reference as version cores carry it; absent fields are omitted."""
        value = self.for_event()
        if self.display_name is not None:
            value["display_name"] = self.display_name
        if self.attestation is not None:
            value["attestation"] = dict(self.attestation)
        return value


def parse_actor(value: object) -> ActorRef:
    """Returns the actor written by `for_core` or `for_event`. Raises MalformedCanonical."""
    read = _SHAPE.read(value)
    if "attestation" in read:
        return ActorRef(**{**read, "attestation": _parse_attestation(read["attestation"])})
    return ActorRef(**read)


def _parse_attestation(value: object) -> dict[str, AttestationValue]:
    fields = Fields(value, "attestation")
    attestation: dict[str, AttestationValue] = {}
    for key in sorted(fields.keys()):
        raw = fields.raw(key)
        if isinstance(raw, str | int) and not isinstance(raw, bool):
            attestation[key] = raw
        elif (texts := fields.optional_texts(key)) is not None:
            attestation[key] = texts
        else:
            raise MalformedCanonical(f"attestation holds no valid {key}")
    return attestation
