"""What an offline verification finds: kinds in their order, and the first findings by place (ledger.md, Proof).

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service.
"""

from __future__ import annotations

from dataclasses import dataclass

FINDINGS_MAX = 1000

# Kinds in the order in which they are reported at one place: the file, the chain, bodies, versions, uses, policy.
KINDS = (
    *("MALFORMED", "UNKNOWN_FORMAT"),
    *("SEQUENCE_GAP", "BODY_CHANGED", "LEAF_HASH_CHANGED", "CHAIN_BROKEN", "RECORDED_AT_BACKWARDS"),
    *("KNOWN_PLACE_MISSING", "KNOWN_PLACE_CHANGED", "TAIL_CUT", "HEAD_MISMATCH"),
    *("BODY_MALFORMED", "BODY_NOT_CANONICAL", "BODY_FOREIGN", "COLUMN_CHANGED", "DUPLICATE_EVENT", "PAYLOAD_MALFORMED"),
    *("VERSION_SEQUENCE_GAP", "VERSION_CHANGED", "VERSION_MALFORMED", "VERSION_COLUMN_CHANGED", "VERSION_MISSING"),
    *("VERSION_WITHOUT_EVENT", "OBJECT_TYPE_CHANGED", "ROLLED_BACK", "POINTER_CHANGED", "ROW_MISSING"),
    *("ROW_WITHOUT_EVENT", "USE_NUMBER_CHANGED", "EXERCISED_WITHOUT_GRANT", "EXERCISED_OTHER_VERSION"),
    *("EXERCISED_AFTER_REVOCATION", "EXERCISED_OUTSIDE_WINDOW", "USAGE_LIMIT_EXCEEDED", "DELEGATION_CHAIN_CHANGED"),
    *("USES_CHANGED", "REVOKED_FLAG_CHANGED", "RULE_CONTRADICTED", "RULE_CHANGED", "RULE_MISSING"),
    *("RULE_WITHOUT_EVENT", "POLICY_REVISION_CHANGED", "TRUNCATED_EXPORT"),
)
_RANKS = {kind: rank for rank, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: at an event's sequence, or at 0 for the file, the head or a table."""

    sequence: int
    kind: str
    place: str


class Findings:
    """The first FINDINGS_MAX findings by place, and how many there were in all."""

    def __init__(self) -> None:
        self.total = 0
        self._kept: list[Finding] = []

    def add(self, sequence: int, kind: str, place: str) -> None:
        """Notes a finding; later ones at earlier places displace those beyond the cap."""
        self.total += 1
        self._kept.append(Finding(sequence, kind, place))
        if len(self._kept) >= 4 * FINDINGS_MAX:
            self._kept = self.first()

    def first(self) -> list[Finding]:
        """Returns the findings, first bad place first; those of the head and the tables stand last."""
        return sorted(self._kept, key=lambda f: (f.sequence == 0, f.sequence, _RANKS[f.kind], f.place))[:FINDINGS_MAX]
