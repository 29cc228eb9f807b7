"""`remit demo`, end to end, as a process of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from server.demo.input import SAMPLE
from tests.conftest import reachable_folder

SECONDS_MAX = 300
DEMO = [sys.executable, "-m", "server", "demo"]
# A class and a port of nobody's: a demonstration keeps to its own.
FOREIGN = {"REMIT_DATABASE_URL": "postgresql://nowhere.invalid/x", "REMIT_LISTEN": "0.0.0.0:1"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | FOREIGN
    return subprocess.run(
        [*DEMO, *arguments], env=environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )


def refused(account: dict[str, Any]) -> set[str]:
    return {line["outcome"] for act in account["acts"] for line in act["lines"]} - {"done"}


def mentioning(text: str) -> Sequence[str]:
    """The processes whose environment or command line holds a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in told:
            found.append(folder.name)
    return found


def test_every_outcome_is_the_expected_one() -> None:
    ran = run("--json")
    assert ran.returncode == 0, ran.stderr[-4000:]
    account = json.loads(ran.stdout)
    assert account["ok"]
    assert account["unexpected"] == []
    assert refused(account) == {
        "access_denied NO_RULE",
        "access_denied ACTOR_MISMATCH",
        "access_denied DELEGATION_NOT_EFFECTIVE",
        "access_denied OBJECT_NOT_GRANTED",
        "access_denied OBJECT_TYPE_NOT_GRANTED",
        "access_denied OPERATION_NOT_GRANTED",
        "access_denied USAGE_LIMIT_EXHAUSTED",
        "embedding_space_mismatch",
        "invalid_state_transition",
        "policy_denied",
        "scope_not_found",
        "unauthenticated",
        "version_conflict",
    }
    assert [grant["standing"].get("ineffective_reason") for grant in account["grants"]] == [
        "USAGE_LIMIT_EXHAUSTED",
        "REVOKED",
        "NOT_YET_VALID",
        "REVOKED",
        "GRANTOR_LOST_AUTHORITY",
    ]
    assert "All" in ran.stderr


def test_the_stranger_tries_every_method_that_addresses_a_workspace() -> None:
    from remit.v1 import access_pb2
    from server.demo.account import Account
    from server.demo.actor import CONTRACT
    from server.demo.acts.attempts import attempts
    from server.demo.input import read_input
    from server.demo.play import Play

    play = Play.__new__(Play)
    play.account, play.input, play.versions = Account(print, print), read_input(SAMPLE), {}
    tried = {f"{service}/{method}" for service, methods in attempts(play, "e:1").items() for method in methods}
    declared = {
        f"{service.name}/{method.name}"
        for module in CONTRACT
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if method.GetOptions().Extensions[access_pb2.access].level == access_pb2.ACCESS_LEVEL_AUTHORIZED
    }
    assert tried == declared


def test_a_kept_data_directory_serves_again() -> None:
    folder = reachable_folder("remit-demo-test-")
    try:
        for _ in range(2):
            ran = run("--data-dir", str(folder))
            assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
        assert mentioning(str(folder)) == []
    finally:
        shutil.rmtree(folder)


def test_the_shared_input_plays(shared_dir: Path) -> None:
    ran = run("--input", str(shared_dir / "data"), "--json")
    assert ran.returncode == 0, ran.stderr[-4000:]
    told = json.loads(ran.stdout)["acts"][1]
    assert sum(line["times"] for line in told["lines"] if line["what"].startswith("creates")) == 3494
    assert '479 calls: their tool_name is "unrecorded"' in told["introduction"]


def test_malformed_input_is_refused_before_anything_starts(tmp_path: Path) -> None:
    folder = shutil.copytree(SAMPLE, tmp_path / "input")
    (folder / "orders.json").write_text('{\n"a": 5}')
    data_dir = tmp_path / "data"
    ran = run("--input", str(folder), "--data-dir", str(data_dir))
    assert ran.returncode == 2
    assert ran.stderr == f"remit: {folder}/orders.json:2: the entry 'a' is not a JSON object\n"
    assert not data_dir.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_behind(number: signal.Signals) -> None:
    folder = reachable_folder("remit-demo-test-")
    try:
        process = subprocess.Popen(
            [*DEMO, "--data-dir", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        while "Who plays" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(number)
        _, told = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 130, told
        assert mentioning(str(folder)) == []
    finally:
        shutil.rmtree(folder)
