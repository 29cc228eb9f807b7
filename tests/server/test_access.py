"""The contract's access declarations: complete, consistent, and refused at start when they are not."""

from collections.abc import Callable

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import Default, DescriptorPool
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from authz.permissions import ALL_ACTIONS, TRANSITION_ACTIONS
from remit.v1 import access_pb2, common_pb2, memory_pb2
from server import access
from server.access import AUTHENTICATED, AUTHORIZED, PUBLIC, MisdeclaredMethod, UndeclaredMethod, declared_access

DECLARED = declared_access()


def test_every_method_of_every_service_is_declared() -> None:
    services = {
        "MemoryService": 11,
        "DelegationService": 8,
        "LedgerService": 9,
        "SnapshotService": 3,
        "PortabilityService": 2,
        "DerivedService": 6,
        "AdminService": 8,
        "DiscoveryService": 1,
    }
    counted = dict.fromkeys(services, 0)
    for path in DECLARED:
        counted[path.split("/")[1].removeprefix("remit.v1.")] += 1
    assert counted == services


def test_every_method_but_the_manifest_is_authorized() -> None:
    levels = {path: item.level for path, item in DECLARED.items() if item.level != AUTHORIZED}
    assert levels == {"/remit.v1.DiscoveryService/GetManifest": AUTHENTICATED}


def test_what_create_declares() -> None:
    create = DECLARED["/remit.v1.MemoryService/Create"]
    assert (create.action, create.pamspec_operation, create.mutating) == ("create", "create", True)
    assert create.object_id_fields == ("object_id",)
    assert create.object_type_fields == ("object_type",)
    assert create.scope_fields == ("scope_id",)
    assert create.request_class is memory_pb2.CreateRequest
    assert create.response_class is memory_pb2.CreateResponse
    assert create.action_of(memory_pb2.CreateRequest()) == "create"
    assert not create.server_streaming
    assert not create.client_streaming


def test_transition_takes_its_action_from_the_dimension() -> None:
    transition = DECLARED["/remit.v1.MemoryService/Transition"]
    for dimension, action in TRANSITION_ACTIONS.items():
        number = memory_pb2.Dimension.Value(f"DIMENSION_{dimension.upper()}")
        assert transition.action_of(memory_pb2.TransitionRequest(dimension=number)) == action
    with pytest.raises(KeyError):
        transition.action_of(memory_pb2.TransitionRequest())


def test_every_action_is_in_the_list_of_actions() -> None:
    for item in DECLARED.values():
        assert set(item.actions.values()) | ({item.action} if not item.actions else set()) <= ALL_ACTIONS | {""}


