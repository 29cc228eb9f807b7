"""Numbers of the wire -> states of the model."""

from __future__ import annotations

from typing import Final

from server.wire.enum_numbers import AVAILABILITY_NAMES, LIFECYCLE_NAMES, RETENTION_NAMES, VALIDATION_NAMES
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState

_LIFECYCLE: Final = {number: LifecycleState(name) for number, name in LIFECYCLE_NAMES.items()}
_AVAILABILITY: Final = {number: AvailabilityState(name) for number, name in AVAILABILITY_NAMES.items()}
_RETENTION: Final = {number: RetentionState(name) for number, name in RETENTION_NAMES.items()}
_VALIDATION: Final = {number: ValidationState(name) for number, name in VALIDATION_NAMES.items()}


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
