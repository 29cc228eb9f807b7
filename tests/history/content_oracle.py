"""What reads of a history must have given: the bytes that were sent for the version, and nothing that was removed.

Contents are JSON objects with the members `statement` and `secret`; a redaction removes the secret, of every version.
Nothing of the service's is imported. Every check yields what is wrong, as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.history.order_oracle import NEVER, OK, READS, UNKNOWN, Call, History


def check_contents(history: History) -> Iterator[str]:
    """Every read gives what was sent for its version, whole unless the object was redacted meanwhile."""
    holds = _contents_of_versions(history)
    asked, acknowledged = _times(history, "redact")
    redacted_at = _redacted_at(history)
    for call in history.calls:
        if call.kind not in READS or call.outcome != OK or call.version_id not in holds:
            continue
        wanted, may_lack = holds[call.version_id], asked.get(call.object_id, NEVER) < call.ended_ns
        if not _agree(call.content, wanted, may_lack):
            yield f"{call} gave {call.content!r} of {call.version_id}, which holds {wanted!r}"
        is_covered = history.ranks[call.version_id] <= redacted_at.get(call.object_id, 0)
        if is_covered and acknowledged.get(call.object_id, NEVER) < call.began_ns and _secret(call.content):
            yield f"{call} gave the secret of {call.object_id} after it was redacted"


def check_removed(history: History) -> Iterator[str]:
    """Once a deletion is acknowledged, no version of the object is given any more."""
    _, acknowledged = _times(history, "delete")
    for call in history.calls:
        if call.kind in READS and call.outcome == OK and acknowledged.get(call.object_id, NEVER) < call.began_ns:
            yield f"{call} gave {call.version_id} of {call.object_id} after it was deleted"


def _times(history: History, kind: str) -> tuple[dict[str, int], dict[str, int]]:
    """When each object's first call of the kind that took effect was begun, and when one was acknowledged."""
    asked: dict[str, int] = {}
    acknowledged: dict[str, int] = {}
    for call in history.calls:
        if call.kind != kind or not (call.outcome == OK or _took_effect(history, call)):
            continue
        asked[call.object_id] = min(asked.get(call.object_id, NEVER), call.began_ns)
        if call.outcome == OK:
            acknowledged[call.object_id] = min(acknowledged.get(call.object_id, NEVER), call.ended_ns)
    return asked, acknowledged


def _took_effect(history: History, call: Call) -> bool:
    return call.outcome == UNKNOWN and call.operation_id in history.operations


def _contents_of_versions(history: History) -> dict[str, str]:
    sent: dict[str, str] = {}
    for event in history.changes_of_objects():
        maker = history.callers.get(event.body["operation_id"])
        if maker is not None and event.event_type in {"object_created", "object_updated"}:
            sent[event.body["version_id"]] = maker.content
    holds: dict[str, str] = {}
    for chain in history.chains.values():
        content = ""
        for version in chain:
            content = sent.get(version.version_id, content)
            holds[version.version_id] = content
    return holds


def _redacted_at(history: History) -> dict[str, int]:
    """The number of the version that each object's first redaction made."""
    found: dict[str, int] = {}
    for event in history.changes_of_objects():
        if event.event_type == "object_redacted":
            found.setdefault(event.body["object_id"], history.ranks[event.body["version_id"]])
    return found


def _parsed(content: str) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _secret(content: str) -> Any:
    return _parsed(content).get("secret")


def _agree(given: str, wanted: str, may_lack: bool) -> bool:
    if given == wanted:
        return True
    without = {name: part for name, part in _parsed(wanted).items() if name != "secret"}
    left = {name: part for name, part in _parsed(given).items() if name != "secret"}
    return may_lack and bool(without) and left == without and not _secret(given)
