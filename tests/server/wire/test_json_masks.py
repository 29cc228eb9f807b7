"""Masks over JSON texts: against a plain reading of RFC 6901 over parsed values, and the bytes that stay."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.wire.json_masks import is_pointer, mask_json
from server.wire.json_text import JsonValue
from tests.server.wire.json_documents import documents, places_of, pointer_of, without


@given(st.data())
def test_masks_take_what_pointers_name_and_nothing_else(data: st.DataObject) -> None:
    document = data.draw(documents())
    places = places_of(document)
    chosen = data.draw(st.lists(st.sampled_from(places), max_size=4, unique=True))
    absent = data.draw(st.lists(st.text(max_size=3).map(lambda key: (*places[-1], key, "x")), max_size=2))
    pointers = {pointer_of(place) for place in (*chosen, *absent)}
    indent = data.draw(st.sampled_from([None, 0, 2]))
    text = json.dumps(document, ensure_ascii=data.draw(st.booleans()), indent=indent).encode()
    masked, found = mask_json(text, pointers)
    assert found == {pointer_of(place) for place in chosen}
    assert json.loads(masked) == without(document, chosen)
    assert (masked == text) or found
    assert mask_json(text, pointers) == (masked, found)
    again, _ = mask_json(masked, pointers)
    assert json.loads(again) == json.loads(masked)


@pytest.mark.parametrize(
    ("text", "pointers", "masked"),
    [
        (b' {"a" : 1.50 , "b":1e400} ', ["/a"], b'{"b":1e400}'),
        (b'{"a":{ "x": 1 },"b":[ 1.0 , 2]}', ["/b/0"], b'{"a":{ "x": 1 },"b":[null,2]}'),
        (b'{"a":{ "x": 1 },"b":[ 1.0 ]}', ["/b/1"], b'{"a":{ "x": 1 },"b":[ 1.0 ]}'),
        (b'{"a~b":1,"c/d":2,"":3}', ["/a~0b", "/c~1d"], b'{"":3}'),
        (b'{"":{"":1,"x":2}}', ["//"], b'{"":{"x":2}}'),
        (b'{"\\u0061":1,"b":2}', ["/a"], b'{"b":2}'),
        (b'"all"', [""], b"null"),
        (b'{"a":{"b":1}}', ["/a", "/a/b"], b"{}"),
        (b'[{"a":1},{"a":2}]', ["/1/a"], b'[{"a":1},{}]'),
        (b"[1,2]", ["/01", "/-", "/2", "/+1"], b"[1,2]"),
        ('{"ü":"é","b":"\u2028"}'.encode(), ["/ü"], '{"b":"\u2028"}'.encode()),
        (b'{"n":' + b"9" * 5000 + b',"m":1}', ["/m"], b'{"n":' + b"9" * 5000 + b"}"),
    ],
)
def test_bytes_that_stay(text: bytes, pointers: list[str], masked: bytes) -> None:
    assert mask_json(text, pointers)[0] == masked


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("", True),
        ("/", True),
        ("/a/b", True),
        ("/a~0~1", True),
        ("a", False),
        ("/~", False),
        ("/~2", False),
        ("#/a", False),
    ],
)
def test_pointers(text: str, right: bool) -> None:
    assert is_pointer(text) is right


def test_values_no_pointer_reaches_are_not_read_as_numbers() -> None:
    value: JsonValue = json.loads(mask_json(b'{"a":1e999,"b":[1]}', ["/b/0"])[0])
    assert isinstance(value, dict)
    number: Any = value["a"]
    assert math.isinf(number)
