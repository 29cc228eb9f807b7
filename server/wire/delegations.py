"""A version of a grant, model -> wire (PAMSPEC 15.4; P-15.4-03, P-15.4-05)."""

from remit.v1 import delegation_pb2
from server.wire.actors import actor_message, provenance_message
from server.wire.envelopes import state_numbers
from server.wire.times import timestamp_of
from storage.model.delegation import DelegationVersion


def delegation_message(version: DelegationVersion) -> delegation_pb2.Delegation:
    """Returns the Delegation Object; a restriction or limit that is absent stays absent, which means unrestricted."""
    return delegation_pb2.Delegation(
        spec_version=version.spec_version,
        delegation_id=version.delegation_id,
        version_id=version.version_id,
        scope_id=version.scope_id,
        granting_actor=actor_message(version.granting_actor),
        delegated_actor=actor_message(version.delegated_actor),
        granted_operations=version.granted_operations,
        granted_object_types=restriction_message(version.granted_object_types),
        granted_object_ids=restriction_message(version.granted_object_ids),
        target_scope_id=version.target_scope_id or "",
        policy_basis=version.policy_basis,
        not_before=timestamp_of(version.not_before_us),
        not_after=timestamp_of(version.not_after_us),
        revocable=version.revocable,
        usage_limit=version.usage_limit,
        committed_at=timestamp_of(version.committed_at_us),
        recorded_at=timestamp_of(version.recorded_at_us),
        sequence=version.sequence,
        actor=actor_message(version.actor),
        provenance=provenance_message(version.provenance),
        parent_delegation_id=version.parent_delegation_id or "",
        max_redelegations=version.max_redelegations,
        **state_numbers(
            version.lifecycle_state, version.availability_state, version.retention_state, version.validation_state
        ),
    )


def restriction_message(values: tuple[str, ...] | None) -> delegation_pb2.Restriction | None:
    """Returns the restriction, None (absent in a message) when unrestricted."""
    return None if values is None else delegation_pb2.Restriction(values=values)


def restriction_values(message: delegation_pb2.Restriction | None) -> tuple[str, ...] | None:
    """Returns the values of a validated restriction, None when it is absent."""
    return None if message is None else tuple(message.values)
