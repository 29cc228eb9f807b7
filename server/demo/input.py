"""The demonstration's input: conversations, customers and orders, read and judged whole before anything is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from server.demo.identifiers import object_id
from server.demo.json_text import UnreadableJson, content_of, entries_of, value_of
from server.demo.transcripts import UNRECORDED, Said, ToolAnswer, UnreadableTranscript, messages_of

SAMPLE: Final = Path(__file__).parent / "sample"
# The acts need an object inside a grant's list, one under another's, and one outside both.
_ORDERS_MIN: Final = 3


@dataclass(eq=False)
class MalformedInput(Exception):
    """A file of the input can't be used. `line` counts from 1 and is None where the problem has no one place."""

    path: Path
    line: int | None
    problem: str

    def __str__(self) -> str:
        place = f"{self.path}" if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Record:
    """One object to create. `content` is JSON in UTF-8; `path` and `line` say where it was read."""

    object_id: str
    object_type: str
    content: bytes
    activity: str
    path: Path
    line: int


@dataclass(frozen=True, slots=True)
class Order:
    """An order and, where the input has it, its customer, as object ids; `record` is the order as it was read."""

    object_id: str
    source_id: str
    customer_object_id: str | None
    record: dict[str, Any]


@dataclass(slots=True)
class DemoInput:
    """Everything that was read. `unread` are files of the folder that are none of the three kinds."""

    records: list[Record] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    customers: dict[str, str] = field(default_factory=dict)
    conversations: int = 0
    unrecorded_tools: int = 0
    unread: list[Path] = field(default_factory=list)


def read_input(folder: Path) -> DemoInput:
    """Reads `*.jsonl` as conversations, `*users*.json` or `*customers*.json` as customers, `*orders*.json` as orders.

    Raises MalformedInput for the first thing that can't be used.
    """
    if not folder.is_dir():
        raise MalformedInput(folder, None, "is not a folder")
    made = DemoInput()
    conversations, customers, orders = _files_of(folder, made)
    for path in customers:
        for source_id, record, line in _entries(path):
            made.customers[source_id] = _add_entity(made, "customer", source_id, record, path, line)
    for path in orders:
        for source_id, record, line in _entries(path):
            entity_id = _add_entity(made, "order", source_id, record, path, line)
            customer = record.get("user_id")
            customer_id = made.customers.get(customer) if isinstance(customer, str) else None
            made.orders.append(Order(entity_id, source_id, customer_id, record))
    for path in conversations:
        for line, text in _lines(path):
            _add_conversation(made, path, line, text)
    _refuse_duplicates(made)
    if len(made.orders) < _ORDERS_MIN or not made.customers or not made.conversations:
        raise MalformedInput(folder, None, f"needs a conversation, a customer and {_ORDERS_MIN} orders at least")
    return made


