"""Act 4: the workers work, within their grants and outside them."""

from __future__ import annotations

from typing import Any

from server.demo.account import DONE, Grant, Outcome, denied
from server.demo.acts.granting import BO_USES
from server.demo.play import BO, KIM, LU, OLGA, Play, encoded

_RACING = 5
_ANY_VALIDATION = ["VALIDATION_STATE_UNVERIFIED", "VALIDATION_STATE_CORROBORATED"]


async def work(play: Play) -> None:
    """Bo uses up his grant, tries what lies outside it; Kim queries; Lu reads what was passed on."""
    play.account.begin(
        "4  Work",
        "Each call names the grant it acts under, or none. A refused call takes no use, and neither does a repeated "
        f"one. G1 has {BO_USES} uses; for the last of them five calls race.",
    )
    grants = {grant.name: grant for grant in play.account.grants}
    if {"G1", "G2", "G3", "G4"} <= grants.keys():
        await _bo_works(play, grants["G1"])
        await _bo_oversteps(play, grants)
        await _bo_runs_out(play, grants["G1"])
        await _others_work(play, grants)
    play.account.end()


async def _bo_works(play: Play, grant: Grant) -> None:
    account, bo, order = play.account, play.player(BO), play.order
    query = {"kind": "QUERY_KIND_STRUCTURED", "filters": {"validation_state": _ANY_VALIDATION}}
    found = await account.call(
        bo,
        "queries everything he may see",
        "MemoryService/Query",
        play.request(query=query, limit=100),
        grant=grant,
    )
    seen = sorted(row["object_id"] for row in found.response.get("results", []))
    account.check("what Bo's query finds", sorted({order.object_id, play.customer_id}), seen)
    await play.read(BO, f"reads {order.object_id}", order.object_id, grant=grant)
    update = update_request(play, order.object_id, {**order.record, "note": "Ring before delivery."})
    update["idempotency_key"] = f"note-{play.run}"
    await account.call(bo, f"writes a note on {order.object_id}", "MemoryService/Update", update, grant=grant)
    repeated = await account.call(
        bo, "sends the same update again, as after a lost answer", "MemoryService/Update", update, grant=grant
    )
    replayed = bool(repeated.response.get("result", {}).get("replayed"))
    account.check("the repeated update changed nothing", True, replayed)
    stale = update_request(play, order.object_id, {"note": "from an old copy"})
    await account.call(
        bo,
        "updates on the basis of the version he read first",
        "MemoryService/Update",
        stale,
        Outcome("version_conflict"),
        grant=grant,
    )
    await play.read(BO, f"reads {play.customer_id}", play.customer_id, grant=grant)


async def _bo_oversteps(play: Play, grants: dict[str, Grant]) -> None:
    account, bo, order, other = play.account, play.player(BO), play.order, play.other_order
    bos, absent_id = grants["G1"], "order:no-such-order"
    await play.read(
        BO, f"reads {other.object_id}, outside his list", other.object_id, denied("OBJECT_NOT_GRANTED"), grant=bos
    )
    await play.read(BO, f"reads {absent_id}, which is not there", absent_id, denied("OBJECT_NOT_GRANTED"), grant=bos)
    delete = play.request(
        object_id=order.object_id,
        expected_version_id=play.versions.get(order.object_id, "version:none"),
        policy_basis="tidying up",
    )
    await account.call(
        bo,
        f"deletes {order.object_id}",
        "MemoryService/Delete",
        delete,
        denied("OPERATION_NOT_GRANTED"),
        grant=bos,
    )
    await play.read(BO, f"reads {order.object_id}, naming no grant", order.object_id, denied("NO_RULE"))
    await play.read(
        BO,
        f"reads {order.object_id} by tomorrow's grant",
        order.object_id,
        denied("DELEGATION_NOT_EFFECTIVE"),
        grant=grants["G3"],
    )
    await play.read(BO, "reads by Kim's grant", order.object_id, denied("DELEGATION_NOT_EFFECTIVE"), grant=grants["G2"])
    posing = play.request(object_id=order.object_id, actor={"actor_id": "actor:vera"})
    await account.call(
        bo, "reads, calling himself Vera", "MemoryService/Read", posing, denied("ACTOR_MISMATCH"), grant=bos
    )


async def _bo_runs_out(play: Play, grant: Grant) -> None:
    read = play.request(object_id=play.order.object_id)
    await play.account.calls(
        play.player(BO),
        f"reads {play.order.object_id}, {_RACING} at once",
        "MemoryService/Read",
        [read] * _RACING,
        [DONE] + [denied("USAGE_LIMIT_EXHAUSTED")] * (_RACING - 1),
        grant=grant,
    )
    exercises = await play.events(
        OLGA,
        play.scope_id,
        filter_delegation_id=grant.delegation_id,
        event_classes=["EVENT_TYPE_DELEGATION_EXERCISED"],
    )
    play.account.check(
        "uses of G1 in the ledger", list(range(1, BO_USES + 1)), [int(event["use_number"]) for event in exercises]
    )


async def _others_work(play: Play, grants: dict[str, Grant]) -> None:
    account, passed_on = play.account, play.passed_on_order
    filters = {"object_type": ["observation"], "validation_state": _ANY_VALIDATION}
    query = {"kind": "QUERY_KIND_STRUCTURED", "filters": filters}
    found = await account.call(
        play.player(KIM),
        "queries what was said",
        "MemoryService/Query",
        play.request(query=query, limit=10),
        grant=grants["G2"],
    )
    account.check("what Kim's query finds", "observations", _types_of(found.response.get("results", [])))
    tool_result = next((record.object_id for record in play.input.records if record.object_type == "tool_result"), None)
    if tool_result is not None:
        await play.read(
            KIM,
            f"reads {tool_result}, a tool_result",
            tool_result,
            denied("OBJECT_TYPE_NOT_GRANTED"),
            grant=grants["G2"],
        )
    lus = grants["G4"]
    await play.read(LU, f"reads {passed_on.object_id}", passed_on.object_id, grant=lus)
    await account.call(
        play.player(LU),
        f"updates {passed_on.object_id}",
        "MemoryService/Update",
        update_request(play, passed_on.object_id, {"note": "not mine to write"}),
        denied("OPERATION_NOT_GRANTED"),
        grant=lus,
    )
    await play.read(LU, f"reads {play.order.object_id}", play.order.object_id, denied("OBJECT_NOT_GRANTED"), grant=lus)


def update_request(play: Play, object_id: str, record: Any) -> dict[str, Any]:
    """Returns the request that writes a record, on the basis of the version last read."""
    return play.request(
        object_id=object_id,
        expected_version_id=play.versions.get(object_id, "version:none"),
        canonical_content=encoded({"kind": "order", "record": record}),
        provenance={"activity": "annotated"},
    )


def _types_of(rows: list[dict[str, Any]]) -> str:
    return " and ".join(sorted({f"{row['object_type']}s" for row in rows})) or "nothing"
