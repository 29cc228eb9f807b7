"""Verification of a workspace's ledger from the database's rows, as VerifyLedger does it (ledger.md, Proof).

The second of two implementations: it shares no code with the offline one (`server/cli/offline_verifier.py`), and a test
holds the findings of the two together. This one judges chain and bodies; `ledger_books` judges the tables.
"""

from __future__ import annotations

import asyncio
import bisect
import json
from collections.abc import AsyncIterable, Callable, Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar

from storage.ledger_books import LedgerBooks
from storage.ledger_policy_book import UnreadablePayloadError
from storage.model.canonical import canonical_json
from storage.model.ledger_rows import (
    EventRow,
    FindingKind,
    HeadRow,
    KnownPlace,
    LedgerFinding,
    LedgerIdentity,
    LedgerSource,
    LedgerVerification,
)

FINDINGS_MAX: Final = 1000
# Rows taken in before other work of the loop gets its turn.
ROWS_PER_TURN: Final = 256

_RANK: Final = {kind: rank for rank, kind in enumerate(FindingKind)}
_COPIED_COLUMNS: Final = (
    "event_id",
    "event_type",
    "operation_id",
    "object_id",
    "version_id",
    "delegation_id",
    "relationship_id",
)
_REQUIRED: Final = {
    "v": int,
    "tenant_id": str,
    "scope_id": str,
    "event_id": str,
    "event_type": str,
    "operation_id": str,
    "actor": dict,
    "payload": dict,
}
_OPTIONAL: Final = dict.fromkeys(
    (
        "object_id",
        "version_id",
        "delegation_id",
        "relationship_id",
        "correlation_id",
        "purpose",
        "evaluation_run_id",
    ),
    str,
)
_ACTOR_REQUIRED: Final = {"actor_id": str, "actor_kind": str}
_ACTOR_OPTIONAL: Final = {"on_behalf_of_actor_id": str, "delegation_id": str}

Row = TypeVar("Row")


async def check_ledger(
    source: LedgerSource, known: KnownPlace | None = None, findings_max: int = FINDINGS_MAX
) -> LedgerVerification:
    """Recomputes every hash, replays every event against the tables, and returns what is wrong.

    `known` is a place kept from earlier that the chain must still hold. Reads each iterable of `source` once, events
    first, and raises only what those raise.
    """
    findings = FindingList(findings_max)
    books = LedgerBooks(source.identity.tenant_id, source.identity.scope_id, findings.note)
    chain = _Chain(source.identity, known, findings, books)
    await _take(source.events, chain.take)
    chain.close(source.head)
    await _take(source.versions, books.versions.take_version)
    await _take(source.objects, books.take_object)
    await _take(source.relationship_versions, books.relationships.take_version)
    await _take(source.relationships, books.relationships.take_relationship)
    await _take(source.delegations, books.grants.take_grant)
    await _take(source.delegation_versions, books.grants.take_version)
    await _take(source.rules, books.policy.take)
    await _take(source.cross_scope_rules, books.policy.take)
    await _take(source.bindings, books.policy.take)
    books.close(source.head.policy_revision)
    return LedgerVerification(
        ok=findings.count == 0,
        findings=tuple(findings.items),
        finding_count=findings.count,
        head_sequence=source.head.sequence,
        head_hash=source.head.chain_hash,
        count=chain.count,
    )


async def _take(rows: AsyncIterable[Row], take: Callable[[Row], None]) -> None:
    taken = 0
    async for row in rows:
        take(row)
        taken += 1
        if taken % ROWS_PER_TURN == 0:
            await asyncio.sleep(0)


class FindingList:
    """Findings in the order they are reported, of which the last are dropped beyond a maximum."""

    def __init__(self, findings_max: int) -> None:
        self.items: list[LedgerFinding] = []
        self.count = 0
        self._max = findings_max

    def note(self, sequence: int, kind: FindingKind, place: str) -> None:
        """Puts a finding where it belongs: by sequence, those of the head and the tables (0) last."""
        self.count += 1
        bisect.insort(self.items, LedgerFinding(sequence, kind, place), key=_order)
        del self.items[self._max :]


def _order(finding: LedgerFinding) -> tuple[bool, int, int, str]:
    return finding.sequence == 0, finding.sequence, _RANK[finding.kind], finding.place


