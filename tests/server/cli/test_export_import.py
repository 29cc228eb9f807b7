"""`remit export` and `remit import`: a workspace as a file, checked line by line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from server.cli.export_file import BadLineError, header_line, read_file, record_line, trailer_line
from tests.cluster import ADMIN, OTHER_TENANT, TENANT, Cluster, Workspace
from tests.server.operations.portability.exports import take_export
from tests.server.operations.portability.rich import ODD_CONTENT, RichWorkspace


def remit(cluster: Cluster, *arguments: str, tenant_id: str = TENANT) -> subprocess.CompletedProcess[str]:
    """Runs the command, its token on standard input."""
    place = ("--address", cluster.servers[0].address, "--token", "-")
    return subprocess.run(
        [sys.executable, "-m", "server", arguments[0], *place, *arguments[1:]],
        input=cluster.token(ADMIN, tenant_id),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def rich(cluster: Cluster) -> RichWorkspace:
    return RichWorkspace(cluster)


@pytest.fixture(scope="module")
def file(cluster: Cluster, rich: RichWorkspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export with everything."""
    written = tmp_path_factory.mktemp("exports") / "workspace.jsonl"
    options = ("--include-derived", "--include-ledger", "--include-delegations")
    done = remit(cluster, "export", "--scope", rich.workspace.scope_id, "--output", str(written), *options)
    assert done.returncode == 0, done.stderr
    assert "memory digest" in done.stdout
    return written


def test_a_workspace_travels_as_a_file(cluster: Cluster, rich: RichWorkspace, file: Path, tmp_path: Path) -> None:
    assert (file.stat().st_mode & 0o777) == 0o600
    target = Workspace(cluster, OTHER_TENANT)
    place = ("--scope", target.scope_id, "--input", str(file), "--policy-basis", "policy:test", "--remap")
    dry = remit(cluster, "import", *place, "--dry-run", "--json", tenant_id=OTHER_TENANT)
    assert dry.returncode == 0, dry.stderr
    assert json.loads(dry.stdout)["dry_run"] is True
    done = remit(cluster, "import", *place, tenant_id=OTHER_TENANT)
    assert done.returncode == 0, done.stderr
    assert "objects" in done.stdout
    assert target.read(rich.unknown.object_id).envelope.canonical_content == ODD_CONTENT
    again = tmp_path / "again.jsonl"
    done = remit(
        cluster,
        "export",
        "--scope",
        target.scope_id,
        "--output",
        str(again),
        "--include-derived",
        "--json",
        tenant_id=OTHER_TENANT,
    )
    report = json.loads(done.stdout)
    *_, trailer = read_file(file)
    assert report["memory_digest"] == trailer.trailer.memory_digest.hex()


def test_the_file_holds_the_very_bytes(rich: RichWorkspace, file: Path) -> None:
    export = take_export(rich.workspace, include_derived=True, include_delegations=True)
    found = [(item.record.kind, item.record.record) for item in read_file(file) if item.HasField("record")]
    assert found[: len(export.records)] == list(export.records)


def test_a_refused_import_says_which_record(cluster: Cluster, workspace: Workspace, file: Path, tmp_path: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(b"".join([lines[0], lines[1].replace(b"0.1.0-draft", b"0.2.0-draft"), *lines[2:]]))
    done = remit(
        cluster, "import", "--scope", workspace.scope_id, "--input", str(damaged), "--policy-basis", "x", "--remap"
    )
    assert done.returncode == 1
    assert "records[1].spec_version" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "text", "problem"),
    [
        (2, b"{", "line 2 is not JSON"),
        (2, b"[]\n", "line 2 is not a JSON object"),
        (3, b'{"kind":"memory_object"}\n', "line 3 is neither header, record nor trailer"),
        (1, b'{"kind":"memory_object","record":{}}\n', "line 1 is not the header"),
        (2, b'{"header":{}}\n', "line 2 is a header"),
        (1, b'{"header":{"format":7}}\n', "line 1 has a member that is not what it must be"),
        (1, b'{"header":{"colour":"red"}}\n', "line 1 has a member that is not what it must be"),
    ],
)
def test_a_bad_line_is_named(
    cluster: Cluster, file: Path, tmp_path: Path, line: int, text: bytes, problem: str
) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    lines[line - 1] = text
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(b"".join(lines))
    with pytest.raises(BadLineError, match=problem):
        list(read_file(damaged))
    if line == 3:
        done = remit(cluster, "import", "--scope", "workspace:x", "--input", str(damaged), "--policy-basis", "x")
        assert done.returncode == 1
        assert problem in done.stderr


def test_a_cut_file_and_one_that_goes_on(file: Path, tmp_path: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(BadLineError, match="is missing: the file is cut"):
        list(read_file(damaged))
    damaged.write_bytes(b"".join([*lines, lines[1]]))
    with pytest.raises(BadLineError, match="stands behind the trailer"):
        list(read_file(damaged))
    damaged.write_bytes(b"")
    with pytest.raises(BadLineError, match="line 1 is missing"):
        list(read_file(damaged))


def test_lines_read_back_as_they_were_written(rich: RichWorkspace, tmp_path: Path) -> None:
    export = take_export(rich.workspace, include_ledger=True)
    written = tmp_path / "written.jsonl"
    lines = [header_line(export.header), *(record_line(*record) for record in export.records)]
    written.write_bytes(b"\n".join([*lines, trailer_line(export.trailer)]) + b"\n")
    header, *records, trailer = read_file(written)
    assert header.header == export.header
    assert trailer.trailer == export.trailer
    assert [(item.record.kind, item.record.record) for item in records] == list(export.records)


def test_an_export_that_is_refused_leaves_no_file(cluster: Cluster, tmp_path: Path) -> None:
    output = tmp_path / "nothing.jsonl"
    done = remit(cluster, "export", "--scope", "workspace:absent", "--output", str(output))
    assert done.returncode == 1
    assert "NOT_FOUND" in done.stderr
    assert list(tmp_path.iterdir()) == []
