"""Writes the tables of docs/implementation-report.md from the results of a run: `make report` (PAMSPEC 18.12).

The page's words are written by hand; what stands between two marks of the same name is written here.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from server.operations.discovery.get_manifest import BINDING, BINDING_VERSION, PROFILES
from storage.model.memory import SPEC_VERSION
from tests.profiles import lines_of
from tests.spec_coverage import CHECKOUT, Requirement, read_catalogue, shared_folder
from tests.unshown import REASONS

REPORT = CHECKOUT / "docs" / "implementation-report.md"
AREAS = {
    "A": "The draft, sections 1 to 6",
    "B": "Section 7, architecture",
    "C": "Section 8, objects",
    "D": "Section 9, states",
    "E": "Section 10, operations",
    "F": "Sections 11 to 13, queries and binding",
    "G": "Section 14, errors",
    "H": "Section 15, authority",
    "I": "Sections 16 and 17, privacy and operation",
    "J": "Section 18, profiles",
    "K": "Memory lifecycle: its bounds",
    "L": "Memory lifecycle: freshness",
    "M": "Memory lifecycle: decay",
    "N": "Memory lifecycle: forgetting",
    "O": "Memory lifecycle: what was derived",
    "P": "The product's own",
}
"""The catalogue's areas by their letters."""

_LATER = "not of the draft's sections 1 to 18; not in this version"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def replaced(page: str, name: str, text: str) -> str:
    """Returns the page with the part between the marks of that name replaced. Raises ValueError without the marks."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page needs the marks {begin} and {end} once")
    return page[: page.index(begin) + len(begin)] + f"\n{text}\n" + page[page.index(end) :]


def profile_rows(page: str) -> list[tuple[str, str]]:
    """Returns the names and versions of the page's table of profiles."""
    part = page.partition("<!-- begin profiles -->")[2].partition("<!-- end profiles -->")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", part, re.MULTILINE)
    return [(name.strip(), version.strip()) for name, version in rows[2:]]


def profiles_table(results: dict[str, Any]) -> str:
    """Each claimed profile, with how many of its lines passed."""

    def passed(name: str) -> int:
        return sum(outcome_of(results, requirement_id) == "passed" for requirement_id in lines_of(name))

    rows = [(name, version, f"{passed(name)} of {len(lines_of(name))}") for name, version in PROFILES]
    return table(["Profile", "Version", "Mandatory lines passed"], rows)


def outcome_of(results: dict[str, Any], requirement_id: str) -> str:
    """Returns `failed` when a test of the line failed, `passed` when one passed, `not shown` otherwise."""
    found = results["requirements"].get(requirement_id, {})
    return next((outcome for outcome in ("failed", "passed") if found.get(outcome)), "not shown")


def requirements_table(results: dict[str, Any], catalogue: dict[str, Requirement]) -> str:
    """Each line of the catalogue with its outcome, and why it is not shown."""
    rows = []
    for name, one in catalogue.items():
        outcome = outcome_of(results, name)
        tests = sum(len(found) for found in results["requirements"].get(name, {}).values())
        reason = REASONS.get(name, "" if one.is_of_draft else _LATER)
        rows.append((name, one.profile, one.strength, outcome, tests or reason))
    return table(["Requirement", "Of", "Strength", "Result", "Tests, or why not"], rows)


def sums_table(results: dict[str, Any], catalogue: dict[str, Requirement]) -> str:
    """The sums by area of the catalogue."""
    rows = []
    for letter in dict.fromkeys(one.area[0] for one in catalogue.values()):
        outcomes = [outcome_of(results, name) for name, one in catalogue.items() if one.area[0] == letter]
        rows.append(
            (AREAS[letter], len(outcomes), *(outcomes.count(outcome) for outcome in ("passed", "failed", "not shown")))
        )
    return table(["Area", "Lines", "Passed", "Failed", "Not shown"], rows)


def written(page: str, results: dict[str, Any], catalogue: dict[str, Requirement]) -> str:
    """Returns the page with all of its tables."""
    versions = [("The draft", SPEC_VERSION), (f"Binding `{BINDING}`", BINDING_VERSION)]
    vectors = results["vectors"].items()
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(results["counts"].items()))
    parts = {
        "versions": table(["What", "Version"], versions),
        "profiles": profiles_table(results),
        "vectors": table(["Vector", "Result"], vectors),
        "run": f"The run behind these tables: {counts}.",
        "sums": sums_table(results, catalogue),
        "requirements": requirements_table(results, catalogue),
    }
    for name, text in parts.items():
        page = replaced(page, name, text)
    return page


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.implementation_report RESULTS.json")
    results = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    lines = (shared_folder() / "spec" / "requirements.md").read_text(encoding="utf-8").splitlines()
    page = written(REPORT.read_text(encoding="utf-8"), results, read_catalogue(lines))
    REPORT.write_text(page, encoding="utf-8")
    print(REPORT.relative_to(CHECKOUT))


if __name__ == "__main__":
    main()
