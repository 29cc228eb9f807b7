"""Results of a run are summed by requirement, and the report's tables are written from them."""

from __future__ import annotations

import pytest

from server.operations.discovery.get_manifest import PROFILES
from tests.implementation_report import REPORT, outcome_of, profile_rows, replaced, written
from tests.requirement_results import summary
from tests.spec_coverage import read_catalogue

OUTCOMES = {
    "tests/a.py::test_one[x]": "passed",
    "tests/a.py::test_one[y]": "failed",
    "tests/a.py::test_two": "passed",
    "tests/a.py::test_three": "skipped",
    "tests/spec/test_vectors.py::test_vector[valid/a.json]": "passed",
}
MARKED = {
    "P-1-01": {"tests/a.py::test_one[x]", "tests/a.py::test_one[y]", "tests/a.py::test_two"},
    "P-1-02": {"tests/a.py::test_two"},
    "P-1-03": {"tests/a.py::test_three"},
}
CATALOGUE = """
## A. Ground rules
P-1-01 | Core | MUST | One. | Try.
P-1-02 | Core | MUST | Two. | Try.
P-1-03 | Core | MUST | Three. | Try.
P-1-04 | Core | MAY | Four. | Try.
"""


def test_a_requirement_is_as_good_as_the_worst_of_its_tests() -> None:
    results = summary(OUTCOMES, MARKED)
    assert results["counts"] == {"passed": 3, "failed": 1, "skipped": 1}
    assert results["requirements"]["P-1-01"] == {"failed": ["tests/a.py::test_one"], "passed": ["tests/a.py::test_two"]}
    assert results["vectors"] == {"valid/a.json": "passed"}
    outcomes = [outcome_of(results, f"P-1-0{number}") for number in range(1, 5)]
    assert outcomes == ["failed", "passed", "not shown", "not shown"]


def test_all_tables_are_written_and_the_words_stay() -> None:
    page = REPORT.read_text(encoding="utf-8")
    made = written(page, summary(OUTCOMES, MARKED), read_catalogue(CATALOGUE.splitlines()))
    assert tuple(profile_rows(made)) == PROFILES
    assert "| P-1-01 | Core | MUST | failed | 2 |" in made
    assert "| The draft, sections 1 to 6 | 4 | 1 | 1 | 2 |" in made
    assert "| valid/a.json | passed |" in made

    def words(text: str) -> list[str]:
        return [line for line in text.splitlines() if line and not line.startswith(("|", "The run behind"))]

    assert words(made) == words(page)


def test_a_page_without_a_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="marks"):
        replaced("nothing", "profiles", "text")
