"""The oracles of a history find nothing in one that is right, and each thing that can be wrong."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.history.ledger_oracle import check_ledger, read_export
from tests.history.order_oracle import NEVER, OK, REFUSED, Call
from tests.history.story import Story, content, right_story
from tests.history.verdict import findings


def _findings(story: Story, lines: list[str] | None = None) -> list[str]:
    return findings(story.calls, read_export(lines or story.lines()))


def test_nothing_is_found_in_a_history_that_is_right() -> None:
    assert _findings(right_story()) == []


def _change_call(number: int, **fields: Any) -> Callable[[Story], None]:
    def change(story: Story) -> None:
        story.calls[number] = replace(story.calls[number], **fields)

    return change


def _drop_event(event_type: str) -> Callable[[Story], None]:
    def drop(story: Story) -> None:
        place = next(n for n, body in enumerate(story.bodies) if body["event_type"] == event_type)
        del story.bodies[place]
        for version in (*story.versions, *story.links):
            version["ledger_sequence"] -= version["ledger_sequence"] > place

    return drop


def _lost_update(story: Story) -> None:
    """An update that was acknowledged and is not there, nor anything of it."""
    lost = Call("update", "op:lost", "obj:b", story.now_ns, story.now_ns + 1, OK, versions={"obj:b": "obj:b/9"})
    story.calls.append(lost)


def _stale_read(story: Story) -> None:
    first = next(version for version in story.versions if version["version_id"] == "obj:b/1")
    story.calls.append(replace(story.read("obj:b", given=content(4)), kind="read", version_id=first["version_id"]))


def _read_from_the_future(story: Story) -> None:
    """A read that ended before the version it gave was asked for."""
    story.calls[1] = replace(story.calls[1], version_id="obj:a/2", content=content(2))


def _gone_and_read(story: Story) -> None:
    story.calls.append(replace(story.read("obj:a", given=content(9)), kind="read_version", version_id="obj:a/3"))


def _secret_told(story: Story) -> None:
    first = next(version for version in story.versions if version["version_id"] == "obj:b/1")
    story.read("obj:b", given=content(4), version=first)


def _doubled(story: Story) -> None:
    """An operation that took place twice."""
    story.update("obj:b")
    story.calls.pop()
    for body in story.bodies[-2:]:
        body["operation_id"] = "op:4"


def _swapped_in_time(story: Story) -> None:
    """Two creations, the later one before the earlier one in the ledger."""
    story.calls[4], story.calls[5] = (
        replace(story.calls[4], began_ns=story.calls[5].began_ns, ended_ns=story.calls[5].ended_ns),
        replace(story.calls[5], began_ns=story.calls[4].began_ns, ended_ns=story.calls[4].ended_ns),
    )


def _broken_chain(story: Story) -> None:
    story.versions[1]["core"]["previous_version_id"] = "obj:a/0"


def _split(story: Story) -> None:
    """Another operation's event between those of a promotion."""
    place = next(n for n, body in enumerate(story.bodies) if body["event_type"] == "working_memory_promoted")
    story.bodies.insert(place, {**story.bodies[0], "event_id": "event:x", "event_type": "access_denied"})
    for version in (*story.versions, *story.links):
        version["ledger_sequence"] += version["ledger_sequence"] > place


