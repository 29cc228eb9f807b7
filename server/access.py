"""What every method needs, read once from the contract's `(remit.v1.access)` options (authority.md, What a call needs).

The authorization interceptor and the registration of handlers are driven by what is read here. Anything incomplete or
contradictory raises when the server starts: a method that nobody declared is never served.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

import remit.v1
from authz.permissions import ALL_ACTIONS, PAMSPEC_OPERATIONS
from remit.v1 import access_pb2

PACKAGE: Final = "remit.v1"

PUBLIC: Final = access_pb2.ACCESS_LEVEL_PUBLIC
AUTHENTICATED: Final = access_pb2.ACCESS_LEVEL_AUTHENTICATED
AUTHORIZED: Final = access_pb2.ACCESS_LEVEL_AUTHORIZED

FOREIGN_LEVELS: Final[Mapping[str, access_pb2.AccessLevel]] = MappingProxyType(
    {
        "grpc.health.v1.Health": PUBLIC,
        "grpc.reflection.v1.ServerReflection": AUTHENTICATED,
        "grpc.reflection.v1alpha.ServerReflection": AUTHENTICATED,
    }
)
"""The levels of the services that are not ours; any other foreign service is refused."""

HEADER_FIELDS: Final[Mapping[int, frozenset[str]]] = MappingProxyType(
    {
        1: frozenset({"scope_id"}),
        2: frozenset({"operation_id"}),
        3: frozenset({"idempotency_key"}),
        4: frozenset({"delegation_id"}),
        5: frozenset({"purpose"}),
        6: frozenset({"correlation_id"}),
        7: frozenset({"actor"}),
        8: frozenset({"snapshot_id", "policy_basis"}),
    }
)
"""The fields that all requests share, by number (surface.md, section 1)."""

_HEADER_NUMBERS: Final = {name: number for number, names in HEADER_FIELDS.items() for name in names}
_TEMPLATE: Final = re.compile(r"\{([a-z_]+)\}")


class UndeclaredMethod(TypeError):
    """A method has no declared access level, so the server does not start."""

    def __init__(self, full_name: str) -> None:
        super().__init__(f"{full_name} declares no access level")
        self.full_name = full_name


class MisdeclaredMethod(TypeError):
    """What a method declares contradicts its request or the list of actions, so the server does not start."""

    def __init__(self, full_name: str, problem: str) -> None:
        super().__init__(f"{full_name}: {problem}")
        self.full_name = full_name
        self.problem = problem


@dataclass(frozen=True, slots=True)
class MethodAccess:
    """What one method needs. `full_name` is the path on the wire, `/remit.v1.MemoryService/Read`.

    `action` is the declared action, which may hold one `{field}`; `actions` then holds the action of each number of
    that enum field of the request (`action_field`). The field lists hold dotted paths into the request.
    """

    full_name: str
    level: access_pb2.AccessLevel
    action: str
    pamspec_operation: str
    object_id_fields: tuple[str, ...]
    object_type_fields: tuple[str, ...]
    scope_fields: tuple[str, ...]
    mutating: bool
    decided_by_operation: bool
    request_class: type[Message]
    response_class: type[Message]
    server_streaming: bool
    client_streaming: bool
    action_field: str = ""
    actions: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))

    def action_of(self, request: Message) -> str:
        """Returns the action the policy is asked about for this request.

        Raises KeyError when the field that completes the action holds no value of its enum; validation refuses that
        before.
        """
        if not self.action_field:
            return self.action
        return self.actions[getattr(request, self.action_field)]


def declared_access() -> Mapping[str, MethodAccess]:
    """Returns the access of every method of every service of remit.v1, by its path on the wire.

    Raises UndeclaredMethod or MisdeclaredMethod.
    """
    return MappingProxyType(
        {access.full_name: access for service in _own_services() for access in service_access(service)}
    )


def service_access(service: ServiceDescriptor) -> tuple[MethodAccess, ...]:
    """Returns the access of each method of one service: ours by its options, a foreign one by FOREIGN_LEVELS.

    Raises UndeclaredMethod or MisdeclaredMethod.
    """
    return tuple(_method_access(service, method) for method in service.methods)


def _own_services() -> Iterator[ServiceDescriptor]:
    for module in sorted(pkgutil.iter_modules(remit.v1.__path__), key=lambda module: module.name):
        if module.name.endswith("_pb2"):
            services = importlib.import_module(f"{PACKAGE}.{module.name}").DESCRIPTOR.services_by_name
            yield from services.values()


def _method_access(service: ServiceDescriptor, method: MethodDescriptor) -> MethodAccess:
    full_name = f"/{service.full_name}/{method.name}"
    is_ours = service.file.package == PACKAGE
    if is_ours:
        declared = declaration_of(method)
    else:
        level = FOREIGN_LEVELS.get(service.full_name, access_pb2.ACCESS_LEVEL_UNSPECIFIED)
        declared = access_pb2.Access(level=level)
    if declared.level == access_pb2.ACCESS_LEVEL_UNSPECIFIED:
        raise UndeclaredMethod(full_name)
    if is_ours:
        _refuse_contradictions(full_name, declared, method.input_type)
    action_field, actions = _expanded(full_name, declared, method.input_type)
    return MethodAccess(
        full_name=full_name,
        level=declared.level,
        action=declared.action,
        pamspec_operation=declared.pamspec_operation,
        object_id_fields=tuple(declared.object_id_fields),
        object_type_fields=tuple(declared.object_type_fields),
        scope_fields=tuple(declared.scope_fields),
        mutating=declared.mutating,
        decided_by_operation=declared.decided_by_operation,
        request_class=GetMessageClass(method.input_type),
        response_class=GetMessageClass(method.output_type),
        server_streaming=method.server_streaming,
        client_streaming=method.client_streaming,
        action_field=action_field,
        actions=actions,
    )


def declaration_of(method: MethodDescriptor) -> access_pb2.Access:
    """Returns the access option of a method, an empty one where it has none."""
    # The generated stub types an extension as a plain field, which the stub of Extensions does not take.
    extension = cast("Any", access_pb2.access)
    return cast("access_pb2.Access", method.GetOptions().Extensions[extension])


def _expanded(
    full_name: str, declared: access_pb2.Access, request: Descriptor
) -> tuple[str, MappingProxyType[int, str]]:
    """Returns the enum field that completes the action and the action of each of its numbers; checks every action."""
    names = _TEMPLATE.findall(declared.action)
    if not names:
        actions: dict[int, str] = {}
        complete = {declared.action} if declared.action else set()
    else:
        enum_field = request.fields_by_name.get(names[0])
        if len(names) > 1 or enum_field is None or enum_field.enum_type is None:
            raise MisdeclaredMethod(full_name, "its action is completed by something that is no enum field")
        prefix = f"{names[0].upper()}_"
        actions = {
            value.number: declared.action.replace(f"{{{names[0]}}}", value.name.removeprefix(prefix).lower())
            for value in enum_field.enum_type.values
            if value.number != 0
        }
        complete = set(actions.values())
    unknown = complete - ALL_ACTIONS
    if unknown:
        raise MisdeclaredMethod(full_name, f"its action is not in the list of actions: {', '.join(sorted(unknown))}")
    return (names[0] if names else ""), MappingProxyType(actions)


def _refuse_contradictions(full_name: str, declared: access_pb2.Access, request: Descriptor) -> None:
    def refuse_unless(holds: bool, problem: str) -> None:
        if not holds:
            raise MisdeclaredMethod(full_name, problem)

    fields = request.fields_by_name
    is_authorized = declared.level == AUTHORIZED
    refuse_unless(is_authorized == bool(declared.action), "an action and the level AUTHORIZED go together")
    refuse_unless(is_authorized == bool(declared.scope_fields), "a scope and the level AUTHORIZED go together")
    refuse_unless(
        not declared.pamspec_operation or declared.pamspec_operation in PAMSPEC_OPERATIONS,
        "its operation is none of PAMSPEC's",
    )
    refuse_unless(
        bool(declared.pamspec_operation) == ("delegation_id" in fields),
        "a delegation_id and a PAMSPEC operation go together",
    )
    refuse_unless(
        declared.mutating == ("idempotency_key" in fields), "an idempotency_key and a change of state go together"
    )
    for path in (*declared.object_id_fields, *declared.object_type_fields, *declared.scope_fields):
        found = _field_at(request, path)
        is_text = found is not None and found.type == FieldDescriptor.TYPE_STRING
        refuse_unless(is_text, f"{path} is no string field of its request")
    for item in request.fields:
        at_its_number = HEADER_FIELDS.get(item.number)
        refuse_unless(
            _HEADER_NUMBERS.get(item.name, item.number) == item.number
            and (at_its_number is None or item.name in at_its_number),
            f"{item.name} = {item.number} is not the shared header of requests",
        )


def _field_at(message: Descriptor | None, path: str) -> FieldDescriptor | None:
    """Returns the field at a dotted path from a message, None when there is none."""
    found: FieldDescriptor | None = None
    for name in path.split("."):
        if message is None or (found := message.fields_by_name.get(name)) is None:
            return None
        message = found.message_type
    return found
