"""The folder of key pages: who may enter it, what is left in it, and what a changed file is worth."""

import asyncio
import fcntl
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.encryption import DeploymentKeys, IntegrityViolation
from storage.keystore import DirectoryKeyStore, KeyFolderExposed, KeyId, KeyPage, KeyStoreUnavailable

TENANT = "acme"


@pytest.fixture
async def store(tmp_path: Path, keys: DeploymentKeys) -> DirectoryKeyStore:
    store = DirectoryKeyStore(tmp_path / "keys", keys)
    await store.open()
    return store


def page_file(tmp_path: Path, page: KeyPage, tenant_id: str = TENANT) -> Path:
    return tmp_path / "keys" / tenant_id / f"{page.page_id}.page"


async def test_only_the_owner_can_read(store: DirectoryKeyStore, tmp_path: Path) -> None:
    page = await store.reserve_page(TENANT, 4)
    await store.destroy(TENANT, [KeyId(page.page_id, 0)])
    path = page_file(tmp_path, page)
    assert path.stat().st_mode & 0o7777 == 0o600
    assert path.parent.stat().st_mode & 0o7777 == 0o700
    assert path.parent.parent.stat().st_mode & 0o7777 == 0o700
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
async def test_folder_open_to_others_is_refused(mode: int, tmp_path: Path, keys: DeploymentKeys) -> None:
    folder = tmp_path / "keys"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(KeyFolderExposed, match=f"{mode:04o}"):
        await DirectoryKeyStore(folder, keys).open()


async def test_no_file_holds_a_destroyed_key(store: DirectoryKeyStore, tmp_path: Path) -> None:
    page = await store.reserve_page(TENANT, 4)
    path = page_file(tmp_path, page)
    doomed = page.wrapped()[2]
    assert doomed in path.read_bytes()
    replaced = tmp_path / "replaced"
    replaced.hardlink_to(path)
    await store.destroy(TENANT, [KeyId(page.page_id, 2)])
    assert doomed not in path.read_bytes()
    assert replaced.read_bytes() == bytes(path.stat().st_size)


async def test_what_a_killed_writer_left_is_overwritten(store: DirectoryKeyStore, tmp_path: Path) -> None:
    page = await store.reserve_page(TENANT, 4)
    path = page_file(tmp_path, page)
    draft, witness = path.with_suffix(".draft"), tmp_path / "witness"
    draft.write_bytes(path.read_bytes()[:100])
    witness.hardlink_to(draft)
    assert await store.destroy(TENANT, [KeyId(page.page_id, 1)]) == 1
    assert not draft.exists()
    assert witness.read_bytes() == bytes(100)
    assert (await store.load_page(TENANT, page.page_id)).slots() == {0, 2, 3}


async def test_failed_write_leaves_the_page(store: DirectoryKeyStore, tmp_path: Path) -> None:
    page = await store.reserve_page(TENANT, 2)
    draft = page_file(tmp_path, page).with_suffix(".draft")
    draft.mkdir()
    with pytest.raises(KeyStoreUnavailable, match="EISDIR"):
        await store.destroy(TENANT, [KeyId(page.page_id, 1)])
    assert (await store.load_page(TENANT, page.page_id)).slots() == {0, 1}
    draft.rmdir()
    assert await store.destroy(TENANT, [KeyId(page.page_id, 1)]) == 1


async def test_missing_folder_is_unavailable_for_writing(tmp_path: Path, keys: DeploymentKeys) -> None:
    store = DirectoryKeyStore(tmp_path / "absent" / "keys", keys)
    with pytest.raises(KeyStoreUnavailable, match="ENOENT"):
        await store.open()
    with pytest.raises(KeyStoreUnavailable, match="ENOENT"):
        await store.reserve_page(TENANT, 1)


async def test_waiting_for_another_process_does_not_block_the_loop(store: DirectoryKeyStore, tmp_path: Path) -> None:
    page, other = await store.reserve_page(TENANT, 2), await store.reserve_page(TENANT, 2)
    descriptor = os.open(page_file(tmp_path, page), os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    waiting = asyncio.create_task(store.destroy(TENANT, [KeyId(page.page_id, 0)]))
    assert await store.destroy(TENANT, [KeyId(other.page_id, 0)]) == 1
    assert not waiting.done()
    os.close(descriptor)
    assert await waiting == 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(min_value=0), change=st.integers(1, 255))
def test_changed_byte_gives_a_refusal_and_never_another_key(
    tmp_path: Path, keys: DeploymentKeys, place: int, change: int
) -> None:
    async def run() -> None:
        store = DirectoryKeyStore(tmp_path / "keys", keys)
        await store.open()
        page = await store.reserve_page(TENANT, 3)
        await store.destroy(TENANT, [KeyId(page.page_id, 1)])
        path = page_file(tmp_path, page)
        data = bytearray(path.read_bytes())
        data[place % len(data)] ^= change
        path.write_bytes(data)
        refused = 0
        try:
            loaded = await store.load_page(TENANT, page.page_id)
        except IntegrityViolation:
            return
        for slot in range(3):
            try:
                key = loaded.key(slot)
            except IntegrityViolation:
                refused += 1
            else:
                assert key is None or (key == page.key(slot) and slot != 1)
        assert refused <= 1

    asyncio.run(run())


async def test_moved_files_and_slots_are_refused(store: DirectoryKeyStore, tmp_path: Path) -> None:
    page, other = await store.reserve_page(TENANT, 3), await store.reserve_page(TENANT, 3)
    foreign = await store.reserve_page("other", 3)
    original = page_file(tmp_path, page).read_bytes()

    page_file(tmp_path, other).write_bytes(original)
    with pytest.raises(IntegrityViolation, match="FORMAT"):
        await store.load_page(TENANT, other.page_id)

    page_file(tmp_path, page, "other").write_bytes(original)
    moved = await store.load_page("other", page.page_id)
    with pytest.raises(IntegrityViolation, match="WRAPPED_KEY"):
        moved.key(0)

    header = len(original) - 3 * 49
    page_file(tmp_path, page).write_bytes(original[:header] + original[header + 49 :] + original[header : header + 49])
    swapped = await store.load_page(TENANT, page.page_id)
    for slot in range(3):
        with pytest.raises(IntegrityViolation, match="WRAPPED_KEY"):
            swapped.key(slot)

    page_file(tmp_path, foreign, "other").write_bytes(original[:-1])
    with pytest.raises(IntegrityViolation, match="FORMAT"):
        await store.load_page("other", foreign.page_id)


async def test_wrapped_keys_differ_from_keys(store: DirectoryKeyStore, tmp_path: Path) -> None:
    page = await store.reserve_page(TENANT, 4)
    data = page_file(tmp_path, page).read_bytes()
    for slot in page.slots():
        key = page.key(slot)
        assert key is not None
        assert key not in data
        assert key.hex() not in repr(page)