def test_foreign_services_have_their_levels() -> None:
    [health, *_] = access.service_access(health_pb2.DESCRIPTOR.services_by_name["Health"])
    assert (health.full_name, health.level) == ("/grpc.health.v1.Health/Check", PUBLIC)
    [reflection] = access.service_access(reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"])
    assert reflection.level == AUTHENTICATED
    assert reflection.client_streaming
    assert reflection.server_streaming


Edit = Callable[[descriptor_pb2.FileDescriptorProto], None]


def declared_with(edit: Edit, package: str = "remit.v1") -> tuple[access.MethodAccess, ...]:
    """Reads the access of one made-up service, changed by `edit`."""
    pool = DescriptorPool()
    for name in (
        "google/protobuf/descriptor.proto",
        "google/protobuf/timestamp.proto",
        "remit/v1/access.proto",
        "remit/v1/common.proto",
    ):
        file = descriptor_pb2.FileDescriptorProto()
        Default().FindFileByName(name).CopyToProto(file)
        pool.Add(file)
    made = descriptor_pb2.FileDescriptorProto(name="made.proto", package=package, syntax="proto3")
    made.dependency.extend(["remit/v1/access.proto", "remit/v1/common.proto"])
    request = made.message_type.add(name="ProbeRequest")
    made.message_type.add(name="ProbeResponse")
    text = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
    for number, name in ((1, "scope_id"), (2, "operation_id"), (3, "idempotency_key"), (4, "delegation_id")):
        request.field.add(name=name, number=number, type=text, label=1)
    request.field.add(
        name="provenance",
        number=10,
        type=descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE,
        type_name=f".{common_pb2.ProvenanceInput.DESCRIPTOR.full_name}",
        label=1,
    )
    method = made.service.add(name="ProbeService").method.add(
        name="Probe", input_type=f".{package}.ProbeRequest", output_type=f".{package}.ProbeResponse"
    )
    method.options.Extensions[access_pb2.access].CopyFrom(
        access_pb2.Access(
            level=AUTHORIZED,
            action="create",
            pamspec_operation="create",
            scope_fields=["scope_id"],
            object_id_fields=["provenance.actor.actor_id"],
            mutating=True,
        )
    )
    edit(made)
    # Options come back as unknown bytes in a pool of its own, and are read through the extension all the same.
    pool.Add(made)
    return access.service_access(pool.FindServiceByName(f"{package}.ProbeService"))


def option(made: descriptor_pb2.FileDescriptorProto) -> access_pb2.Access:
    return made.service[0].method[0].options.Extensions[access_pb2.access]


def test_a_sound_declaration_is_taken() -> None:
    [probe] = declared_with(lambda made: None)
    assert probe.full_name == "/remit.v1.ProbeService/Probe"
    assert probe.object_id_fields == ("provenance.actor.actor_id",)


def test_a_method_without_an_option_is_refused() -> None:
    with pytest.raises(UndeclaredMethod, match="ProbeService/Probe"):
        declared_with(lambda made: made.service[0].method[0].ClearField("options"))


def test_a_foreign_service_that_is_not_listed_is_refused_whatever_it_declares() -> None:
    with pytest.raises(UndeclaredMethod):
        declared_with(lambda made: None, package="somebody.v1")


def _unspecified(made: descriptor_pb2.FileDescriptorProto) -> None:
    option(made).Clear()
    del made.message_type[0].field[2:4]


def test_an_unspecified_level_is_refused() -> None:
    with pytest.raises(UndeclaredMethod):
        declared_with(_unspecified)


def _set(name: str, value: object) -> Edit:
    def edit(made: descriptor_pb2.FileDescriptorProto) -> None:
        declared = option(made)
        if isinstance(value, list):
            declared.ClearField(name)
            getattr(declared, name).extend(value)
        else:
            setattr(declared, name, value)

    return edit


def _rename(index: int, name: str) -> Edit:
    def edit(made: descriptor_pb2.FileDescriptorProto) -> None:
        made.message_type[0].field[index].name = name

    return edit


def _drop(index: int) -> Edit:
    def edit(made: descriptor_pb2.FileDescriptorProto) -> None:
        del made.message_type[0].field[index]

    return edit


def _renumber(index: int, number: int) -> Edit:
    def edit(made: descriptor_pb2.FileDescriptorProto) -> None:
        made.message_type[0].field[index].number = number

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(_set("action", "creat"), id="unknown action"),
        pytest.param(_set("action", ""), id="no action"),
        pytest.param(_set("action", "transition.{dimension}"), id="template without its field"),
        pytest.param(_set("action", "transition.{scope_id}"), id="template of no enum"),
        pytest.param(_set("pamspec_operation", "obliterate"), id="unknown operation"),
        pytest.param(_set("pamspec_operation", ""), id="delegation_id without operation"),
        pytest.param(_drop(3), id="operation without delegation_id"),
        pytest.param(_set("mutating", False), id="idempotency_key without change"),
        pytest.param(_drop(2), id="change without idempotency_key"),
        pytest.param(_set("scope_fields", []), id="no scope"),
        pytest.param(_set("scope_fields", ["scope"]), id="absent scope field"),
        pytest.param(_set("object_id_fields", ["provenance.object_id"]), id="absent nested field"),
        pytest.param(_set("object_id_fields", ["scope_id.x"]), id="path through a string"),
        pytest.param(_set("object_type_fields", ["provenance"]), id="field of another type"),
        pytest.param(_set("level", AUTHENTICATED), id="action below AUTHORIZED"),
        pytest.param(_renumber(1, 20), id="header field at another number"),
        pytest.param(_rename(1, "op"), id="other field at a header's number"),
    ],
)
def test_contradictions_are_refused(edit: Edit) -> None:
    with pytest.raises(MisdeclaredMethod, match="ProbeService/Probe"):
        declared_with(edit)
