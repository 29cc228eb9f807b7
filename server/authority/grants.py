"""Stored grants -> facts the evaluator judges, authenticated first (authority.md, "Delegated authority")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from authz.delegation import GrantFacts
from storage.delegations import GrantChain, StoredGrant
from storage.encryption import DeploymentKeys, IntegrityViolation
from storage.model.canonical import MalformedCanonical
from storage.model.delegation import DelegationVersion, parse_delegation_core

_MEMO_CORE_BYTES_MAX: Final = 4096


@dataclass(frozen=True, slots=True)
class Exercise:
    """A grant named by the call: its chain root..leaf, where it lives, and the clock it was read at."""

    home_scope_id: str
    grants: tuple[GrantFacts, ...]
    root_actor_id: str
    now_us: int

    @property
    def leaf(self) -> GrantFacts:
        """The grant the call named."""
        return self.grants[-1]


@dataclass(frozen=True, slots=True)
class _Authentic:
    """A version that is what the service wrote, with its restrictions as the evaluator asks them."""

    version: DelegationVersion
    operations: frozenset[str]
    object_types: frozenset[str] | None
    object_ids: frozenset[str] | None


def authenticated_grant(
    keys: DeploymentKeys, tenant_id: str, scope_id: str, delegation_id: str, core: bytes, mac: bytes, mac_key_id: str
) -> DelegationVersion:
    """Returns the version in a core; raises IntegrityViolation unless the service wrote it for this grant."""
    place = f"delegation:{delegation_id}"
    keys.verify_mac(core, mac, key_id=mac_key_id, place=place)
    try:
        version = parse_delegation_core(core)
    except MalformedCanonical:
        raise IntegrityViolation(place, "CORE") from None
    if (version.tenant_id, version.scope_id, version.delegation_id) != (tenant_id, scope_id, delegation_id):
        raise IntegrityViolation(place, "MOVED")
    return version


@lru_cache(maxsize=4096)
def _authentic(
    keys: DeploymentKeys, tenant_id: str, scope_id: str, delegation_id: str, core: bytes, mac: bytes, mac_key_id: str
) -> _Authentic:
    # Versions never change, and every byte that is judged here is part of the memo's key.
    version = authenticated_grant(keys, tenant_id, scope_id, delegation_id, core, mac, mac_key_id)
    types, ids = version.granted_object_types, version.granted_object_ids
    return _Authentic(
        version,
        frozenset(version.granted_operations),
        None if types is None else frozenset(types),
        None if ids is None else frozenset(ids),
    )


def _read(keys: DeploymentKeys, tenant_id: str, stored: StoredGrant) -> _Authentic:
    # Long lists are read anew each time, so that the memo's size is bounded in bytes as well.
    authentic = _authentic if len(stored.core) <= _MEMO_CORE_BYTES_MAX else _authentic.__wrapped__
    return authentic(keys, tenant_id, stored.scope_id, stored.delegation_id, stored.core, stored.mac, stored.mac_key_id)


def grant_version(keys: DeploymentKeys, tenant_id: str, stored: StoredGrant) -> DelegationVersion:
    """Returns the version a stored grant holds; raises IntegrityViolation when it is not what the service wrote."""
    return _read(keys, tenant_id, stored).version


def grant_facts(keys: DeploymentKeys, tenant_id: str, stored: StoredGrant) -> GrantFacts:
    """Returns the facts of a grant at its current version; raises IntegrityViolation."""
    authentic = _read(keys, tenant_id, stored)
    version = authentic.version
    columns = (
        stored.version_id,
        stored.sequence,
        stored.grantor_id,
        stored.delegate_id,
        stored.target_scope_id,
        stored.parent_delegation_id,
        stored.not_before_us,
        stored.not_after_us,
        stored.usage_limit,
    )
    written = (
        version.version_id,
        version.sequence,
        version.granting_actor.actor_id,
        version.delegated_actor.actor_id,
        version.target_scope_id,
        version.parent_delegation_id,
        version.not_before_us,
        version.not_after_us,
        version.usage_limit,
    )
    if columns != written:
        raise IntegrityViolation(f"delegation:{stored.delegation_id}", "COLUMNS")
    return GrantFacts(
        delegation_id=stored.delegation_id,
        version_id=stored.version_id,
        sequence=stored.sequence,
        home_scope_id=stored.scope_id,
        target_scope_id=stored.target_scope_id,
        grantor_id=stored.grantor_id,
        delegate_id=stored.delegate_id,
        operations=authentic.operations,
        object_types=authentic.object_types,
        object_ids=authentic.object_ids,
        not_before_us=stored.not_before_us,
        not_after_us=stored.not_after_us,
        revoked=stored.revoked,
        revocable=version.revocable,
        usage_limit=stored.usage_limit,
        uses=stored.uses,
        parent_id=stored.parent_delegation_id,
        max_redelegations=version.max_redelegations,
    )


def exercise_of(keys: DeploymentKeys, tenant_id: str, chain: GrantChain) -> Exercise:
    """Returns the chain as the evaluator judges it, root..leaf; raises IntegrityViolation."""
    grants = tuple(grant_facts(keys, tenant_id, stored) for stored in chain.grants)
    if tuple(grant.delegation_id for grant in grants) != chain.grants[-1].chain:
        raise IntegrityViolation(f"delegation:{grants[-1].delegation_id}", "CHAIN")
    return Exercise(grants[0].home_scope_id, grants, grants[0].grantor_id, chain.now_us)
