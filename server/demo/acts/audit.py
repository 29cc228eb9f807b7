"""Act 9: the ledger is verified by the service and on an exported file, and is held against the account."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

from server.demo.account import DONE, NO_SUCH_SCOPE, Line
from server.demo.play import OLGA, REX, SHOP, Play

_DENIED = "EVENT_TYPE_ACCESS_DENIED"


async def audit(play: Play) -> None:
    """Olga verifies, compares the ledger with the account line by line, exports, and verifies the file offline."""
    account = play.account
    account.begin(
        "9  The ledger",
        "Olga sees no object, but every event. She holds the ledger to the place she kept after act 3, to the account "
        "above, and to itself; then she verifies an exported file without the service, and a file that was altered.",
    )
    lines = account.lines
    await _verify(play)
    events = await play.events(OLGA, play.scope_id)
    _compare(play, events, [line for line in lines if line.scope_id == play.scope_id])
    for scope_id in (f"tenant:{REX.tenant_id}", play.rival_scope_id):
        theirs = await play.events(REX, scope_id)
        refused = [line for line in lines if line.scope_id == scope_id and is_refused(line)]
        _each_refusal_once(play, f"in {scope_id}", theirs, refused)
    await _export(play)
    account.end()


def is_refused(line: Line) -> bool:
    """Whether the calls of a line were refused for want of authority, and so have an entry of their refusal."""
    return line.outcome.code == "access_denied" or line.outcome == NO_SUCH_SCOPE


async def _verify(play: Play) -> None:
    account = play.account
    for part, scope_id in ((OLGA, play.scope_id), (REX, play.rival_scope_id), (REX, f"tenant:{REX.tenant_id}")):
        request: dict[str, Any] = {"scope_id": scope_id}
        what = f"verifies the ledger of {scope_id}"
        if part is OLGA and play.known_place is not None:
            known = play.known_place
            request["known"] = {
                "sequence": known.sequence,
                "chain_hash": base64.b64encode(known.chain_hash).decode(),
            }
            what += f", which must still hold entry {known.sequence} as she kept it"
        answer = await account.call(play.player(part), what, "LedgerService/VerifyLedger", request)
        findings = answer.response.get("findings", [])
        verified = bool(answer.response.get("ok")) and not findings
        account.check(f"{scope_id} verifies", True, verified or findings)


def _compare(play: Play, events: list[dict[str, Any]], lines: list[Line]) -> None:
    """The events of the workspace against the lines of the account: equal in number, and one for each call."""
    account = play.account
    counts = Counter(event["event_type"].removeprefix("EVENT_TYPE_").lower() for event in events)

    def done(method: str) -> int:
        return sum(line.times - line.repeats for line in lines if line.method.endswith(method) and line.outcome == DONE)

    exercised = [line for line in lines if line.delegation_id is not None and line.outcome == DONE]
    expected = {
        "delegation_granted": done("/GrantDelegation"),
        "delegation_exercised": sum(line.times - line.repeats for line in exercised),
        "delegation_revoked": done("/RevokeDelegation"),
        "access_denied": sum(line.times for line in lines if is_refused(line)),
        "object_created": done("/Create") + done("/Promote"),
        "object_updated": done("/Update"),
    }
    for event_type, number in expected.items():
        account.check(f"{event_type} in the ledger, as in the account", number, counts[event_type])
    uses = Counter(event["operation_id"] for event in events if event["event_type"].endswith("_EXERCISED"))
    by_grant = {operation_id for line in exercised if line.repeats == 0 for operation_id in line.operation_ids}
    once = sum(uses[operation_id] == 1 for operation_id in by_grant)
    account.check("calls done by a grant with exactly one use in the ledger", len(by_grant), once)
    told = ", ".join(f"{counts[name]} {name}" for name in expected)
    account.note(f"Olga sees {len(events)} entries: {told}, and others.")
    _each_refusal_once(play, "in the desk's workspace", events, [line for line in lines if is_refused(line)])
    refusals = [json.loads(event["payload_json"]) for event in events if event["event_type"] == _DENIED]
    account.note(f"The refused were told a coarse reason; the ledger holds the exact one. {_exact_reasons(refusals)}")


def _exact_reasons(refusals: list[dict[str, Any]]) -> str:
    """Says for each coarse reason which exact ones stand behind it."""
    exact: dict[str, Counter[str]] = {}
    for refusal in refusals:
        exact.setdefault(refusal["denial_reason"], Counter())[refusal["exact_reason"]] += 1
    return "; ".join(
        f"{coarse}: " + ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
        for coarse, reasons in sorted(exact.items())
    )


def _each_refusal_once(play: Play, where: str, events: list[dict[str, Any]], refused: list[Line]) -> None:
    """Each refused call has one access_denied event, and there are no others."""
    # A tenant's root outlives a performance on a kept data directory; entries of earlier ones are not this one's.
    recorded = Counter(
        event["operation_id"]
        for event in events
        if event["event_type"] == _DENIED and event["operation_id"].startswith(f"demo:{play.run}-")
    )
    wanted = {operation_id for line in refused for operation_id in line.operation_ids}
    once = sum(recorded[operation_id] == 1 for operation_id in wanted)
    play.account.check(f"refused calls with exactly one entry {where}", len(wanted), once)
    play.account.check(f"entries of refusals {where}", len(wanted), recorded.total())


async def _export(play: Play) -> None:
    account, data_dir = play.account, play.stage.data_dir
    file = data_dir / f"ledger-{play.run}.jsonl"
    code, printed = await play.stage.command(
        "ledger", "export", "--tenant", SHOP, "--scope", play.scope_id, "--out", str(file)
    )
    account.check("`remit ledger export` exits with", 0, code if code == 0 else f"{code}: {printed}")
    if code != 0:
        return
    known = play.known_place
    held_to = (
        ()
        if known is None
        else (
            "--known-sequence",
            str(known.sequence),
            "--known-hash",
            known.chain_hash.hex(),
        )
    )
    code, printed = await play.stage.command("ledger", "verify", str(file), *held_to)
    account.check("`remit ledger verify` on the file exits with", 0, code if code == 0 else f"{code}: {printed}")
    account.note("Offline, from the file alone: " + " ".join(printed.split()))
    forged = data_dir / f"ledger-{play.run}-altered.jsonl"
    forged.write_text(one_refusal_removed(file.read_text(encoding="utf-8")), encoding="utf-8")
    code, _ = await play.stage.command("ledger", "verify", str(forged))
    account.check("`remit ledger verify` on a file without one refusal exits with", 1, code)


def one_refusal_removed(export: str) -> str:
    """Returns an export without its last access_denied event, as one would who has something to hide."""
    lines = export.splitlines(keepends=True)
    refusals = [number for number, line in enumerate(lines) if '"access_denied"' in line]
    if refusals:
        del lines[refusals[-1]]
    return "".join(lines)
