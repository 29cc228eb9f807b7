"""States and other enums: numbers of the wire <-> values of the model. The wire's names carry the enum's name."""

from __future__ import annotations

from typing import Final

from remit.v1 import common_pb2, ledger_pb2
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState

_LIFECYCLE: Final = {
    number: LifecycleState(name.removeprefix("LIFECYCLE_STATE_").lower())
    for name, number in common_pb2.LifecycleState.items()
    if number
}
_AVAILABILITY: Final = {
    number: AvailabilityState(name.removeprefix("AVAILABILITY_STATE_").lower())
    for name, number in common_pb2.AvailabilityState.items()
    if number
}
_RETENTION: Final = {
    number: RetentionState(name.removeprefix("RETENTION_STATE_").lower())
    for name, number in common_pb2.RetentionState.items()
    if number
}
_VALIDATION: Final = {
    number: ValidationState(name.removeprefix("VALIDATION_STATE_").lower())
    for name, number in common_pb2.ValidationState.items()
    if number
}
EVENT_TYPES: Final = {
    number: name.removeprefix("EVENT_TYPE_").lower() for name, number in ledger_pb2.EventType.items() if number
}


def lifecycle(number: int) -> LifecycleState | None:
    """Returns the state of a validated number, None for UNSPECIFIED."""
    return _LIFECYCLE.get(number)


def availability(number: int) -> AvailabilityState | None:
    """Returns the state of a validated number, None for UNSPECIFIED."""
    return _AVAILABILITY.get(number)


def retention(number: int) -> RetentionState | None:
    """Returns the state of a validated number, None for UNSPECIFIED."""
    return _RETENTION.get(number)


def validation(number: int) -> ValidationState | None:
    """Returns the state of a validated number, None for UNSPECIFIED."""
    return _VALIDATION.get(number)
