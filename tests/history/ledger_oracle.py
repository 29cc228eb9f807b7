"""What an exported ledger must be by itself: chained, gap-free, and one version for each version event.

Written from the format's description, with the standard library alone: nothing of the service's is imported. Every
check yields what is wrong, as text; a right ledger yields nothing.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from base64 import b64decode
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

# The event that stands for a version of an object, and those that may name the same version beside it.
PRIMARY = {
    "object_created",
    "object_updated",
    "lifecycle_transitioned",
    "availability_transitioned",
    "retention_transitioned",
    "validation_transitioned",
    "object_redacted",
    "object_deleted",
}
RELATIONSHIP_PRIMARY = {"relationship_created", "relationship_updated"}
# What one operation leaves in the ledger, all of it or nothing. A job is opened only where something is destroyed.
_JOB = ("propagation_job_opened",)
SHAPES: dict[str, list[tuple[str, ...]]] = {
    "create": [("object_created",)],
    "update": [("object_updated", "provenance_updated")],
    "transition": [("lifecycle_transitioned",), ("validation_transitioned",), ("retention_transitioned",)],
    "delete": [("object_deleted", *_JOB)],
    "redact": [("object_redacted",), ("object_redacted", *_JOB)],
    "relate": [("relationship_created",)],
    "relate_update": [("relationship_updated",)],
    "promote": [("lifecycle_transitioned", "object_created", "relationship_created", "working_memory_promoted")],
}


@dataclass(frozen=True, slots=True)
class Event:
    """An event line, its body parsed."""

    sequence: int
    recorded_at_us: int
    use_number: int
    raw: bytes
    leaf_hash: str
    chain_hash: str
    columns: dict[str, Any]
    body: dict[str, Any]

    @property
    def event_type(self) -> str:
        """The wire name."""
        return str(self.body["event_type"])


@dataclass(frozen=True, slots=True)
class Version:
    """A version line, its core parsed."""

    object_id: str
    version_id: str
    sequence: int
    ledger_sequence: int
    raw: bytes
    core: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RelationshipVersion:
    """A version line of a relationship, its core as it stands."""

    relationship_id: str
    version_id: str
    sequence: int
    ledger_sequence: int
    raw: bytes


@dataclass(slots=True)
class Ledger:
    """One workspace as of one moment. Pointers: the last version and its number, by object or relationship."""

    header: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    pointers: dict[str, tuple[str, int]] = field(default_factory=dict)
    relationship_versions: list[RelationshipVersion] = field(default_factory=list)
    relationship_pointers: dict[str, tuple[str, int]] = field(default_factory=dict)
    head: dict[str, Any] = field(default_factory=dict)

    def by_operation(self) -> dict[str, list[Event]]:
        """The events of each operation, in order."""
        found: defaultdict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            found[event.body["operation_id"]].append(event)
        return dict(found)

    def chains(self) -> dict[str, list[Version]]:
        """The versions of each object, in order."""
        found: defaultdict[str, list[Version]] = defaultdict(list)
        for version in sorted(self.versions, key=lambda one: one.sequence):
            found[version.object_id].append(version)
        return dict(found)


def read_export(lines: Iterable[str]) -> Ledger:
    """Returns what the lines of an export hold; lines of kinds that nothing is checked of are passed over."""
    ledger = Ledger()
    for line in lines:
        record = json.loads(line)
        match record.pop("kind"):
            case "header":
                ledger.header = record
            case "event":
                raw = b64decode(record.pop("body"))
                ledger.events.append(Event(raw=raw, body=json.loads(raw), **record))
            case "version":
                raw, _ = b64decode(record.pop("core")), record.pop("columns")
                ledger.versions.append(Version(raw=raw, core=json.loads(raw), **record))
            case "object":
                ledger.pointers[record["object_id"]] = (record["version_id"], record["sequence"])
            case "relationship_version":
                raw, _ = b64decode(record.pop("core")), record.pop("columns")
                ledger.relationship_versions.append(RelationshipVersion(raw=raw, **record))
            case "relationship":
                ledger.relationship_pointers[record["relationship_id"]] = (record["version_id"], record["sequence"])
            case "head":
                ledger.head = record
    return ledger


def check_ledger(ledger: Ledger) -> Iterator[str]:
    """All that can be said of a ledger without knowing what was asked for."""
    yield from _chain(ledger)
    yield from _identity(ledger)
    yield from _pairs(ledger)
    yield from _version_chains(ledger)
    yield from _relationship_chains(ledger)


def _framed(text: str) -> bytes:
    return len(text.encode()).to_bytes(4, "big") + text.encode()


def _chain(ledger: Ledger) -> Iterator[str]:
    header = ledger.header
    genesis = b"\x02" + _framed(header["tenant_id"]) + _framed(header["scope_id"])
    link = hashlib.sha256(genesis + uuid.UUID(header["ledger_id"]).bytes).digest()
    last_us = 0
    for number, event in enumerate(ledger.events, start=1):
        if event.sequence != number:
            yield f"event {number} has the sequence {event.sequence}"
        lock_fields = b"".join(
            value.to_bytes(8, "big") for value in (event.sequence, event.recorded_at_us, event.use_number)
        )
        leaf = hashlib.sha256(b"\x00" + lock_fields + event.raw).digest()
        link = hashlib.sha256(b"\x01" + link + leaf).digest()
        if (event.leaf_hash, event.chain_hash) != (leaf.hex(), link.hex()):
            yield f"event {number} is not what was hashed"
        if event.recorded_at_us < last_us:
            yield f"event {number} is recorded before its predecessor"
        last_us = event.recorded_at_us
    if (ledger.head.get("sequence"), ledger.head.get("chain_hash")) != (len(ledger.events), link.hex()):
        yield f"the head is not the last of {len(ledger.events)} events"


def _identity(ledger: Ledger) -> Iterator[str]:
    seen: set[str] = set()
    for event in ledger.events:
        for name, value in event.columns.items():
            told = event.body["actor"]["actor_id"] if name == "actor_id" else event.body.get(name)
            if told != value:
                yield f"event {event.sequence}: column {name} is not what its body says"
        for name in ("tenant_id", "scope_id"):
            if event.body[name] != ledger.header[name]:
                yield f"event {event.sequence} is another workspace's"
        if event.body["event_id"] in seen:
            yield f"event {event.sequence} repeats the id of another"
        seen.add(event.body["event_id"])


def _pairs(ledger: Ledger) -> Iterator[str]:
    """Each version has one event at its ledger sequence that digests it; each version event has its version."""
    versions = {version.version_id: version for version in ledger.versions}
    if len(versions) != len(ledger.versions):
        yield "two versions share an id"
    standing = Counter(version.ledger_sequence for version in ledger.versions)
    yield from (f"{count} versions stand at event {place}" for place, count in standing.items() if count > 1)
    for version in ledger.versions:
        if not 1 <= version.ledger_sequence <= len(ledger.events):
            yield f"version {version.version_id} stands at no event"
            continue
        event = ledger.events[version.ledger_sequence - 1]
        told = (event.event_type in PRIMARY, event.body.get("object_id"), event.body.get("version_id"))
        if told != (True, version.object_id, version.version_id):
            yield f"version {version.version_id} has no event of its own at {version.ledger_sequence}"
        payload = event.body["payload"]
        digest = hashlib.sha256(version.raw).hexdigest()
        if (payload.get("envelope_digest"), payload.get("object_sequence")) != (digest, version.sequence):
            yield f"version {version.version_id} is not what event {version.ledger_sequence} digests"
    primaries: Counter[str] = Counter()
    for event in ledger.events:
        if event.event_type not in PRIMARY | {"provenance_updated"}:
            continue
        named = versions.get(event.body["version_id"])
        if named is None or named.object_id != event.body["object_id"]:
            yield f"event {event.sequence} ({event.event_type}) names a version that is not there"
        elif ledger.events[named.ledger_sequence - 1].body["operation_id"] != event.body["operation_id"]:
            yield f"event {event.sequence} ({event.event_type}) names a version of another operation"
        primaries[event.body["version_id"]] += event.event_type in PRIMARY and event.sequence == (
            named.ledger_sequence if named else 0
        )
    yield from (f"version {name} has {count} events of its own" for name, count in primaries.items() if count != 1)


def _version_chains(ledger: Ledger) -> Iterator[str]:
    for object_id, chain in ledger.chains().items():
        previous: Version | None = None
        for number, version in enumerate(chain, start=1):
            if version.sequence != number:
                yield f"{object_id} has the version {version.sequence} where {number} belongs"
            if version.core.get("previous_version_id") != (previous.version_id if previous else None):
                yield f"{object_id} version {number} does not follow the one before it"
            if previous and version.ledger_sequence <= previous.ledger_sequence:
                yield f"{object_id} version {number} stands in the ledger before its predecessor"
            if previous and previous.core["availability_state"] == "deleted":
                yield f"{object_id} has a version after its tombstone"
            previous = version
        assert previous is not None
        if ledger.pointers.get(object_id) != (previous.version_id, previous.sequence):
            yield f"{object_id} does not point at its last version"
    yield from (f"{name} has no version" for name in ledger.pointers.keys() - ledger.chains().keys())


def _relationship_chains(ledger: Ledger) -> Iterator[str]:
    """Each event of a relationship has its version, which it digests, and the other way round; numbers have no gaps."""
    versions = {version.version_id: version for version in ledger.relationship_versions}
    if len(versions) != len(ledger.relationship_versions):
        yield "two versions of relationships share an id"
    last: dict[str, tuple[str, int]] = {}
    for event in ledger.events:
        if event.event_type not in RELATIONSHIP_PRIMARY:
            continue
        name, version_id = event.body["relationship_id"], event.body["version_id"]
        number = last.get(name, ("", 0))[1] + 1
        last[name] = (version_id, number)
        if event.body["payload"]["relationship_sequence"] != number:
            yield f"relationship {name}: event {event.sequence} breaks the sequence {number}"
        if (event.event_type == "relationship_created") != (number == 1):
            yield f"relationship {name}: event {event.sequence} is a {event.event_type}"
        version = versions.pop(version_id, None)
        if version is None:
            yield f"relationship {name}: event {event.sequence} names a version that is not there, or not its own"
            continue
        if (version.relationship_id, version.sequence, version.ledger_sequence) != (name, number, event.sequence):
            yield f"relationship {name}: version {version_id} stands elsewhere than event {event.sequence}"
        if event.body["payload"]["envelope_digest"] != hashlib.sha256(version.raw).hexdigest():
            yield f"relationship {name}: version {version_id} is not what event {event.sequence} digests"
    yield from (f"the relationship version {name} has no event" for name in versions)
    if last != ledger.relationship_pointers:
        yield "relationships do not point at their last versions"
