"""One table: domain error -> PAMSPEC code, gRPC status, reason; and the status details made from it.

Sources: surface.md, section 4; P-14-01 to P-14-23; Q40, Q41, Q42.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from remit.v1 import errors_pb2
from server import domain_errors as e
from storage.model.states import STATES

ERROR_DOMAIN: Final = "pamspec.remit.v1"

_STATE_NAMES: Final = frozenset(state.value for states in STATES.values() for state in states)
_DIMENSION_NAMES: Final = frozenset(dimension.value for dimension in STATES)


@dataclass(frozen=True, slots=True)
class ErrorMapping:
    """How a domain error is told: `code` is None for what PAMSPEC does not name."""

    code: str | None
    grpc_status: grpc.StatusCode
    reason: str
    retryable: bool = False
    remediation_hint: str = ""


def _pamspec(code: str, grpc_status: grpc.StatusCode, retryable: bool = False, hint: str = "") -> ErrorMapping:
    return ErrorMapping(code, grpc_status, code.upper(), retryable, hint)


_G: Final = grpc.StatusCode

ERROR_TABLE: Final[Mapping[type[e.DomainError], ErrorMapping]] = MappingProxyType(
    {
        e.InvalidRequest: _pamspec("invalid_request", _G.INVALID_ARGUMENT),
        e.InvalidObject: _pamspec("invalid_object", _G.INVALID_ARGUMENT),
        e.UnsupportedObjectType: _pamspec("unsupported_object_type", _G.INVALID_ARGUMENT),
        e.ObjectNotFound: _pamspec("object_not_found", _G.NOT_FOUND),
        e.ScopeNotFound: _pamspec("scope_not_found", _G.NOT_FOUND),
        e.AccessDenied: _pamspec("access_denied", _G.PERMISSION_DENIED),
        e.PolicyDenied: _pamspec("policy_denied", _G.FAILED_PRECONDITION),
        e.VersionConflict: _pamspec(
            "version_conflict", _G.ABORTED, True, "Read the current version, merge, and expect that version."
        ),
        e.DuplicateOperation: _pamspec(
            "duplicate_operation", _G.ALREADY_EXISTS, hint="Use a new idempotency key for a new request."
        ),
        e.InvalidStateTransition: _pamspec("invalid_state_transition", _G.FAILED_PRECONDITION),
        # Retryable only for a concurrent clash, which the error itself says.
        e.RelationshipConflict: _pamspec("relationship_conflict", _G.FAILED_PRECONDITION),
        e.EmbeddingSpaceMismatch: _pamspec("embedding_space_mismatch", _G.INVALID_ARGUMENT),
        e.SnapshotNotFound: _pamspec("snapshot_not_found", _G.NOT_FOUND),
        e.RetentionRestriction: _pamspec("retention_restriction", _G.FAILED_PRECONDITION),
        e.LegalHold: _pamspec("legal_hold", _G.FAILED_PRECONDITION),
        e.ObjectRedacted: _pamspec("object_redacted", _G.FAILED_PRECONDITION),
        e.ObjectDeleted: _pamspec("object_deleted", _G.NOT_FOUND),
        e.ServiceUnavailable: _pamspec("service_unavailable", _G.UNAVAILABLE, True),
        e.InternalError: _pamspec("internal_error", _G.INTERNAL),
        e.Unauthenticated: ErrorMapping(None, _G.UNAUTHENTICATED, "UNAUTHENTICATED"),
        e.DeadlineExceeded: ErrorMapping(None, _G.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", retryable=True),
        e.ResourceExhausted: ErrorMapping(None, _G.RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED", retryable=True),
    }
)


@dataclass(slots=True)
class _Told:
    """The facts of one error that the caller may learn."""

    policy_rule_id: str = ""
    denial_reason: str = ""
    object_id: str = ""
    current_version_id: str = ""
    expected_version_id: str = ""
    details: tuple[tuple[str, str], ...] = ()


def mapping_of(error: e.DomainError) -> ErrorMapping:
    """Returns the table's row for an error; raises KeyError for a class without one (a test finds it first)."""
    return ERROR_TABLE[type(error)]


