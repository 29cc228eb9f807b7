"""The coverage of the requirement catalogue is read from the marks as they stand."""

import re
from pathlib import Path

import pytest

from tests.profiles import COLUMNS, EVERY_PROFILE, MANDATORY, claimable, lines_of
from tests.spec_coverage import Requirement, read_catalogue, report, shared_folder

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


def test_reports_what_is_shown_left_and_wrong() -> None:
    marks = {"P-1-02": {"t.py::b", "t.py::a"}, "P-9-99": {"t.py::c"}}
    reasons = {"P-1-01": "It is for later.", "P-1-02": "It was.", "P-8-88": "There is none."}
    found = report(read_catalogue(CATALOGUE.splitlines()), marks, reasons)
    assert found == {
        "counts": {"all": 4, "shown": 1, "left": 3},
        "shown": {"P-1-02": ["t.py::a", "t.py::b"]},
        "left": {"A. First: ground rules": ["P-1-01", "P-1-03"], "P. Product glue": ["X-01"]},
        "unknown": {"P-9-99": ["t.py::c"]},
        "reasons": {"P-1-01": "It is for later."},
        "without_reason": ["P-1-03"],
        "needless_reasons": ["P-1-02", "P-8-88"],
    }


def _catalogue() -> dict[str, Requirement]:
    path = shared_folder() / "spec" / "requirements.md"
    return read_catalogue(path.read_text(encoding="utf-8").splitlines())


def test_the_profiles_consist_of_the_mandatory_lines_of_the_catalogue() -> None:
    lines: dict[str, list[str]] = {}
    for one in _catalogue().values():
        if one.is_mandatory:
            lines.setdefault(one.profile, []).append(one.requirement_id)
    assert {column: tuple(ids) for column, ids in lines.items()} == MANDATORY
    assert {column for columns in COLUMNS.values() for column in columns} | set(EVERY_PROFILE) == MANDATORY.keys()


def test_a_profile_is_claimable_with_all_of_its_lines_and_of_what_it_layers_on() -> None:
    subscribe = set(lines_of("Subscribe"))
    assert subscribe > set(lines_of("Lite"))
    assert [name for name, _ in claimable(subscribe)] == ["Lite", "Subscribe"]
    assert [name for name, _ in claimable(subscribe - {"P-10.1-06"})] == []
    assert claimable(set()) == ()


def test_every_mark_names_a_line_of_the_catalogue() -> None:
    catalogue = _catalogue()
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
