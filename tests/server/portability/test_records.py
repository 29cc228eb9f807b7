"""Bytes of records, and what their digests cover."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from server.portability.records import ExportDigest, members_of, value_bytes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=6)


@given(OBJECTS, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_members_are_the_values_in_their_own_text(
    value: dict[str, object], indent: int | str | None, ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    members = members_of(text)
    assert list(members) == list(value)
    assert {key: json.loads(member) for key, member in members.items()} == value
    assert all(member in text for member in members.values())


def test_an_integer_may_be_longer_than_python_reads() -> None:
    digits = "9" * 5000
    assert members_of(f'{{"a":[-{digits}],"b":{digits}}}') == {"a": f"[-{digits}]", "b": digits}


def digests(*records: tuple[str, bytes]) -> tuple[bytes, bytes]:
    taken = ExportDigest()
    for kind, record in records:
        taken.take(kind, record)
    assert taken.count == len(records)
    return taken.whole, taken.memory


def test_the_memory_digest_leaves_out_the_workspace_and_nothing_else() -> None:
    here, there = (value_bytes({"object_id": "mem:1", "scope_id": scope, "n": 1}) for scope in ("a:1", "a:2"))
    other = value_bytes({"object_id": "mem:1", "scope_id": "a:1", "n": 2})
    assert digests(("memory_object", here))[0] != digests(("memory_object", there))[0]
    assert digests(("memory_object", here))[1] == digests(("memory_object", there))[1]
    assert digests(("memory_object", here))[1] != digests(("memory_object", other))[1]
    # A workspace named deeper down is content.
    deep = [value_bytes({"canonical_content": {"scope_id": scope}}) for scope in ("a:1", "a:2")]
    assert digests(("memory_object", deep[0]))[1] != digests(("memory_object", deep[1]))[1]


def test_no_bytes_move_between_kinds_and_records() -> None:
    assert digests(("relationship", b'{"a":1}'))[1] != digests(("memory_object", b'{"a":1}'))[1]
    assert digests(("vector", b"{}"), ("vector", b'{"a":1}')) != digests(("vector", b'{"a":1}'), ("vector", b"{}"))


def test_history_is_in_the_whole_digest_alone() -> None:
    memory = ("memory_object", b'{"a":1}')
    with_ledger = digests(memory, ("ledger", b'{"kind":"ledger"}'))
    assert with_ledger[1] == digests(memory)[1]
    assert with_ledger[0] != digests(memory)[0]
