"""Each list of the service is one list: what the code, the database, the contract and the manifest say is the same."""

from __future__ import annotations

import ast
import inspect
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from authz import permissions
from authz.permissions import ALL_ACTIONS, LIFECYCLE_ACTIONS, OWNER_ACTIONS, PAMSPEC_OPERATIONS, ROLE_OWNER
from authz.reasons import CoarseReason
from remit.v1 import admin_pb2, common_pb2, discovery_pb2, ledger_pb2
from server import domain_errors
from server.domain_errors import COARSE_DENIAL_REASONS, DomainError
from server.errors import ERROR_TABLE
from storage.model.events import EVENT_CLASSES
from storage.model.states import CONDITIONS, OBJECT_TYPES, STATES, Dimension, moves
from tests.cluster import Cluster, Workspace
from tests.contract.wire import OWN, Method

SERVER = Path(inspect.getfile(domain_errors)).parent
# Calls in which an operation asks for an action by name.
ASKING = {"demand_right", "holds", "demand", "evaluate", "check", "missing_over", "demand_visible", "denies", "reach"}
# Actions whose operations are not served yet. What is served leaves this list.
LATER = LIFECYCLE_ACTIONS


def declared_actions() -> set[str]:
    """The actions that methods declare, one for each dimension where a method has them all."""
    found: set[str] = set()
    for method in OWN:
        action = method.access.action
        found |= {action.replace("{dimension}", dimension.value) for dimension in Dimension}
    return found - {""}


def asked_actions() -> set[str]:
    """The actions that the server asks for by name, as a text or by the name of its constant."""
    by_name = {name: value for name, value in vars(permissions).items() if isinstance(value, str)}
    found: set[str] = set()
    for path in SERVER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called not in ASKING:
                continue
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    found.add(argument.value)
                elif isinstance(argument, ast.Name):
                    found.add(by_name.get(argument.id, ""))
    return found & ALL_ACTIONS


def test_every_action_is_used_or_known_to_come() -> None:
    conditional = {condition.action for condition in CONDITIONS.values() if condition.action}
    used = declared_actions() | asked_actions() | conditional
    assert used <= ALL_ACTIONS
    assert ALL_ACTIONS - used == LATER


def test_the_creator_of_a_workspace_holds_every_action_but_those_kept_back(workspace: Workspace) -> None:
    request = admin_pb2.ListPolicyRulesRequest(scope_id=workspace.scope_id, subject=ROLE_OWNER, limit=1000)
    listed = workspace.owner.admin.ListPolicyRules(request)
    allowed = {
        rule.action
        for rule in listed.rules
        if (rule.object_type, rule.object_id, rule.effect) == ("*", "*", admin_pb2.EFFECT_ALLOW)
    }
    assert allowed == OWNER_ACTIONS
    assert ALL_ACTIONS - allowed == LIFECYCLE_ACTIONS | {"transition_override", "release_hold"}


@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_operations_of_methods_are_operations_of_grants(method: Method) -> None:
    operation = method.access.pamspec_operation
    assert operation == "" or operation in PAMSPEC_OPERATIONS
    assert bool(operation) == method.takes("delegation_id")
    assert method.access.mutating == method.takes("idempotency_key")


@pytest.fixture(scope="module")
def manifest(cluster: Cluster) -> discovery_pb2.GetManifestResponse:
    """What the service says of itself."""
    client = cluster.client("actor:anybody")
    response: discovery_pb2.GetManifestResponse = client.discovery.GetManifest(discovery_pb2.GetManifestRequest())
    return response


def checked_states(cluster: Cluster) -> dict[str, list[str]]:
    """The states that the database's CHECK constraints admit, by column."""
    with cluster.superuser() as connection:
        rows = connection.execute(
            "select a.attname, pg_get_constraintdef(c.oid) from pg_constraint c "
            "join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum] "
            "where c.conrelid = 'remit.memory_versions'::regclass and c.contype = 'c' and a.attname like '%\\_state'"
        ).fetchall()
    return {column: re.findall(r"'([a-z_]+)'", definition) for column, definition in rows}


@pytest.mark.parametrize("dimension", Dimension)
def test_states_are_one_list(
    cluster: Cluster, manifest: discovery_pb2.GetManifestResponse, dimension: Dimension
) -> None:
    table = [state.value for state in STATES[dimension]]
    told = {item.dimension: list(item.states) for item in manifest.states}
    enum = getattr(common_pb2, f"{dimension.value.capitalize()}State").DESCRIPTOR
    prefix = f"{dimension.value.upper()}_STATE_"
    wire = [value.name.removeprefix(prefix).lower() for value in enum.values if value.number]
    assert table == told[dimension.value] == wire == checked_states(cluster)[dimension.column]


def test_moves_are_one_table(manifest: discovery_pb2.GetManifestResponse) -> None:
    told = [(move.dimension, move.from_state, move.to_state, move.required_action) for move in manifest.moves]
    table = [
        (dimension.value, from_state.value, to_state.value, (condition.action or "") if condition else "")
        for dimension, from_state, to_state, condition in moves()
    ]
    assert told == table
    assert len(told) == len(set(told)) == 43


def test_the_manifest_lists_what_is_there(manifest: discovery_pb2.GetManifestResponse) -> None:
    assert set(manifest.operations) == PAMSPEC_OPERATIONS
    served = {method.access.pamspec_operation for method in OWN} - {""}
    assert set(manifest.available_operations) == served
    assert tuple(manifest.object_types) == OBJECT_TYPES
    assert manifest.service_version == version("remit")
    assert list(manifest.scopes) == []


def test_event_types_are_one_list() -> None:
    wire = {
        value.name.removeprefix("EVENT_TYPE_").lower()
        for value in ledger_pb2.EventType.DESCRIPTOR.values
        if value.number
    }
    assert wire == set(EVENT_CLASSES)
    assert all(name == item.TYPE for name, item in EVENT_CLASSES.items())


def test_every_error_is_told_in_one_way() -> None:
    classes = {
        item
        for item in vars(domain_errors).values()
        if isinstance(item, type) and issubclass(item, DomainError) and not item.__name__.startswith("_")
    } - {DomainError}
    assert classes == set(ERROR_TABLE)
    reasons = [mapping.reason for mapping in ERROR_TABLE.values()]
    assert len(reasons) == len(set(reasons))
    assert {reason.value for reason in CoarseReason} == COARSE_DENIAL_REASONS


def test_every_method_has_its_operation_and_no_operation_is_without_one() -> None:
    words = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
    expected = set()
    for method in OWN:
        service, verb = method.name.split("/")
        expected.add(f"{service.removesuffix('Service').lower()}/{words.sub('_', verb).lower()}.py")
    folder = SERVER / "operations"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if path.name != "__init__.py"}
    assert files == expected
