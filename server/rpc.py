"""Operations -> handlers: the one place where a method becomes callable.

Every handler of every service, ours or not, is registered here and composed with the interceptors once. A method without
an access declaration, or without its operations file, keeps the server from starting (authority.md, "What a call needs is
declared once").
"""

from __future__ import annotations

import asyncio
import importlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
from google.protobuf.message import Message
from grpc_status import rpc_status

from authz.tokens import LEEWAY_US
from server.access import FOREIGN_LEVELS, PUBLIC, MethodAccess, MisdeclaredMethod, UndeclaredMethod
from server.domain_errors import Unauthenticated
from server.errors import status_of
from server.interceptors.authenticate import Verifier, principal_of
from server.interceptors.frame import Frame, Handler

Operation = Callable[[Any, Any], Awaitable[Message]]

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def operation_of(access: MethodAccess) -> Operation:
    """Returns `handle` of `server/operations/<noun>/<verb>.py`; raises MisdeclaredMethod when there is no such file."""
    service, verb = access.full_name.rsplit("/", 1)
    noun = service.rsplit(".", 1)[1].removesuffix("Service").lower()
    name = f"server.operations.{noun}.{_WORD.sub('_', verb).lower()}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise MisdeclaredMethod(access.full_name, "has no operations file") from None
    operation: Operation = module.handle
    return operation


def unary_handler(access: MethodAccess, handler: Handler) -> grpc.RpcMethodHandler:
    """Returns gRPC's handler of a composed unary method. The request stays bytes until it is validated."""

    async def behave(data: bytes, context: grpc.aio.ServicerContext) -> bytes:
        response = await handler(Frame(access, data, context))
        return response.SerializeToString()

    return grpc.unary_unary_rpc_method_handler(behave)


class HandlerRegistry:
    """Collects handlers and gives them to a gRPC server. Stands in for the server where generated code registers."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self._services: dict[str, dict[str, grpc.RpcMethodHandler]] = {}

    def add(self, access: MethodAccess, handler: Handler) -> None:
        """Registers a method of ours."""
        service, verb = access.full_name[1:].rsplit("/", 1)
        self._services.setdefault(service, {})[verb] = unary_handler(access, handler)

    def add_generic_rpc_handlers(self, handlers: object) -> None:
        """Ignored: generated code announces the same methods through `add_registered_method_handlers`."""

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, grpc.RpcMethodHandler]) -> None:
        """Registers a service that is not ours, each method at the level its constant gives; raises UndeclaredMethod."""
        for verb, handler in handlers.items():
            level = FOREIGN_LEVELS.get(service)
            if level is None:
                raise UndeclaredMethod(f"/{service}/{verb}")
            if level != PUBLIC:
                handler = self._authenticated(handler)
            self._services.setdefault(service, {})[verb] = handler

    def install(self, server: grpc.aio.Server) -> None:
        """Gives every handler to the server."""
        server.add_generic_rpc_handlers(
            tuple(grpc.method_handlers_generic_handler(name, handlers) for name, handlers in self._services.items())
        )

    def methods(self) -> frozenset[str]:
        """Returns the full names of all registered methods."""
        return frozenset(f"/{service}/{verb}" for service, verbs in self._services.items() for verb in verbs)

    def _authenticated(self, handler: grpc.RpcMethodHandler) -> grpc.RpcMethodHandler:
        """Returns the handler behind the credential check; its streams end when their token does."""
        if handler.stream_stream is None:
            raise MisdeclaredMethod("a foreign method", "has an arity that is not supported")
        verifier, inner = self._verifier, handler.stream_stream

        async def stream(requests: Any, context: grpc.aio.ServicerContext) -> Any:
            try:
                principal = await principal_of(verifier, context)
                left_seconds = (principal.expires_at_us + LEEWAY_US - time.time_ns() // 1000) / 1_000_000
                async with asyncio.timeout(left_seconds):
                    async for response in inner(requests, context):
                        yield response
            except (Unauthenticated, TimeoutError):
                status = rpc_status.to_status(status_of(Unauthenticated(), "", ""))
                await context.abort(status.code, status.details, status.trailing_metadata)

        return grpc.stream_stream_rpc_method_handler(stream, handler.request_deserializer, handler.response_serializer)
