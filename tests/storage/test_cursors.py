"""A cursor opens unchanged, for the listing it came from, and for nothing else."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.cursors import Cursor, CursorBinding, CursorCodec, InvalidCursor
from storage.encryption import DeploymentKeys

CODEC = CursorCodec(DeploymentKeys(bytes(range(32))))
TEXT = st.text(max_size=20)
BINDINGS = st.builds(
    CursorBinding,
    tenant_id=TEXT.filter(str.isascii),
    scope_id=TEXT.filter(str.isascii),
    actor_id=TEXT.filter(str.isascii),
    delegation_id=st.none() | st.just("urn:uuid:1"),
    rpc=st.sampled_from(["/remit.v1.MemoryService/Query", "/remit.v1.LedgerService/ListEvents"]),
    filters_digest=st.binary(max_size=32),
    epoch=st.integers(0, 5),
)
KEYS = st.lists(st.none() | TEXT | st.integers(-(2**63), 2**63 - 1), max_size=5).map(tuple)
BINDING = CursorBinding("acme", "s:1", "actor:a", None, "/remit.v1.MemoryService/Query", bytes(32), 1)


@given(BINDINGS, st.integers(0, 2**63 - 1), KEYS)
def test_cursor_opens_with_its_binding(
    binding: CursorBinding, sequence: int, last_key: tuple[str | int | None, ...]
) -> None:
    cursor = Cursor(binding, sequence, last_key)
    text = CODEC.seal(cursor)
    assert CODEC.open(text, binding) == cursor
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)


@given(BINDINGS, BINDINGS)
def test_cursor_of_another_binding_is_refused(binding: CursorBinding, other: CursorBinding) -> None:
    text = CODEC.seal(Cursor(binding, 1, ("a",)))
    for field in dataclasses.fields(CursorBinding):
        changed = dataclasses.replace(binding, **{field.name: getattr(other, field.name)})
        if changed != binding:
            with pytest.raises(InvalidCursor):
                CODEC.open(text, changed)


def test_bytes_do_not_move_between_neighbouring_fields() -> None:
    text = CODEC.seal(Cursor(BINDING, 1, ()))
    with pytest.raises(InvalidCursor):
        CODEC.open(text, dataclasses.replace(BINDING, tenant_id="acmes", scope_id=":1"))


@given(st.integers(min_value=0), st.characters(codec="ascii"))
def test_any_changed_character_is_refused(place: int, character: str) -> None:
    text = CODEC.seal(Cursor(BINDING, 7, ("2026", "mem:1")))
    place %= len(text)
    changed = text[:place] + character + text[place + 1 :]
    if changed == text:
        return
    with pytest.raises(InvalidCursor):
        CODEC.open(changed, BINDING)


@given(st.integers(min_value=0))
def test_any_cut_is_refused(length: int) -> None:
    text = CODEC.seal(Cursor(BINDING, 7, ("2026", "mem:1")))
    with pytest.raises(InvalidCursor):
        CODEC.open(text[: length % len(text)], BINDING)


@given(st.text(max_size=200) | st.text(st.sampled_from("AZaz09-_="), max_size=200))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        CODEC.open(text, BINDING)


def test_cursor_of_another_deployment_is_refused() -> None:
    text = CursorCodec(DeploymentKeys(bytes(32))).seal(Cursor(BINDING, 1, ()))
    with pytest.raises(InvalidCursor):
        CODEC.open(text, BINDING)


def test_padding_and_unused_bits_make_another_text() -> None:
    text = CODEC.seal(Cursor(BINDING, 7, ("mem:12",)))
    for variant in (text + "=", text + "==", text + "\n", " " + text):
        with pytest.raises(InvalidCursor):
            CODEC.open(variant, BINDING)


def test_cursor_hides_the_last_key() -> None:
    assert "secret" not in CODEC.seal(Cursor(BINDING, 7, ("secret",)))
    assert CODEC.seal(Cursor(BINDING, 7, ())) != CODEC.seal(Cursor(BINDING, 7, ()))


def test_length_is_bounded() -> None:
    longest = ("x" * 256,) * 8
    assert len(CODEC.seal(Cursor(BINDING, 2**63 - 1, longest))) <= 4096
    with pytest.raises(ValueError, match="does not fit"):
        CODEC.seal(Cursor(BINDING, 1, ("x" * 4096,)))
    with pytest.raises(InvalidCursor):
        CODEC.open("A" * 4097, BINDING)
