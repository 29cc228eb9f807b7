"""JSON texts are judged as an independent reader judges them, and no text costs more than it should."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.wire.json_text import JsonProblem, JsonTextRefused, parse_json_text
from server.wire.limits import Limits

LIMITS = Limits()

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def problem_of(data: bytes, limits: Limits = LIMITS) -> JsonProblem | None:
    try:
        parse_json_text(data, limits)
    except JsonTextRefused as refused:
        return refused.problem
    return None


class OracleRefuses(Exception):
    pass


def oracle(data: bytes, depth_max: int) -> Any:
    """Reads by the standard module's own decoder and judges the value that comes out, not the text."""
    text = data.decode("utf-8", "strict")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in items]
        if len(set(keys)) < len(keys):
            raise OracleRefuses
        return dict(items)

    def constant(_: str) -> None:
        raise OracleRefuses

    value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)

    def walk(item: Any, depth: int) -> None:
        if isinstance(item, str) and ("\0" in item or re.search("[\ud800-\udfff]", item)):
            raise OracleRefuses
        if isinstance(item, list | dict):
            if depth == depth_max:
                raise OracleRefuses
            for inner in item if isinstance(item, list) else [*item.keys(), *item.values()]:
                walk(inner, depth + 1)

    walk(value, 0)
    return value


def oracle_accepts(data: bytes, depth_max: int) -> bool:
    try:
        oracle(data, depth_max)
    except (OracleRefuses, ValueError, RecursionError):
        return False
    return True


