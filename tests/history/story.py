"""A small history that is right, made without a service, for the oracles to be tried on."""

from __future__ import annotations

import hashlib
import json
import uuid
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any

from tests.history.order_oracle import NEVER, OK, REFUSED, UNKNOWN, Call

LEDGER_ID = str(uuid.UUID(int=7))
TENANT, SCOPE = "acme", "workspace:story"
STEP_NS = 1000


def content(number: int) -> str:
    """What call number n sends."""
    return json.dumps({"statement": f"{number}", "secret": f"secret-{number}"})


@dataclass
class Story:
    """Calls one after another, each of which leaves what it should. `bodies` are the events before they are chained."""

    calls: list[Call] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    versions: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    current: dict[str, dict[str, Any]] = field(default_factory=dict)
    now_ns: int = 0

    def change(self, kind: str, object_id: str, event_type: str, *more: str, outcome: str = OK, **told: Any) -> Call:
        """A change that took place: its version, its events, and the call as its client saw it."""
        operation_id = f"op:{len(self.calls)}"
        expected = str(self.current[object_id]["version_id"]) if object_id in self.current else ""
        version = self._version(object_id, "deleted" if event_type == "object_deleted" else "available", operation_id)
        named = {"object_id": object_id, "version_id": version["version_id"]}
        digest = hashlib.sha256(_bytes(version["core"])).hexdigest()
        payload = {"envelope_digest": digest, "object_sequence": version["sequence"]}
        self.event(event_type, operation_id, payload=payload, **named)
        version["ledger_sequence"] = len(self.bodies)
        for other in more:
            self.event(other, operation_id, **named)
        answer = {"versions": {object_id: version["version_id"]}} if outcome == OK else {}
        return self.call(kind, operation_id, object_id, outcome, expected_version_id=expected, **(answer | told))

    def create(self, object_id: str, **told: Any) -> Call:
        """A creation."""
        return self.change("create", object_id, "object_created", content=content(len(self.calls)), **told)

    def update(self, object_id: str, **told: Any) -> Call:
        """An update."""
        told.setdefault("content", content(len(self.calls)))
        return self.change("update", object_id, "object_updated", "provenance_updated", **told)

    def redact(self, object_id: str) -> Call:
        """A redaction of the secret."""
        return self.change("redact", object_id, "object_redacted")

    def delete(self, object_id: str) -> Call:
        """A deletion."""
        return self.change("delete", object_id, "object_deleted", "propagation_job_opened")

    def promote(self, source: str, target: str) -> Call:
        """A promotion: two versions and a relationship."""
        before = str(self.current[source]["version_id"])
        made = self.create(target)
        operation_id = made.operation_id
        left = self._version(source, "available", operation_id)
        digest = hashlib.sha256(_bytes(left["core"])).hexdigest()
        payload = {"envelope_digest": digest, "object_sequence": left["sequence"]}
        named = {"object_id": source, "version_id": left["version_id"]}
        self.event("lifecycle_transitioned", operation_id, payload=payload, **named)
        left["ledger_sequence"] = len(self.bodies)
        link = {"relationship_id": f"rel:{target}", "version_id": f"rel:{target}/1"}
        digest = hashlib.sha256(_bytes(link)).hexdigest()
        payload = {"relationship_sequence": 1, "envelope_digest": digest}
        self.event("relationship_created", operation_id, payload=payload, **link)
        self.links.append({**link, "sequence": 1, "ledger_sequence": len(self.bodies), "core": link})
        self.event("working_memory_promoted", operation_id)
        told = {
            "versions": made.versions | {source: left["version_id"]},
            "relationships": {f"rel:{target}": f"rel:{target}/1"},
        }
        self.calls[-1] = Call(
            "promote", operation_id, source, made.began_ns, made.ended_ns, OK, "", before, "", made.content, **told
        )
        return self.calls[-1]

    def read(self, object_id: str, *, given: str, version: dict[str, Any] | None = None) -> Call:
        """A read of the current version, or of an older one."""
        kind = "read" if version is None else "read_version"
        version_id = (version or self.current[object_id])["version_id"]
        return self.call(kind, f"op:{len(self.calls)}", object_id, OK, version_id=version_id, content=given)

    def refused(self, kind: str, object_id: str, reason: str, **told: Any) -> Call:
        """A call that changed nothing."""
        return self.call(kind, f"op:{len(self.calls)}", object_id, REFUSED, reason=reason, **told)

    def call(self, kind: str, operation_id: str, object_id: str, outcome: str, **told: Any) -> Call:
        """A call between the last one and the next."""
        ended_ns = NEVER if outcome == UNKNOWN else self.now_ns + STEP_NS - 1
        self.calls.append(Call(kind, operation_id, object_id, self.now_ns, ended_ns, outcome, **told))
        self.now_ns += STEP_NS
        return self.calls[-1]

    def event(self, event_type: str, operation_id: str, payload: dict[str, Any] | None = None, **named: str) -> None:
        """One event."""
        self.bodies.append(
            {
                "tenant_id": TENANT,
                "scope_id": SCOPE,
                "event_id": f"event:{len(self.bodies)}",
                "event_type": event_type,
                "operation_id": operation_id,
                "actor": {"actor_id": "actor:a", "actor_kind": "agent"},
                **named,
                "payload": payload or {},
            }
        )

    def _version(self, object_id: str, availability: str, operation_id: str) -> dict[str, Any]:
        before = self.current.get(object_id)
        sequence = before["sequence"] + 1 if before else 1
        version_id = f"{object_id}/{sequence}"
        core = {"object_id": object_id, "version_id": version_id, "availability_state": availability}
        if before:
            core["previous_version_id"] = before["version_id"]
        made = {"object_id": object_id, "version_id": version_id, "sequence": sequence, "core": core}
        self.versions.append(made)
        self.current[object_id] = made
        return made

    def lines(self) -> list[str]:
        """The export, chained as it now stands."""
        found: list[dict[str, Any]] = [
            {"kind": "header", "tenant_id": TENANT, "scope_id": SCOPE, "ledger_id": LEDGER_ID}
        ]
        framed = b"".join(len(text).to_bytes(4, "big") + text.encode() for text in (TENANT, SCOPE))
        link = hashlib.sha256(b"\x02" + framed + uuid.UUID(LEDGER_ID).bytes).digest()
        for number, body in enumerate(self.bodies, start=1):
            raw = _bytes(body)
            leaf = hashlib.sha256(b"\x00" + b"".join(n.to_bytes(8, "big") for n in (number, number, 0)) + raw).digest()
            link = hashlib.sha256(b"\x01" + link + leaf).digest()
            columns = {
                name: body.get(name) for name in ("event_id", "event_type", "operation_id", "object_id", "version_id")
            }
            columns["actor_id"] = body["actor"]["actor_id"]
            hashes = {"leaf_hash": leaf.hex(), "chain_hash": link.hex(), "columns": columns, "use_number": 0}
            shown = {"sequence": number, "recorded_at_us": number, "body": b64encode(raw).decode(), **hashes}
            found.append({"kind": "event", **shown})
        for version in self.versions:
            core = b64encode(_bytes(version["core"])).decode()
            found.append({"kind": "version", **version, "core": core, "columns": {}})
        for object_id, version in self.current.items():
            pointer = {"object_id": object_id, "version_id": version["version_id"], "sequence": version["sequence"]}
            found.append({"kind": "object", "object_type": "claim", **pointer})
        for version in self.links:
            core = b64encode(_bytes(version["core"])).decode()
            found.append({"kind": "relationship_version", **version, "core": core, "columns": {}})
            pointer = {name: version[name] for name in ("relationship_id", "version_id", "sequence")}
            found.append({"kind": "relationship", **pointer})
        found.append({"kind": "head", "sequence": len(self.bodies), "chain_hash": link.hex()})
        return [json.dumps(one) for one in found]


def _bytes(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def right_story() -> Story:
    """Everything that the oracles judge, once and right."""
    story = Story()
    story.create("obj:a")
    story.read("obj:a", given=content(0))
    story.update("obj:a")
    stale = {"expected_version_id": "obj:a/1", "version_id": "obj:a/2"}
    story.refused("update", "obj:a", "VERSION_CONFLICT", content=content(99), **stale)
    story.create("obj:b")
    story.create("obj:w")
    story.promote("obj:w", "obj:t")
    story.redact("obj:b")
    story.read("obj:b", given=json.dumps({"statement": "4"}))
    story.update("obj:a", outcome=UNKNOWN)
    story.read("obj:a", given=content(9))
    story.delete("obj:a")
    story.refused("read", "obj:a", "OBJECT_DELETED")
    story.call("create", f"op:{len(story.calls)}", "", UNKNOWN, content=content(13))
    return story
