"""The input is read and judged whole; what is malformed is refused with its place."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from server.demo.input import SAMPLE, MalformedInput, read_input


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped input, to be spoilt."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "input"))


def refusal(folder: Path) -> MalformedInput:
    with pytest.raises(MalformedInput) as caught:
        read_input(folder)
    return caught.value


def with_conversation(folder: Path, **document: Any) -> Path:
    path = folder / "conversations.jsonl"
    path.write_text(json.dumps({"messages_display": "user: hi"} | document) + "\n")
    return path


def test_the_shipped_input_loads() -> None:
    data = read_input(SAMPLE)
    counts = Counter(record.object_type for record in data.records)
    assert counts == {"entity": 9, "observation": 23, "tool_invocation": 6, "tool_result": 6}
    assert (data.conversations, data.unrecorded_tools, data.unread) == (4, 2, [])
    assert data.orders[0].customer_object_id == "customer:ada_okafor_11"


def test_tool_calls_have_the_name_that_the_transcript_holds_or_none(folder: Path) -> None:
    with_conversation(folder, messages_display="assistant: None\ntool: 5\nassistant: None\ntool: Error: no")
    by_type = {record.object_id: json.loads(record.content) for record in read_input(folder).records}
    assert by_type["tool-call:conversations/1/2"] == {"tool_name": "unrecorded", "arguments": None}
    assert by_type["tool-result:conversations/1/2"] == {
        "invocation_object_id": "tool-call:conversations/1/2",
        "outcome": "success",
        "result": 5,
    }
    assert by_type["tool-result:conversations/1/4"]["outcome"] == "error"
    with_conversation(folder, messages_display="tool: 5", tool_calls=[{"name": "add", "arguments": {"a": 2}}])
    by_type = {record.object_id: json.loads(record.content) for record in read_input(folder).records}
    assert by_type["tool-call:conversations/1/1"] == {"tool_name": "add", "arguments": {"a": 2}}


def test_the_shared_input_loads_whole(shared_dir: Path) -> None:
    data = read_input(shared_dir / "data")
    assert (data.conversations, len(data.customers), len(data.orders)) == (69, 500, 1000)
    assert data.unrecorded_tools == 479
    assert all(order.customer_object_id for order in data.orders)
    assert [path.name for path in data.unread] == ["LICENSE"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is no JSON"),
        ("[]", "messages_display"),
        ('{"messages_display": 5}', "messages_display"),
        ('{"messages_display": "nobody speaks"}', "does not begin with a message"),
        ('{"messages_display": "user: a", "messages_display": "user: b"}', "twice"),
        ('{"messages_display": "user: a"} x', "goes on after"),
        ('{"messages_display": "user: a", "n": NaN}', "NaN"),
        ('{"messages_display": "user: a", "conversation_id": 5}', "conversation_id"),
        ('{"messages_display": "tool: a", "tool_calls": []}', "tool_calls"),
        ('{"messages_display": "tool: a", "tool_calls": [{"name": ""}]}', "tool_calls"),
        ('{"messages_display": "user: \\ud800"}', "surrogate"),
        ('{"messages_display": "user: \\u0000"}', "NUL"),
        ("[" * 100_000, "nested deeper"),
    ],
)
def test_a_malformed_conversation_is_refused_with_its_line(folder: Path, line: str, problem: str) -> None:
    path = folder / "conversations.jsonl"
    with path.open("a") as file:
        file.write("\n" + line + "\n")
    error = refusal(folder)
    assert (error.path, error.line) == (path, 6)
    assert problem in error.problem
    assert str(error).startswith(f"{path}:6: ")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "is not a JSON object"),
        ("[]", 1, "is not a JSON object"),
        ('{\n"a": {},\n"b": 5\n}', 3, "the entry 'b' is not a JSON object"),
        ('{\n"a": {},\n"a": {}\n}', 3, "twice"),
        ('{\n"a": {},\n"b": {"c": 1, "c": 2}\n}', 3, "twice"),
        ('{\n"a": {}\n"b": {}\n}', 3, "neither"),
        ('{\n"a": {},\n}', 3, "has no key"),
        ('{\n"a" {}\n}', 2, "has no `:`"),
        ('{\n"a": {"b": }\n}', 2, "is no JSON"),
        ('{\n"a": {}\n}\n}', 4, "goes on after"),
        ('{\n"": {}\n}', 2, "empty id"),
        ('{\n"a": {"n": 1e999}\n}', 2, "too large"),
        ('{\n"a": {"n": Infinity}\n}', 2, "Infinity"),
        ('{\n"a": {"n": "\\udfff"}\n}', 2, "surrogate"),
        ('{\n"a": {"n": "\\u0000"}\n}', 2, "NUL"),
        ('{\n"a": {"n": "' + "x" * (1 << 20) + '"}\n}', 2, "larger than"),
        ('{\n"a": ' + '{"n":' * 70 + "1" + "}" * 70 + "\n}", 2, "nested deeper"),
    ],
)
def test_a_malformed_order_is_refused_with_its_line(folder: Path, text: str, line: int, problem: str) -> None:
    path = folder / "orders.json"
    path.write_text(text)
    error = refusal(folder)
    assert (error.path, error.line) == (path, line)
    assert problem in error.problem


def test_a_backslash_before_u0000_is_no_nul(folder: Path) -> None:
    with_conversation(folder, messages_display="user: \\u0000")
    assert any(b"u0000" in record.content for record in read_input(folder).records)


def test_bytes_that_are_no_utf8_are_refused_with_their_line(folder: Path) -> None:
    path = folder / "customers.json"
    path.write_bytes(b'{\n"a": {},\n"b": {"n": "\xff"}\n}')
    error = refusal(folder)
    assert (error.path, error.line, error.problem) == (path, 3, "is not UTF-8")


def test_the_same_id_in_two_files_is_refused(folder: Path) -> None:
    shutil.copy(folder / "orders.json", folder / "orders-again.json")
    error = refusal(folder)
    assert error.path == folder / "orders.json"
    assert "order:+23T-1001 once more, after orders-again.json:2" in error.problem


@pytest.mark.parametrize("name", ["conversations.jsonl", "customers.json", "orders.json"])
def test_each_kind_of_file_is_needed(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert refusal(folder).path == folder


def test_too_few_orders_are_refused(folder: Path) -> None:
    (folder / "orders.json").write_text('{"1": {}, "2": {}}')
    assert "3 orders" in refusal(folder).problem


def test_an_absent_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent").problem == "is not a folder"


def test_other_files_are_told(folder: Path) -> None:
    (folder / "notes.txt").write_text("x")
    assert [path.name for path in read_input(folder).unread] == ["notes.txt"]
