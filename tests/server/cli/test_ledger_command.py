"""`remit ledger verify` as an operator meets it, and the file that an export is."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from server.cli.ledger import ledger, write_export
from storage.ledger_export import export_lines
from tests.storage.synthetic_ledger import Ledger, whole_ledger


def write(ledger_: Ledger, file: Path) -> Path:
    lines = export_lines(ledger_.identity, **ledger_.tables(), head=ledger_.head)
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return file


def verify(file: Path, *options: str) -> Result:
    return CliRunner().invoke(ledger, ["verify", str(file), *options])


def test_a_sound_export_exits_with_0_and_names_its_head(tmp_path: Path) -> None:
    sound = whole_ledger()
    result = verify(write(sound, tmp_path / "export"))
    assert result.exit_code == 0
    assert "The ledger verifies." in result.stdout
    assert f"head: sequence 26, chain hash {sound.head.chain_hash.hex()}" in result.stdout


def test_an_edited_export_exits_with_1_and_names_the_place(tmp_path: Path) -> None:
    edited = whole_ledger()
    edited.rewrite(14, purpose="audit")
    result = verify(write(edited, tmp_path / "export"))
    assert result.exit_code == 1
    assert "BODY_CHANGED" in result.stdout
    report = json.loads(verify(tmp_path / "export", "--json").stdout)
    assert (report["ok"], report["finding_count"], report["findings"][0]["sequence"]) == (False, 1, 14)


@pytest.mark.parametrize("options", [(), ("--chain-only",)])
def test_jobs_change_nothing_in_the_report(tmp_path: Path, options: tuple[str, ...]) -> None:
    edited = whole_ledger()
    edited.rewrite(14, purpose="audit")
    file = write(edited, tmp_path / "export")
    assert verify(file, "--jobs", "2", *options).stdout == verify(file, "--jobs", "1", *options).stdout
    assert verify(file, "--jobs", "0").exit_code == 2


def test_a_known_place_is_compared(tmp_path: Path) -> None:
    sound = whole_ledger()
    file = write(sound, tmp_path / "export")
    hash_at_5 = sound.events[4].chain_hash.hex()
    assert verify(file, "--known-sequence", "5", "--known-hash", hash_at_5).exit_code == 0
    assert "KNOWN_PLACE_CHANGED" in verify(file, "--known-sequence", "6", "--known-hash", hash_at_5).stdout
    assert "KNOWN_PLACE_MISSING" in verify(file, "--known-sequence", "60", "--known-hash", hash_at_5).stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--known-sequence", "5"),
        ("--known-hash", "00" * 32),
        ("--known-sequence", "5", "--known-hash", "00"),
        ("--known-sequence", "5", "--known-hash", "zz" * 32),
        ("--known-sequence", "-1", "--known-hash", "00" * 32),
    ],
)
def test_a_command_that_is_not_understood_exits_with_2(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert verify(write(whole_ledger(), tmp_path / "export"), *options).exit_code == 2


def test_a_missing_file_exits_with_2(tmp_path: Path) -> None:
    assert verify(tmp_path / "none").exit_code == 2


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"{}\n", b'{"kind":"header","format":"other/1"}\n'])
def test_a_file_that_is_no_export_is_found_not_to_verify(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "export").write_bytes(content)
    assert verify(tmp_path / "export").exit_code == 1


@pytest.mark.parametrize("kept", [1, 10, -1])
def test_an_export_without_its_end_is_truncated(tmp_path: Path, kept: int) -> None:
    file = write(whole_ledger(), tmp_path / "export")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:kept]))
    assert "TRUNCATED_EXPORT" in verify(file).stdout


def test_no_control_character_of_a_file_reaches_the_terminal(tmp_path: Path) -> None:
    edited = whole_ledger()
    del edited.rules[1]
    file = write(edited, tmp_path / "export")
    hostile = '{"kind":"binding","actor_id":"\\u001b[2J[red]","role_id":"\\ud800"}'
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:-1], hostile, lines[-1]]))
    result = verify(file)
    assert result.exit_code == 1
    assert "\x1b[2J" not in result.stdout
    assert "\\x1b[2J[red]" in result.stdout


def test_an_export_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    async def lines(fail: bool) -> AsyncIterator[str]:
        yield "one"
        assert "export" not in os.listdir(tmp_path)
        if fail:
            raise RuntimeError
        yield "two"

    with pytest.raises(RuntimeError):
        asyncio.run(write_export(lines(True), tmp_path / "export"))
    assert list(tmp_path.iterdir()) == []
    assert asyncio.run(write_export(lines(False), tmp_path / "export")) == 2
    assert (tmp_path / "export").read_text() == "one\ntwo\n"
    assert [file.name for file in tmp_path.iterdir()] == ["export"]
    assert (tmp_path / "export").stat().st_mode & 0o077 == 0
