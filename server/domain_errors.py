"""The closed tree of what a call can be refused with (surface.md, section 4; P-14-01 to P-14-23).

A class's docstring is the message that the caller reads, with the class's own fields filled in; its facts are fields.
No fact may carry what a caller sent as content, nor the exact reason of a denial: names of fields, rules and states
only. `server.errors` gives each class its PAMSPEC code and its gRPC status, once.
"""

import inspect
import re
from dataclasses import dataclass, fields
from typing import Final

COARSE_DENIAL_REASONS: Final = frozenset(
    {
        "NO_RULE",
        "EXPLICIT_DENY",
        "DELEGATION_NOT_EFFECTIVE",
        "USAGE_LIMIT_EXHAUSTED",
        "OPERATION_NOT_GRANTED",
        "OBJECT_NOT_GRANTED",
        "OBJECT_TYPE_NOT_GRANTED",
        "ACTOR_MISMATCH",
    }
)
"""What a caller may learn about a denial (authority.md, Denials); the ledger alone holds the exact reason."""

_REASON_LABEL: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)


class DomainError(Exception):
    """The call is refused."""

    @property
    def message(self) -> str:
        """The first paragraph of the class's docstring, with the fields filled in."""
        template = inspect.cleandoc(type(self).__doc__ or "").split("\n\n")[0].replace("\n", " ")
        return template.format_map(self._facts())

    def _facts(self) -> dict[str, object]:
        return {}

    def __str__(self) -> str:
        return self.message


@dataclass(eq=False)
class _WithFacts(DomainError):
    """The call is refused."""

    def _facts(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Unauthenticated(DomainError):
    """The call carries no valid credential."""


class DeadlineExceeded(DomainError):
    """The call took longer than it may. Whether it changed anything is told by repeating it with its idempotency key."""


@dataclass(eq=False)
class ResourceExhausted(_WithFacts):
    """A limit of the service is used up: {limit}.

    `limit` names the limit, for example `rate` or `page bytes`.
    """

    limit: str


@dataclass(eq=False)
class InvalidRequest(_WithFacts):
    """The request field `{field}` {problem}.

    `field` is the dotted path of the field, `problem` the rule it breaks, for example `is required`; neither holds the
    refused value.
    """

    field: str
    problem: str


@dataclass(eq=False)
class InvalidObject(_WithFacts):
    """The field `{field}` of the object {problem}.

    `field` is the dotted path of the field, `problem` the rule it breaks; neither holds the refused value.
    """

    field: str
    problem: str


class UnsupportedObjectType(DomainError):
    """The object type is not supported in this workspace."""


class ObjectNotFound(DomainError):
    """No such object is visible in the workspace."""


class ScopeNotFound(DomainError):
    """No such workspace is visible to the caller."""


@dataclass(eq=False)
class AccessDenied(_WithFacts):
    """The caller may not do this.

    `denial_reason` is one of COARSE_DENIAL_REASONS (anything else is a programming error and raises ValueError, so that
    an exact reason cannot leak); `policy_rule_id` is the rule that decided, where one did.
    """

    denial_reason: str
    policy_rule_id: str | None = None

    def __post_init__(self) -> None:
        if self.denial_reason not in COARSE_DENIAL_REASONS:
            raise ValueError("a denial is told by its coarse reason only")


@dataclass(eq=False)
class PolicyDenied(_WithFacts):
    """A policy forbids this: {reason}.

    `reason` says which policy in words of ours; `field` names the request field that breaks it, where one does;
    `policy_rule_id` is the rule that decided, where one did.
    """

    reason: str
    field: str | None = None
    policy_rule_id: str | None = None


@dataclass(eq=False)
class VersionConflict(_WithFacts):
    """The object has moved on from the expected version.

    `current_version_id` is None where the caller may not read the object, `expected_version_id` is None where the call
    expected the object to be absent.
    """

    expected_version_id: str | None
    current_version_id: str | None = None
    object_id: str | None = None


class DuplicateOperation(DomainError):
    """The idempotency key was used for another request."""


@dataclass(eq=False)
class InvalidStateTransition(_WithFacts):
    """The state cannot move that way.

    `from_state` and `to_state` reach the caller only where they are names of states.
    """

    dimension: str
    from_state: str
    to_state: str


@dataclass(eq=False)
class RelationshipConflict(_WithFacts):
    """The relationship clashes with the state of its ends.

    `concurrent` says that another call changed them meanwhile, so that the same call may succeed later.
    """

    concurrent: bool = False


class EmbeddingSpaceMismatch(DomainError):
    """The vector does not belong to the embedding space."""


class SnapshotNotFound(DomainError):
    """No such snapshot is visible in the workspace."""


@dataclass(eq=False)
class RetentionRestriction(_WithFacts):
    """The object's retention forbids this."""

    object_id: str | None = None


@dataclass(eq=False)
class LegalHold(_WithFacts):
    """A legal hold forbids this."""

    object_id: str | None = None


@dataclass(eq=False)
class ObjectRedacted(_WithFacts):
    """The object's content is redacted."""

    object_id: str | None = None


@dataclass(eq=False)
class ObjectDeleted(_WithFacts):
    """The object is deleted."""

    object_id: str | None = None


@dataclass(eq=False)
class ServiceUnavailable(_WithFacts):
    """The service cannot complete the call now.

    `retry_after_ms` is how long the caller should wait before it tries again.
    """

    retry_after_ms: int = 1000


@dataclass(eq=False)
class InternalError(_WithFacts):
    """The service failed unexpectedly.

    `reason` is a label such as `INTEGRITY`; anything that is not one is replaced, so that no internal text leaks.
    """

    reason: str = "UNEXPECTED"

    def __post_init__(self) -> None:
        if _REASON_LABEL.fullmatch(self.reason) is None:
            self.reason = "UNEXPECTED"
