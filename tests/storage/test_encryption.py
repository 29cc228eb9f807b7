"""Parts open only unchanged and where they were sealed; keys are separate, silent and read from safe files only."""

import copy
import multiprocessing
import os
import pickle
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.encryption import DeploymentKeys, IntegrityViolation, framed, open_part, seal_part
from storage.key_file import KeyFileUnusable, create_key_file

DATA_KEYS = st.binary(min_size=32, max_size=32)
IDS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=12)
PLACES = st.fixed_dictionaries({"tenant_id": IDS, "scope_id": IDS, "object_id": IDS, "content_id": st.uuids()})
PLACE: dict[str, Any] = {"tenant_id": "acme", "scope_id": "s:1", "object_id": "o:1", "content_id": UUID(int=1)}
KEY = bytes(range(32))


@given(DATA_KEYS, st.binary(max_size=2_000), PLACES)
def test_sealed_part_opens_in_its_place(data_key: bytes, plaintext: bytes, place: dict[str, Any]) -> None:
    sealed = seal_part(data_key, plaintext, **place)
    assert open_part(data_key, sealed.ciphertext, sealed.commitment, **place) == plaintext
    assert len(sealed.ciphertext) == 12 + 32 + len(plaintext) + 16
    assert len(sealed.commitment) == 32


@given(st.binary(max_size=64), st.data())
def test_any_changed_byte_is_refused(plaintext: bytes, data: st.DataObject) -> None:
    sealed = seal_part(KEY, plaintext, **PLACE)
    row = bytearray(sealed.ciphertext + sealed.commitment + KEY)
    row[data.draw(st.integers(0, len(row) - 1))] ^= data.draw(st.integers(1, 255))
    ciphertext, commitment, key = bytes(row[:-64]), bytes(row[-64:-32]), bytes(row[-32:])
    with pytest.raises(IntegrityViolation):
        open_part(key, ciphertext, commitment, **PLACE)


@given(st.binary(max_size=64), st.integers(min_value=0))
def test_any_truncation_is_refused(plaintext: bytes, length: int) -> None:
    sealed = seal_part(KEY, plaintext, **PLACE)
    with pytest.raises(IntegrityViolation):
        open_part(KEY, sealed.ciphertext[: length % len(sealed.ciphertext)], sealed.commitment, **PLACE)


@given(PLACES, PLACES)
def test_row_moved_to_another_place_is_refused(place: dict[str, Any], other: dict[str, Any]) -> None:
    sealed = seal_part(KEY, b"content", **place)
    for key in place:
        moved = place | {key: other[key]}
        if moved == place:
            continue
        with pytest.raises(IntegrityViolation) as caught:
            open_part(KEY, sealed.ciphertext, sealed.commitment, **moved)
        assert (caught.value.place, caught.value.kind) == ("memory_contents", "CIPHERTEXT")


def test_bytes_do_not_move_between_neighbouring_fields_of_the_place() -> None:
    sealed = seal_part(KEY, b"content", **PLACE)
    with pytest.raises(IntegrityViolation):
        open_part(KEY, sealed.ciphertext, sealed.commitment, **PLACE | {"tenant_id": "acmes", "scope_id": ":1"})


def test_row_of_another_part_is_refused() -> None:
    one, other = seal_part(KEY, b"content", **PLACE), seal_part(KEY, b"content", **PLACE)
    assert one.commitment != other.commitment
    assert one.ciphertext != other.ciphertext
    with pytest.raises(IntegrityViolation):
        open_part(KEY, one.ciphertext, other.commitment, **PLACE)


def test_refusal_tells_nothing_of_the_data() -> None:
    sealed = seal_part(KEY, b"secret", **PLACE)
    with pytest.raises(IntegrityViolation) as caught:
        open_part(bytes(32), sealed.ciphertext, sealed.commitment, **PLACE)
    assert "acme" not in str(caught.value)
    assert caught.value.__cause__ is None


@given(st.lists(st.binary(max_size=8), max_size=4), st.lists(st.binary(max_size=8), max_size=4))
def test_framing_is_injective(one: list[bytes], other: list[bytes]) -> None:
    assert (framed(*one) == framed(*other)) == (one == other)


