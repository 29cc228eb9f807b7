"""Calls of any method by its path, bytes in and bytes out: nothing of the client's own library judges what is sent."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

import remit.v1
from remit.v1 import access_pb2, errors_pb2
from tests.cluster import Workspace

CALL_SECONDS = 60.0
_DETAILS_KEY = "grpc-status-details-bin"

Metadata = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Method:
    """One method as its descriptor has it; `access` is empty for services that are not ours."""

    path: str
    request_class: type[Message]
    response_class: type[Message]
    client_streaming: bool
    server_streaming: bool
    access: access_pb2.Access

    @property
    def name(self) -> str:
        """`Service/Method`, for test ids."""
        return self.path.rsplit(".", 1)[1]

    def scope(self, workspace: Workspace) -> str:
        """The workspace to address: the tenant's root for what is done there only."""
        is_of_root = self.name in {"AdminService/CreateWorkspace", "AdminService/ListWorkspaces"}
        return f"tenant:{workspace.tenant_id}" if is_of_root else workspace.scope_id

    def takes(self, field_name: str) -> bool:
        """Whether its request has a field of this name."""
        return field_name in self.request_class.DESCRIPTOR.fields_by_name


def methods_of(service: ServiceDescriptor) -> list[Method]:
    """Every method of a service."""
    return [
        Method(
            path=f"/{service.full_name}/{method.name}",
            request_class=GetMessageClass(method.input_type),
            response_class=GetMessageClass(method.output_type),
            client_streaming=method.client_streaming,
            server_streaming=method.server_streaming,
            access=method.GetOptions().Extensions[access_pb2.access],
        )
        for method in service.methods
    ]


@cache
def own_methods() -> tuple[Method, ...]:
    """Every method of every service of the contract, found in its descriptors."""
    found: list[Method] = []
    for module in sorted(pkgutil.iter_modules(remit.v1.__path__), key=lambda module: module.name):
        if module.name.endswith("_pb2"):
            services = importlib.import_module(f"remit.v1.{module.name}").DESCRIPTOR.services_by_name
            for service in services.values():
                found.extend(methods_of(service))
    return tuple(found)


OWN = own_methods()
SCOPED = tuple(method for method in OWN if method.takes("scope_id"))
DELEGABLE = tuple(method for method in OWN if method.takes("delegation_id"))
HEALTH = tuple(methods_of(health_pb2.DESCRIPTOR.services_by_name["Health"]))
REFLECTION = tuple(methods_of(reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]))


@dataclass(frozen=True)
class Answer:
    """How a call ended: its status with all that came beside it, and the messages that came before."""

    code: grpc.StatusCode
    message: str = ""
    trailers: tuple[tuple[str, str | bytes], ...] = ()
    responses: tuple[bytes, ...] = ()
    status: status_pb2.Status = field(default_factory=status_pb2.Status)

    def _detail(self, detail: Any) -> Any:
        for packed in self.status.details:
            if packed.Is(detail.DESCRIPTOR):
                packed.Unpack(detail)
                return detail
        return None

    @property
    def info(self) -> Any:
        """ErrorInfo, None when absent."""
        return self._detail(error_details_pb2.ErrorInfo())

    @property
    def reason(self) -> str:
        """ErrorInfo.reason, empty when absent."""
        return self.info.reason if self.info is not None else ""

    @property
    def denial_reason(self) -> str:
        """The coarse reason of an access_denied."""
        return str(self.info.metadata["denial_reason"])

    @property
    def pamspec(self) -> Any:
        """PamspecError, None when absent."""
        return self._detail(errors_pb2.PamspecError())

    @property
    def retry(self) -> Any:
        """RetryInfo, None when absent."""
        return self._detail(error_details_pb2.RetryInfo())

    @property
    def fields(self) -> list[str]:
        """The fields a BadRequest names."""
        bad = self._detail(error_details_pb2.BadRequest())
        return [violation.field for violation in bad.field_violations] if bad is not None else []

    @property
    def raw(self) -> bytes:
        """Every byte that came, but for the code."""
        trailers = [value if isinstance(value, bytes) else value.encode() for _, value in self.trailers]
        return b"\n".join([self.message.encode(), *trailers, *self.responses])

    def seen(self, operation_id: str = "") -> tuple[Any, ...]:
        """All that a caller sees of a refusal, in bytes, with its operation id taken out."""
        raw = [(key, value if isinstance(value, bytes) else value.encode()) for key, value in self.trailers]
        blank = b"-" * len(operation_id)
        if operation_id:
            raw = [(key, value.replace(operation_id.encode(), blank)) for key, value in raw]
        return (self.code, self.message, tuple(sorted(raw)), self.responses)


def ask(
    channel: grpc.Channel,
    method: Method,
    request: Message | bytes,
    metadata: Metadata = (),
    *,
    timeout: float = CALL_SECONDS,
) -> Answer:
    """Calls a method of any arity with one request; of a stream of answers it takes the first, if any."""
    data = request if isinstance(request, bytes) else request.SerializeToString()
    made = getattr(channel, _arity(method))(method.path)
    sent: Any = iter([data]) if method.client_streaming else data
    call: Any = None
    try:
        if method.server_streaming:
            call = made(sent, metadata=tuple(metadata), timeout=timeout)
            first = next(call, None)
            responses = [] if first is None else [first]
        else:
            response, call = made.with_call(sent, metadata=tuple(metadata), timeout=timeout)
            responses = [response]
    except grpc.RpcError as error:
        return _refused(error)
    finally:
        if method.server_streaming and call is not None:
            call.cancel()
    return Answer(grpc.StatusCode.OK, responses=tuple(responses))


def _arity(method: Method) -> str:
    kinds = {False: "unary", True: "stream"}
    return f"{kinds[method.client_streaming]}_{kinds[method.server_streaming]}"


def _refused(error: Any) -> Answer:
    trailers = tuple((key, value) for key, value in error.trailing_metadata() or ())
    status = status_pb2.Status()
    for key, value in trailers:
        if key == _DETAILS_KEY:
            status.ParseFromString(value)
    return Answer(error.code(), error.details() or "", trailers, (), status)


def bearer(token: str) -> Metadata:
    """The metadata of a token."""
    return (("authorization", f"Bearer {token}"),)


@contextlib.contextmanager
def open_channel(address: str) -> Any:
    """A channel of the test's own."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(address, options=options) as channel:
        yield channel
