"""The early check, and the frame around the second one (authority.md).

Resolves the workspace inside the caller's tenant, refuses strangers and forged actors, decides what can be decided before
anything is loaded, runs the operation, and writes every denial to the ledger before it answers. When the policy moved
under a decision, all of it is done again on a fresh view: three times, then the call is unavailable.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from google.protobuf.message import Message

from authz.decision import Denied
from authz.permissions import CREATE
from server.access import AUTHORIZED, MethodAccess
from server.authority import denials
from server.authority.grants import exercise_of
from server.authority.refusals import Refused, StaleFacts
from server.call import Call
from server.caller import Caller
from server.domain_errors import (
    AccessDenied,
    DomainError,
    DuplicateOperation,
    LegalHold,
    PolicyDenied,
    ScopeNotFound,
    ServiceUnavailable,
    VersionConflict,
)
from server.interceptors.frame import Answer, Frame, Handler, closing
from server.interceptors.touched import first_value, is_row_filtered, touched_of
from server.metrics import DENIALS
from server.remembered import REMEMBERED_ERRORS, RememberedFailure, remembered_result
from server.rpc import Operation
from server.services import Services
from server.snapshots.evaluations import (
    EVALUATION_ATTEMPTS_MAX,
    demand_evaluation_workspace,
    mark_run,
    names_evaluation,
    turn_of,
)
from server.views import WorkspaceView
from server.wire.inputs import check_actor_block
from storage.commands import Command, IdempotencyGuard, Revisions, Status, event_row
from storage.encryption import IntegrityViolation
from storage.model.actor import ActorRef
from storage.model.event_record import Event, EventRecord
from storage.model.events import AccessDenied as AccessDeniedEvent
from storage.model.events import IntegrityViolated
from storage.model.identifiers import new_id, root_scope_id
from storage.workspaces import is_party_to_a_grant, load_heads

_ATTEMPTS_MAX = 3
_HELD = "LEGAL_HOLD"
# Their own statement, or the commit that recorded them, has proved that the decision stands.
_CONFIRMED_ERRORS = (AccessDenied, ScopeNotFound, ServiceUnavailable, VersionConflict)


def authorize(services: Services, operation: Operation) -> Handler:
    """Innermost: makes the call and runs the operation under it."""

    async def handle(frame: Frame) -> Answer:
        assert frame.principal is not None
        if frame.access.level != AUTHORIZED:
            return await operation(Caller(services, frame.principal, frame.operation_id), frame.request)
        fresh = False
        for _ in range(EVALUATION_ATTEMPTS_MAX if names_evaluation(frame.request) else _ATTEMPTS_MAX):
            try:
                return await _attempt(services, operation, frame, fresh)
            except StaleFacts:
                fresh = True
        raise ServiceUnavailable(retry_after_ms=100)

    return handle


async def _attempt(services: Services, operation: Operation, frame: Frame, fresh: bool) -> Answer:
    principal, request = frame.principal, frame.request
    assert principal is not None
    look_up = services.views.fresh if fresh else services.views.get
    view = await look_up(principal.tenant_id, request.scope_id)
    if view is None:
        await _record_absent_scope(services, frame)
        raise ScopeNotFound
    call = _call(services, frame, view)
    try:
        await _early_check(call)
        async with turn_of(call):
            response = await operation(call, request)
    except Refused as refusal:
        await record_denial(call, refusal.denied, refusal.object_id)
        raise AccessDenied(refusal.denied.coarse.value, refusal.denied.rule_id) from None
    except IntegrityViolation as violation:
        await _record(call, IntegrityViolated(place=violation.place, kind=violation.kind), None)
        raise
    except RememberedFailure as failure:
        [heads] = await load_heads(services.database, call.tenant_id, [call.scope_id])
        call.confirm(heads)
        frame.operation_id = failure.operation_id
        raise failure.error from None
    except _CONFIRMED_ERRORS:
        raise
    except DomainError as error:
        # What else is wrong with a call is told to whoever may make it now, not to whom an old view allows it.
        [heads] = await load_heads(services.database, call.tenant_id, [call.scope_id])
        call.confirm(heads)
        earlier = await _note_failure(call, error)
        if earlier is None:
            raise
        frame.operation_id = earlier.operation_id
        raise earlier.error from None
    return response if isinstance(response, Message) else _authorized_items(call, response)


async def _authorized_items(call: Call, responses: AsyncIterator[Message]) -> AsyncIterator[Message]:
    """Passes a stream on; a denial that its operation meets on the way is recorded like any other.

    What was sent can't be decided again: where the policy moved under a decision of the stream, it ends as unavailable.
    """
    try:
        async with closing(responses):
            async for response in responses:
                yield response
    except Refused as refusal:
        try:
            await record_denial(call, refusal.denied, refusal.object_id)
        except StaleFacts:
            raise ServiceUnavailable(retry_after_ms=100) from None
        raise AccessDenied(refusal.denied.coarse.value, refusal.denied.rule_id) from None
    except StaleFacts:
        raise ServiceUnavailable(retry_after_ms=100) from None
    except IntegrityViolation as violation:
        await _record(call, IntegrityViolated(place=violation.place, kind=violation.kind), None)
        raise


async def _note_failure(call: Call, error: DomainError) -> RememberedFailure | None:
    if isinstance(error, LegalHold):
        # Who tried to dispose of what is held is told, and the ledger keeps it (field report A21).
        refused = AccessDeniedEvent(operation=_operation_name(call), denial_reason=_HELD, exact_reason=_HELD)
        delegation_id = None if call.exercise is None else call.exercise.leaf.delegation_id
        await _record(call, refused, delegation_id, error.object_id)
    elif isinstance(error, REMEMBERED_ERRORS):
        return await _remember(call, error)
    return None


def _call(services: Services, frame: Frame, view: WorkspaceView) -> Call:
    access, request = frame.access, frame.request
    assert frame.principal is not None
    return Call(
        services=services,
        access=access,
        principal=frame.principal,
        request=request,
        operation_id=frame.operation_id,
        correlation_id=frame.correlation_id or None,
        purpose=request.purpose or None,
        scope_id=request.scope_id,
        action=access.action_of(request),
        view=view,
        later_requests=frame.later_requests,
    )


async def _look_up_key(call: Call) -> None:
    key = _idempotency_key(call.access, call.request)
    if key is None:
        return
    call.idempotency_key = key
    call.request_mac = _request_mac(call.services, call.access, call.request)
    if call.access.pamspec_operation == CREATE and call.exercise is None:
        return  # nothing is decided by it before the commit, which judges the key before the object
    stored = await call.services.idempotency_keys.get(call.tenant_id, (call.scope_id, call.actor_id, key))
    if stored is not None:
        call.replay = stored.result
        call.replay_matches = stored.request_mac == call.request_mac


async def _early_check(call: Call) -> None:
    request, access = call.request, call.access
    delegation_id = getattr(request, "delegation_id", "")
    chain = await call.services.chains.get(call.tenant_id, (call.scope_id, delegation_id)) if delegation_id else None
    if chain is not None:
        call.exercise = exercise_of(call.services.keys, call.tenant_id, chain)
    # After the grant: uses that the same request took meanwhile are then seen together with its key.
    await _look_up_key(call)
    if not await _is_member(call):
        await record_denial(call, denials.NOT_A_MEMBER, None)
        raise ScopeNotFound
    _check_actor_block(call)
    if delegation_id and chain is None:
        raise Refused(denials.unknown_grant(), first_value(request, access.object_id_fields))
    if not access.decided_by_operation:
        call.demand(touched_of(access, request), row_filtered=is_row_filtered(access, request))
    if call.view.workspace.policy.require_purpose and not request.purpose:
        raise PolicyDenied("the workspace demands a purpose", field="purpose")
    if names_evaluation(request):
        demand_evaluation_workspace(call.view.workspace)
    replayed = call.replayed() if call.replay is not None else None
    if replayed is not None and "error" in replayed:
        raise RememberedFailure.of(replayed)


async def _is_member(call: Call) -> bool:
    if call.actor_id in call.view.enforcer.members:
        return True
    if call.exercise is not None and call.exercise.leaf.delegate_id == call.actor_id:
        return True
    if await _has_the_subscription(call):
        return True
    return await is_party_to_a_grant(call.services.database, call.tenant_id, call.scope_id, call.actor_id)


async def _has_the_subscription(call: Call) -> bool:
    """Returns whether the call is about a subscription of the caller's own: who had one is told how it ended (Q36)."""
    subscription_id = getattr(call.request, "subscription_id", "")
    if not subscription_id:
        return False
    _, found = await call.services.subscriptions.get(call.tenant_id, (call.scope_id, subscription_id))
    return found is not None and found.actor.actor_id == call.actor_id