WRONG: dict[str, tuple[Callable[[Story], None], str]] = {
    "an acknowledged change is lost": (_lost_update, "was acknowledged and left ()"),
    "a refused change took place": (_change_call(2, outcome=REFUSED, versions={}), "was refused"),
    "a change took place twice": (_doubled, "was acknowledged and left"),
    "an answer names another version": (_change_call(2, versions={"obj:a": "obj:a/7"}), "was told"),
    "a change followed another version than it named": (_change_call(2, expected_version_id="obj:a/0"), "named"),
    "a conflict with the version named": (_change_call(3, expected_version_id="obj:a/2"), "the very version"),
    "a conflict with a version that is none": (_change_call(3, version_id="obj:a/77"), "is not there"),
    "a refusal for a tombstone that is none": (_change_call(12, object_id="obj:b"), "has none"),
    "an object that is there is not found": (_change_call(12, reason="OBJECT_NOT_FOUND"), "stands at 0"),
    "a read gives an older version": (_stale_read, "stands at 1"),
    "a read gives a version not yet asked for": (_read_from_the_future, "began after"),
    "a read gives other bytes": (_change_call(1, content=content(55)), "gave"),
    "a read gives what was redacted": (_secret_told, "after it was redacted"),
    "more than the redacted part is gone": (_change_call(8, content="{}"), "gave"),
    "a part is gone before it was redacted": (_change_call(1, content='{"statement": "0"}'), "gave"),
    "what was deleted is read": (_gone_and_read, "after it was deleted"),
    "order of the ledger against real time": (_swapped_in_time, "the ledger:"),
    "a change nobody asked for": (lambda story: story.calls.pop(4), "asked for by nobody"),
    "a version does not follow the last": (_broken_chain, "does not follow"),
    "a promotion without its event": (_drop_event("working_memory_promoted"), "was acknowledged and left"),
    "a promotion without its relationship": (_drop_event("relationship_created"), "was acknowledged and left"),
    "an operation is split": (_split, "is split"),
    "a version without its event": (_drop_event("object_redacted"), "has no event of its own"),
    "an event without its version": (lambda story: story.versions.pop(3), "names a version that is not there"),
    "a relationship without its version": (lambda story: story.links.pop(), "names a version that is not there"),
    "two versions of one id": (lambda story: story.versions.append(story.versions[0]), "share an id"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    break_it, told = WRONG[name]
    story = right_story()
    break_it(story)
    found = _findings(story)
    assert any(told in finding for finding in found), found


def _edited(kind: str, number: int, **fields: object) -> list[str]:
    records = [json.loads(line) for line in right_story().lines()]
    places = [place for place, record in enumerate(records) if record["kind"] == kind]
    records[places[number]] |= fields
    return [json.dumps(record) for record in records]


def _repeated(kind: str) -> list[str]:
    lines = right_story().lines()
    return [*lines, next(line for line in lines if f'"kind": "{kind}"' in line)]


EDITED: dict[str, tuple[list[str], str]] = {
    "an event's time": (_edited("event", 3, recorded_at_us=9), "is not what was hashed"),
    "an event's use": (_edited("event", 3, use_number=1), "is not what was hashed"),
    "an event's place": (_edited("event", 3, sequence=77), "has the sequence 77"),
    "a version's bytes": (
        _edited("version", 0, core=b64encode(b'{"availability_state":"available"}').decode()),
        "is not what event",
    ),
    "a relationship's bytes": (_edited("relationship_version", 0, core="e30="), "is not what event"),
    "a relationship's place": (_edited("relationship_version", 0, ledger_sequence=1), "stands elsewhere"),
    "a relationship's pointer": (_edited("relationship", 0, sequence=2), "relationships do not point"),
    "a relationship twice": (_repeated("relationship_version"), "share an id"),
    "a pointer": (_edited("object", 0, version_id="obj:a/1"), "does not point"),
    "the head": (_edited("head", 0, sequence=3), "the head"),
    "a column": (_edited("event", 0, columns={"event_type": "object_updated"}), "column event_type"),
}


@pytest.mark.parametrize("name", EDITED)
def test_what_is_edited_in_the_export_is_found(name: str) -> None:
    lines, told = EDITED[name]
    found = _findings(right_story(), lines)
    assert any(told in finding for finding in found), found


def test_an_event_is_missing() -> None:
    lines = [line for line in right_story().lines() if '"event:2"' not in line]
    assert any("has the sequence" in finding for finding in check_ledger(read_export(lines)))


def test_a_change_of_unknown_outcome_may_come_late_or_never() -> None:
    story = right_story()
    assert story.calls[9].ended_ns == NEVER
    story.calls[9] = replace(
        story.calls[9], outcome=OK, versions={"obj:a": "obj:a/3"}, ended_ns=story.calls[9].began_ns + 1
    )
    assert _findings(story) == []