@given(value=VALUES, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_values_survive(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    data = text.encode("utf-8", "surrogatepass")
    if oracle_accepts(data, 64):
        assert parse_json_text(data, LIMITS) == value
    else:
        assert problem_of(data) is not None


FRAGMENTS = st.sampled_from(
    [
        "{", "}", "[", "]", ",", ":", '"', "\\", '"a"', '"a":', "1", "-0", "1e5", "0.5", "01", "1.", "NaN", "-Infinity",
        "true", "null", " ", "\n", "\ufeff", "\u00a0", "\\u0000", "\\u0041", "\\ud83d", "\\ude00", "\\ud83d\\ude00",
        "\\\\u0000", "\0", "\x1f", "é", "😀", "٣", '"\\ud83d\\ude00"', '"\\ud83d"', '"\\\\ud83d"', '{"a":1}',
        "[[", "]]",
    ]
)  # fmt: skip


@given(parts=st.lists(FRAGMENTS, max_size=12), depth_max=st.integers(0, 4))
@example(parts=['{"a":1}'], depth_max=0)
@example(parts=['"', "\\\\u0000", '"'], depth_max=0)
@example(parts=["[[", "]]"], depth_max=1)
def test_texts_are_judged_as_the_oracle_judges_them(parts: list[str], depth_max: int) -> None:
    data = "".join(parts).encode()
    limits = Limits(json_depth_max=depth_max)
    assert (problem_of(data, limits) is None) == oracle_accepts(data, depth_max)


@given(st.binary(max_size=40))
def test_bytes_are_judged_as_the_oracle_judges_them(data: bytes) -> None:
    assert (problem_of(data) is None) == oracle_accepts(data, 64)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", JsonProblem.NOT_JSON),
        (b" ", JsonProblem.NOT_JSON),
        (b"1 2", JsonProblem.NOT_JSON),
        (b"{}{}", JsonProblem.NOT_JSON),
        (b"[1,]", JsonProblem.NOT_JSON),
        (b"'a'", JsonProblem.NOT_JSON),
        (b"{a:1}", JsonProblem.NOT_JSON),
        (b'"a\nb"', JsonProblem.NOT_JSON),
        (b'"\\x41"', JsonProblem.NOT_JSON),
        (b"+1", JsonProblem.NOT_JSON),
        (b"\xef\xbb\xbf{}", JsonProblem.NOT_JSON),
        ("٣".encode(), JsonProblem.NOT_JSON),
        ("{}".encode("utf-16"), JsonProblem.NOT_UTF8),
        (b'"\xff"', JsonProblem.NOT_UTF8),
        (b'"\xc0\x80"', JsonProblem.NOT_UTF8),
        (b'"\xf0\x9f\x98"', JsonProblem.NOT_UTF8),
        (b'"\xed"', JsonProblem.NOT_UTF8),
        (b'"\xed\xa0\xbd\xed\xb8\x80"', JsonProblem.LONE_SURROGATE),
        (b'"\\ud800"', JsonProblem.LONE_SURROGATE),
        (b'"\\uDC00"', JsonProblem.LONE_SURROGATE),
        (b'"\\ud83dx\\ude00"', JsonProblem.LONE_SURROGATE),
        (b'"\\ude00\\ud83d"', JsonProblem.LONE_SURROGATE),
        (b'"\\ud83d\\ud83d\\ude00"', JsonProblem.LONE_SURROGATE),
        (b'{"\\ud800":1}', JsonProblem.LONE_SURROGATE),
        (b'"\\u0000"', JsonProblem.NUL),
        (b'{"a\\u0000":1}', JsonProblem.NUL),
        (b'"\0"', JsonProblem.NUL),
        (b"1\0", JsonProblem.NUL),
        (b"NaN", JsonProblem.NOT_A_NUMBER),
        (b'{"a":[Infinity]}', JsonProblem.NOT_A_NUMBER),
        (b"-Infinity", JsonProblem.NOT_A_NUMBER),
        (b'{"a":1,"a":1}', JsonProblem.DUPLICATE_KEY),
        (b'[[{"b":{"a":1,"\\u0061":2}}]]', JsonProblem.DUPLICATE_KEY),
        (b"[" * 65 + b"]" * 65, JsonProblem.TOO_DEEP),
        (b'{"a":' * 65 + b"1" + b"}" * 65, JsonProblem.TOO_DEEP),
        (b"1" * (1_048_576 + 1), JsonProblem.TOO_LARGE),
    ],
)
def test_problems(data: bytes, problem: JsonProblem) -> None:
    assert problem_of(data) is problem


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 64 + b"]" * 64,
        b'{"a":' * 64 + b"1" + b"}" * 64,
        b'"' + b"[{" * 1000 + b'"',
        b'["' + b'\\"[' * 1000 + b'"]',
        b"[" + b",".join([b"[]"] * 1000) + b"]",
        b'"\\\\u0000"',
        b'"\\\\ud800"',
        b'"\\ud83d\\ude00\\ud83d\\ude00"',
        '{"é":"e\u0301"}'.encode(),
        b" \t\r\n1 ",
    ],
)
def test_texts_that_pass(data: bytes) -> None:
    assert problem_of(data) is None


@pytest.mark.case("A46")
def test_integers_are_exact_beyond_doubles() -> None:
    for value in (2**53 + 1, -(2**64), 10**999):
        assert parse_json_text(str(value).encode(), LIMITS) == value


def test_numbers_beyond_reason_are_accepted_and_cost_little() -> None:
    # Each of these would take minutes where reading them were quadratic, or raise where the interpreter limits digits.
    assert parse_json_text(b"9" * 1_048_576, LIMITS) == 10**1000
    assert parse_json_text(b"-" + b"9" * 1_048_575, LIMITS) == -(10**1000)
    assert parse_json_text(b"1e" + b"9" * 1_000_000, LIMITS) == float("inf")
    assert parse_json_text(b"0." + b"3" * 1_000_000, LIMITS) == 1 / 3


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 1_048_576,
        b'{"a":' * 200_000,
        b"[" * 65 + b'"' + b'\\"' * 500_000,
        b"[" * 65 + b'""' * 500_000,
        b"[" * 64 + b"{" + b'"\\' * 500_000,
        b'["' * 500_000,
    ],
)
def test_hostile_texts_are_refused_without_recursion_or_quadratic_time(data: bytes) -> None:
    assert problem_of(data) is not None
