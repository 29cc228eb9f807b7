"""Query against a brute-force oracle over a seeded workspace (A39; P-11-01)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.v1 import common_pb2, memory_pb2
from storage.model.states import LifecycleState, ValidationState
from storage.model.times import iso_text
from tests.cluster import Workspace, running_cluster
from tests.conftest import DatabaseDsns

OBJECTS = 120
TEXT_FIELDS = ("object_id", "version_id", "object_type", "schema_id", "actor_id", "provenance_id")
TIME_FIELDS = ("observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at")
TEXT_OPERATORS = ("EQ", "NE", "IN", "NOT_IN", "PRESENT", "ABSENT")
ORDERED_OPERATORS = (*TEXT_OPERATORS, "LT", "LE", "GT", "GE")
HASH_OPERATORS = ("EQ", "IN", "PRESENT", "ABSENT")
OPERATORS = (
    dict.fromkeys(TEXT_FIELDS, TEXT_OPERATORS)
    | dict.fromkeys((*TIME_FIELDS, "sequence"), ORDERED_OPERATORS)
    | {"integrity_digest": HASH_OPERATORS}
)
EVERY_STATE: dict[str, Any] = {
    "lifecycle_state": common_pb2.LifecycleState.values()[1:],
    "availability_state": common_pb2.AvailabilityState.values()[1:],
    "retention_state": common_pb2.RetentionState.values()[1:],
    "validation_state": common_pb2.ValidationState.values()[1:],
}


@dataclass(frozen=True)
class Seeded:
    workspace: Workspace
    rows: tuple[common_pb2.MemoryEnvelope, ...]


def _microseconds(envelope: common_pb2.MemoryEnvelope, name: str) -> int | None:
    if not envelope.HasField(name):
        return None
    stamp = getattr(envelope, name)
    return int(stamp.seconds * 1_000_000 + stamp.nanos // 1000)


def value_of(envelope: common_pb2.MemoryEnvelope, field: str) -> str | int | None:
    if field in TIME_FIELDS:
        return _microseconds(envelope, field)
    if field == "sequence":
        return int(envelope.sequence)
    if field == "actor_id":
        return str(envelope.actor.actor_id)
    if field == "provenance_id":
        return str(envelope.provenance.provenance_id)
    if field == "integrity_digest":
        return str(envelope.integrity.digest) or None
    return str(getattr(envelope, field)) or None


def text_of(field: str, value: str | int) -> str:
    return iso_text(int(value)) if field in TIME_FIELDS else str(value)


def holds(envelope: common_pb2.MemoryEnvelope, field: str, operator: str, values: list[Any]) -> bool:
    value: Any = value_of(envelope, field)
    if operator in ("PRESENT", "ABSENT"):
        return (value is not None) == (operator == "PRESENT")
    if value is None:
        return False
    compare: dict[str, Callable[[], bool]] = {
        "EQ": lambda: value == values[0],
        "NE": lambda: value != values[0],
        "IN": lambda: value in values,
        "NOT_IN": lambda: value not in values,
        "LT": lambda: value < values[0],
        "LE": lambda: value <= values[0],
        "GT": lambda: value > values[0],
        "GE": lambda: value >= values[0],
    }
    return compare[operator]()


def predicate(field: str, operator: str, values: list[Any]) -> memory_pb2.Predicate:
    return memory_pb2.Predicate(
        field=field,
        op=memory_pb2.ComparisonOperator.Value(f"COMPARISON_OPERATOR_{operator}"),
        values=[text_of(field, value) for value in values],
    )


def find(workspace: Workspace, limit: int = 1000, **filters: Any) -> list[common_pb2.MemoryEnvelope]:
    request = memory_pb2.QueryRequest(
        scope_id=workspace.scope_id,
        query={"kind": memory_pb2.QUERY_KIND_STRUCTURED, "filters": filters},
        limit=limit,
    )
    return list(workspace.owner.memory.Query(request).results)


def _seed(workspace: Workspace) -> None:
    workspace.allow("actor:admin", "assert_state")
    workspace.allow("actor:second", "create", "assert_state", "update")
    second = workspace.cluster.client("actor:second")
    chosen = random.Random(20)
    for number in range(OBJECTS):
        fields: dict[str, Any] = {
            "object_type": chosen.choice(("claim", "decision", "task", "org.example.note")),
            "lifecycle_state": chosen.choice((1, 2, 3, 4, 5, 6)),
            "validation_state": chosen.choice((1, 2, 3, 4)),
        }
        if fields["object_type"] == "org.example.note" or chosen.random() < 0.3:
            fields["schema_id"] = f"https://example.org/schema/{chosen.randrange(3)}"
        for name in ("observed_at", "asserted_at", "valid_from", "valid_until"):
            if chosen.random() < 0.5:
                # Few distinct instants, a microsecond apart, before and after 1970.
                fields[name] = {"seconds": chosen.choice((-2, 0, 1_700_000_000)), "nanos": chosen.randrange(3) * 1000}
        if chosen.random() < 0.5:
            fields["integrity"] = {"digest": f"{chosen.randrange(4):064x}", "algorithm": "sha-256"}
        client = chosen.choice((None, second))
        created = workspace.create(client, **fields)
        if number % 3 == 0:
            update = memory_pb2.UpdateRequest(
                scope_id=workspace.scope_id,
                object_id=created.object_id,
                expected_version_id=created.version_id,
                canonical_content=b'{"statement":"y"}',
                provenance={"activity": "revised"},
            )
            (client or workspace.owner).memory.Update(update)


@pytest.fixture(scope="module")
def seeded(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Seeded]:
    with running_cluster(clone_database) as cluster:
        workspace = Workspace(cluster)
        _seed(workspace)
        rows = tuple(find(workspace, **EVERY_STATE))
        assert len(rows) == OBJECTS
        yield Seeded(workspace, rows)


@st.composite
def conditions(draw: st.DrawFn) -> tuple[str, str, list[float]]:
    field = draw(st.sampled_from(sorted(OPERATORS)))
    operator = draw(st.sampled_from(OPERATORS[field]))
    count = {"PRESENT": 0, "ABSENT": 0}.get(operator, 1)
    if operator in ("IN", "NOT_IN"):
        count = draw(st.integers(1, 5))
    # Places among the values that occur, and 1.0 for one that does not.
    return field, operator, draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))


def _values(rows: tuple[common_pb2.MemoryEnvelope, ...], field: str, places: list[float]) -> list[Any]:
    occurring: list[Any] = sorted({value for row in rows if (value := value_of(row, field)) is not None})
    absent: Any = 2**40 if field == "sequence" or field in TIME_FIELDS else "none:such"
    return [[*occurring, absent][min(int(place * (len(occurring) + 1)), len(occurring))] for place in places]


states = st.fixed_dictionaries(
    {
        "lifecycle_state": st.sets(st.sampled_from(common_pb2.LifecycleState.values()[1:]), min_size=1),
        "validation_state": st.sets(st.sampled_from(common_pb2.ValidationState.values()[1:]), min_size=1),
        "object_type": st.sets(st.sampled_from(("claim", "decision", "task", "org.example.note", "entity"))),
    }
)


@pytest.mark.case("A39")
@pytest.mark.req("P-11-01")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=states, predicates=st.lists(conditions(), max_size=3))
def test_every_operator_equals_the_oracle(
    seeded: Seeded, wanted: dict[str, set[Any]], predicates: list[tuple[str, str, list[float]]]
) -> None:
    chosen = [(field, operator, _values(seeded.rows, field, places)) for field, operator, places in predicates]
    found = find(
        seeded.workspace,
        predicates=[predicate(*one) for one in chosen],
        **{name: sorted(values) for name, values in wanted.items()},
    )
    expected = [
        row
        for row in seeded.rows
        if row.lifecycle_state in wanted["lifecycle_state"]
        and row.validation_state in wanted["validation_state"]
        and (not wanted["object_type"] or row.object_type in wanted["object_type"])
        and all(holds(row, *one) for one in chosen)
    ]
    assert found == expected


@pytest.mark.case("A39")
@pytest.mark.req("P-11-01")
@pytest.mark.parametrize(("field", "operator"), [(f, o) for f, all_ in sorted(OPERATORS.items()) for o in all_])
def test_each_operator_alone_divides_the_rows(seeded: Seeded, field: str, operator: str) -> None:
    values = {"PRESENT": [], "ABSENT": []}.get(operator, _values(seeded.rows, field, [0.5]))
    found = find(seeded.workspace, predicates=[predicate(field, operator, values)], **EVERY_STATE)
    assert found == [row for row in seeded.rows if holds(row, field, operator, values)]


@pytest.mark.req("P-10.6-03")
def test_provenance_ids_are_a_filter(seeded: Seeded) -> None:
    chosen = seeded.rows[3::17]
    found = find(seeded.workspace, provenance_id=[row.provenance.provenance_id for row in chosen], **EVERY_STATE)
    assert found == list(chosen)


def test_lifecycle_and_validation_have_the_models_states() -> None:
    assert len(common_pb2.LifecycleState.values()[1:]) == len(LifecycleState)
    assert len(common_pb2.ValidationState.values()[1:]) == len(ValidationState)
