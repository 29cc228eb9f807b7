"""The reference pages say what the sources say."""

import subprocess
import sys
from pathlib import Path

import pytest

from server.cli.docs import pages
from server.cli.docs_api import api_reference
from server.config import Settings

CHECKOUT = Path(__file__).parents[3]


def test_pages_are_as_generated() -> None:
    stale = [
        str(path.relative_to(CHECKOUT))
        for path, text in pages(CHECKOUT).items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"run `make docs`: {', '.join(stale)}"


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_generated_code_is_as_generated(tmp_path: Path) -> None:
    """What `make proto` would write is what stands beside the proto files, file by file and byte by byte."""
    proto = CHECKOUT / "proto"
    sources = sorted(str(path.relative_to(proto)) for path in proto.glob("remit/v1/*.proto"))
    outputs = [f"--{kind}_out={tmp_path}" for kind in ("python", "pyi", "grpc_python")]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={proto}", *outputs, *sources], check=True)
    generated = {path.name: path.read_bytes() for path in tmp_path.glob("remit/v1/*")}
    committed = {path.name: path.read_bytes() for path in proto.glob("remit/v1/*_pb2*.py*") if path.is_file()}
    assert generated.keys() == committed.keys()
    assert [name for name in generated if generated[name] != committed[name]] == [], "run `make proto`"


PROBE = """
syntax = "proto3";
package remit.v1;
import "remit/v1/access.proto";
// Answers | probes.
service ProbeService {
  // Watches.
  rpc Watch(stream WatchRequest) returns (stream WatchResponse) {
    option (access) = {level: ACCESS_LEVEL_AUTHENTICATED action: "probe.watch" mutating: true};
  }
  // Has no declaration.
  rpc Bare(BareRequest) returns (BareResponse);
}
message WatchRequest {
  // What to watch.
  repeated string names = 1 [(rules) = {required: true max_items: 3 grammar: GRAMMAR_LABEL}];
  oneof end {
    // When.
    uint32 second = 2 [(rules).maximum = 9007199254740991];
  }
}
message WatchResponse { Shared shared = 1; }
message BareRequest {}
message BareResponse {}
// Used by both.
message Shared { optional bool open = 1; }
"""


@pytest.fixture
def probe_reference(tmp_path: Path) -> str:
    folder = tmp_path / "remit" / "v1"
    folder.mkdir(parents=True)
    (folder / "access.proto").write_bytes((CHECKOUT / "proto/remit/v1/access.proto").read_bytes())
    (folder / "probe.proto").write_text(PROBE, encoding="utf-8")
    return api_reference(tmp_path)


@pytest.mark.parametrize(
    "expected",
    [
        "### ProbeService.Watch\n\nWatches.\n",
        "stream of `WatchRequest` to stream of `WatchResponse`",
        "Access: authenticated; action `probe.watch`; not delegable; changes state.",
        "| 1 | `names` | list of `string` | required; [label](#grammar); at most 3 items | What to watch. |",
        "| 2 | `second` | `uint32` | one of `end`; at most 9007199254740991 | When. |",
        "| 1 | `shared` | [Shared](#shared) |",
        "### Shared\n\nUsed by both.\n",
        "| 1 | `open` | `bool` | absent and zero differ |",
        "Access: **none declared**",
        "Request:\n\nNo fields.\n",
    ],
)
def test_the_reference_shows(probe_reference: str, expected: str) -> None:
    assert expected in probe_reference


def test_requests_and_responses_are_shown_once(probe_reference: str) -> None:
    assert "### WatchRequest" not in probe_reference
    assert probe_reference.count("What to watch.") == 1