class _Chain:
    """Walks the events: order, hashes, bodies, columns; hands each sound body to the books."""

    def __init__(
        self, identity: LedgerIdentity, known: KnownPlace | None, findings: FindingList, books: LedgerBooks
    ) -> None:
        self.count = 0
        self._workspace = (identity.tenant_id, identity.scope_id)
        self._note = findings.note
        self._books = books
        self._known = known
        self._known_met = False
        self._event_ids: set[int] = set()
        self._last_sequence = 0
        self._last_recorded_at_us: int | None = None
        self._last_hash = _genesis(identity)
        self._compare_known(0, self._last_hash)

    def take(self, row: EventRow) -> None:
        """Judges the next event. What is stored for it is what the next one is judged against."""
        self.count += 1
        next_sequence = self._last_sequence + 1
        in_order = row.sequence == next_sequence
        if not in_order:
            place = f"{row.sequence} where {next_sequence} belongs"
            self._note(min(row.sequence, next_sequence), FindingKind.SEQUENCE_GAP, place)
        self._judge_hashes(row, linked=in_order)
        if row.sequence >= next_sequence:
            if self._last_recorded_at_us is not None and row.recorded_at_us < self._last_recorded_at_us:
                self._note(row.sequence, FindingKind.RECORDED_AT_BACKWARDS, "recorded_at")
            self._last_sequence = row.sequence
            self._last_recorded_at_us = row.recorded_at_us
            self._last_hash = row.chain_hash
        self._compare_known(row.sequence, row.chain_hash)
        self._judge_body(row)

    def close(self, head: HeadRow) -> None:
        """Compares the last link with the head; a known place that was not met is missing."""
        if head.sequence > self._last_sequence:
            self._note(self._last_sequence + 1, FindingKind.TAIL_CUT, f"events up to {head.sequence}")
        elif (head.sequence, head.chain_hash) != (self._last_sequence, self._last_hash):
            self._note(0, FindingKind.HEAD_MISMATCH, "head")
        if self._known is not None and not self._known_met:
            self._note(self._known.sequence, FindingKind.KNOWN_PLACE_MISSING, "known place")

    def _compare_known(self, sequence: int, chain_hash: bytes) -> None:
        known = self._known
        if known is not None and known.sequence == sequence:
            self._known_met = True
            if known.chain_hash != chain_hash:
                self._note(sequence, FindingKind.KNOWN_PLACE_CHANGED, "known place")

    def _judge_hashes(self, row: EventRow, linked: bool) -> None:
        leaf = sha256(b"\x00")
        for number in (row.sequence, row.recorded_at_us, row.use_number):
            leaf.update(number.to_bytes(8, "big", signed=True))
        leaf.update(row.body)
        leaf_holds = leaf.digest() == row.leaf_hash
        link_holds = linked and _link(self._last_hash, leaf.digest()) == row.chain_hash
        stored_link_holds = linked and _link(self._last_hash, row.leaf_hash) == row.chain_hash
        if linked and not link_holds and (leaf_holds or not stored_link_holds):
            self._note(row.sequence, FindingKind.CHAIN_BROKEN, "chain_hash")
        elif not leaf_holds and not link_holds:
            self._note(row.sequence, FindingKind.BODY_CHANGED, "body, recorded_at or use_number")
        elif not leaf_holds:
            self._note(row.sequence, FindingKind.LEAF_HASH_CHANGED, "leaf_hash")

    def _judge_body(self, row: EventRow) -> None:
        body = _parse_body(row.body)
        if body is None:
            self._note(row.sequence, FindingKind.BODY_MALFORMED, "body")
            return
        if not _is_canonical(row.body, body):
            self._note(row.sequence, FindingKind.BODY_NOT_CANONICAL, "body")
        if row.actor_id != body["actor"]["actor_id"]:
            self._note(row.sequence, FindingKind.COLUMN_CHANGED, "actor_id")
        for column in _COPIED_COLUMNS:
            if getattr(row, column) != body.get(column):
                self._note(row.sequence, FindingKind.COLUMN_CHANGED, column)
        # 64 bits of a keyed hash an event: a repeated id is always found, a false alarm is a chance of 1 in 2**64.
        id_hash = hash(body["event_id"])
        if id_hash in self._event_ids:
            self._note(row.sequence, FindingKind.DUPLICATE_EVENT, "event_id")
        self._event_ids.add(id_hash)
        if (body["tenant_id"], body["scope_id"]) != self._workspace:
            self._note(row.sequence, FindingKind.BODY_FOREIGN, "body")
            return
        if row.use_number != 0 and body["event_type"] != "delegation_exercised":
            self._note(row.sequence, FindingKind.USE_NUMBER_CHANGED, "use_number")
        try:
            self._books.enter(row, body)
        except UnreadablePayloadError as error:
            self._note(row.sequence, FindingKind.PAYLOAD_MALFORMED, f"payload: {error.field}")


def _link(previous: bytes, leaf: bytes) -> bytes:
    return sha256(b"".join((b"\x01", previous, leaf))).digest()


def _genesis(identity: LedgerIdentity) -> bytes:
    genesis = sha256(b"\x02")
    for name in (identity.tenant_id.encode(), identity.scope_id.encode()):
        genesis.update(len(name).to_bytes(4, "big"))
        genesis.update(name)
    genesis.update(identity.ledger_id.bytes)
    return genesis.digest()


def _refuse_number(text: str) -> object:
    raise ValueError(text)


def _parse_body(data: bytes) -> dict[str, Any] | None:
    """Returns the body when it has exactly the keys and types of the format, else None."""
    try:
        body = json.loads(data.decode("utf-8"), parse_float=_refuse_number, parse_constant=_refuse_number)
    except (ValueError, RecursionError):
        return None
    if not _has_fields(body, _REQUIRED, _OPTIONAL) or body["v"] != 1:
        return None
    return body if _has_fields(body["actor"], _ACTOR_REQUIRED, _ACTOR_OPTIONAL) else None


def _has_fields(value: Any, required: Mapping[str, type], optional: Mapping[str, type]) -> bool:
    if not isinstance(value, dict) or any(key not in value for key in required):
        return False
    expected = {**required, **optional}
    return all(key in expected and type(field) is expected[key] for key, field in value.items())


def _is_canonical(data: bytes, body: dict[str, Any]) -> bool:
    try:
        return canonical_json(body) == data and (data.isascii() or _keys_are_ascii(body))
    except (ValueError, RecursionError):
        return False


def _keys_are_ascii(value: Any) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            if not all(key.isascii() for key in item):
                return False
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return True
