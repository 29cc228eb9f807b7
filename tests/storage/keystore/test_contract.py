"""What every key store promises, shown on each of them (memory.md, Encrypted parts)."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.encryption import DeploymentKeys, IntegrityViolation
from storage.keystore import KeyId, KeyPage, KeyStore

MakeStore = Callable[[DeploymentKeys], KeyStore]
KEK = bytes(range(32))


def all_keys(page: KeyPage) -> dict[int, bytes | None]:
    return {slot: page.key(slot) for slot in sorted(page.slots())}


async def test_reserved_page_is_found_by_another_store(store: KeyStore, make_store: MakeStore, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 16)
    made = all_keys(page)
    assert set(made) == set(range(16))
    assert len(set(made.values())) == 16
    assert {len(key) for key in made.values() if key is not None} == {32}
    other = make_store(DeploymentKeys(KEK))
    await other.open()
    try:
        assert all_keys(await other.load_page(tenant_id, page.page_id)) == made
    finally:
        await other.close()


async def test_pages_differ(store: KeyStore, tenant_id: str) -> None:
    pages = await asyncio.gather(*(store.reserve_page(tenant_id, 8) for _ in range(6)))
    assert len({page.page_id for page in pages}) == 6
    assert len({key for page in pages for key in all_keys(page).values()}) == 48


async def test_destroyed_keys_are_gone_and_the_others_stay(store: KeyStore, tenant_id: str) -> None:
    one, other = await store.reserve_page(tenant_id, 8), await store.reserve_page(tenant_id, 8)
    doomed = [KeyId(one.page_id, 3), KeyId(other.page_id, 0), KeyId(one.page_id, 7)]
    assert await store.destroy(tenant_id, doomed) == 3
    kept_of_one = {slot: key for slot, key in all_keys(one).items() if slot not in (3, 7)}
    assert all_keys(await store.load_page(tenant_id, one.page_id)) == kept_of_one
    loaded = await store.load_page(tenant_id, other.page_id)
    assert loaded.key(0) is None
    assert loaded.size == 8
    assert loaded.slots() == frozenset(range(1, 8))


async def test_destroying_again_destroys_nothing(store: KeyStore, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 4)
    key_id = KeyId(page.page_id, 1)
    assert await store.destroy(tenant_id, [key_id, key_id]) == 1
    assert await store.destroy(tenant_id, [key_id]) == 0
    assert await store.destroy(tenant_id, [key_id, KeyId(page.page_id, 2), KeyId(page.page_id, 99)]) == 1
    assert await store.destroy(tenant_id, []) == 0
    assert (await store.load_page(tenant_id, page.page_id)).slots() == {0, 3}


async def test_emptied_page_stays_known(store: KeyStore, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 3)
    assert await store.destroy(tenant_id, [KeyId(page.page_id, slot) for slot in range(3)]) == 3
    assert (await store.load_page(tenant_id, page.page_id)).slots() == frozenset()


async def test_page_of_another_tenant_is_unknown(store: KeyStore, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 3)
    await store.reserve_page(tenant_id + "-b", 3)
    with pytest.raises(IntegrityViolation) as loaded:
        await store.load_page(tenant_id + "-b", page.page_id)
    with pytest.raises(IntegrityViolation) as destroyed:
        await store.destroy(tenant_id + "-b", [KeyId(page.page_id, 0)])
    for caught in (loaded, destroyed):
        assert (caught.value.place, caught.value.kind) == ("key_store", "PAGE_UNKNOWN")
    assert (await store.load_page(tenant_id, page.page_id)).slots() == {0, 1, 2}


async def test_unknown_page_is_reported_after_the_others_are_destroyed(store: KeyStore, tenant_id: str) -> None:
    pages = [await store.reserve_page(tenant_id, 2) for _ in range(2)]
    unknown = [KeyId(UUID(int=0), 0), KeyId(UUID(int=2**128 - 1), 0)]
    with pytest.raises(IntegrityViolation):
        await store.destroy(tenant_id, unknown + [KeyId(page.page_id, 0) for page in pages])
    for page in pages:
        assert (await store.load_page(tenant_id, page.page_id)).slots() == {1}
    with pytest.raises(IntegrityViolation):
        await store.load_page(tenant_id, uuid4())


async def test_another_key_encryption_key_opens_nothing(store: KeyStore, make_store: MakeStore, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 3)
    other = make_store(DeploymentKeys(bytes(32)))
    await other.open()
    try:
        with pytest.raises(IntegrityViolation) as caught:
            await other.load_page(tenant_id, page.page_id)
    finally:
        await other.close()
    assert caught.value.kind == "KEY_ID"


@pytest.mark.parametrize("tenant", ["", "..", "../x", "a/b", "Acme", "a\n", "a" * 64])
async def test_only_tenant_ids_name_tenants(store: KeyStore, tenant: str) -> None:
    for call in (
        store.reserve_page(tenant, 1),
        store.load_page(tenant, UUID(int=0)),
        store.destroy(tenant, [KeyId(UUID(int=0), 0)]),
    ):
        with pytest.raises(ValueError, match="tenant"):
            await call


@pytest.mark.parametrize("size", [0, -1, 4097])
async def test_page_size_is_bounded(store: KeyStore, tenant_id: str, size: int) -> None:
    with pytest.raises(ValueError, match="page"):
        await store.reserve_page(tenant_id, size)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), max_size=6), max_size=6))
def test_any_order_of_destruction_leaves_exactly_the_rest(
    make_store: MakeStore, tenant_id: str, batches: list[list[tuple[int, int]]]
) -> None:
    async def run() -> None:
        store = make_store(DeploymentKeys(KEK))
        await store.open()
        pages = [await store.reserve_page(tenant_id, 7) for _ in range(2)]
        left = {(index, slot): page.key(slot) for index, page in enumerate(pages) for slot in range(7)}
        for batch in batches:
            expected = sum(1 for item in set(batch) if left.pop(item, None) is not None)
            assert await store.destroy(tenant_id, [KeyId(pages[i].page_id, slot) for i, slot in batch]) == expected
        loaded = [await store.load_page(tenant_id, page.page_id) for page in pages]
        assert {(i, slot): page.key(slot) for i, page in enumerate(loaded) for slot in page.slots()} == left
        await store.close()

    asyncio.run(run())


def start(place: str, tenant_id: str, **task: Any) -> "subprocess.Popen[str]":
    """A process with its store open, waiting to be let go."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("key_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"kek": KEK.hex(), "place": place, "tenant_id": tenant_id, **task}) + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "ready\n"
    return process


