"""Judgement of an export's lines one by one, as far as a line can be judged by itself.

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service. A line is told
right when it has the very form that an export is written in and its body or core is of a known shape or, read with care,
right. Of anything else nothing is said: the verifier reads such a line itself. So this decides how fast a line is read,
never what is found.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Hashable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from server.cli.offline_format import (
    EVENT_COLUMNS,
    VERSION_COLUMNS,
    MalformedLineError,
    MalformedPayloadError,
    read_base64,
    read_core,
    read_object,
)
from server.cli.offline_forms import body_shapes, core_shapes
from server.cli.offline_shapes import COUNT, INTEGER, TEXT
from server.cli.offline_tables import (
    Effect,
    PointerRow,
    VersionRow,
    judge_body,
    judge_version,
    read_effect,
)

# What a body says: event id, operation id, effect; nothing when bodies are not read.
Told = tuple[str, str, Effect]
# sequence, recorded_at_us, use_number, leaf hash, chain hash in hex, and what the body says.
Event = tuple[int, int, int, bytes, str, Told]
# A line that is right; the verifier reads any other.
Right = tuple[Literal["event"], Event] | tuple[Literal["version"], VersionRow] | tuple[Literal["object"], PointerRow]
# A line as far as its form goes: its kind, its numbers, its texts before its base64, that, and its texts behind it.
_Scanned = tuple[Literal["event", "version", "object"], tuple[int, ...], tuple[str, ...], str, tuple[str, ...]]

BATCH_CHARACTERS = 1 << 18

_NO_EFFECT: Effect = (None, None, None)
_UNREAD: Told = ("", "", _NO_EFFECT)
# A line is matched before and behind its base64, whose end is found quickest by looking for the quote.
_END = r"\}\n?"
_event_head = re.compile(
    rf'\{{"kind":"event","sequence":({COUNT}),"recorded_at_us":({COUNT}),"use_number":({COUNT}),"body":"'
).match
_event_tail = re.compile(
    rf'","leaf_hash":"([^"]*+)","chain_hash":"([^"]*+)",'
    rf'"columns":(\{{"event_id":[^,]*+,"event_type":"([^"]*+)"[^}}]*+\}}){_END}'
).fullmatch
_version_head = re.compile(
    rf'\{{"kind":"version",("object_id":"({TEXT})","version_id":"({TEXT})","sequence":({COUNT})),'
    rf'"ledger_sequence":({COUNT}),"core":"'
).match
_version_tail = re.compile(rf'","columns":(\{{[^}}]*+\}}){_END}').fullmatch
_pointer_line = re.compile(
    rf'\{{"kind":"object","object_id":"({TEXT})","object_type":"({TEXT})","version_id":"({TEXT})",'
    rf'"sequence":({COUNT}),"related":(true|false){_END}'
).fullmatch
_VALUE = rf'(?:"{TEXT}"|{INTEGER}|null)'
_event_columns = re.compile(r"\{" + ",".join(f'"{key}":{_VALUE}' for key in EVENT_COLUMNS) + r"\}").fullmatch
_version_columns = re.compile(r"\{" + ",".join(f'"{key}":{_VALUE}' for key in VERSION_COLUMNS) + r"\}").fullmatch
# Behind the byte 0 that begins a leaf.
_pack_lock_fields = struct.Struct(">xqqq").pack


class Lines:
    """Judges lines of one workspace's export, and learns the shapes of its bodies and cores on the way.

    `names` are the workspace's `tenant_id` and `scope_id`. Without `replay` bodies and cores are not read.
    """

    def __init__(self, names: Mapping[str, str], replay: bool) -> None:
        self._names = names
        self._replay = replay
        self._bodies = body_shapes()
        self._cores = core_shapes()

    def read(self, text: str) -> list[Right | None]:
        """Returns what the lines of a text say, in short; None for a line that is not plainly right.

        One step is done for all lines before the next: a processor that goes on doing the same is quicker, as long as
        all of it stays in its cache (BATCH_CHARACTERS).
        """
        scanned = _scan(text)
        contents: list[bytes | None]
        try:
            contents = [None if line is None else read_base64(line[3]) for line in scanned]
        except MalformedLineError:
            contents = [None if line is None else _content(line[3]) for line in scanned]
        digests = _digests(scanned, contents)
        return [
            None
            if line is None or content is None
            else self._event(line, content, digest)
            if line[0] == "event"
            else self._row(line, content, digest)
            for line, content, digest in zip(scanned, contents, digests, strict=True)
        ]

    def _event(self, line: _Scanned, body: bytes, leaf: bytes) -> Right | None:
        leaf_text, chain_text, columns, event_type = line[4]
        if leaf.hex() != leaf_text:
            return None
        sequence, recorded_at_us, use_number = line[1]
        if not self._replay:
            right = _event_columns(columns)
            return ("event", (sequence, recorded_at_us, use_number, leaf, chain_text, _UNREAD)) if right else None
        hint = event_type, columns.count("null")  # where to look: the shape holds all of this itself
        text = f"{body.decode('latin-1')}\n{columns}"  # a shape holds ASCII only, and this never fails
        told: Told | None = None
        for shape in self._bodies.groups.get(hint, ()):
            match = shape.match(text)
            if match is not None:
                if shape.names_version:
                    event_id, operation_id, object_id, number, version_id, digest = match.group(*shape.groups)
                    if number[0] != "-" and not use_number:
                        named = object_id, int(number), version_id, digest
                        told = event_id, operation_id, (named, None, None)
                elif shape.is_use:
                    event_id, operation_id, grant_id, version, *chain = match.group(*shape.groups)
                    if version[0] != "-" and chain[-1] == grant_id and len(set(chain)) == len(chain):
                        use = grant_id, int(version), chain, shape.mirrored
                        told = event_id, operation_id, (None, use, None)
                elif not use_number:
                    event_id, operation_id = match.group(*shape.groups)
                    told = event_id, operation_id, _NO_EFFECT
                break
        else:
            told = self._tell_with_care(body, hint, columns, use_number)
        return ("event", (sequence, recorded_at_us, use_number, leaf, chain_text, told)) if told else None

    def _row(self, line: _Scanned, core: bytes, digest: bytes) -> Right | None:
        kind, numbers, head, _, tail = line
        if kind == "object":
            object_id, object_type, version_id, _, related = head
            return "object", (object_id, numbers[0], version_id, object_type, related == "true")
        names, object_id, version_id, *_ = head
        number, ledger_sequence = numbers
        row = {"object_id": object_id, "version_id": version_id, "sequence": number}
        told_type = self._tell_version(core, names, row, tail[0])
        if told_type is None:
            return None
        return "version", (object_id, number, version_id, digest.hex(), ledger_sequence, told_type)

    def _tell_with_care(self, body_bytes: bytes, hint: Hashable, columns_text: str, use_number: int) -> Told | None:
        columns = read_object(columns_text)
        if columns is None or columns.keys() != set(EVENT_COLUMNS):
            return None
        body, wrong = judge_body(body_bytes, columns, use_number, self._names)
        if body is None or wrong:
            return None
        try:
            effect = read_effect(body)
        except MalformedPayloadError:
            return None
        self._bodies.learn(hint, body_bytes.decode(), body)
        return body["event_id"], body["operation_id"], effect

    def _tell_version(self, core: bytes, names: str, row: dict[str, Any], columns_text: str) -> str | None:
        """The object type in a core that agrees with its row: with its names, as a text and as a record, and columns."""
        if not self._replay:
            return "" if _version_columns(columns_text) else None
        text = f"{core.decode('latin-1')}\n{names}\n{columns_text}"
        for shape in self._cores.groups.get("", ()):
            match = shape.match(text)
            if match is not None:
                return match[shape.object_type]
        columns = read_object(columns_text) if _version_columns(columns_text) else None
        if columns is None:
            return None
        try:
            object_type, changed = judge_version({**row, "columns": columns}, core, self._names)
        except MalformedPayloadError:
            return None
        if changed:
            return None
        self._cores.learn("", core.decode(), read_core(core))
        return object_type


def _scan(text: str) -> list[_Scanned | None]:
    """Takes the lines of a text apart."""
    lines: list[_Scanned | None] = []
    begin, length = 0, len(text)
    while begin < length:
        end = text.find("\n", begin) + 1 or length
        kind = text[begin + 9 : begin + 14]
        line: _Scanned | None = None
        if kind == "event":
            head = _event_head(text, begin, end)
            if head is not None:
                middle = head.end()
                quote = text.find('"', middle, end)
                tail = _event_tail(text, quote, end)
                if tail is not None:
                    sequence, recorded_at_us, use_number = head.groups()
                    numbers = int(sequence), int(recorded_at_us), int(use_number)
                    line = "event", numbers, (), text[middle:quote], tail.groups()
        elif kind == "versi":
            head = _version_head(text, begin, end)
            if head is not None:
                middle = head.end()
                quote = text.find('"', middle, end)
                tail = _version_tail(text, quote, end)
                if tail is not None:
                    texts = head.groups()
                    line = "version", (int(texts[3]), int(texts[4])), texts, text[middle:quote], tail.groups()
        elif kind == "objec":
            whole = _pointer_line(text, begin, end)
            if whole is not None:
                line = "object", (int(whole[4]),), whole.groups(), "", ()
        lines.append(line)
        begin = end
    return lines


def _content(base64: str) -> bytes | None:
    try:
        return read_base64(base64)
    except MalformedLineError:
        return None


def _digests(lines: Sequence[_Scanned | None], contents: Sequence[bytes | None]) -> list[bytes]:
    """The leaf hashes of events and the digests of cores; empty for what has none."""
    digests = []
    for line, content in zip(lines, contents, strict=True):
        if line is None or content is None or line[0] == "object":
            digests.append(b"")
        elif line[0] == "event":
            sequence, recorded_at_us, use_number = line[1]
            digests.append(sha256(_pack_lock_fields(sequence, recorded_at_us, use_number) + content).digest())
        else:
            digests.append(sha256(content).digest())
    return digests
