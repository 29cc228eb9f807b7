"""Every domain error is told in one way, and no way of telling it carries content."""

import inspect
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st

from remit.v1 import errors_pb2
from server import domain_errors as e
from server.errors import ERROR_DOMAIN, ERROR_TABLE, mapping_of, status_of

EXAMPLES: list[e.DomainError] = [
    e.InvalidRequest("checks[3].operation", "is required"),
    e.InvalidObject("provenance", "is required"),
    e.UnsupportedObjectType(),
    e.ObjectNotFound(),
    e.ScopeNotFound(),
    e.AccessDenied("NO_RULE", "rule:1"),
    e.PolicyDenied("the window is inverted", "not_after"),
    e.VersionConflict("urn:v:1", "urn:v:2", "urn:o:1"),
    e.DuplicateOperation(),
    e.InvalidStateTransition("lifecycle", "archived", "scratch"),
    e.RelationshipConflict(),
    e.EmbeddingSpaceMismatch(),
    e.SnapshotNotFound(),
    e.RetentionRestriction("urn:o:1"),
    e.LegalHold("urn:o:1"),
    e.ObjectRedacted("urn:o:1"),
    e.ObjectDeleted("urn:o:1"),
    e.ServiceUnavailable(1500),
    e.InternalError("INTEGRITY"),
    e.Unauthenticated(),
    e.DeadlineExceeded(),
    e.ResourceExhausted("rate"),
]

# surface.md, section 4, written out a second time: code, gRPC status, retryable.
PAMSPEC_ROWS = {
    "invalid_request": ("INVALID_ARGUMENT", False),
    "invalid_object": ("INVALID_ARGUMENT", False),
    "unsupported_object_type": ("INVALID_ARGUMENT", False),
    "object_not_found": ("NOT_FOUND", False),
    "scope_not_found": ("NOT_FOUND", False),
    "access_denied": ("PERMISSION_DENIED", False),
    "policy_denied": ("FAILED_PRECONDITION", False),
    "version_conflict": ("ABORTED", True),
    "duplicate_operation": ("ALREADY_EXISTS", False),
    "invalid_state_transition": ("FAILED_PRECONDITION", False),
    "relationship_conflict": ("FAILED_PRECONDITION", False),
    "embedding_space_mismatch": ("INVALID_ARGUMENT", False),
    "snapshot_not_found": ("NOT_FOUND", False),
    "retention_restriction": ("FAILED_PRECONDITION", False),
    "legal_hold": ("FAILED_PRECONDITION", False),
    "object_redacted": ("FAILED_PRECONDITION", False),
    "object_deleted": ("NOT_FOUND", False),
    "service_unavailable": ("UNAVAILABLE", True),
    "internal_error": ("INTERNAL", False),
}


def leaves(cls: type[e.DomainError]) -> Iterator[type[e.DomainError]]:
    below = cls.__subclasses__()
    if not below:
        yield cls
    for item in below:
        yield from leaves(item)


def details_of(status: status_pb2.Status) -> dict[str, AnyMessage]:
    return {detail.TypeName(): detail for detail in status.details}


def info_of(status: status_pb2.Status) -> error_details_pb2.ErrorInfo:
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return info


def pamspec_of(status: status_pb2.Status) -> errors_pb2.PamspecError:
    told = errors_pb2.PamspecError()
    assert status.details[1].Unpack(told)
    return told


def test_every_class_of_the_tree_has_a_row_and_every_row_a_class() -> None:
    assert set(leaves(e.DomainError)) == set(ERROR_TABLE)
    assert {type(example) for example in EXAMPLES} == set(ERROR_TABLE)


def test_the_table_is_the_contract_s() -> None:
    rows = {row.code: (row.grpc_status.name, row.retryable) for row in ERROR_TABLE.values() if row.code}
    assert rows == PAMSPEC_ROWS
    assert all(row.reason == row.code.upper() for row in ERROR_TABLE.values() if row.code)
    outside = {row.reason: row.grpc_status for row in ERROR_TABLE.values() if row.code is None}
    assert outside == {
        "UNAUTHENTICATED": grpc.StatusCode.UNAUTHENTICATED,
        "DEADLINE_EXCEEDED": grpc.StatusCode.DEADLINE_EXCEEDED,
        "RESOURCE_EXHAUSTED": grpc.StatusCode.RESOURCE_EXHAUSTED,
    }


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_details_of_every_error(error: e.DomainError) -> None:
    status = status_of(error, "op:1", "corr-1")
    row = mapping_of(error)
    assert status.code == row.grpc_status.value[0]
    assert status.message == error.message
    assert "{" not in status.message
    info = info_of(status)
    assert (info.reason, info.domain) == (row.reason, ERROR_DOMAIN)
    assert info.metadata["operation_id"] == "op:1"
    assert info.metadata["correlation_id"] == "corr-1"
    assert info.metadata["retryable"] == str(row.retryable).lower()
    assert "" not in info.metadata.values()
    expected = {"google.rpc.ErrorInfo"}
    if row.code is not None:
        expected.add("remit.v1.PamspecError")
        told = pamspec_of(status)
        assert (told.code, told.message, told.retryable) == (row.code, error.message, row.retryable)
        assert (told.operation_id, told.correlation_id) == ("op:1", "corr-1")
    if isinstance(error, e.ServiceUnavailable):
        expected.add("google.rpc.RetryInfo")
    if isinstance(error, e.InvalidRequest | e.InvalidObject):
        expected.add("google.rpc.BadRequest")
    assert set(details_of(status)) == expected