def _check_actor_block(call: Call) -> None:
    if not call.request.HasField("actor"):
        return
    block = call.request.actor
    if block.actor_id != call.actor_id:
        raise Refused(denials.ACTOR_MISMATCH, None)
    check_actor_block(block, "actor")


def _idempotency_key(access: MethodAccess, request: Any) -> str | None:
    if not access.mutating:
        return None
    if request.idempotency_key:
        return str(request.idempotency_key)
    # Create takes an operation id for a key (P-10.1-01, Q43).
    return str(request.operation_id) if access.pamspec_operation == "create" and request.operation_id else None


def _request_mac(services: Services, access: MethodAccess, request: Any) -> bytes:
    bare = type(request)()
    bare.CopyFrom(request)
    for name in ("operation_id", "correlation_id", "idempotency_key"):
        bare.ClearField(name)
    return services.keys.request_digest(access.full_name, bare.SerializeToString(deterministic=True))


async def record_denial(call: Call, denied: Denied, object_id: str | None) -> None:
    """Writes the denial to the addressed workspace, durable before the answer leaves.

    Raises StaleFacts when the policy has moved since (a right just given is never refused from an old enforcer), and
    ServiceUnavailable when it can't be recorded.
    """
    digest = None
    if object_id is not None and denied.hides_object:
        digest, object_id = call.services.keys.lookup("denied_target", object_id, tenant_id=call.tenant_id).hex(), None
    event = AccessDeniedEvent(
        operation=_operation_name(call),
        denial_reason=denied.coarse.value,
        exact_reason=denied.exact.value,
        policy_rule_id=denied.exact_rule_id or denied.rule_id,
        target_digest=digest,
    )
    DENIALS.labels(denied.coarse.value).inc()
    policy_revision = call.view.enforcer.policy_revision
    of_run = denied is not denials.NOT_A_MEMBER  # a stranger is part of no run, whatever its call names
    await _record(call, event, denied.delegation_id, object_id, policy_revision, of_run=of_run)


