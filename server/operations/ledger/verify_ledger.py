"""VerifyLedger (P-7.7-03, P-7.7-09, P-15.6-01; ledger.md, Proof)."""

from __future__ import annotations

from typing import Final

from remit.v1 import ledger_pb2
from server.authority.refusals import StaleFacts
from server.call import Call
from server.domain_errors import InvalidRequest
from storage.encryption import IntegrityViolation
from storage.ledger_check import FINDINGS_MAX, check_ledger
from storage.ledger_snapshot import SealedCore, ledger_snapshot
from storage.model.ledger_rows import KnownPlace

_HASH_BYTES: Final = 32


async def handle(call: Call, request: ledger_pb2.VerifyLedgerRequest) -> ledger_pb2.VerifyLedgerResponse:
    """Recomputes every hash, replays the events against the tables, and authenticates every version and grant.

    What is wrong is an answer, not an error: `ok` false, with the first bad place first. A cut with a rewritten head
    and a store rolled back as a whole can only be found against a place that was kept outside (`known`).
    """
    known = None
    if request.HasField("known"):
        if len(request.known.chain_hash) != _HASH_BYTES:
            raise InvalidRequest("known.chain_hash", f"must be {_HASH_BYTES} bytes")
        known = KnownPlace(request.known.sequence, request.known.chain_hash)
    forged: list[ledger_pb2.LedgerFinding] = []

    def authenticate(version: SealedCore) -> None:
        try:
            call.services.keys.verify_mac(version.core, version.mac, key_id=version.mac_key_id, place=version.place)
        except IntegrityViolation as violation:
            if len(forged) < FINDINGS_MAX:
                forged.append(
                    ledger_pb2.LedgerFinding(sequence=version.ledger_sequence, kind=violation.kind, place=version.place)
                )

    # Each holds a connection for as long as it reads: many at once would leave none to the others.
    async with (
        call.services.audits,
        ledger_snapshot(call.services.database, call.tenant_id, call.scope_id, authenticate) as snapshot,
    ):
        if snapshot is None:
            raise StaleFacts
        call.confirm(snapshot.heads)
        report = await check_ledger(snapshot.source, known)
    findings = [
        ledger_pb2.LedgerFinding(sequence=finding.sequence, kind=finding.kind.value, place=finding.place)
        for finding in report.findings
    ]
    # Findings of the head and the tables have no place in the order and come last.
    findings = sorted([*findings, *forged], key=lambda finding: (finding.sequence == 0, finding.sequence))
    return ledger_pb2.VerifyLedgerResponse(
        ok=not findings,
        findings=findings[:FINDINGS_MAX],
        head_sequence=report.head_sequence,
        head_hash=report.head_hash,
        count=report.count,
        operation_id=call.operation_id,
    )
