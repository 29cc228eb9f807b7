"""Contents and quality signals that the service takes: the least and the most of each shape."""

from __future__ import annotations

import json
from typing import Any

MINIMAL: dict[str, Any] = {
    "tool_invocation": {"tool_name": "search", "arguments": {"q": "x"}},
    "tool_result": {"invocation_object_id": "mem:call", "outcome": "success"},
    "working_memory": {"task_ref": "task:1", "content": "draft"},
}
FULL: dict[str, Any] = {
    "tool_invocation": MINIMAL["tool_invocation"]
    | {
        "tool_version": "1",
        "tool_ref": "urn:tool",
        "arguments_schema_ref": "urn:schema",
        "invocation_reason": "why",
        "requested_by_actor_id": "actor:a",
        "safety_check_outcome": {"checker": "c", "outcome": "flagged", "rationale": "r"},
    },
    "tool_result": MINIMAL["tool_result"]
    | {
        "invocation_version_id": "ver:1",
        "result": [1],
        "result_schema_ref": "urn:schema",
        "error": {"code": "c", "message": "m", "retryable": False},
        "started_at": "2026-07-12T00:00:00Z",
        "completed_at": "2026-07-12T00:00:01+09:00",
        "latency_ms": 0,
        "cost": {"amount": 0.5, "currency": "EUR", "unit": "call"},
        "resource_usage": {"input_tokens": 1, "output_tokens": 0, "wall_clock_ms": 3},
    },
    "working_memory": MINIMAL["working_memory"]
    | {
        "purpose": "p",
        "ttl_hint_seconds": 1,
        "producer_actor_id": "actor:a",
        "supersedes_object_id": "mem:b",
        "promotion_hint": {"target_object_type": "claim", "confidence": 1, "rationale": "r"},
    },
}


def as_bytes(value: Any) -> bytes:
    """JSON text of a value."""
    return json.dumps(value).encode()


SIGNALS: dict[str, Any] = {
    "assessed_confidence": 0.9,
    "contradiction_score": 0.0,
    "staleness_score": 1.0,
    "evidence_strength": 0.25,
    "source_diversity": 0.1,
    "last_verified_at": {"seconds": 1},
    "last_verified_by_actor_id": "actor:v",
    "verification_method_id": "method:1",
    "assessed_at": {"seconds": 2},
    "assessed_by_actor_id": "actor:w",
}