def _operation_name(call: Call) -> str:
    return call.access.pamspec_operation or call.action


async def _record(
    call: Call,
    event: Event,
    delegation_id: str | None,
    object_id: str | None = None,
    policy_revision: int | None = None,
    of_run: bool = True,
) -> None:
    if of_run:
        await mark_run(call)
    row = call.event(event, object_id=object_id, delegation_id=delegation_id)
    command = Command(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        actor_id=call.actor_id,
        events=[row],
        revisions=Revisions(policy=policy_revision),
    )
    outcome = await call.services.coalescer.submit(command)
    if outcome.status is Status.STALE:
        raise StaleFacts


async def _record_absent_scope(services: Services, frame: Frame) -> None:
    principal, request = frame.principal, frame.request
    assert principal is not None
    root = root_scope_id(principal.tenant_id)
    record = EventRecord(
        scope_id=root,
        event_id=new_id(),
        operation_id=frame.operation_id,
        actor=ActorRef(principal.actor_id, principal.actor_kind, on_behalf_of_actor_id=principal.on_behalf_of),
        event=AccessDeniedEvent(
            operation=frame.access.pamspec_operation or frame.access.action,
            denial_reason="NO_RULE",
            exact_reason="SCOPE_ABSENT",
            scope_digest=services.keys.lookup("absent_scope", request.scope_id, tenant_id=principal.tenant_id).hex(),
        ),
        correlation_id=frame.correlation_id or None,
        purpose=request.purpose or None,
    )
    row = event_row(principal.tenant_id, record)
    command = Command(tenant_id=principal.tenant_id, scope_id=root, actor_id=principal.actor_id, events=[row])
    outcome = await services.coalescer.submit(command)
    if outcome.status is not Status.ACCEPTED:
        raise ServiceUnavailable


async def _remember(call: Call, error: DomainError) -> RememberedFailure | None:
    """Lets the call's key keep a failure; returns the one it keeps already, of an equal request before."""
    if call.idempotency_key is None or call.replay is not None:
        return None
    facts: dict[str, Any] = (
        {item.name: getattr(error, item.name) for item in fields(error)} if is_dataclass(error) else {}
    )
    result: Mapping[str, Any] = remembered_result(call.operation_id, type(error).__name__, facts)
    command = Command(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        actor_id=call.actor_id,
        events=[],
        idempotency=IdempotencyGuard(call.actor_id, call.idempotency_key, call.request_mac, result),
    )
    outcome = await call.services.coalescer.submit(command)
    if outcome.status is Status.DUPLICATE:
        raise DuplicateOperation
    if outcome.status is Status.REPLAYED and "error" in outcome.detail:
        return RememberedFailure.of(outcome.detail)
    return None