def test_the_message_is_the_first_paragraph_of_the_docstring() -> None:
    for error_class in ERROR_TABLE:
        first = inspect.cleandoc(error_class.__doc__ or "").split("\n\n")[0]
        assert first
        assert not first.startswith(f"{error_class.__name__}(")


def test_bad_request_names_the_field() -> None:
    status = status_of(e.InvalidRequest("query.filters", "is required"), "op:1", "")
    bad = error_details_pb2.BadRequest()
    assert status.details[2].Unpack(bad)
    [violation] = bad.field_violations
    assert (violation.field, violation.description) == ("query.filters", "is required")
    assert status.message == "The request field `query.filters` is required."


def test_unavailable_says_when_to_come_back() -> None:
    retry = error_details_pb2.RetryInfo()
    assert status_of(e.ServiceUnavailable(1500), "op:1", "").details[2].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 1500


def test_version_conflict_gives_the_current_version_only_where_it_is_known() -> None:
    known = status_of(e.VersionConflict("urn:v:1", "urn:v:2"), "op:1", "")
    assert info_of(known).metadata["current_version_id"] == "urn:v:2"
    assert info_of(known).metadata["expected_version_id"] == "urn:v:1"
    assert pamspec_of(known).current_version_id == "urn:v:2"
    assert pamspec_of(known).remediation_hint
    unknown = status_of(e.VersionConflict("urn:v:1", None), "op:1", "")
    assert "current_version_id" not in info_of(unknown).metadata
    assert pamspec_of(unknown).current_version_id == ""


def test_denial_gives_the_rule_and_the_coarse_reason() -> None:
    status = status_of(e.AccessDenied("EXPLICIT_DENY", "urn:rule:7"), "op:1", "")
    assert info_of(status).metadata["denial_reason"] == "EXPLICIT_DENY"
    assert info_of(status).metadata["policy_rule_id"] == "urn:rule:7"
    assert pamspec_of(status).policy_rule_id == "urn:rule:7"
    bare = info_of(status_of(e.AccessDenied("NO_RULE"), "op:1", ""))
    assert "policy_rule_id" not in bare.metadata


def test_an_exact_reason_cannot_be_told() -> None:
    with pytest.raises(ValueError, match="coarse"):
        e.AccessDenied("GRANTOR_LOST_AUTHORITY")


def test_a_concurrent_clash_of_relationships_is_retryable() -> None:
    status = status_of(e.RelationshipConflict(concurrent=True), "op:1", "")
    assert pamspec_of(status).retryable
    assert info_of(status).metadata["retryable"] == "true"


def test_absent_objects_and_scopes_are_told_alike() -> None:
    one, other = (status_of(e.ObjectNotFound(), "op:1", "c") for _ in range(2))
    assert one.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)


@given(secret=st.text(min_size=24, max_size=60))
def test_internal_text_never_leaves(secret: str) -> None:
    told = str(status_of(e.InternalError(f"psycopg: {secret}"), "op:1", ""))
    assert "psycopg" not in told
    assert pamspec_of(status_of(e.InternalError(secret.lower()), "op:1", "")).details[0].value == "UNEXPECTED"


def test_a_target_state_is_told_only_when_it_is_one() -> None:
    status = status_of(e.InvalidStateTransition("lifecycle", "active", "my-secret-note"), "op:1", "")
    assert b"my-secret-note" not in status.SerializeToString()
    named = pamspec_of(status_of(e.InvalidStateTransition("lifecycle", "archived", "scratch"), "op:1", ""))
    assert {item.name: item.value for item in named.details} == {
        "dimension": "lifecycle",
        "from_state": "archived",
        "to_state": "scratch",
    }


def test_details_fit_into_trailers() -> None:
    longest = e.InvalidRequest("query.filters.predicates[999].values[999]", "x" * 200)
    assert status_of(longest, "o:" + "x" * 254, "c" * 256).ByteSize() < 4096
