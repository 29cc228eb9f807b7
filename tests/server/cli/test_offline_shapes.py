"""Shapes of JSON texts: what matches one, and when one is learnt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from server.cli.offline_shapes import Match, Path, Place, Shapes

VALUE = {"fixed": "f", "id": "a", "list": ["b", {"none": None}], "number": 1, "part": 0.5, "truth": True}
WANTED: frozenset[Path] = frozenset((("id",), ("number",), ("list", 0), ("absent",)))


def make(match: Match, places: Mapping[Path, Place], _value: Any) -> tuple[Match, dict[Path, int]]:
    return match, {path: place.group for path, place in places.items()}


def shapes() -> Shapes[tuple[Match, dict[Path, int]]]:
    return Shapes(WANTED, frozenset((("fixed",),)), lambda _value, places: r"\n" + places["id",].again, make)


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def learnt() -> tuple[Match, dict[Path, int]]:
    known = shapes()
    for _ in range(Shapes.LEARNT_WHEN_SEEN):
        assert known.groups == {}
        known.learn("name", compact(VALUE), VALUE)
    [shape] = known.groups["name"]
    return shape


def test_a_text_of_the_shape_yields_what_is_wanted() -> None:
    match, groups = learnt()
    text = compact({**VALUE, "id": "other", "list": ["c", {"none": None}], "number": -250, "part": -1.5e3})
    found = match(f'{text}\n"other"')
    assert found is not None
    assert {path: found[group] for path, group in groups.items()} == {
        ("id",): "other",
        ("list", 0): "c",
        ("number",): "-250",
    }


@pytest.mark.parametrize(
    "text",
    [
        compact({**VALUE, "fixed": "g"}),
        compact({**VALUE, "number": "1"}),
        compact({**VALUE, "number": 1.0}),
        compact({**VALUE, "number": 10**18}),
        compact({**VALUE, "truth": False}),
        compact({**VALUE, "list": ["b", {"none": None}, 1]}),
        compact({**VALUE, "list": ["b"]}),
        compact({**VALUE, "more": 1}),
        compact(dict(reversed(VALUE.items()))),
        compact({**VALUE, "id": "é"}),
        json.dumps(VALUE),
        compact(VALUE).replace('"number":1', '"number":-0'),
        compact(VALUE).replace('"number":1', '"number":01'),
        compact(VALUE).replace('"a"', '"\x7f"'),
        compact(VALUE).replace('"a"', '"\n"'),
        compact(VALUE).replace('"a"', '"é"'),
        compact(VALUE).replace('"a"', '"\\u0061"'),
    ],
)
def test_any_other_text_does_not_match(text: str) -> None:
    match, _ = learnt()
    [id_text] = re.findall('"id":("[^"]*")', text.replace(": ", ":"))
    assert match(f'{compact(VALUE)}\n"a"')
    assert match(f"{text}\n{id_text}") is None


def test_what_stands_behind_must_agree() -> None:
    match, _ = learnt()
    assert match(f'{compact(VALUE)}\n"b"') is None
    assert match(f'{compact(VALUE)}\n"a" ') is None
    assert match(compact(VALUE)) is None


def test_texts_that_are_long_or_deep_or_not_ascii_are_not_learnt() -> None:
    known = shapes()
    deep: Any = 1
    for _ in range(2000):
        deep = [deep]
    for value in ({"id": "a" * 5000}, {"id": "é"}, {"id": "a", "deep": deep}):
        text = '{"id":"é"}' if value == {"id": "é"} else compact({**value, "deep": 1})
        for _ in range(Shapes.LEARNT_WHEN_SEEN):
            known.learn("name", text, value)
    assert known.groups == {}


def test_learning_ends() -> None:
    known = shapes()
    for number in range(Shapes.FORMS_MAX + 5):
        for _ in range(Shapes.LEARNT_WHEN_SEEN):
            known.learn("name", "text", {"id": "a", f"key{number}": 1})
    assert len(known.groups["name"]) == Shapes.FORMS_MAX
