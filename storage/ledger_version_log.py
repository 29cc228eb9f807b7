"""Versions that a ledger's events name, kept until their rows and the pointers to the newest ones are met.

Part of `ledger_check` (ledger.md, Proof).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NoReturn

from storage.ledger_policy_book import Note
from storage.model.ledger_rows import FindingKind


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def core_of(data: bytes) -> dict[str, Any] | None:
    try:
        core = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return core if isinstance(core, dict) else None


@dataclass(slots=True)
class NamedVersion:
    version_id: str
    digest: str
    first_event: int
    last_event: int


class VersionLog:
    """Versions by owner (an object or a grant), and the owners' newest ones."""

    def __init__(self, noun: str, note: Note) -> None:
        self._noun = noun
        self._note = note
        self._open: dict[str, dict[int, NamedVersion]] = {}
        self._newest: dict[str, tuple[int, NamedVersion]] = {}

    def newest_number(self, owner: str) -> int:
        return self._newest[owner][0] if owner in self._newest else 0

    def enter(self, event: int, owner: str, number: int, version_id: str, digest: str) -> None:
        """An event names a version. Two events of one operation may name the same one."""
        newest_number = self.newest_number(owner)
        if number == newest_number > 0:
            newest = self._newest[owner][1]
            if newest.version_id == version_id and newest.digest == digest:
                newest.last_event = event
                return
        if number != newest_number + 1:
            self._note(event, FindingKind.VERSION_SEQUENCE_GAP, f"{self._noun} {owner} version {number}")
        if number > newest_number:
            version = NamedVersion(version_id, digest, event, event)
            self._open.setdefault(owner, {})[number] = version
            self._newest[owner] = (number, version)

    def strike(self, owner: str, number: int, version_id: str, core: bytes) -> NamedVersion | None:
        """A version's row is met; returns its entry when the row holds what was hashed."""
        place = f"{self._noun} {owner} version {number}"
        version = self._open.get(owner, {}).pop(number, None)
        if version is None:
            self._note(0, FindingKind.VERSION_WITHOUT_EVENT, place)
            return None
        if version.version_id != version_id:
            self._note(version.first_event, FindingKind.VERSION_COLUMN_CHANGED, f"{place}: version_id")
        if sha256(core).hexdigest() != version.digest:
            self._note(version.first_event, FindingKind.VERSION_CHANGED, place)
            return None
        return version

    def strike_pointer(self, owner: str, number: int, version_id: str) -> None:
        """A pointer's row is met; it names the newest version."""
        place = f"{self._noun} {owner}"
        entry = self._newest.pop(owner, None)
        if entry is None:
            self._note(0, FindingKind.ROW_WITHOUT_EVENT, place)
            return
        newest_number, version = entry
        if number < newest_number:
            self._note(version.first_event, FindingKind.ROLLED_BACK, place)
        elif (number, version_id) != (newest_number, version.version_id):
            # A pointer ahead of all events contradicts none of them.
            event = version.first_event if number == newest_number else 0
            self._note(event, FindingKind.POINTER_CHANGED, place)

    def close(self) -> None:
        for owner, numbers in self._open.items():
            for number, version in numbers.items():
                self._note(version.first_event, FindingKind.VERSION_MISSING, f"{self._noun} {owner} version {number}")
        for owner, (_, version) in self._newest.items():
            self._note(version.first_event, FindingKind.ROW_MISSING, f"{self._noun} {owner}")
