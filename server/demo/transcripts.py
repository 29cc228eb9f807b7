"""Reading a transcript: a text whose messages begin with `user: `, `assistant: ` or `tool: ` at the start of a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from server.demo.json_text import UnreadableJson, value_of

UNRECORDED: Final = "unrecorded"
_MESSAGE: Final = re.compile(r"^(user|assistant|tool):(?: |$)", re.MULTILINE)
_NOTHING_SAID: Final = "None"


class UnreadableTranscript(ValueError):
    """The text is no transcript."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a person or the assistant said. `position` counts the messages of the transcript from 1."""

    position: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answered: a JSON value, or a text where the answer is no JSON."""

    position: int
    result: Any
    failed: bool


def messages_of(display: str) -> Iterator[Said | ToolAnswer]:
    """Yields the messages of a transcript in order. Raises UnreadableTranscript.

    A message ends where a line begins the next one. The assistant's `None` before a tool's answer is the mark of the
    call, not something said, and yields nothing. A tool's answer that begins with `Error` is a failed call.
    """
    found = list(_MESSAGE.finditer(display))
    if not found or display[: found[0].start()].strip():
        raise UnreadableTranscript("does not begin with a message of user, assistant or tool")
    ends = [match.start() for match in found[1:]] + [len(display)]
    for index, (match, end) in enumerate(zip(found, ends, strict=True)):
        role, text = match[1], display[match.end() : end].strip("\r\n")
        if role == "tool":
            yield ToolAnswer(index + 1, _json_or_text(text), text.startswith("Error"))
        elif not (role == "assistant" and text.strip() == _NOTHING_SAID and _role_at(found, index + 1) == "tool"):
            yield Said(index + 1, role, text)


def _role_at(found: list[re.Match[str]], index: int) -> str | None:
    return found[index][1] if index < len(found) else None


def _json_or_text(text: str) -> Any:
    try:
        return value_of(text)
    except UnreadableJson:
        return text
