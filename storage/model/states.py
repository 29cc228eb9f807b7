"""The four state dimensions of a memory object and the moves between their states.

This module is the single statement of states and moves; the SQL CHECK constraints and the manifest are generated from
or compared with it (memory.md, Objects and versions; PAMSPEC 9.5; requirements P-9.5-*, Q07, Q08, Q13-Q15).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Dimension(StrEnum):
    """A state dimension; its value is the wire string."""

    LIFECYCLE = "lifecycle"
    AVAILABILITY = "availability"
    RETENTION = "retention"
    VALIDATION = "validation"

    @property
    def column(self) -> str:
        """Name of the column and of the envelope field that hold the state, for example `lifecycle_state`."""
        return f"{self.value}_state"


class LifecycleState(StrEnum):
    """How far an object has come in its use (P-9.1-*)."""

    SCRATCH = "scratch"
    CANDIDATE = "candidate"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    DEPRECATED = "deprecated"
    ARCHIVED = "archived"


class AvailabilityState(StrEnum):
    """How much of the content is given (P-9.3-*)."""

    AVAILABLE = "available"
    PARTIALLY_REDACTED = "partially_redacted"
    REDACTED = "redacted"
    DELETED = "deleted"


class RetentionState(StrEnum):
    """Where an object stands between keeping and disposal (P-9.4-*)."""

    RETAINED = "retained"
    EXPIRED = "expired"
    PENDING_DELETION = "pending_deletion"
    LEGAL_HOLD = "legal_hold"


class ValidationState(StrEnum):
    """What review has said about the content (P-9.2-*)."""

    UNVERIFIED = "unverified"
    CORROBORATED = "corroborated"
    DISPUTED = "disputed"
    REJECTED = "rejected"


State = LifecycleState | AvailabilityState | RetentionState | ValidationState

STATES: Final[Mapping[Dimension, tuple[State, ...]]] = MappingProxyType(
    {
        Dimension.LIFECYCLE: tuple(LifecycleState),
        Dimension.AVAILABILITY: tuple(AvailabilityState),
        Dimension.RETENTION: tuple(RetentionState),
        Dimension.VALIDATION: tuple(ValidationState),
    }
)

OBJECT_TYPES: Final[tuple[str, ...]] = (
    "claim",
    "decision",
    "task",
    "artifact",
    "observation",
    "entity",
    "summary",
    "tool_invocation",
    "tool_result",
    "working_memory",
)
"""The standard object types (P-8.2-*); any other type is an extension type and needs a schema id."""

_L, _A, _R, _V = LifecycleState, AvailabilityState, RetentionState, ValidationState

MOVES: Final[Mapping[Dimension, Mapping[State, tuple[State, ...]]]] = MappingProxyType(
    {
        Dimension.LIFECYCLE: {
            _L.SCRATCH: (_L.CANDIDATE, _L.ARCHIVED),
            _L.CANDIDATE: (_L.ACTIVE, _L.DEPRECATED, _L.ARCHIVED),
            _L.ACTIVE: (_L.SUPERSEDED, _L.DEPRECATED, _L.ARCHIVED),
            _L.SUPERSEDED: (_L.ARCHIVED, _L.DEPRECATED),
            _L.DEPRECATED: (_L.ARCHIVED, _L.ACTIVE),
            _L.ARCHIVED: (_L.ACTIVE, _L.DEPRECATED),
        },
        Dimension.AVAILABILITY: {
            _A.AVAILABLE: (_A.PARTIALLY_REDACTED, _A.REDACTED, _A.DELETED),
            _A.PARTIALLY_REDACTED: (_A.AVAILABLE, _A.REDACTED, _A.DELETED),
            _A.REDACTED: (_A.AVAILABLE, _A.DELETED),
            _A.DELETED: (),
        },
        Dimension.RETENTION: {
            _R.RETAINED: (_R.EXPIRED, _R.PENDING_DELETION, _R.LEGAL_HOLD),
            _R.EXPIRED: (_R.RETAINED, _R.PENDING_DELETION, _R.LEGAL_HOLD),
            _R.PENDING_DELETION: (_R.RETAINED, _R.LEGAL_HOLD),
            _R.LEGAL_HOLD: (_R.RETAINED, _R.EXPIRED, _R.PENDING_DELETION),
        },
        Dimension.VALIDATION: {
            _V.UNVERIFIED: (_V.CORROBORATED, _V.DISPUTED, _V.REJECTED),
            _V.CORROBORATED: (_V.DISPUTED, _V.REJECTED, _V.UNVERIFIED),
            _V.DISPUTED: (_V.CORROBORATED, _V.REJECTED),
            _V.REJECTED: (_V.DISPUTED, _V.CORROBORATED),
        },
    }
)
"""The legal moves: the draft's JSON table, which decides over its prose (Q13). 43 ordered pairs."""


class MissingRight(StrEnum):
    """How a conditional move is refused when its condition is not met; the values are PAMSPEC error codes."""

    ACCESS_DENIED = "access_denied"
    POLICY_DENIED = "policy_denied"
    LEGAL_HOLD = "legal_hold"


