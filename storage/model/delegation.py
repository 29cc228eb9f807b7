"""One immutable version of a grant of authority (authority.md, Delegated authority; PAMSPEC 15.4)."""

import hashlib
from dataclasses import dataclass, fields
from typing import Final

from storage.model.actor import ActorRef, parse_actor
from storage.model.canonical import (
    JsonValue,
    MalformedCanonical,
    canonical_json,
    canonical_json_with_floats,
    parse_object,
)
from storage.model.memory import SPEC_VERSION
from storage.model.provenance import Provenance, provenance_of
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationVersion:
    """A version of a grant. Times are microseconds since 1970 UTC; the window's ends are both inclusive (Q30).

    `granted_object_types` and `granted_object_ids` are None when unrestricted, never empty; `usage_limit` is None when
    unlimited; `max_redelegations` is 0..8 levels below. A revoked grant's current version has lifecycle `archived`.
    """

    tenant_id: str
    scope_id: str
    delegation_id: str
    version_id: str
    sequence: int
    granting_actor: ActorRef
    delegated_actor: ActorRef
    granted_operations: tuple[str, ...]
    policy_basis: str
    not_before_us: int
    not_after_us: int
    revocable: bool
    lifecycle_state: LifecycleState
    availability_state: AvailabilityState
    retention_state: RetentionState
    validation_state: ValidationState
    committed_at_us: int
    recorded_at_us: int
    actor: ActorRef
    provenance: Provenance
    max_redelegations: int = 0
    granted_object_types: tuple[str, ...] | None = None
    granted_object_ids: tuple[str, ...] | None = None
    target_scope_id: str | None = None
    usage_limit: int | None = None
    parent_delegation_id: str | None = None
    spec_version: str = SPEC_VERSION


_CORE_KEYS: Final = frozenset(item.name for item in fields(DelegationVersion))
_ACTORS: Final = ("granting_actor", "delegated_actor", "actor")
_STATES: Final = ("lifecycle_state", "availability_state", "retention_state", "validation_state")
_PLAIN: Final = tuple(sorted(_CORE_KEYS - set(_ACTORS) - set(_STATES) - {"provenance"}))


def delegation_core_bytes(version: DelegationVersion) -> bytes:
    """Returns the canonical JSON of the version (RFC 8785; absent optional fields omitted).

    Its keys are the fields of the Delegation message, times as `*_us`, and the tenant, so that the digest names it.
    """
    core: dict[str, JsonValue] = {key: value for key in _PLAIN if (value := getattr(version, key)) is not None}
    for key in _ACTORS:
        actor: ActorRef = getattr(version, key)
        core[key] = actor.for_core()
    for key in _STATES:
        core[key] = str(getattr(version, key))
    core["provenance"] = version.provenance.for_core()
    if version.provenance.source_confidence is None:
        return canonical_json(core)
    return canonical_json_with_floats(core)


def delegation_digest(core: bytes) -> str:
    """Returns the hex SHA-256 of a grant version's core bytes, as delegation events carry it."""
    return hashlib.sha256(core).hexdigest()


def parse_delegation_core(core: bytes) -> DelegationVersion:
    """Returns the grant version in `core`; `delegation_core_bytes` of it gives the same bytes.

    Raises MalformedCanonical on anything else, unknown keys included. The bytes must have been authenticated before.
    """
    read = parse_object(core, "delegation core", _CORE_KEYS)
    operations = read.optional_texts("granted_operations")
    if operations is None:
        raise MalformedCanonical("delegation core holds no valid granted_operations")
    try:
        return DelegationVersion(
            tenant_id=read.text("tenant_id"),
            scope_id=read.text("scope_id"),
            delegation_id=read.text("delegation_id"),
            version_id=read.text("version_id"),
            sequence=read.integer("sequence"),
            granting_actor=parse_actor(read.raw("granting_actor")),
            delegated_actor=parse_actor(read.raw("delegated_actor")),
            granted_operations=operations,
            policy_basis=read.text("policy_basis"),
            not_before_us=read.integer("not_before_us"),
            not_after_us=read.integer("not_after_us"),
            revocable=read.flag("revocable"),
            lifecycle_state=LifecycleState(read.text("lifecycle_state")),
            availability_state=AvailabilityState(read.text("availability_state")),
            retention_state=RetentionState(read.text("retention_state")),
            validation_state=ValidationState(read.text("validation_state")),
            committed_at_us=read.integer("committed_at_us"),
            recorded_at_us=read.integer("recorded_at_us"),
            actor=parse_actor(read.raw("actor")),
            provenance=provenance_of(read.raw("provenance")),
            max_redelegations=read.integer("max_redelegations"),
            granted_object_types=read.optional_texts("granted_object_types"),
            granted_object_ids=read.optional_texts("granted_object_ids"),
            target_scope_id=read.optional_text("target_scope_id"),
            usage_limit=read.optional_integer("usage_limit"),
            parent_delegation_id=read.optional_text("parent_delegation_id"),
            spec_version=read.text("spec_version"),
        )
    except MalformedCanonical:
        raise
    except ValueError as error:
        raise MalformedCanonical("delegation core holds an unknown state") from error
