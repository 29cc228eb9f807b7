"""Which lines of the requirement catalogue tests show: `make coverage-of-spec`.

The catalogue is `spec/requirements.md` below REMIT_SHARED. A test shows a line when it carries `@pytest.mark.req` with
the line's id. Section Q settles conflicts and asks for no test of its own. Exit status 1: a mark names no line of the
catalogue, the tests could not be collected, a mandatory line of the draft (areas A to J, MUST or MUST*) is neither shown
nor has a reason in tests/unshown.py, or a reason stands there for a line that is shown.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from tests.unshown import REASONS

CHECKOUT = Path(__file__).parents[1]
DRAFT_AREAS = frozenset("ABCDEFGHIJ")
_AREA = re.compile(r"^## (?P<letter>[A-Z])\. (?P<title>.+)$")
_LINE = re.compile(
    r"^(?P<id>[A-Z][A-Za-z0-9.-]+) \| (?P<profile>[^|]+) \| (?P<strength>[^|]+) \| (?P<text>[^|]+) \| (?P<test>.+)$"
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable line of the catalogue."""

    requirement_id: str
    area: str
    profile: str
    strength: str
    text: str

    @property
    def is_of_draft(self) -> bool:
        """Whether it is a line of the draft, not of the other document or of the product."""
        return self.area[0] in DRAFT_AREAS

    @property
    def is_mandatory(self) -> bool:
        """Whether the draft demands it, or describes it and this service adopts it."""
        return self.is_of_draft and self.strength in {"MUST", "MUST*"}


@dataclass(eq=False, slots=True)
class Marks:
    """A pytest plugin: the tests by the requirement ids they name. Parametrized cases count as one test."""

    tests: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        for mark in item.iter_markers("req"):
            for requirement_id in mark.args:
                self.tests[requirement_id].add(item.nodeid.partition("[")[0])


def shared_folder() -> Path:
    """Where the catalogue is kept: REMIT_SHARED, or `../shared` of the checkout."""
    return Path(os.environ.get("REMIT_SHARED") or CHECKOUT.parent / "shared")


def read_catalogue(lines: Iterable[str]) -> dict[str, Requirement]:
    """Returns the testable lines by id, in their order. Raises ValueError when an id stands twice."""
    requirements: dict[str, Requirement] = {}
    area = ""
    for line in lines:
        if heading := _AREA.match(line):
            area = f"{heading['letter']}. {heading['title']}"
        elif found := _LINE.match(line):
            if found["id"] in requirements:
                raise ValueError(f"the catalogue has {found['id']} twice")
            cells = (found[name].strip() for name in ("profile", "strength", "text"))
            requirements[found["id"]] = Requirement(found["id"], area, *cells)
    return requirements


def collect() -> dict[str, set[str]]:
    """Returns the marks of all tests; ends the process with what pytest said when it cannot collect them."""
    marks, output = Marks(), io.StringIO()
    with contextlib.redirect_stdout(output):
        status = pytest.main(["--collect-only", "-qq", f"--rootdir={CHECKOUT}", str(CHECKOUT / "tests")], [marks])
    if status is not pytest.ExitCode.OK:
        sys.exit(f"{output.getvalue()}\nThe tests could not be collected.")
    return dict(marks.tests)


def report(
    catalogue: dict[str, Requirement], marks: dict[str, set[str]], reasons: Mapping[str, str] = REASONS
) -> dict[str, Any]:
    """Returns what is shown, what is left and why, and which marks and reasons are wrong, ready for JSON."""
    left: defaultdict[str, list[str]] = defaultdict(list)
    for requirement in catalogue.values():
        if requirement.requirement_id not in marks:
            left[requirement.area].append(requirement.requirement_id)
    shown = {requirement_id: sorted(marks[requirement_id]) for requirement_id in catalogue if requirement_id in marks}
    return {
        "counts": {"all": len(catalogue), "shown": len(shown), "left": len(catalogue) - len(shown)},
        "shown": shown,
        "left": dict(left),
        "unknown": {name: sorted(tests) for name, tests in sorted(marks.items()) if name not in catalogue},
        "reasons": {name: reasons[name] for name in catalogue if name in reasons and name not in marks},
        "without_reason": [
            name for name, one in catalogue.items() if one.is_mandatory and name not in marks and name not in reasons
        ],
        "needless_reasons": sorted(name for name in reasons if name in marks or name not in catalogue),
    }


def print_tables(catalogue: dict[str, Requirement], found: dict[str, Any], console: Console) -> None:
    """Prints the lines shown with their tests, those left by area, and the sums."""
    shown = Table("Requirement", "Strength", "Shown by", title="Shown by tests", title_justify="left")
    for requirement_id, tests in found["shown"].items():
        shown.add_row(requirement_id, catalogue[requirement_id].strength, "\n".join(tests))
    left = Table("Area", "Left", "Requirements", title="Left for later", title_justify="left")
    for area, requirement_ids in found["left"].items():
        left.add_row(area, str(len(requirement_ids)), " ".join(requirement_ids), end_section=True)
    why = Table("Requirement", "Strength", "Why", title="Lines of the draft left, and why", title_justify="left")
    for requirement_id, one in catalogue.items():
        if one.is_of_draft and requirement_id not in found["shown"]:
            why.add_row(requirement_id, one.strength, found["reasons"].get(requirement_id, "-"))
    for table in (shown, left, why):
        console.print(table)
    counts = found["counts"]
    console.print(f"{counts['shown']} of {counts['all']} requirements are shown by tests, {counts['left']} are left.")


def main() -> None:
    parser = argparse.ArgumentParser(description="Lists the requirements that tests show, and those left.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    path = shared_folder() / "spec" / "requirements.md"
    if not path.exists():
        sys.exit(f"No catalogue at {path}: set REMIT_SHARED.")
    catalogue = read_catalogue(path.read_text(encoding="utf-8").splitlines())
    found = report(catalogue, collect())
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print_tables(catalogue, found, Console())
    wrong = {
        "Marks that name no line of the catalogue": [
            f"{name}: {', '.join(at)}" for name, at in found["unknown"].items()
        ],
        "Mandatory lines of the draft that no test shows, without a reason in tests/unshown.py": found[
            "without_reason"
        ],
        "Reasons in tests/unshown.py for lines that are shown, or are none": found["needless_reasons"],
    }
    told = [f"{what}:\n  " + "\n  ".join(names) for what, names in wrong.items() if names]
    if told:
        sys.exit("\n".join(told))


if __name__ == "__main__":
    main()
