"""Grants in the making: what a request asks for, and new versions of grants (authority.md, Grant and Versions)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from authz.delegation import GrantFacts
from authz.permissions import PAMSPEC_OPERATIONS
from remit.v1 import delegation_pb2
from server.authority.grants import grant_version
from server.call import Call
from server.domain_errors import InvalidRequest, ObjectNotFound, PolicyDenied
from server.wire.inputs import shown_by
from server.wire.times import microseconds_of
from storage.commands import ColdChange
from storage.delegations import load_version
from storage.encryption import IntegrityViolation
from storage.model.actor import ActorRef
from storage.model.delegation import DelegationVersion, delegation_core_bytes, delegation_digest
from storage.model.identifiers import is_actor_id, new_id
from storage.model.provenance import Provenance
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState
from storage.model.times import iso_text

UNKNOWN_ACTOR_KIND = "unknown"


def wanted_version(call: Call, request: delegation_pb2.GrantDelegationRequest, now_us: int) -> DelegationVersion:
    """Returns the first version of the grant that a request asks for, as if it were allowed.

    Raises InvalidRequest for operations that are none, a delegate that is no actor, a target that is the home, and
    PolicyDenied for an attestation of the delegate with an inverted window (P-8.1-18).
    """
    for index, operation in enumerate(request.granted_operations):
        if operation not in PAMSPEC_OPERATIONS:
            raise InvalidRequest(f"granted_operations[{index}]", "is none of the operations that can be granted")
    if request.target_scope_id == call.scope_id:
        raise InvalidRequest("target_scope_id", "must be another workspace; leave it out for this one")
    actor = call.actor_ref()
    return DelegationVersion(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        delegation_id=new_id(),
        version_id=new_id(),
        sequence=1,
        granting_actor=actor,
        delegated_actor=_delegate(request),
        granted_operations=tuple(request.granted_operations),
        granted_object_types=_restriction(request, "granted_object_types"),
        granted_object_ids=_restriction(request, "granted_object_ids"),
        target_scope_id=request.target_scope_id or None,
        policy_basis=request.policy_basis,
        not_before_us=microseconds_of(request.not_before),
        not_after_us=microseconds_of(request.not_after),
        revocable=request.revocable if request.HasField("revocable") else True,
        usage_limit=request.usage_limit if request.HasField("usage_limit") else None,
        parent_delegation_id=request.parent_delegation_id or None,
        max_redelegations=request.max_redelegations,
        lifecycle_state=LifecycleState.ACTIVE,
        availability_state=AvailabilityState.AVAILABLE,
        retention_state=RetentionState.RETAINED,
        validation_state=ValidationState.UNVERIFIED,
        committed_at_us=now_us,
        recorded_at_us=now_us,
        actor=actor,
        provenance=made_by(call, "granted", now_us),
    )


def _delegate(request: delegation_pb2.GrantDelegationRequest) -> ActorRef:
    given = request.delegated_actor
    if not is_actor_id(given.actor_id):
        raise InvalidRequest("delegated_actor.actor_id", "must be an actor's id, actor:NAME")
    for name in ("on_behalf_of_actor_id", "delegation_id"):
        if getattr(given, name):
            raise InvalidRequest(f"delegated_actor.{name}", "is filled by the server")
    shown = given.attestation
    has_window = shown.HasField("not_before") and shown.HasField("not_after")
    if has_window and microseconds_of(shown.not_before) > microseconds_of(shown.not_after):
        raise PolicyDenied("the attestation's window is inverted", "delegated_actor.attestation.not_before")
    display_name, attestation = shown_by(given)
    return ActorRef(given.actor_id, given.actor_kind or UNKNOWN_ACTOR_KIND, display_name, attestation=attestation)


def _restriction(request: delegation_pb2.GrantDelegationRequest, name: str) -> tuple[str, ...] | None:
    return tuple(getattr(request, name).values) if request.HasField(name) else None


def made_by(call: Call, activity: str, now_us: int) -> Provenance:
    """Returns the provenance of a version of a grant: who did what when."""
    return Provenance(provenance_id=new_id(), actor=call.actor_ref(), activity=activity, recorded_at_us=now_us)


def facts_of(version: DelegationVersion) -> GrantFacts:
    """Returns a version that is not stored yet as the evaluator judges it."""
    types, ids = version.granted_object_types, version.granted_object_ids
    return GrantFacts(
        delegation_id=version.delegation_id,
        version_id=version.version_id,
        sequence=version.sequence,
        home_scope_id=version.scope_id,
        target_scope_id=version.target_scope_id,
        grantor_id=version.granting_actor.actor_id,
        delegate_id=version.delegated_actor.actor_id,
        operations=frozenset(version.granted_operations),
        object_types=None if types is None else frozenset(types),
        object_ids=None if ids is None else frozenset(ids),
        not_before_us=version.not_before_us,
        not_after_us=version.not_after_us,
        revocable=version.revocable,
        usage_limit=version.usage_limit,
        parent_id=version.parent_delegation_id,
        max_redelegations=version.max_redelegations,
    )


@dataclass(frozen=True, slots=True)
class SealedVersion:
    """A version's core bytes, authenticated, and the digest its event carries."""

    version: DelegationVersion
    blobs: Mapping[str, bytes]
    mac_key_id: str
    digest: str

    @classmethod
    def of(cls, call: Call, version: DelegationVersion) -> SealedVersion:
        """Returns the version ready to store."""
        keys = call.services.keys
        core = delegation_core_bytes(version)
        return cls(version, {"core": core, "mac": keys.mac(core)}, keys.key_id, delegation_digest(core))

    def grant(self, ancestors: Sequence[GrantFacts]) -> ColdChange:
        """Returns the change that stores a new grant below its ancestors, root first."""
        version = self.version
        chain = [*(grant.delegation_id for grant in ancestors), version.delegation_id]
        fields: dict[str, Any] = {
            "delegation_id": version.delegation_id,
            "version_id": version.version_id,
            "grantor_id": version.granting_actor.actor_id,
            "delegate_id": version.delegated_actor.actor_id,
            "target_scope_id": version.target_scope_id,
            "parent_delegation_id": version.parent_delegation_id,
            "chain": chain,
            "not_before": iso_text(version.not_before_us),
            "not_after": iso_text(version.not_after_us),
            "usage_limit": version.usage_limit,
            "mac_key_id": self.mac_key_id,
        }
        return ColdChange("grant", fields, self.blobs)

    def revoke(self, expected_sequence: int) -> ColdChange:
        """Returns the change that stores the version a revocation makes of one that must still be the current one."""
        fields: dict[str, Any] = {
            "delegation_id": self.version.delegation_id,
            "version_id": self.version.version_id,
            "expected_sequence": expected_sequence,
            "mac_key_id": self.mac_key_id,
        }
        return ColdChange("revoke", fields, self.blobs)


async def stored_version(call: Call, home_scope_id: str, delegation_id: str, version_id: str) -> DelegationVersion:
    """Returns one version of a grant. Raises ObjectNotFound when the grant has no such, IntegrityViolation."""
    stored = await load_version(call.services.database, call.tenant_id, home_scope_id, delegation_id, version_id)
    if stored is None:
        raise ObjectNotFound
    version = grant_version(call.services.keys, call.tenant_id, stored)
    if version.version_id != version_id:
        raise IntegrityViolation(f"delegation:{delegation_id}", "MOVED")
    return version
