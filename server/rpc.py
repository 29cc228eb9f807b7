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
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
from grpc_status import rpc_status

from authz.principal import Principal
from authz.tokens import LEEWAY_US
from server.access import FOREIGN_LEVELS, PUBLIC, MethodAccess, MisdeclaredMethod, UndeclaredMethod
from server.domain_errors import Unauthenticated
from server.errors import status_of
from server.interceptors.authenticate import Verifier, principal_of
from server.interceptors.frame import Answer, Frame, Handler, closing

Operation = Callable[[Any, Any], Awaitable[Answer]]

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


def method_handler(access: MethodAccess, handler: Handler) -> grpc.RpcMethodHandler:
    """Returns gRPC's handler of a composed method. Requests stay bytes until they are validated.

    Raises MisdeclaredMethod for a method that streams both ways.
    """
    if access.client_streaming and access.server_streaming:
        raise MisdeclaredMethod(access.full_name, "streams both ways")

    async def respond(frame: Frame) -> bytes:
        answer: Any = await handler(frame)
        return bytes(answer.SerializeToString())

    async def unary(data: bytes, context: grpc.aio.ServicerContext) -> bytes:
        return await respond(Frame(access, data, context))

    async def collect(requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> bytes:
        # A stream without a request is judged like one empty request.
        first = await anext(aiter(requests), b"")
        return await respond(Frame(access, first, context, later_data=requests))

    async def stream(data: bytes, context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        frame = Frame(access, data, context)
        answers: Any = await handler(frame)
        async with closing(answers), _until_token_ends(frame.principal, context):
            async for response in answers:
                yield response.SerializeToString()

    if access.server_streaming:
        return grpc.unary_stream_rpc_method_handler(stream)
    if access.client_streaming:
        return grpc.stream_unary_rpc_method_handler(collect)
    return grpc.unary_unary_rpc_method_handler(unary)


@asynccontextmanager
async def _until_token_ends(principal: Principal | None, context: grpc.aio.ServicerContext) -> AsyncIterator[None]:
    """Ends a stream as unauthenticated when the credential it was opened with runs out."""
    left_seconds = (
        None if principal is None else (principal.expires_at_us + LEEWAY_US - time.time_ns() // 1000) / 1_000_000
    )
    try:
        async with asyncio.timeout(left_seconds):
            yield
    except TimeoutError:
        status = rpc_status.to_status(status_of(Unauthenticated(), "", ""))
        await context.abort(status.code, status.details, status.trailing_metadata)


class HandlerRegistry:
    """Collects handlers and gives them to a gRPC server. Stands in for the server where generated code registers."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self._services: dict[str, dict[str, grpc.RpcMethodHandler]] = {}

    def add(self, access: MethodAccess, handler: Handler) -> None:
        """Registers a method of ours."""
        service, verb = access.full_name[1:].rsplit("/", 1)
        self._services.setdefault(service, {})[verb] = method_handler(access, handler)

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
            except Unauthenticated:
                status = rpc_status.to_status(status_of(Unauthenticated(), "", ""))
                await context.abort(status.code, status.details, status.trailing_metadata)
                raise
            async with _until_token_ends(principal, context):
                async for response in inner(requests, context):
                    yield response

        return grpc.stream_stream_rpc_method_handler(stream, handler.request_deserializer, handler.response_serializer)