def release(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


async def test_processes_destroy_each_key_once(store: KeyStore, place: str, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 48)
    made = all_keys(page)
    slots = list(range(40))
    tasks = [slots, slots[::-1], slots[20:] + slots[:20]]
    processes = [
        start(place, tenant_id, destroy=[[str(page.page_id), slot] for slot in order], reserve=3) for order in tasks
    ]
    for process in processes:
        release(process)
    lines = [line.split() for process in processes for line in process.communicate()[0].splitlines()]
    assert [process.returncode for process in processes] == [0, 0, 0]
    reserved = {line[0] for line in lines if len(line) == 1}
    assert len(reserved) == 9
    counts = [int(line[2]) for line in lines if len(line) == 3]
    assert (len(counts), sum(counts)) == (120, 40)
    loaded = await store.load_page(tenant_id, page.page_id)
    assert all_keys(loaded) == {slot: key for slot, key in made.items() if slot >= 40}
    for page_id in reserved:
        assert len((await store.load_page(tenant_id, UUID(page_id))).slots()) == 4


@pytest.mark.parametrize("acknowledged", [0, 1, 2, 5, 11])
async def test_killed_destruction_keeps_what_it_promised(
    store: KeyStore, place: str, tenant_id: str, acknowledged: int
) -> None:
    page = await store.reserve_page(tenant_id, 64)
    made = all_keys(page)
    process = start(place, tenant_id, destroy=[[str(page.page_id), slot] for slot in range(60)])
    release(process)
    assert process.stdout is not None
    done = [process.stdout.readline() for _ in range(acknowledged)]
    process.send_signal(signal.SIGKILL)
    # Not communicate(): it would pass over what readline() has read ahead.
    done += process.stdout.read().splitlines()
    process.wait()
    promised = {int(line.split()[1]) for line in done if len(line.split()) == 3}

    present = all_keys(await store.load_page(tenant_id, page.page_id))
    assert not promised & set(present)
    # At most the one under way went beyond what was promised, and what is left is intact.
    assert set(range(64)) - set(present) - promised <= {len(promised)}
    assert present == {slot: key for slot, key in made.items() if slot in present}
    # The work goes on where it was left, by whoever takes it up.
    left = [slot for slot in present if slot < 60]
    assert await store.destroy(tenant_id, [KeyId(page.page_id, slot) for slot in range(60)]) == len(left)
    assert (await store.load_page(tenant_id, page.page_id)).slots() == {60, 61, 62, 63}
