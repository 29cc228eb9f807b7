"""Why a call is denied: the coarse reason for the caller, the exact one for the ledger (surface.md, section 3)."""

from collections.abc import Mapping
from enum import StrEnum, unique
from types import MappingProxyType
from typing import Final


@unique
class CoarseReason(StrEnum):
    """What the caller learns (`denial_reason`)."""

    NO_RULE = "NO_RULE"
    EXPLICIT_DENY = "EXPLICIT_DENY"
    DELEGATION_NOT_EFFECTIVE = "DELEGATION_NOT_EFFECTIVE"
    USAGE_LIMIT_EXHAUSTED = "USAGE_LIMIT_EXHAUSTED"
    OPERATION_NOT_GRANTED = "OPERATION_NOT_GRANTED"
    OBJECT_NOT_GRANTED = "OBJECT_NOT_GRANTED"
    OBJECT_TYPE_NOT_GRANTED = "OBJECT_TYPE_NOT_GRANTED"
    ACTOR_MISMATCH = "ACTOR_MISMATCH"


@unique
class ExactReason(StrEnum):
    """What the ledger holds."""

    NO_RULE = "NO_RULE"
    EXPLICIT_DENY = "EXPLICIT_DENY"
    ACTOR_MISMATCH = "ACTOR_MISMATCH"
    TENANT_MISMATCH = "TENANT_MISMATCH"
    SCOPE_ABSENT = "SCOPE_ABSENT"
    NOT_A_MEMBER = "NOT_A_MEMBER"
    OBJECT_ABSENT = "OBJECT_ABSENT"
    DELEGATION_UNKNOWN = "DELEGATION_UNKNOWN"
    CHAIN_BROKEN = "CHAIN_BROKEN"
    SCOPE_MISMATCH = "SCOPE_MISMATCH"
    CROSS_SCOPE_RULE_MISSING = "CROSS_SCOPE_RULE_MISSING"
    DELEGATE_MISMATCH = "DELEGATE_MISMATCH"
    REVOKED = "REVOKED"
    NOT_YET_VALID = "NOT_YET_VALID"
    EXPIRED = "EXPIRED"
    NOT_DELEGABLE = "NOT_DELEGABLE"
    OPERATION_NOT_GRANTED = "OPERATION_NOT_GRANTED"
    OBJECT_NOT_GRANTED = "OBJECT_NOT_GRANTED"
    OBJECT_TYPE_NOT_GRANTED = "OBJECT_TYPE_NOT_GRANTED"
    USAGE_LIMIT_EXHAUSTED = "USAGE_LIMIT_EXHAUSTED"
    GRANTOR_LOST_AUTHORITY = "GRANTOR_LOST_AUTHORITY"
    ANCESTOR_DENIED = "ANCESTOR_DENIED"


# The coarse reason of each exact one, where the decision does not name another (decision.py, the stored type).
COARSE_OF: Final[Mapping[ExactReason, CoarseReason]] = MappingProxyType(
    {
        ExactReason.NO_RULE: CoarseReason.NO_RULE,
        ExactReason.EXPLICIT_DENY: CoarseReason.EXPLICIT_DENY,
        ExactReason.ACTOR_MISMATCH: CoarseReason.ACTOR_MISMATCH,
        ExactReason.TENANT_MISMATCH: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.SCOPE_ABSENT: CoarseReason.NO_RULE,
        ExactReason.NOT_A_MEMBER: CoarseReason.NO_RULE,
        ExactReason.OBJECT_ABSENT: CoarseReason.NO_RULE,
        ExactReason.DELEGATION_UNKNOWN: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.CHAIN_BROKEN: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.SCOPE_MISMATCH: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.CROSS_SCOPE_RULE_MISSING: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.DELEGATE_MISMATCH: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.REVOKED: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.NOT_YET_VALID: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.EXPIRED: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.NOT_DELEGABLE: CoarseReason.OPERATION_NOT_GRANTED,
        ExactReason.OPERATION_NOT_GRANTED: CoarseReason.OPERATION_NOT_GRANTED,
        ExactReason.OBJECT_NOT_GRANTED: CoarseReason.OBJECT_NOT_GRANTED,
        ExactReason.OBJECT_TYPE_NOT_GRANTED: CoarseReason.OBJECT_TYPE_NOT_GRANTED,
        ExactReason.USAGE_LIMIT_EXHAUSTED: CoarseReason.USAGE_LIMIT_EXHAUSTED,
        ExactReason.GRANTOR_LOST_AUTHORITY: CoarseReason.DELEGATION_NOT_EFFECTIVE,
        ExactReason.ANCESTOR_DENIED: CoarseReason.EXPLICIT_DENY,
    }
)
