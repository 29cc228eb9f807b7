"""Outcomes of the commit function -> what a call ends with. Those only an operation can tell are left to it."""

from __future__ import annotations

from typing import NoReturn

from server.authority import denials
from server.authority.refusals import Refused, StaleFacts
from server.domain_errors import DuplicateOperation, ObjectDeleted, ObjectNotFound, VersionConflict
from server.remembered import RememberedFailure
from storage.commands import ObjectMove, Outcome, Status


def raise_for(outcome: Outcome, object_move: ObjectMove | None) -> None:
    """Raises StaleFacts, Refused, RememberedFailure, DuplicateOperation, ObjectDeleted or ObjectNotFound."""
    object_id = object_move.object_id if object_move else None
    match outcome.status:
        case Status.STALE:
            raise StaleFacts
        case Status.REPLAYED if "error" in outcome.detail:
            # An equal request took the key and failed.
            raise RememberedFailure.of(outcome.detail)
        case Status.DELEGATION:
            denied = denials.ineffective(str(outcome.detail["reason"]), str(outcome.detail["delegation_id"]))
            raise Refused(denied, object_id)
        case Status.EXHAUSTED:
            raise Refused(denials.exhausted(str(outcome.detail["delegation_id"])), object_id)
        case Status.DUPLICATE:
            raise DuplicateOperation
        case Status.DELETED if object_move is None or object_move.expected_version_id is not None:
            raise ObjectDeleted(object_id)
        case Status.ABSENT:
            raise ObjectNotFound
        case _:
            return


def raise_conflict(outcome: Outcome, object_move: ObjectMove, readable: bool) -> NoReturn:
    """Raises VersionConflict, with the current version where the caller may know it."""
    current = str(outcome.detail["current_version_id"]) if readable else None
    raise VersionConflict(object_move.expected_version_id, current, object_move.object_id)
