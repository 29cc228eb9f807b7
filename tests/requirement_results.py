"""A pytest plugin: `--requirement-results=FILE` writes what a run says of each requirement, and of each vector, as JSON.

    {"counts": {"passed": 3}, "requirements": {"P-1-01": {"passed": ["tests/a.py::test_b"]}}, "vectors": {...}}

Tests are named once, whatever they were parametrized with; a test of which one case failed is among the failed.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

VECTOR_TESTS = "tests/spec/test_vectors.py::"
_WORST_FIRST = ("failed", "skipped", "passed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption("--requirement-results", type=Path, help="write what the run says of each requirement, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the collector in the process that sees all results."""
    path = config.getoption("requirement_results")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(path))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Gives each test's requirements along with its result, which may come from another process."""
    names = [name for mark in item.iter_markers("req") for name in mark.args]
    item.user_properties.extend(("req", name) for name in names)


class Results:
    """Collects outcomes and writes them at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._outcomes: dict[str, str] = {}
        self._requirements: defaultdict[str, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps the outcome of the call, or of what kept it from being made."""
        if report.when != "call" and report.passed:
            return
        known = self._outcomes.get(report.nodeid, "passed")
        self._outcomes[report.nodeid] = worst(known, report.outcome)
        for key, value in report.user_properties:
            if key == "req":
                self._requirements[str(value)].add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Writes the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(summary(self._outcomes, self._requirements), indent=2), encoding="utf-8")


def worst(first: str, second: str) -> str:
    """Returns the worse of two outcomes."""
    return min(first, second, key=_WORST_FIRST.index)


def summary(outcomes: Mapping[str, str], requirements: Mapping[str, set[str]]) -> dict[str, Any]:
    """Returns the results by requirement and by vector."""
    tests: dict[str, str] = {}
    for nodeid, outcome in outcomes.items():
        name = nodeid.partition("[")[0]
        tests[name] = worst(tests.get(name, outcome), outcome)
    by_requirement: dict[str, dict[str, list[str]]] = {}
    for requirement_id, nodeids in sorted(requirements.items()):
        found = by_requirement.setdefault(requirement_id, {})
        for name in sorted({nodeid.partition("[")[0] for nodeid in nodeids}):
            found.setdefault(tests[name], []).append(name)
    return {
        "counts": dict(Counter(outcomes.values())),
        "requirements": by_requirement,
        "vectors": {
            nodeid.partition("[")[2].removesuffix("]"): outcome
            for nodeid, outcome in sorted(outcomes.items())
            if nodeid.startswith(VECTOR_TESTS) and ".json]" in nodeid
        },
    }
