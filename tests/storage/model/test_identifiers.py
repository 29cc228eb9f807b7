"""The id grammar and the server's ids (P-8.1-26)."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.model import identifiers
from storage.model.identifiers import (
    is_actor_id,
    is_id,
    is_role_id,
    is_subject_id,
    is_tenant_id,
    new_id,
    new_uuid,
    root_scope_id,
)


def test_new_ids_are_version_7_and_rise() -> None:
    ids = [new_id() for _ in range(20_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert all(is_id(text) for text in ids[:10])
    parsed = uuid.UUID(ids[0].removeprefix("urn:uuid:"))
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)


def test_new_ids_differ_between_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: [new_uuid() for _ in range(2_000)], range(8)))
    assert len({value for values in made for value in values}) == 16_000
    assert all(values == sorted(values) for values in made)


def test_new_ids_rise_when_the_clock_steps_back(monkeypatch: pytest.MonkeyPatch) -> None:
    last = new_uuid()
    monkeypatch.setattr(identifiers.time, "time_ns", lambda: 1)
    for _ in range(5_000):
        following = new_uuid()
        assert following > last
        last = following


@pytest.mark.parametrize(
    "text", ["urn:uuid:0190", "mem:claim:001", "workspace:example", "a+b.c-d:/x", "a:" + "b" * 254]
)
def test_ids(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text",
    ["", "no colon", "nocolon", "a:", ":a", "1a:b", "a:b c", "a:b\n", "a:b\x00", "a:é", "\u0430:b", "a:" + "b" * 255],
)
def test_not_ids(text: str) -> None:
    assert not is_id(text)


def test_typed_ids() -> None:
    assert is_actor_id("actor:role:x")
    assert not is_actor_id("role:x")
    assert not is_actor_id("Actor:x")
    assert is_role_id("role:owner")
    assert not is_role_id("role:owner\n")
    assert is_subject_id("role:owner")
    assert not is_subject_id("agent:x")
    assert is_tenant_id("acme-1")
    assert not is_tenant_id("Acme")
    assert not is_tenant_id("acme\n")
    assert not is_tenant_id("a" * 64)
    assert is_id(root_scope_id("a" * 63))
