"""One call on its way: who, where, on whose authority, and how its changes are handed over.

The interceptor makes it after the early check; the operation decides again once it knows what it touches, and hands over a
command whose guards re-prove the decision under the ledger's lock (authority.md, "The second check").
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from authz.decision import Allowed, Decision, Denied, NeedsType, decide
from authz.permissions import INSPECT_HISTORY, LEDGER_READ, PAMSPEC_OPERATIONS, TRANSITION, TRANSITION_ACTIONS
from authz.principal import Principal
from authz.request import AccessRequest, Touched
from server.access import MethodAccess
from server.authority.grants import Exercise
from server.authority.refusals import Refused, StaleFacts
from server.domain_errors import DuplicateOperation
from server.outcomes import raise_conflict, raise_for
from server.services import Services
from server.snapshots.evaluations import Evaluation, evaluation_of
from server.views import WorkspaceView
from server.wire.inputs import shown_by
from storage.commands import (
    AlsoGuard,
    ChainGuard,
    ColdChange,
    Command,
    ContentRow,
    EventRow,
    IdempotencyGuard,
    ObjectMove,
    Outcome,
    Revisions,
    Status,
    VersionRow,
    WorkspaceOpening,
    event_row,
)
from storage.model.actor import ActorRef
from storage.model.event_record import Event, EventRecord
from storage.model.events import DelegationExercised, ExerciseMode, Mirrored
from storage.model.identifiers import new_id
from storage.objects import Heads
from storage.workspaces import load_heads


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an operation wants committed, beside the guards that every change of its call has.

    `result` is what an idempotency key keeps (None: nothing); `policy_revision` and `removal_revision` are guarded where
    they are given, as is `also`, another workspace's policy. `exercised_*` name what the use of a grant was for.
    """

    events: Sequence[EventRow]
    result: Mapping[str, Any] | None = None
    moves: Sequence[ObjectMove] = ()
    versions: Sequence[VersionRow] = ()
    contents: Sequence[ContentRow] = ()
    colds: Sequence[ColdChange] = ()
    workspace: WorkspaceOpening | None = None
    bump: Sequence[str] = ()
    policy_revision: int | None = None
    removal_revision: int | None = None
    also: AlsoGuard | None = None
    chain: ChainGuard | None = None
    urgent: bool = False
    exercise_mode: ExerciseMode = ExerciseMode.RPC
    exercised_object_id: str | None = None
    exercised_operation: str | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """What an operation is given. `action` is the resolved action, `replay` what the idempotency key already answered.

    `later_requests` are the requests after the first one of a client's stream. They can be read once, whatever else is
    tried again.
    """

    services: Services
    access: MethodAccess
    principal: Principal
    request: Any
    operation_id: str
    correlation_id: str | None
    purpose: str | None
    scope_id: str
    action: str
    view: WorkspaceView
    exercise: Exercise | None = None
    idempotency_key: str | None = None
    request_mac: bytes = b""
    replay: Mapping[str, Any] | None = None
    replay_matches: bool = True
    exercise_event_ids: list[str] = field(default_factory=list)
    later_requests: AsyncIterator[Any] | None = None
    evaluation: Evaluation | None = None

    @property
    def tenant_id(self) -> str:
        """The caller's tenant, from its credential."""
        return self.principal.tenant_id

    @property
    def actor_id(self) -> str:
        """The caller."""
        return self.principal.actor_id

    def actor_ref(self) -> ActorRef:
        """The caller as versions and events name it."""
        display_name, attestation = None, None
        if self.request.HasField("actor"):
            display_name, attestation = shown_by(self.request.actor)
        on_behalf_of = self.principal.on_behalf_of
        delegation_id = None
        # Who has a grant checked for another (CheckDelegation) does not act under it.
        if self.exercise is not None and self.exercise.leaf.delegate_id == self.actor_id:
            on_behalf_of, delegation_id = self.exercise.root_actor_id, self.exercise.leaf.delegation_id
        return ActorRef(
            self.actor_id, self.principal.actor_kind, display_name, on_behalf_of, delegation_id, attestation
        )

    # Deciding

    def evaluate(
        self, action: str, touched: Sequence[Touched], *, row_filtered: bool = False, ignore_uses: bool = False
    ) -> Decision:
        """Returns the evaluator's answer for an action of this call on these objects."""
        request = AccessRequest(
            tenant_id=self.tenant_id,
            scope_id=self.scope_id,
            actor_id=self.actor_id,
            action=action,
            operation=operation_of(action),
            touched=tuple(touched),
            row_filtered=row_filtered,
        )
        exercise = self.exercise
        return decide(
            request,
            self.view.enforcer,
            None if exercise is None else exercise.grants,
            0 if exercise is None else exercise.now_us,
            ignore_uses=ignore_uses or self.replay is not None,
        )

    def demand(
        self, touched: Sequence[Touched], *, action: str | None = None, row_filtered: bool = False
    ) -> Allowed | NeedsType:
        """Returns the decision when it is not a denial; raises Refused."""
        decision = self.evaluate(action or self.action, touched, row_filtered=row_filtered)
        if isinstance(decision, Denied):
            raise Refused(decision, touched[0].object_id if touched else None)
        return decision

    async def demand_right(self, action: str, object_type: str, object_id: str, refusal: Exception) -> None:
        """Raises `refusal` unless the caller holds a conditional right by rule; StaleFacts when it may just have got it."""
        if not self.holds(action, object_type, object_id):
            [heads] = await load_heads(self.services.database, self.tenant_id, [self.scope_id])
            if heads is None or heads.policy_revision != self.view.enforcer.policy_revision:
                raise StaleFacts
            raise refusal

    def holds(self, action: str, object_type: str = "*", object_id: str = "*") -> bool:
        """Returns whether the caller holds an action by rule, which a grant never conveys."""
        return bool(self.view.enforcer.check(self.actor_id, action, object_type, object_id).allowed)

    def standing_actor_ids(self) -> list[str]:
        """The caller, and everybody whose authority it uses: a delegate sees no more than any of them."""
        if self.exercise is None:
            return [self.actor_id]
        return [self.actor_id, self.exercise.root_actor_id, *(grant.delegate_id for grant in self.exercise.grants)]

    def confirm(self, heads: Heads | None) -> None:
        """Raises StaleFacts unless what was read stands at the revision the decision stands at."""
        if heads is None or heads.restrict_revision != self.view.enforcer.restrict_revision:
            raise StaleFacts

    # Handing over

    async def version_time_us(self) -> int:
        """Returns the commit time of the versions that this call is making, in microseconds; call it before `event`.

        Under an evaluation it is what the snapshot's clock says. Raises as `evaluation_of`.
        """
        snapshot_id = getattr(self.request, "evaluation_snapshot_id", "")
        if snapshot_id and self.evaluation is None:
            self.evaluation = await evaluation_of(self.services, self.tenant_id, self.view.workspace, snapshot_id)
        time_us = None if self.evaluation is None else self.evaluation.time_us()
        return await self.services.clock.now_us() if time_us is None else time_us

    @property
    def evaluation_run_id(self) -> str | None:
        """The run that the call's versions and events are marked with."""
        return None if self.evaluation is None else self.evaluation.snapshot.evaluation_run_id

    def event(
        self,
        event: Event,
        *,
        object_id: str | None = None,
        version_id: str | None = None,
        delegation_id: str | None = None,
        scope_id: str | None = None,
        event_id: str | None = None,
        relationship_id: str | None = None,
    ) -> EventRow:
        """Returns an event of this call, ready to append."""
        record = EventRecord(
            scope_id=scope_id or self.scope_id,
            event_id=event_id or new_id(),
            operation_id=self.operation_id,
            actor=self.actor_ref(),
            event=event,
            object_id=object_id,
            version_id=version_id,
            delegation_id=delegation_id,
            correlation_id=self.correlation_id,
            purpose=self.purpose,
            relationship_id=relationship_id,
            evaluation_run_id=self.evaluation_run_id,
        )
        return event_row(self.tenant_id, record)

    def exercised(
        self, mode: ExerciseMode = ExerciseMode.RPC, object_id: str | None = None, operation: str | None = None
    ) -> list[EventRow]:
        """Returns the events of exercising the call's grant: one here, one mirrored in its home.

        `operation` is what a check exercises; else it is the call's own.
        """
        exercise = self.exercise
        if exercise is None:
            return []
        here = DelegationExercised(
            chain=tuple(grant.delegation_id for grant in exercise.grants),
            operation=operation or self.access.pamspec_operation or self.action,
            mode=mode,
            delegation_sequence=exercise.leaf.sequence,
            policy_revision=self.view.enforcer.policy_revision,
        )
        named = {"object_id": object_id, "delegation_id": exercise.leaf.delegation_id}
        events = [self.event(here, **named)]
        if exercise.home_scope_id != self.scope_id:
            mirrored = replace(here, mirror_of=Mirrored(self.scope_id, events[0].event_id))
            events.append(self.event(mirrored, scope_id=exercise.home_scope_id, **named))
        return events

    async def commit(self, change: Change) -> Outcome:
        """Commits a change of this call with the guards its decision stands on; an exercised grant gives a use.

        Returns the outcome when it is ACCEPTED, UNCHANGED or REPLAYED (or one only the operation can tell: SCOPE_EXISTS,
        LAST_OWNER, and for a new object EXISTS or DELETED). Raises StaleFacts, Refused, VersionConflict, ObjectDeleted,
        ObjectNotFound, DuplicateOperation.
        """
        exercise, chain = self.exercise, change.chain
        object_id = change.exercised_object_id or _object_of(change.events)
        exercised = self.exercised(change.exercise_mode, object_id, change.exercised_operation)
        exercised_here = [event.event_id for event in exercised if event.scope_id == self.scope_id]
        if exercise is not None:
            guarded = tuple((grant.delegation_id, grant.sequence) for grant in exercise.grants)
            chain = ChainGuard(exercise.home_scope_id, guarded, take_use=True)
        restrict_revision = self.view.enforcer.restrict_revision
        command = Command(
            tenant_id=self.tenant_id,
            scope_id=self.scope_id,
            actor_id=self.actor_id,
            events=[*change.events, *exercised],
            revisions=Revisions(change.policy_revision, restrict_revision, change.removal_revision),
            also=change.also,
            chain=chain,
            idempotency=self._key_guard(change.result, exercised_here),
            objects=change.moves,
            versions=change.versions,
            contents=change.contents,
            colds=change.colds if self.evaluation is None else [*change.colds, self.evaluation.tick()],
            workspace=change.workspace,
            bump=change.bump,
            urgent=change.urgent,
        )
        outcome = await self.services.coalescer.submit(command)
        self.services.clock.observe(outcome.now_us)
        move = _judged(change.moves, outcome)
        if outcome.status is Status.CONFLICT and move is not None:
            raise_conflict(outcome, move, self.may_read(move.object_id, move.object_type))
        raise_for(outcome, move)
        if outcome.status is Status.ACCEPTED:
            self.exercise_event_ids = exercised_here
        return outcome

    def _key_guard(self, result: Mapping[str, Any] | None, exercised_here: Sequence[str]) -> IdempotencyGuard | None:
        if self.idempotency_key is None or result is None:
            return None
        kept = {"operation_id": self.operation_id, **result}
        if "event_ids" in kept:
            kept["event_ids"] = [*kept["event_ids"], *exercised_here]
        return IdempotencyGuard(self.actor_id, self.idempotency_key, self.request_mac, kept)

    def may_read(self, object_id: str, object_type: str) -> bool:
        """Returns whether the caller may know of the object's versions: it may read it by the authority of this call."""
        decision = self.evaluate("read", [Touched(object_id, object_type)], ignore_uses=True)
        return isinstance(decision, Allowed)

    async def exercise_read(self, heads: Heads, object_id: str | None = None, audited: Sequence[EventRow] = ()) -> None:
        """For a read by grant: takes the use and records it before anything is returned; nothing for own authority.

        `audited` are events of the read itself, recorded whatever the authority. Guarded by the removal revision of the
        statement that read: what was erased in between is not returned.
        """
        if self.exercise is not None or audited:
            await self.commit(
                Change(events=audited, removal_revision=heads.removal_revision, exercised_object_id=object_id)
            )

    def replayed(self) -> Mapping[str, Any] | None:
        """Returns what the idempotency key answered before, None when it is free; raises DuplicateOperation."""
        if self.replay is not None and not self.replay_matches:
            raise DuplicateOperation
        return self.replay

    def page_size(self, limit_field: str = "limit") -> int:
        """Returns the page size asked for, or the default."""
        request = self.request
        return (
            int(getattr(request, limit_field))
            if request.HasField(limit_field)
            else (self.services.settings.page_size_default)
        )


def operation_of(action: str) -> str | None:
    """Returns the operation under whose name a grant conveys the action, None when none does."""
    if action == LEDGER_READ:
        return INSPECT_HISTORY
    operation = TRANSITION if action in TRANSITION_ACTIONS.values() else action
    return operation if operation in PAMSPEC_OPERATIONS else None


def _judged(moves: Sequence[ObjectMove], outcome: Outcome) -> ObjectMove | None:
    """Returns the move that the outcome is about: the one it names, else the first."""
    named = outcome.detail.get("object_id")
    return next((move for move in moves if named is None or move.object_id == named), None)


def _object_of(events: Sequence[EventRow]) -> str | None:
    return next((event.object_id for event in events if event.object_id), None)