def test_purposes_have_separate_keys() -> None:
    keys = DeploymentKeys(KEY)
    page = UUID(int=0)
    framed_alike = framed(b"", page.bytes)
    made = {
        keys.mac(framed_alike),
        keys.lookup("", page.bytes, tenant_id=""),
        keys.request_digest("", page.bytes),
        keys.derive_page_key("", page),
        keys.derive_cursor_key(page.bytes),
    }
    assert len(made) == 5
    assert DeploymentKeys(KEY).mac(b"x") == keys.mac(b"x")
    assert DeploymentKeys(bytes(32)).mac(b"x") != keys.mac(b"x")


def test_mac_is_verified_under_the_named_key() -> None:
    keys, others = DeploymentKeys(KEY), DeploymentKeys(bytes(32))
    mac = keys.mac(b"core")
    keys.verify_mac(b"core", mac, key_id=keys.key_id, place="memory_versions")
    for core, given_mac, key_id, kind in (
        (b"core2", mac, keys.key_id, "MAC"),
        (b"core", mac[:-1], keys.key_id, "MAC"),
        (b"core", b"", keys.key_id, "MAC"),
        (b"core", others.mac(b"core"), keys.key_id, "MAC"),
        (b"core", mac, others.key_id, "KEY_ID"),
    ):
        with pytest.raises(IntegrityViolation) as caught:
            keys.verify_mac(core, given_mac, key_id=key_id, place="memory_versions")
        assert (caught.value.place, caught.value.kind) == ("memory_versions", kind)


def test_lookup_depends_on_tenant_field_and_value() -> None:
    keys = DeploymentKeys(KEY)
    assert keys.lookup("task_ref", "a", tenant_id="t") == keys.lookup("task_ref", b"a", tenant_id="t")
    assert keys.lookup("task_ref", "a", tenant_id="t") != keys.lookup("task_ref", "a", tenant_id="u")
    assert keys.lookup("task_ref", "a", tenant_id="t") != keys.lookup("target", "a", tenant_id="t")
    assert keys.lookup("fa", "b", tenant_id="t") != keys.lookup("f", "ab", tenant_id="t")
    assert keys.request_digest("A", b"Bc") != keys.request_digest("AB", b"c")


def test_keys_are_never_shown() -> None:
    keys = DeploymentKeys(KEY)
    for text in (repr(keys), str(keys), f"{keys}"):
        assert text == f"DeploymentKeys(key_id='{keys.key_id}')"
    assert keys.key_id not in KEY.hex()
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            leak(keys)


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_key_of_another_length_is_refused(length: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        DeploymentKeys(bytes(length))
    path = tmp_path / "key"
    path.write_bytes(bytes(length))
    path.chmod(0o600)
    with pytest.raises(KeyFileUnusable):
        DeploymentKeys.from_file(path)


def test_created_key_file_is_private_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(KeyFileUnusable):
        DeploymentKeys.from_file(path)
    made = DeploymentKeys.from_file(path, create=True)
    assert path.stat().st_mode & 0o7777 == 0o600
    assert path.stat().st_size == 32
    assert DeploymentKeys.from_file(path, create=True).key_id == made.key_id == DeploymentKeys.from_file(path).key_id
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610, 0o666])
def test_key_file_open_to_others_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "key"
    create_key_file(path, 32)
    path.chmod(mode)
    with pytest.raises(KeyFileUnusable, match=f"{mode:04o}"):
        DeploymentKeys.from_file(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_key_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    create_key_file(path, 32)
    os.chown(path, 65_534, -1)
    with pytest.raises(KeyFileUnusable, match="another user"):
        DeploymentKeys.from_file(path)


def test_key_file_must_be_a_file_that_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(KeyFileUnusable):
        DeploymentKeys.from_file(tmp_path)
    with pytest.raises(KeyFileUnusable):
        DeploymentKeys.from_file(tmp_path / "absent" / "key", create=True)


def _key_id_of(path: Path) -> str:
    return DeploymentKeys.from_file(path, create=True).key_id


def test_processes_that_create_the_key_file_at_once_agree(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert len(set(pool.map(_key_id_of, [tmp_path / "key"] * 16, chunksize=1))) == 1
