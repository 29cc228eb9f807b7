"""The draft's test vectors, driven over gRPC: each valid one happens, each invalid one is refused as it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from server.wire.json_export import JsonObject
from tests.cluster import Cluster, Refusal
from tests.spec import import_drives, relationship_drives
from tests.spec import vector_drives as drives
from tests.spec_coverage import shared_folder

VECTORS = shared_folder() / "spec" / "vectors"

LATER: dict[str, str] = {}
"""Vectors of operations that this version does not serve, and of what."""

CODES = {
    # A missing field is told apart by where it stands (Q12).
    "invalid/missing-provenance.json": "invalid_object",
    "invalid/missing-scope.json": "invalid_request",
    # `sealed` is a field of the request that seals, and of no object.
    "invalid/evaluation-snapshot-unsealed.json": "invalid_request",
    # An operation that cannot be granted is a bad request, as authority.md ("Grant") has it; the vector judges the
    # stored object, which here never comes to be.
    "invalid/delegation-unknown-operation.json": "invalid_request",
}
"""Where the code answered is not the one that the vector names."""


@pytest.fixture
def stage(cluster: Cluster) -> Iterator[drives.Stage]:
    made = drives.Stage(cluster)
    yield made
    made.close()


DRIVEN: dict[str, Callable[[drives.Stage, JsonObject], Any]] = {
    "valid/access-denial-event-only.json": drives.driven_denial,
    "valid/claim-creation.json": drives.driven_creation,
    "valid/claim-with-quality-signals.json": drives.driven_creation,
    "valid/decision-update.json": drives.driven_update,
    "valid/delegation.json": drives.driven_grant,
    "valid/deletion-tombstone.json": drives.driven_removal,
    "valid/evaluation-snapshot.json": drives.driven_snapshot,
    "valid/idempotent-repeated-create.json": drives.driven_repetition,
    "valid/lifecycle-transition.json": drives.driven_move,
    "valid/object-history.json": drives.driven_move,
    "valid/pending-deletion.json": drives.driven_removal,
    "valid/redaction-with-tombstone.json": drives.driven_removal,
    "valid/relationship-creation.json": relationship_drives.driven_relationship,
    "valid/retention-transition.json": drives.driven_move,
    "valid/scalar-canonical-content.json": drives.driven_creation,
    "valid/structured-query.json": drives.driven_query,
    "valid/tool-invocation.json": drives.driven_creation,
    "invalid/cross-scope-relationship-without-policy.json": relationship_drives.related,
    "invalid/delegation-unknown-operation.json": drives.granted,
    "invalid/delegation-window-inverted.json": drives.granted,
    "invalid/deletion-blocked-by-legal-hold.json": drives.refused_deletion,
    "invalid/duplicate-operation-different-content.json": drives.refused_repetition,
    "invalid/evaluation-snapshot-unsealed.json": drives.refused_snapshot,
    "invalid/invalid-lifecycle-transition.json": drives.refused_move("lifecycle"),
    "invalid/invalid-validation-transition.json": drives.refused_move("validation"),
    "invalid/missing-provenance.json": drives.refused_creation,
    "invalid/missing-scope.json": drives.refused_creation,
    "invalid/reused-immutable-version-identifier.json": import_drives.refused_reuse,
    "invalid/silent-overwrite-attempt.json": import_drives.refused_overwrite,
    "invalid/stale-expected-version.json": drives.refused_stale,
    "invalid/subscription-negative-start-sequence.json": drives.refused_subscription,
    "invalid/tool-invocation-missing-tool-name.json": drives.refused_content("tool_invocation"),
    "invalid/tool-result-without-invocation.json": drives.refused_content("tool_result"),
    "invalid/unauthorized-lifecycle-promotion.json": drives.refused_promotion,
    "invalid/vector-without-embedding-space.json": drives.refused_vector,
}

FILES = sorted(str(path.relative_to(VECTORS)) for path in Path(VECTORS).glob("*/*.json"))
needs_vectors = pytest.mark.skipif(not FILES, reason="the shared vectors are not here")


@needs_vectors
@pytest.mark.parametrize("name", [name for name in FILES if name not in LATER])
def test_a_vector_has_the_outcome_it_says(stage: drives.Stage, name: str) -> None:
    vector = json.loads((VECTORS / name).read_text())
    drive = DRIVEN[name]
    if name.startswith("valid/"):
        drive(stage, vector)
        return
    with pytest.raises(Refusal) as refusal:
        drive(stage, vector["instance"])
    error = refusal.value.pamspec
    assert error.code == CODES.get(name, vector["expected_failure"])
    expected = vector["instance"]
    if "retryable" in expected:  # the vector is the error itself
        assert error.retryable == expected["retryable"]
        assert error.operation_id == expected["operation_id"]


@needs_vectors
def test_every_vector_is_driven_or_known_to_come() -> None:
    assert set(FILES) == set(DRIVEN) | set(LATER)
    assert not set(DRIVEN) & set(LATER)
