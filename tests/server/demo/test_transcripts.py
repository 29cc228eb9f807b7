"""Transcripts are read message by message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.demo.transcripts import Said, ToolAnswer, UnreadableTranscript, messages_of


def test_messages_span_lines_and_keep_their_positions() -> None:
    read = list(messages_of("user: one\n\ntwo\nassistant: three\nuser:\nassistant: None"))
    assert read == [
        Said(1, "user", "one\n\ntwo"),
        Said(2, "assistant", "three"),
        Said(3, "user", ""),
        Said(4, "assistant", "None"),
    ]


def test_none_before_a_tool_is_the_mark_of_its_call() -> None:
    read = list(messages_of('assistant: None\ntool: {"a": [1, 2.5]}\nassistant: Look.\ntool: plain\ntool: Error: gone'))
    assert read == [
        ToolAnswer(2, {"a": [1, 2.5]}, False),
        Said(3, "assistant", "Look."),
        ToolAnswer(4, "plain", False),
        ToolAnswer(5, "Error: gone", True),
    ]


@pytest.mark.parametrize("answer", ["17.5", '"text"', "[1]", "null", "true"])
def test_any_json_value_is_an_answer(answer: str) -> None:
    [read] = messages_of(f"tool: {answer}")
    assert isinstance(read, ToolAnswer)
    assert not isinstance(read.result, str) or answer == '"text"'


@pytest.mark.parametrize("answer", ["NaN", '{"a":1,"a":2}', "1e999", "{"])
def test_what_is_no_strict_json_is_a_text(answer: str) -> None:
    [read] = messages_of(f"tool: {answer}")
    assert read == ToolAnswer(1, answer, False)


@pytest.mark.parametrize("display", ["", "hello", "hello\nuser: hi", "User: hi", "user:hi"])
def test_a_text_without_a_first_message_is_refused(display: str) -> None:
    with pytest.raises(UnreadableTranscript):
        list(messages_of(display))


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text("abc .,")), min_size=1, max_size=6))
def test_what_was_said_comes_back(messages: list[tuple[str, str]]) -> None:
    display = "\n".join(f"{role}: {text}" for role, text in messages)
    read = list(messages_of(display))
    assert [(said.role, said.text) for said in read if isinstance(said, Said)] == messages
