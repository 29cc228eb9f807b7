"""The contract as reflection tells it to a client that has no generated code."""

from __future__ import annotations

from functools import cached_property

import grpc
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from tests.contract.wire import Metadata

OURS = "remit.v1."


class Contract:
    """Services, methods and messages of ours that the process at the other end of the channel serves."""

    def __init__(self, channel: grpc.Channel, metadata: Metadata) -> None:
        self._database = ProtoReflectionDescriptorDatabase(_Authenticated(channel, metadata))

    @cached_property
    def methods(self) -> list[MethodDescriptor]:
        """All methods of ours."""
        pool = DescriptorPool(self._database)
        names = [name for name in self._database.get_services() if name.startswith(OURS)]
        return [method for name in names for method in pool.FindServiceByName(name).methods]

    @cached_property
    def requests(self) -> dict[str, Descriptor]:
        """The request of each method, by the method's name."""
        return {method.name: method.input_type for method in self.methods}

    @cached_property
    def messages(self) -> dict[str, Descriptor]:
        """Every message of ours that a request or an answer can hold, by its name."""
        found: dict[str, Descriptor] = {}
        waiting = [end for method in self.methods for end in (method.input_type, method.output_type)]
        while waiting:
            message = waiting.pop()
            if message.name in found or not message.full_name.startswith(OURS):
                continue
            found[message.name] = message
            waiting.extend(field.message_type for field in message.fields if field.message_type is not None)
        return found

    @cached_property
    def fields(self) -> list[FieldDescriptor]:
        """Every field of them."""
        return [field for message in self.messages.values() for field in message.fields]

    @cached_property
    def enums(self) -> dict[str, EnumDescriptor]:
        """Every enum of ours among them, by its name."""
        found = (field.enum_type for field in self.fields if field.enum_type is not None)
        return {enum.name: enum for enum in found}


class _Authenticated:
    """A channel whose reflection calls carry a credential."""

    def __init__(self, channel: grpc.Channel, metadata: Metadata) -> None:
        self._channel, self._metadata = channel, metadata

    def stream_stream(self, *arguments: object, **options: object) -> object:
        """The one kind of method that reflection has."""
        method = self._channel.stream_stream(*arguments, **options)
        return lambda requests: method(requests, metadata=self._metadata)
