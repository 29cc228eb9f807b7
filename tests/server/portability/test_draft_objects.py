"""The draft's JSON is read strictly: a miss names the field and the rule, never the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.portability.draft_objects import DraftObject, time_of
from server.portability.draft_parts import actor_of, integrity_of, provenance_of, signals_of
from server.wire.refusal import FieldRefused


@pytest.mark.parametrize(
    ("text", "time_us"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00.5z", 500_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("1970-01-01T00:00:00.1234567Z", 123_456),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
    ],
)
def test_times(text: str, time_us: int) -> None:
    assert time_of(text) == time_us


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "",
        "2026-07-12",
        "2026-07-12T00:00:00",
        "2026-02-30T00:00:00Z",
        "2026-07-12T24:00:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-00:01",
    ],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(FieldRefused, match="RFC 3339"):
        time_of(text)


def refused(read: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(FieldRefused) as refusal:
        read()
    return refusal.value.path, refusal.value.problem


def test_getters_refuse_what_is_of_another_type() -> None:
    read = DraftObject(
        {"text": 1, "id": "no id", "uri": "x", "time": "now", "count": 0, "flag": "yes", "texts": "a", "ids": ["x"]},
        (),
        ("text", "id", "uri", "time", "count", "flag", "texts", "ids"),
    )
    for name, getter in (
        ("text", read.text),
        ("id", read.id),
        ("uri", read.uri),
        ("time", read.time_us),
        ("count", read.count),
        ("flag", read.flag),
        ("texts", read.texts),
        ("ids", read.ids),
    ):
        path, problem = refused(lambda getter=getter, name=name: getter(name))
        assert path == name
        assert problem.startswith("must be")
        assert read.text("absent") is None


def test_numbers_are_the_draft_s_one_kind() -> None:
    read = DraftObject({"a": 2.0, "b": True, "c": 1.5, "d": 10**30, "e": 0.5}, (), tuple("abcde"))
    assert read.count("a") == 2
    for name in "bcd":
        assert refused(lambda name=name: read.count(name))[0] == name
    assert read.fraction("e") == 0.5
    assert refused(lambda: read.fraction("b"))[0] == "b"


def test_null_is_not_absent() -> None:
    read = DraftObject({"a": None}, (), ("a",))
    for getter in (read.text, read.id, read.time_us, read.count, read.fraction, read.texts, read.flag):
        assert refused(lambda getter=getter: getter("a"))[0] == "a"


def test_parts_name_the_place_inside() -> None:
    actor = {"actor_id": "actor:a", "actor_kind": "agent"}
    assert refused(lambda: actor_of(actor | {"attestation": {"issued_at": "now"}})) == (
        "attestation.issued_at",
        "must be an RFC 3339 date-time with a zone",
    )
    assert refused(lambda: actor_of(actor | {"attestation": {"capabilities_declared": ["a", "a"]}}))[0] == (
        "attestation.capabilities_declared"
    )
    assert refused(lambda: signals_of({"staleness_score": 2}))[0] == "staleness_score"
    assert refused(lambda: integrity_of({"colour": "red"})) == ("", "has a key that the draft does not define")
    provenance = {"provenance_id": "prov:1", "actor": actor, "activity": "", "recorded_at": "1970-01-01T00:00:00Z"}
    assert refused(lambda: provenance_of(provenance)) == ("activity", "must not be empty")
