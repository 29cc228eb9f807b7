"""How the account is told: a table an act, a tree of the grants, what was expected and seen, and the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from server.demo.account import DONE, Account, Act, Grant, Line, Outcome

WIDTH: Final = 120
WIDTH_MIN: Final = 100
WIDTH_MAX: Final = 150

_REASONS: Final = {
    "NO_RULE": "no rule allows it, and no grant was named",
    "DELEGATION_NOT_EFFECTIVE": "that grant gives this caller nothing, here and now",
    "USAGE_LIMIT_EXHAUSTED": "the grant has no use left",
    "OPERATION_NOT_GRANTED": "the grant does not give this operation",
    "OBJECT_NOT_GRANTED": "the object is not on the grant's list",
    "OBJECT_TYPE_NOT_GRANTED": "the grant does not reach objects of this type",
    "ACTOR_MISMATCH": "the caller is not who the request says",
    "EXPLICIT_DENY": "a rule forbids it",
}
_CODES: Final = {
    "scope_not_found": "no such workspace is visible to the caller",
    "unauthenticated": "no valid credential",
}


def why(outcome: Outcome, message: str) -> str:
    """Returns in words why a call was refused, or what went wrong."""
    return _REASONS.get(outcome.denial_reason) or _CODES.get(outcome.code) or message


def tell_heading(console: Console, heading: str) -> None:
    """Prints a heading."""
    console.print()
    console.rule(Text(heading, "bold"), align="left")


def tell_introduction(console: Console, act: Act) -> None:
    """Prints what an act is about, when it begins."""
    tell_heading(console, act.title)
    console.print(Text(act.introduction), style="dim")
    console.print()


def tell_act(console: Console, act: Act) -> None:
    """Prints an act's lines and notes, and what did not come as expected."""
    table = Table("who", "what", "on whose authority", "outcome", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column, ratio in zip(table.columns, (2, 11, 6, 9), strict=True):
        column.ratio, column.overflow = ratio, "fold"
    table.expand = True
    for line in act.lines:
        times = f" ({line.times} calls)" if line.times > 1 else ""
        table.add_row(Text(line.who, "bold"), Text(line.what + times), Text(line.authority), _outcome_text(line))
    console.print(table)
    for note in act.notes:
        console.print(Padding(Text(note, "italic"), (1, 0, 0, 0)))
    for surprise in act.surprises:
        console.print(Text(f"UNEXPECTED  {surprise}", "bold red"))


def _outcome_text(line: Line) -> Text:
    if line.outcome == DONE:
        made = Text("done", "green")
        if line.repeats == line.times:
            made.append(", as before: nothing new", "dim")
    else:
        made = Text("refused: ", "yellow")
        made.append(line.outcome.denial_reason or line.outcome.code)
        made.append(f" ({why(line.outcome, line.message)})", "dim")
    if not line.as_expected:
        made.append(f"  UNEXPECTED, should be {line.expected}", "bold red")
    return made


def tell_grants(console: Console, account: Account, standings: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints who had what from whom, and how it stands now. `standings` are by delegation id."""
    tell_heading(console, "Who had authority from whom, and what is left of it")
    tree = Tree(Text("rules of the workspace", "dim"))
    branches: dict[str, Tree] = {}
    nodes: dict[str, Tree] = {}
    for grant in account.grants:
        if grant.parent is not None:
            above = nodes[grant.parent.name]
        else:
            called = grant.from_called
            if called not in branches:
                branches[called] = tree.add(Text(called, "bold"))
            above = branches[called]
        nodes[grant.name] = above.add(_grant_text(grant, standings.get(grant.delegation_id, {})))
    console.print(tree)


def _grant_text(grant: Grant, standing: Mapping[str, Any]) -> Text:
    told = standing.get("delegation", {})
    made = Text(f"{grant.name} ", "bold")
    made.append(f"{grant.to_called}: {', '.join(told.get('granted_operations', []))}")
    for name, called in (("granted_object_ids", "on"), ("granted_object_types", "on type")):
        if name in told:
            made.append(f" {called} {', '.join(told[name]['values'])}")
    limit = told.get("usage_limit")
    uses = standing.get("uses", 0)
    made.append(f"; {uses} of {limit} uses taken" if limit else f"; {uses} uses taken, without limit")
    if standing.get("effective"):
        made.append("; effective", "green")
    elif standing:
        made.append(f"; not effective: {standing.get('ineffective_reason', '')}", "yellow")
    made.append(f"  …{grant.delegation_id[-12:]}", "dim")
    return made


def tell_result(console: Console, account: Account) -> None:
    """Prints what was expected and what was seen, and the verdict."""
    tell_heading(console, "Expected and seen")
    table = Table("what", "expected", "seen", "", box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    for column, ratio in zip(table.columns, (12, 5, 5, 1), strict=True):
        column.ratio, column.overflow = ratio, "fold"
    for act in account.acts:
        table.add_row(Text(act.title, "bold"))
        for what, expected, seen in _rows(act):
            mark = Text("ok", "green") if expected == seen else Text("DIFFERS", "bold red")
            table.add_row(Text(f"   {what}"), Text(expected), Text(seen), mark)
    console.print(table)
    console.print()
    surprises = account.surprises
    calls = sum(line.times for line in account.lines)
    if not surprises:
        checks = sum(len(act.checks) for act in account.acts)
        console.print(Text(f"All {calls} calls and {checks} checks came out as expected.", "bold green"))
        return
    console.print(Text(f"{len(surprises)} of the outcomes are not the expected ones:", "bold red"))
    for surprise in surprises:
        console.print(Text(f"- {surprise}", "red"))


def _called(outcome: Outcome) -> str:
    return str(outcome) if outcome == DONE else f"refused: {outcome}"


def _rows(act: Act) -> list[tuple[str, str, str]]:
    expected: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for line in act.lines:
        expected[_called(line.expected)] += line.times
        seen[_called(line.outcome)] += line.times
    calls = [(f"calls {outcome}", str(expected[outcome]), str(seen[outcome])) for outcome in {**expected, **seen}]
    return calls + [(check.what, check.expected, check.seen) for check in act.checks]


def as_json(account: Account, standings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the account as one JSON object."""
    return {
        "ok": not account.surprises,
        "acts": [
            {
                "title": act.title,
                "introduction": act.introduction,
                "lines": [
                    {
                        "who": line.who,
                        "what": line.what,
                        "authority": line.authority,
                        "method": line.method,
                        "times": line.times,
                        "outcome": str(line.outcome),
                        "expected": str(line.expected),
                        "as_expected": line.as_expected,
                        "why": "" if line.outcome == DONE else why(line.outcome, line.message),
                        "ledger_scope_id": line.scope_id,
                        "delegation_id": line.delegation_id,
                        "operation_ids": list(line.operation_ids),
                    }
                    for line in act.lines
                ],
                "checks": [asdict(check) | {"as_expected": check.as_expected} for check in act.checks],
                "notes": act.notes,
            }
            for act in account.acts
        ],
        "grants": [
            {
                "name": grant.name,
                "delegation_id": grant.delegation_id,
                "from": grant.from_called,
                "to": grant.to_called,
                "parent": grant.parent.name if grant.parent else None,
                "standing": dict(standings.get(grant.delegation_id, {})),
            }
            for grant in account.grants
        ],
        "unexpected": account.surprises,
    }
