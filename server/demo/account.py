"""The account: who did what, on whose authority, with what outcome, and whether that was the outcome to expect."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from server.demo.cast import Answer, Player

OWN_RULE: Final = "own rule"
NO_RULE: Final = "no rule, no grant"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended.

    `code` is `done` or the refusal's code, `denial_reason` the coarse reason of an access_denied.
    """

    code: str
    denial_reason: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.denial_reason}".strip()


DONE: Final = Outcome("done")
NO_SUCH_SCOPE: Final = Outcome("scope_not_found")
POLICY_DENIED: Final = Outcome("policy_denied")
UNAUTHENTICATED: Final = Outcome("unauthenticated")


def denied(reason: str) -> Outcome:
    """Returns the outcome of a call that is refused for this coarse reason."""
    return Outcome("access_denied", reason)


def outcome_of(answer: Answer) -> Outcome:
    """Returns how a call ended."""
    if answer.ok:
        return DONE
    return Outcome((answer.reason or answer.code).lower(), answer.metadata.get("denial_reason", ""))


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant of the play and the short name the account gives it."""

    name: str
    delegation_id: str
    from_called: str
    to_called: str
    parent: Grant | None = None

    def __str__(self) -> str:
        return f"{self.name} ({self.from_called} → {self.to_called})"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the account: `times` calls that had one outcome.

    `scope_id` is the workspace whose ledger holds their events, found by `operation_ids`; `repeats` of the calls were
    answered with an earlier call's answer and have no events.
    """

    who: str
    what: str
    authority: str
    outcome: Outcome
    expected: Outcome
    times: int
    repeats: int
    scope_id: str
    operation_ids: tuple[str, ...]
    delegation_id: str | None
    method: str
    message: str

    @property
    def as_expected(self) -> bool:
        """Whether the outcome is the one to expect."""
        return self.outcome == self.expected


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must hold beside the outcomes of calls."""

    what: str
    expected: str
    seen: str

    @property
    def as_expected(self) -> bool:
        """Whether it holds."""
        return self.expected == self.seen


@dataclass(slots=True)
class Act:
    """A part of the play with a heading, a sentence or two of introduction, its lines and its checks."""

    title: str
    introduction: str
    lines: list[Line] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def surprises(self) -> list[str]:
        """What did not come as expected, in words."""
        lines = [
            f"{self.title}: {line.who} {line.what}: expected {line.expected}, seen {line.outcome} ({line.message})"
            for line in self.lines
            if not line.as_expected
        ]
        checks = [
            f"{self.title}: {check.what}: expected {check.expected}, seen {check.seen}"
            for check in self.checks
            if not check.as_expected
        ]
        return lines + checks


class Account:
    """Makes calls through the players and keeps what came of them; `opened` and `told` get each act at its two ends.

    `run` begins the id of every operation.
    """

    def __init__(self, opened: Callable[[Act], None], told: Callable[[Act], None]) -> None:
        self.acts: list[Act] = []
        self.grants: list[Grant] = []
        self.run = secrets.token_hex(4)
        self._opened = opened
        self._told = told
        self._calls = 0
        self._act: Act | None = None

    def begin(self, title: str, introduction: str) -> None:
        """Ends the act that is on and begins another."""
        self.end()
        self._act = Act(title, introduction)
        self.acts.append(self._act)
        self._opened(self._act)

    def end(self) -> None:
        """Ends the act that is on, and shows it."""
        if self._act is not None:
            self._told(self._act)
        self._act = None

    def check(self, what: str, expected: object, seen: object) -> None:
        """Keeps something that must hold."""
        self._now.checks.append(Check(what, _in_words(expected), _in_words(seen)))

    def note(self, text: str) -> None:
        """Keeps a sentence that is told after the lines of the act."""
        self._now.notes.append(text)

    async def call(
        self,
        player: Player,
        what: str,
        method: str,
        request: dict[str, Any],
        expected: Outcome = DONE,
        *,
        grant: Grant | None = None,
        authority: str | None = None,
    ) -> Answer:
        """Makes one call and keeps its line."""
        answers = await self.calls(player, what, method, [request], [expected], grant=grant, authority=authority)
        return answers[0]

    async def calls(
        self,
        player: Player,
        what: str,
        method: str,
        requests: Sequence[dict[str, Any]],
        expected: Sequence[Outcome],
        *,
        grant: Grant | None = None,
        authority: str | None = None,
    ) -> list[Answer]:
        """Makes calls side by side and keeps a line for each outcome; `expected` are their outcomes in any order.

        `expected` may be one outcome for all. The answers come in the order of the requests.
        """
        named = {} if grant is None else {"delegation_id": grant.delegation_id}
        answers = await asyncio.gather(
            *(
                player.call(method, {**request, **named}, self.operation_id(), retry="idempotency_key" in request)
                for request in requests
            )
        )
        wanted = list(expected) * (len(requests) if len(expected) == 1 else 1)
        scope_id = str(requests[0].get("scope_id", ""))
        self.keep(player, what, method, scope_id, answers, wanted, grant=grant, authority=authority)
        return answers

    def keep(
        self,
        player: Player,
        what: str,
        method: str,
        scope_id: str,
        answers: Sequence[Answer],
        expected: Sequence[Outcome],
        *,
        grant: Grant | None = None,
        authority: str | None = None,
    ) -> None:
        """Keeps lines for calls that were made elsewhere: one for each outcome, those that were expected first."""
        left = Counter(expected)
        groups: dict[tuple[Outcome, Outcome | None], list[Answer]] = {}
        for answer in answers:
            seen = outcome_of(answer)
            came_as_expected = left[seen] > 0
            left[seen] -= came_as_expected
            groups.setdefault((seen, seen if came_as_expected else None), []).append(answer)
        missed = (+left).elements()
        for (seen, wanted), group in sorted(groups.items(), key=lambda item: (item[0][1] is None, item[0][0] != DONE)):
            self._now.lines.append(
                Line(
                    who=player.part.called,
                    what=what,
                    authority=authority or _authority(player, grant, seen),
                    outcome=seen,
                    expected=wanted or next(missed),
                    times=len(group),
                    repeats=sum(map(_is_repeat, group)),
                    scope_id=scope_id,
                    operation_ids=tuple(answer.operation_id for answer in group),
                    delegation_id=None if grant is None else grant.delegation_id,
                    method=method,
                    message=group[0].message,
                )
            )

    @property
    def lines(self) -> list[Line]:
        """The lines of all acts."""
        return [line for act in self.acts for line in act.lines]

    @property
    def surprises(self) -> list[str]:
        """Everything that did not come as expected, in words."""
        return [surprise for act in self.acts for surprise in act.surprises]

    @property
    def _now(self) -> Act:
        assert self._act is not None
        return self._act

    def operation_id(self) -> str:
        """Returns an operation id that no call had yet."""
        self._calls += 1
        return f"demo:{self.run}-{self._calls}"


def _authority(player: Player, grant: Grant | None, seen: Outcome) -> str:
    if grant is not None:
        return f"grant {grant}"
    if player.part.role_id is None or seen.code == "access_denied":
        return NO_RULE
    return f"{OWN_RULE}, {player.part.role_id}"


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _is_repeat(answer: Answer) -> bool:
    return bool(answer.response.get("result", answer.response).get("replayed"))