@dataclass(frozen=True, slots=True)
class MoveCondition:
    """What a legal move needs besides the transition's own action (Q13).

    `action` is the right to hold, or None; `new_provenance` asks for provenance in the request; `refusal` is the error
    answered when either is missing.
    """

    action: str | None
    refusal: MissingRight
    new_provenance: bool = False


CONDITIONS: Final[Mapping[tuple[Dimension, State, State], MoveCondition]] = MappingProxyType(
    {
        (Dimension.LIFECYCLE, _L.CANDIDATE, _L.ACTIVE): MoveCondition("activate", MissingRight.ACCESS_DENIED),
        (Dimension.LIFECYCLE, _L.DEPRECATED, _L.ACTIVE): MoveCondition("review", MissingRight.POLICY_DENIED),
        (Dimension.LIFECYCLE, _L.ARCHIVED, _L.ACTIVE): MoveCondition("transition_override", MissingRight.POLICY_DENIED),
        (Dimension.VALIDATION, _V.CORROBORATED, _V.UNVERIFIED): MoveCondition(
            None, MissingRight.POLICY_DENIED, new_provenance=True
        ),
        (Dimension.VALIDATION, _V.REJECTED, _V.CORROBORATED): MoveCondition("review", MissingRight.POLICY_DENIED),
        (Dimension.AVAILABILITY, _A.REDACTED, _A.AVAILABLE): MoveCondition("restore", MissingRight.POLICY_DENIED),
        (Dimension.RETENTION, _R.LEGAL_HOLD, _R.RETAINED): MoveCondition("release_hold", MissingRight.LEGAL_HOLD),
        (Dimension.RETENTION, _R.LEGAL_HOLD, _R.EXPIRED): MoveCondition("release_hold", MissingRight.LEGAL_HOLD),
        (Dimension.RETENTION, _R.LEGAL_HOLD, _R.PENDING_DELETION): MoveCondition(
            "release_hold", MissingRight.LEGAL_HOLD
        ),
    }
)
"""The nine conditional moves (Q13)."""

_PAIRS: Final[Mapping[Dimension, frozenset[tuple[str, str]]]] = MappingProxyType(
    {
        dimension: frozenset(
            (from_state.value, to_state.value) for from_state, tos in table.items() for to_state in tos
        )
        for dimension, table in MOVES.items()
    }
)
_CONDITIONS_BY_VALUE: Final[Mapping[tuple[str, str, str], MoveCondition]] = MappingProxyType(
    {(dimension.value, from_.value, to.value): condition for (dimension, from_, to), condition in CONDITIONS.items()}
)


@dataclass(frozen=True, slots=True)
class States:
    """One state in each dimension."""

    lifecycle: LifecycleState
    availability: AvailabilityState
    retention: RetentionState
    validation: ValidationState


_DEFAULTS: Final = States(_L.ACTIVE, _A.AVAILABLE, _R.RETAINED, _V.UNVERIFIED)
_WORKING_MEMORY_DEFAULTS: Final = States(_L.SCRATCH, _A.AVAILABLE, _R.RETAINED, _V.UNVERIFIED)


def default_states(object_type: str) -> States:
    """Returns the states a new object takes where the caller names none (Q08): working memory starts as scratch."""
    return _WORKING_MEMORY_DEFAULTS if object_type == "working_memory" else _DEFAULTS


def states_of(dimension: Dimension) -> tuple[State, ...]:
    """Returns the states of a dimension in the draft's order."""
    return STATES[dimension]


def parse_state(dimension: Dimension, text: str) -> State | None:
    """Returns the state of that dimension named by `text`, None when the dimension has none of that name (P-9-02)."""
    return next((state for state in STATES[dimension] if state.value == text), None)


def is_legal(dimension: Dimension, from_state: str, to_state: str) -> bool:
    """Returns whether the move is in the table (P-9.5-03); never from a state to itself, nor with an unknown name."""
    return (from_state, to_state) in _PAIRS[dimension]


def condition_of(dimension: Dimension, from_state: str, to_state: str) -> MoveCondition | None:
    """Returns what the legal move needs besides the transition's own right, None when nothing (Q13)."""
    return _CONDITIONS_BY_VALUE.get((dimension.value, from_state, to_state))


def moves() -> Iterator[tuple[Dimension, State, State, MoveCondition | None]]:
    """Yields every legal move with its condition, by dimension, in table order. The manifest lists these."""
    for dimension, table in MOVES.items():
        for from_state, to_states in table.items():
            for to_state in to_states:
                yield dimension, from_state, to_state, CONDITIONS.get((dimension, from_state, to_state))


def check_constraint_sql(dimension: Dimension) -> str:
    """Returns the CHECK expression over the dimension's column: the state is one of its states."""
    values = ", ".join(f"'{state.value}'" for state in STATES[dimension])
    return f"{dimension.column} IN ({values})"


def moves_check_sql(dimension: Dimension, from_expression: str, to_expression: str) -> str:
    """Returns the SQL condition that a move between two expressions is in the table, for CHECKs and functions."""
    pairs = ", ".join(
        f"('{from_state.value}', '{to_state.value}')"
        for from_state, to_states in MOVES[dimension].items()
        for to_state in to_states
    )
    return f"({from_expression}, {to_expression}) IN ({pairs})"
