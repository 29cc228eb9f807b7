"""Failures an idempotency key remembers: the same request fails the same way (P-12-03, Q43).

Only domain errors that no retry can cure are remembered; denials, policy refusals and retryable errors are judged anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.domain_errors import (
    DomainError,
    InvalidObject,
    InvalidRequest,
    InvalidStateTransition,
    ObjectDeleted,
    ObjectNotFound,
    ObjectRedacted,
    UnsupportedObjectType,
)

REMEMBERED_ERRORS: Final[tuple[type[DomainError], ...]] = (
    InvalidObject,
    InvalidRequest,
    InvalidStateTransition,
    ObjectDeleted,
    ObjectNotFound,
    ObjectRedacted,
    UnsupportedObjectType,
)
_BY_NAME: Final = {error.__name__: error for error in REMEMBERED_ERRORS}


def remembered_result(operation_id: str, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what the key stores of a failure: the operation, the error's class and its facts (never content)."""
    return {"operation_id": operation_id, "error": name, "facts": dict(facts)}


@dataclass(eq=False)
class RememberedFailure(Exception):
    """A failure read back from a key: what an equal request ended with, and under which operation id."""

    operation_id: str
    error: DomainError

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> RememberedFailure:
        """Returns the failure in a key's result; raises KeyError when it holds none that is known."""
        return cls(str(result["operation_id"]), _BY_NAME[str(result["error"])](**result["facts"]))
