"""Rows of one workspace's ledger and of the tables that its events account for (ledger.md, Shape and Proof).

Times are integers of microseconds since 1970 UTC, hashes are 32 raw bytes, `core` and `body` are the exact canonical
bytes that were hashed. A column that a row may lack is None.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


@dataclass(frozen=True, slots=True)
class LedgerIdentity:
    """What the genesis hash is made of: the workspace and the random id of its ledger."""

    tenant_id: str
    scope_id: str
    ledger_id: UUID


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event: what was hashed, its hashes, and the columns that repeat the body for reading."""

    sequence: int
    recorded_at_us: int
    use_number: int
    body: bytes
    leaf_hash: bytes
    chain_hash: bytes
    event_id: str
    event_type: str
    operation_id: str
    actor_id: str
    object_id: str | None
    version_id: str | None
    delegation_id: str | None
    relationship_id: str | None = None


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One immutable version of an object; `ledger_sequence` is the place of the event that made it."""

    object_id: str
    version_id: str
    sequence: int
    ledger_sequence: int
    core: bytes
    object_type: str
    schema_id: str | None
    lifecycle_state: str
    availability_state: str
    retention_state: str
    validation_state: str
    actor_id: str
    provenance_id: str | None
    observed_at_us: int | None
    asserted_at_us: int | None
    valid_from_us: int | None
    valid_until_us: int | None
    committed_at_us: int | None
    recorded_at_us: int | None


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """The pointer of an object to its current version, and whether it is an end of any relationship."""

    object_id: str
    object_type: str
    version_id: str
    sequence: int
    related: bool = False


@dataclass(frozen=True, slots=True)
class RelationshipVersionRow:
    """One immutable version of a relationship; `target_scope_id` names the target's workspace in any case."""

    relationship_id: str
    version_id: str
    sequence: int
    ledger_sequence: int
    core: bytes
    relationship_type: str
    source_object_id: str
    target_object_id: str
    target_scope_id: str
    directionality: str
    lifecycle_state: str
    availability_state: str
    retention_state: str
    validation_state: str
    actor_id: str
    provenance_id: str | None
    observed_at_us: int | None
    asserted_at_us: int | None
    valid_from_us: int | None
    valid_until_us: int | None
    committed_at_us: int | None
    recorded_at_us: int | None


@dataclass(frozen=True, slots=True)
class RelationshipRow:
    """The pointer of a relationship to its current version, with what it repeats of it."""

    relationship_id: str
    version_id: str
    sequence: int
    relationship_type: str
    source_object_id: str
    target_object_id: str
    target_scope_id: str
    directionality: str
    availability_state: str
    retention_state: str


@dataclass(frozen=True, slots=True)
class DelegationRow:
    """The pointer of a grant to its current version, with its operational counter and flag."""

    delegation_id: str
    version_id: str
    sequence: int
    uses: int
    revoked: bool


@dataclass(frozen=True, slots=True)
class DelegationVersionRow:
    """One immutable version of a grant."""

    delegation_id: str
    version_id: str
    sequence: int
    core: bytes


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule of the workspace's policy; `effect` is `allow` or `deny`."""

    rule_id: str
    subject: str
    action: str
    object_type: str
    object_id: str
    effect: str


@dataclass(frozen=True, slots=True)
class CrossScopeRuleRow:
    """One permit for another workspace; `cross_scope_kind` is the payload's `kind`."""

    rule_id: str
    source_scope_id: str
    cross_scope_kind: str


@dataclass(frozen=True, slots=True)
class BindingRow:
    """One actor bound to one role."""

    actor_id: str
    role_id: str


