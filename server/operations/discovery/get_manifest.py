"""GetManifest (P-9.1-07, P-11-09, P-13-06, P-18-01)."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from typing import Final

from remit.v1 import discovery_pb2
from server.access import declared_access
from server.caller import Caller
from server.querying.asked import TIE_BREAK
from storage.model.memory import SPEC_VERSION
from storage.model.states import OBJECT_TYPES, STATES, moves
from storage.workspaces import load_heads, visible_scopes

BINDING: Final = "grpc"
BINDING_VERSION: Final = "remit.v1"
AUTHORIZATION_MODEL: Final = "casbin-rules-and-delegation-objects"
SCOPES_MAX: Final = 1000

# In the order of the draft's section 18. A test derives this list from what tests show: nothing is claimed beyond it, and
# nothing less.
PROFILES: Final[tuple[tuple[str, str], ...]] = tuple(
    (name, "0.1-draft")
    for name in (
        "Lite",
        "Delegation",
        "Subscribe",
        "Core",
        "Versioning",
        "Ledger",
        "Structured-Query",
        "Semantic-Query",
        "Relationship",
        "Protocol-Binding",
        "Evaluation",
    )
)

# The draft's order.
OPERATIONS: Final = (
    "create",
    "read",
    "update",
    "transition",
    "relate",
    "query",
    "inspect_history",
    "redact",
    "delete",
    "promote",
    "subscribe",
    "unsubscribe",
)


async def handle(caller: Caller, _request: discovery_pb2.GetManifestRequest) -> discovery_pb2.GetManifestResponse:
    """Returns what the service is, and the workspaces in which the caller is somebody."""
    response = discovery_pb2.GetManifestResponse()
    response.CopyFrom(_constant_part())
    response.scopes.extend(await _scopes(caller))
    response.operation_id = caller.operation_id
    return response


@lru_cache(maxsize=1)
def _constant_part() -> discovery_pb2.GetManifestResponse:
    available = {access.pamspec_operation for access in declared_access().values()}
    return discovery_pb2.GetManifestResponse(
        spec_version=SPEC_VERSION,
        binding=BINDING,
        binding_version=BINDING_VERSION,
        service_version=version("remit"),
        profiles=[discovery_pb2.Profile(name=name, version=number) for name, number in PROFILES],
        operations=OPERATIONS,
        available_operations=[operation for operation in OPERATIONS if operation in available],
        states=[
            discovery_pb2.DimensionStates(dimension=dimension.value, states=[state.value for state in states])
            for dimension, states in STATES.items()
        ],
        moves=[
            discovery_pb2.StateMove(
                dimension=dimension.value,
                from_state=from_state.value,
                to_state=to_state.value,
                required_action="" if condition is None else condition.action or "",
            )
            for dimension, from_state, to_state, condition in moves()
        ],
        tie_break=TIE_BREAK,
        authorization_model=AUTHORIZATION_MODEL,
        object_types=OBJECT_TYPES,
    )


async def _scopes(caller: Caller) -> list[discovery_pb2.VisibleScope]:
    services, tenant_id, actor_id = caller.services, caller.principal.tenant_id, caller.principal.actor_id
    scope_ids = await visible_scopes(services.database, tenant_id, actor_id, SCOPES_MAX)
    found = []
    for scope_id, heads in zip(scope_ids, await load_heads(services.database, tenant_id, scope_ids), strict=True):
        view = await services.views.get(tenant_id, scope_id)
        if view is None or heads is None:
            continue
        if view.enforcer.policy_revision < heads.policy_revision:
            view = await services.views.fresh(tenant_id, scope_id) or view
        actions = sorted(view.enforcer.actions_of(actor_id))
        found.append(discovery_pb2.VisibleScope(scope_id=scope_id, actions=actions))
    return found
