"""The coverage of the requirement catalogue is read from the marks as they stand."""

import re
from pathlib import Path

import pytest

from tests.spec_coverage import read_catalogue, report, shared_folder

CATALOGUE = """
## A. First: ground rules

P-1-01 | Core | MUST* | Memory stays. | Restart.
P-1-02 | Core | MUST | Rules | bind. | Read.
P-1-03 | Core | MUST | Rules bind. | Read | twice.

## P. Product glue

X-01 | Product | MUST | Every RPC. | Call each.

## Q. Conflicts

Q01 | Topic | what clashes | what is done.
"""

MARK = re.compile(r"mark\.req\(([^)]*)\)")


def test_reads_the_testable_lines() -> None:
    catalogue = read_catalogue(CATALOGUE.splitlines())
    assert list(catalogue) == ["P-1-01", "P-1-02", "P-1-03", "X-01"]
    assert catalogue["P-1-01"].area == "A. First: ground rules"
    assert catalogue["P-1-01"].strength == "MUST*"


def test_refuses_an_id_that_stands_twice() -> None:
    with pytest.raises(ValueError, match="X-01 twice"):
        read_catalogue([*CATALOGUE.splitlines(), "X-01 | Product | MUST | Once more. | Call."])


def test_reports_what_is_shown_left_and_unknown() -> None:
    found = report(read_catalogue(CATALOGUE.splitlines()), {"P-1-02": {"t.py::b", "t.py::a"}, "P-9-99": {"t.py::c"}})
    assert found == {
        "counts": {"all": 4, "shown": 1, "left": 3},
        "shown": {"P-1-02": ["t.py::a", "t.py::b"]},
        "left": {"A. First: ground rules": ["P-1-01", "P-1-03"], "P. Product glue": ["X-01"]},
        "unknown": {"P-9-99": ["t.py::c"]},
    }


def test_every_mark_names_a_line_of_the_catalogue() -> None:
    path = shared_folder() / "spec" / "requirements.md"
    catalogue = read_catalogue(path.read_text(encoding="utf-8").splitlines())
    assert len(catalogue) == 457
    tests = Path(__file__).parent
    unknown = {
        requirement_id: str(source.relative_to(tests))
        for source in tests.rglob("test_*.py")
        if source != Path(__file__)
        for mark in MARK.findall(source.read_text(encoding="utf-8"))
        for requirement_id in re.findall(r'"([^"]+)"', mark)
        if requirement_id not in catalogue
    }
    assert unknown == {}