@dataclass(frozen=True, slots=True)
class HeadRow:
    """The head of the ledger: the last link and the revisions."""

    sequence: int
    chain_hash: bytes
    epoch: int
    policy_revision: int
    restrict_revision: int
    removal_revision: int


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A place of the chain that somebody kept from earlier, outside the database."""

    sequence: int
    chain_hash: bytes


class FindingKind(StrEnum):
    """What can be wrong with a ledger, in the order in which kinds at one place are reported."""

    # The chain.
    SEQUENCE_GAP = "SEQUENCE_GAP"
    BODY_CHANGED = "BODY_CHANGED"
    LEAF_HASH_CHANGED = "LEAF_HASH_CHANGED"
    CHAIN_BROKEN = "CHAIN_BROKEN"
    RECORDED_AT_BACKWARDS = "RECORDED_AT_BACKWARDS"
    KNOWN_PLACE_MISSING = "KNOWN_PLACE_MISSING"
    KNOWN_PLACE_CHANGED = "KNOWN_PLACE_CHANGED"
    TAIL_CUT = "TAIL_CUT"
    HEAD_MISMATCH = "HEAD_MISMATCH"
    # The bodies.
    BODY_MALFORMED = "BODY_MALFORMED"
    BODY_NOT_CANONICAL = "BODY_NOT_CANONICAL"
    BODY_FOREIGN = "BODY_FOREIGN"
    COLUMN_CHANGED = "COLUMN_CHANGED"
    DUPLICATE_EVENT = "DUPLICATE_EVENT"
    PAYLOAD_MALFORMED = "PAYLOAD_MALFORMED"
    # Versions, of objects and of grants.
    VERSION_SEQUENCE_GAP = "VERSION_SEQUENCE_GAP"
    VERSION_CHANGED = "VERSION_CHANGED"
    VERSION_MALFORMED = "VERSION_MALFORMED"
    VERSION_COLUMN_CHANGED = "VERSION_COLUMN_CHANGED"
    VERSION_MISSING = "VERSION_MISSING"
    VERSION_WITHOUT_EVENT = "VERSION_WITHOUT_EVENT"
    OBJECT_TYPE_CHANGED = "OBJECT_TYPE_CHANGED"
    ROLLED_BACK = "ROLLED_BACK"
    POINTER_CHANGED = "POINTER_CHANGED"
    ROW_MISSING = "ROW_MISSING"
    ROW_WITHOUT_EVENT = "ROW_WITHOUT_EVENT"
    # Uses of grants.
    USE_NUMBER_CHANGED = "USE_NUMBER_CHANGED"
    EXERCISED_WITHOUT_GRANT = "EXERCISED_WITHOUT_GRANT"
    EXERCISED_OTHER_VERSION = "EXERCISED_OTHER_VERSION"
    EXERCISED_AFTER_REVOCATION = "EXERCISED_AFTER_REVOCATION"
    EXERCISED_OUTSIDE_WINDOW = "EXERCISED_OUTSIDE_WINDOW"
    USAGE_LIMIT_EXCEEDED = "USAGE_LIMIT_EXCEEDED"
    DELEGATION_CHAIN_CHANGED = "DELEGATION_CHAIN_CHANGED"
    USES_CHANGED = "USES_CHANGED"
    REVOKED_FLAG_CHANGED = "REVOKED_FLAG_CHANGED"
    # The policy.
    RULE_CONTRADICTED = "RULE_CONTRADICTED"
    RULE_CHANGED = "RULE_CHANGED"
    RULE_MISSING = "RULE_MISSING"
    RULE_WITHOUT_EVENT = "RULE_WITHOUT_EVENT"
    POLICY_REVISION_CHANGED = "POLICY_REVISION_CHANGED"


@dataclass(frozen=True, slots=True)
class LedgerFinding:
    """One thing that is wrong: `sequence` is the event's place, 0 for the head or a table."""

    sequence: int
    kind: FindingKind
    place: str


@dataclass(frozen=True, slots=True)
class LedgerVerification:
    """Outcome of a verification: findings with the first bad place first (table findings last), cut at a cap.

    `finding_count` counts those beyond the cap too; `count` is the number of events checked.
    """

    ok: bool
    findings: tuple[LedgerFinding, ...]
    finding_count: int
    head_sequence: int
    head_hash: bytes
    count: int


@dataclass(frozen=True, slots=True)
class LedgerSource:
    """Everything a verification reads of one workspace; all of it must come from one database snapshot.

    Events come in sequence order, the others in any order.
    """

    identity: LedgerIdentity
    head: HeadRow
    events: AsyncIterable[EventRow]
    versions: AsyncIterable[VersionRow]
    objects: AsyncIterable[ObjectRow]
    relationship_versions: AsyncIterable[RelationshipVersionRow]
    relationships: AsyncIterable[RelationshipRow]
    delegations: AsyncIterable[DelegationRow]
    delegation_versions: AsyncIterable[DelegationVersionRow]
    rules: AsyncIterable[RuleRow]
    cross_scope_rules: AsyncIterable[CrossScopeRuleRow]
    bindings: AsyncIterable[BindingRow]