def _files_of(folder: Path, made: DemoInput) -> tuple[list[Path], list[Path], list[Path]]:
    conversations: list[Path] = []
    customers: list[Path] = []
    orders: list[Path] = []
    for path in sorted(folder.iterdir()):
        name = path.name.lower()
        if not path.is_file():
            continue
        if name.endswith(".jsonl"):
            conversations.append(path)
        elif name.endswith(".json") and ("users" in name or "customers" in name):
            customers.append(path)
        elif name.endswith(".json") and "orders" in name:
            orders.append(path)
        else:
            made.unread.append(path)
    for kind, found in (("*.jsonl", conversations), ("*users*.json", customers), ("*orders*.json", orders)):
        if not found:
            raise MalformedInput(folder, None, f"holds no file {kind}")
    return conversations, customers, orders


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MalformedInput(path, None, f"can't be read: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedInput(path, data.count(b"\n", 0, error.start) + 1, "is not UTF-8") from None


def _entries(path: Path) -> Iterator[tuple[str, dict[str, Any], int]]:
    text = _text(path)
    line, counted = 1, 0
    try:
        for source_id, record, offset in entries_of(text):
            line, counted = line + text.count("\n", counted, offset), offset
            if not source_id:
                raise MalformedInput(path, line, "has an entry with an empty id")
            if not isinstance(record, dict):
                raise MalformedInput(path, line, f"the entry {source_id!r} is not a JSON object")
            yield source_id, record, line
    except UnreadableJson as error:
        raise MalformedInput(path, text.count("\n", 0, error.offset) + 1, error.problem) from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, text in enumerate(_text(path).split("\n"), start=1):
        if text.strip():
            yield number, text


def _add_entity(made: DemoInput, kind: str, source_id: str, record: Any, path: Path, line: int) -> str:
    content = {"kind": kind, "source_id": source_id, "record": record}
    entity_id = object_id(kind, source_id)
    _add(made, entity_id, "entity", content, "imported", path, line)
    return entity_id


def _add_conversation(made: DemoInput, path: Path, line: int, text: str) -> None:
    def refuse(problem: str) -> MalformedInput:
        return MalformedInput(path, line, problem)

    try:
        document = value_of(text)
    except UnreadableJson as error:
        raise refuse(error.problem) from None
    display = document.get("messages_display") if isinstance(document, dict) else None
    if not isinstance(display, str):
        raise refuse("is not a JSON object with a text `messages_display`")
    conversation_id = document.get("conversation_id", f"{path.stem}/{line}")
    if not isinstance(conversation_id, str) or not conversation_id:
        raise refuse("has a `conversation_id` that is no text")
    try:
        messages = list(messages_of(display))
    except UnreadableTranscript as error:
        raise refuse(f"`messages_display` {error}") from None
    answers = [message for message in messages if isinstance(message, ToolAnswer)]
    calls = document.get("tool_calls")
    if calls is None:
        calls = [{"name": UNRECORDED, "arguments": None}] * len(answers)
        made.unrecorded_tools += len(answers)
    elif not _are_calls(calls) or len(calls) != len(answers):
        raise refuse(f"`tool_calls` must be a list of {len(answers)} objects with a text `name` and `arguments`")
    called = iter(calls)
    for message in messages:
        if isinstance(message, Said):
            _add_said(made, conversation_id, message, path, line)
        else:
            _add_tool(made, conversation_id, message, next(called), path, line)
    made.conversations += 1


def _are_calls(calls: Any) -> bool:
    return isinstance(calls, list) and all(
        isinstance(call, dict) and isinstance(call.get("name"), str) and call["name"] and "arguments" in call
        for call in calls
    )


def _add_said(made: DemoInput, conversation_id: str, said: Said, path: Path, line: int) -> None:
    content = {
        "conversation_id": conversation_id,
        "position": said.position,
        "role": said.role,
        "text": said.text,
    }
    _add(
        made,
        object_id("message", f"{conversation_id}/{said.position}"),
        "observation",
        content,
        "observed",
        path,
        line,
    )


def _add_tool(
    made: DemoInput, conversation_id: str, answer: ToolAnswer, call: dict[str, Any], path: Path, line: int
) -> None:
    place = f"{conversation_id}/{answer.position}"
    invocation_id = object_id("tool-call", place)
    invocation = {"tool_name": call["name"], "arguments": call["arguments"]}
    _add(made, invocation_id, "tool_invocation", invocation, "invoked", path, line)
    result: dict[str, Any] = {
        "invocation_object_id": invocation_id,
        "outcome": "error" if answer.failed else "success",
    }
    if answer.failed:
        result["error"] = {"message": str(answer.result)}
    else:
        result["result"] = answer.result
    _add(made, object_id("tool-result", place), "tool_result", result, "completed", path, line)


def _add(made: DemoInput, entity_id: str, object_type: str, content: Any, activity: str, path: Path, line: int) -> None:
    try:
        data = content_of(content)
    except UnreadableJson as error:
        raise MalformedInput(path, line, error.problem) from None
    made.records.append(Record(entity_id, object_type, data, activity, path, line))


def _refuse_duplicates(made: DemoInput) -> None:
    first: dict[str, Record] = {}
    for record in made.records:
        earlier = first.setdefault(record.object_id, record)
        if earlier is not record:
            place = f"{earlier.path.name}:{earlier.line}"
            raise MalformedInput(record.path, record.line, f"holds {record.object_id} once more, after {place}")
