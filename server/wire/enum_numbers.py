"""Values of the model -> numbers of the wire, read from the contract's enums, whose names carry the enum's name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.descriptor import EnumDescriptor

from remit.v1 import common_pb2, ledger_pb2, memory_pb2


def _numbers(enum: EnumDescriptor, prefix: str) -> Mapping[str, Any]:
    # Any: to the stubs, a number that a message takes is of its enum's own type.
    return MappingProxyType(
        {value.name.removeprefix(prefix).lower(): value.number for value in enum.values if value.number != 0}
    )


LIFECYCLE_NUMBERS: Final = _numbers(common_pb2.LifecycleState.DESCRIPTOR, "LIFECYCLE_STATE_")
AVAILABILITY_NUMBERS: Final = _numbers(common_pb2.AvailabilityState.DESCRIPTOR, "AVAILABILITY_STATE_")
RETENTION_NUMBERS: Final = _numbers(common_pb2.RetentionState.DESCRIPTOR, "RETENTION_STATE_")
VALIDATION_NUMBERS: Final = _numbers(common_pb2.ValidationState.DESCRIPTOR, "VALIDATION_STATE_")
EVENT_TYPE_NUMBERS: Final = _numbers(ledger_pb2.EventType.DESCRIPTOR, "EVENT_TYPE_")


def _names(numbers: Mapping[str, int]) -> Mapping[int, str]:
    return MappingProxyType({number: name for name, number in numbers.items()})


LIFECYCLE_NAMES: Final = _names(LIFECYCLE_NUMBERS)
AVAILABILITY_NAMES: Final = _names(AVAILABILITY_NUMBERS)
RETENTION_NAMES: Final = _names(RETENTION_NUMBERS)
VALIDATION_NAMES: Final = _names(VALIDATION_NUMBERS)
EVENT_TYPE_NAMES: Final = _names(EVENT_TYPE_NUMBERS)
DIRECTIONALITY_NAMES: Final = _names(_numbers(memory_pb2.Directionality.DESCRIPTOR, "DIRECTIONALITY_"))
