"""Which domain error an exception of the layers below is told as."""

from __future__ import annotations

import pytest

from server.domain_errors import DomainError, InternalError, ResourceExhausted, ScopeNotFound, ServiceUnavailable
from server.interceptors.errors import told
from storage.errors import (
    DatabaseUnavailable,
    OutcomeUnknown,
    QueueFull,
    SerializationConflict,
    StatementFailed,
    StatementTimeout,
)
from storage.keystore import KeyStoreUnavailable


@pytest.mark.parametrize(
    "error",
    [
        DatabaseUnavailable(),
        OutcomeUnknown(),
        StatementTimeout(),
        SerializationConflict(),
        KeyStoreUnavailable("EACCES"),
    ],
)
def test_what_may_be_tried_again_is_unavailable(error: Exception) -> None:
    assert isinstance(told(error), ServiceUnavailable)


@pytest.mark.parametrize(
    ("error", "wanted"),
    [(QueueFull(), ResourceExhausted), (StatementFailed(), InternalError), (KeyError(), InternalError)],
)
def test_the_rest_is_told_by_its_kind(error: Exception, wanted: type[DomainError]) -> None:
    assert type(told(error)) is wanted


def test_a_domain_error_is_told_as_it_is() -> None:
    error = ScopeNotFound()
    assert told(error) is error
