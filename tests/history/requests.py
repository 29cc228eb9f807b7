"""The requests that clients of a history draw, and what a call and its answer say of themselves."""

from __future__ import annotations

import json
import random
from typing import Any, Final

from remit.v1 import memory_pb2
from tests.history.pool import Known, Pool

METHODS: Final = {
    "create": "Create",
    "update": "Update",
    "transition": "Transition",
    "delete": "Delete",
    "redact": "Redact",
    "promote": "Promote",
    "relate": "Relate",
    "relate_update": "Relate",
    "read": "Read",
    "read_version": "Read",
}
_PROVENANCE: Final = {"activity": "observed"}
_STALE_SHARE = 0.1
_WORKING_SHARE = 0.3
# By validation state: unverified, corroborated, disputed, rejected.
_NEXT: Final = {1: ("corroborated", "disputed"), 2: ("disputed", "rejected"), 3: ("corroborated",), 4: ("disputed",)}


def _content(object_type: str, number: str) -> bytes:
    value: dict[str, Any] = {"statement": number, "secret": f"secret-{number}"}
    if object_type == "working_memory":
        value = {"task_ref": "task:history", "content": value}
    return json.dumps(value).encode()


def drawn(kind: str, pool: Pool, draw: random.Random, number: str) -> tuple[Any, Known | None] | None:
    """Returns a request of the kind and what it is about; None when there is nothing to ask it of yet."""
    scope_id = pool.scope_id
    if kind == "create":
        object_type = "working_memory" if draw.random() < _WORKING_SHARE else "claim"
        content = _content(object_type, number)
        return memory_pb2.CreateRequest(
            scope_id=scope_id, object_type=object_type, canonical_content=content, provenance=_PROVENANCE
        ), None
    if kind in {"relate", "relate_update"}:
        return _relation(kind, pool, draw)
    known = pool.pick(draw, {"redact": "claim", "promote": "working_memory"}.get(kind, ""))
    if known is None:
        return None
    named: dict[str, Any] = {"scope_id": scope_id, "object_id": known.name}
    if kind == "read":
        return memory_pb2.ReadRequest(**named), known
    if kind == "read_version":
        return memory_pb2.ReadRequest(**named, version_id=draw.choice(known.versions)), known
    named["expected_version_id"] = _expected(known, draw)
    return _change(kind, named, known, draw, number), known


def _expected(known: Known, draw: random.Random) -> str:
    return draw.choice(known.versions) if draw.random() < _STALE_SHARE else known.versions[-1]


def _change(kind: str, named: dict[str, Any], known: Known, draw: random.Random, number: str) -> Any:
    basis = {"policy_basis": "history"}
    match kind:
        case "update":
            content = _content(known.object_type, number)
            mask = ["canonical_content", "provenance"]
            return memory_pb2.UpdateRequest(
                **named, canonical_content=content, provenance=_PROVENANCE, update_mask=mask
            )
        case "transition":
            state = draw.choice(_NEXT[known.validation])
            return memory_pb2.TransitionRequest(
                **named, **basis, dimension=memory_pb2.DIMENSION_VALIDATION, target_state=state
            )
        case "delete":
            return memory_pb2.DeleteRequest(**named, **basis)
        case "redact":
            modes = (memory_pb2.REDACTION_MODE_SUPPRESS, memory_pb2.REDACTION_MODE_ERASE)
            target = {"json_pointers": ["/secret"]}
            return memory_pb2.RedactRequest(**named, **basis, target=target, mode=draw.choice(modes))
        case "promote":
            return memory_pb2.PromoteRequest(
                scope_id=named["scope_id"],
                source_object_id=named["object_id"],
                expected_version_id=named["expected_version_id"],
                target_object_type="claim",
                target_canonical_content=_content("claim", number),
                provenance=_PROVENANCE,
            )
        case _:
            raise ValueError(kind)


def _relation(kind: str, pool: Pool, draw: random.Random) -> tuple[Any, Known | None] | None:
    known = pool.pick_relationship(draw) if kind == "relate_update" else None
    if kind == "relate_update" and known is None:
        return None
    source, target = (one.name if one else "" for one in (pool.pick(draw), pool.pick(draw)))
    if known is not None:
        source, target = known.ends
    if not source or source == target:
        return None
    request = memory_pb2.RelateRequest(
        scope_id=pool.scope_id,
        source_object_id=source,
        target_object_id=target,
        relationship_type="supports",
        directionality=memory_pb2.DIRECTIONALITY_DIRECTED,
        canonical_content=b'{"weight":%d}' % draw.randrange(1000),
        provenance=_PROVENANCE,
    )
    if known is not None:
        request.relationship_id, request.expected_version_id = known.name, _expected(known, draw)
    return request, known


def told_by_request(kind: str, request: Any) -> dict[str, Any]:
    """The fields of a Call that are known when it is made."""
    told = {"kind": kind, "operation_id": request.operation_id, "object_id": ""}
    match kind:
        case "create":
            return {**told, "content": request.canonical_content.decode()}
        case "relate" | "relate_update":
            return {**told, "object_id": request.relationship_id, "expected_version_id": request.expected_version_id}
        case "promote":
            content = request.target_canonical_content.decode()
            named = {"object_id": request.source_object_id, "expected_version_id": request.expected_version_id}
            return {**told, **named, "content": content}
        case "read" | "read_version":
            return {**told, "object_id": request.object_id}
    named = {"object_id": request.object_id, "expected_version_id": request.expected_version_id}
    content = request.canonical_content.decode() if kind == "update" else ""
    return {**told, **named, "content": content}


def told_by_answer(kind: str, answer: Any) -> dict[str, Any]:
    """The fields of a Call that its answer adds."""
    match kind:
        case "read" | "read_version":
            envelope = answer.envelope
            return {"version_id": envelope.version_id, "content": envelope.canonical_content.decode()}
        case "relate" | "relate_update":
            made = answer.relationship
            return {"relationships": {made.relationship_id: made.version_id}, "object_id": made.relationship_id}
        case "promote":
            made = {result.object_id: result.version_id for result in (answer.target, answer.source)}
            return {"versions": made, "relationships": {answer.relationship_id: answer.relationship_version_id}}
    result = answer.result
    return {"versions": {result.object_id: result.version_id}, "object_id": result.object_id}


def learn(kind: str, answer: Any, known: Known | None, pool: Pool) -> None:
    """Lets all clients know what an answer told."""
    match kind:
        case "read" | "read_version":
            return
        case "relate" | "relate_update":
            made = answer.relationship
            ends = (made.source_object_id, made.target_object_id)
            pool.learn_relationship(known or Known(made.relationship_id, ends=ends), made.version_id)
        case "promote":
            assert known is not None
            pool.learn(known, answer.source.version_id)
            _learn_new(answer.target, pool)
        case "create":
            _learn_new(answer.result, pool)
        case _:
            assert known is not None
            pool.learn(known, answer.result.version_id, answer.result.envelope.validation_state)
            if kind == "delete":
                pool.forget(known.name)


def _learn_new(result: Any, pool: Pool) -> None:
    envelope = result.envelope
    pool.learn(Known(result.object_id, envelope.object_type), result.version_id, envelope.validation_state)