def is_retryable(error: e.DomainError) -> bool:
    """Returns whether the same call, or for version_conflict the refetched one, may succeed later."""
    return mapping_of(error).retryable or (isinstance(error, e.RelationshipConflict) and error.concurrent)


def status_of(error: e.DomainError, operation_id: str, correlation_id: str) -> status_pb2.Status:
    """Returns the status of an error with its details, in the order ErrorInfo, PamspecError, RetryInfo or BadRequest.

    `operation_id` and `correlation_id` are echoed as they are: pass ids that passed their grammar, or ones made by the
    server. A credential's failure carries no PamspecError.
    """
    mapping = mapping_of(error)
    told = _told(error)
    retryable = is_retryable(error)
    status = status_pb2.Status(code=mapping.grpc_status.value[0], message=error.message)
    info = error_details_pb2.ErrorInfo(reason=mapping.reason, domain=ERROR_DOMAIN)
    for key, value in (
        ("retryable", "true" if retryable else "false"),
        ("operation_id", operation_id),
        ("correlation_id", correlation_id),
        ("policy_rule_id", told.policy_rule_id),
        ("denial_reason", told.denial_reason),
        ("current_version_id", told.current_version_id),
        ("expected_version_id", told.expected_version_id),
    ):
        if value:
            info.metadata[key] = value
    status.details.add().Pack(info)
    if mapping.code is not None:
        status.details.add().Pack(
            errors_pb2.PamspecError(
                code=mapping.code,
                message=error.message,
                retryable=retryable,
                operation_id=operation_id,
                correlation_id=correlation_id,
                policy_rule_id=told.policy_rule_id,
                object_id=told.object_id,
                current_version_id=told.current_version_id,
                expected_version_id=told.expected_version_id,
                details=[errors_pb2.ErrorDetail(name=name, value=value) for name, value in told.details],
                remediation_hint=mapping.remediation_hint,
            )
        )
    if isinstance(error, e.ServiceUnavailable):
        delay = Duration(seconds=error.retry_after_ms // 1000, nanos=error.retry_after_ms % 1000 * 1_000_000)
        status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    if isinstance(error, e.InvalidRequest | e.InvalidObject):
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=error.field, description=error.problem, reason=mapping.reason
        )
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    return status


def _told(error: e.DomainError) -> _Told:
    match error:
        case e.InvalidRequest() | e.InvalidObject():
            return _Told(details=(("field", error.field), ("problem", error.problem)))
        case e.AccessDenied():
            return _Told(
                policy_rule_id=error.policy_rule_id or "",
                denial_reason=error.denial_reason,
                details=(("denial_reason", error.denial_reason),),
            )
        case e.PolicyDenied():
            field = (("field", error.field),) if error.field else ()
            return _Told(policy_rule_id=error.policy_rule_id or "", details=(("reason", error.reason), *field))
        case e.VersionConflict():
            return _Told(
                object_id=error.object_id or "",
                current_version_id=error.current_version_id or "",
                expected_version_id=error.expected_version_id or "",
            )
        case e.InvalidStateTransition():
            return _Told(details=_states_told(error))
        case e.RetentionRestriction() | e.LegalHold() | e.ObjectRedacted() | e.ObjectDeleted():
            return _Told(object_id=error.object_id or "")
        case e.InternalError():
            return _Told(details=(("reason", error.reason),))
        case _:
            return _Told()


def _states_told(error: e.InvalidStateTransition) -> tuple[tuple[str, str], ...]:
    # A target state is the caller's text; it is told only where it is the name of a state.
    named = (
        ("dimension", error.dimension, _DIMENSION_NAMES),
        ("from_state", error.from_state, _STATE_NAMES),
        ("to_state", error.to_state, _STATE_NAMES),
    )
    return tuple((name, str(value)) for name, value, known in named if value in known)
