"""What the manifest claims is what tests show, and what the implementation report says (PAMSPEC 2, 18)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from remit.v1 import discovery_pb2
from server.operations.discovery.get_manifest import PROFILES
from tests.cluster import Cluster
from tests.implementation_report import REPORT, profile_rows
from tests.profiles import COLUMNS, claimable, lines_of
from tests.spec_coverage import CHECKOUT, Requirement, read_catalogue, shared_folder

CATALOGUE = shared_folder() / "spec" / "requirements.md"
pytestmark = pytest.mark.skipif(not CATALOGUE.exists(), reason="the shared catalogue is not here")


@pytest.fixture(scope="module")
def coverage() -> dict[str, Any]:
    """What tests of the whole checkout are marked with, whichever of them this run makes."""
    command = [sys.executable, "-m", "tests.spec_coverage", "--json"]
    found = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    told: dict[str, Any] = json.loads(found.stdout)
    return told


@pytest.fixture(scope="module")
def claims(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """The profiles that the service claims over gRPC."""
    manifest = cluster.client("actor:anybody").discovery.GetManifest(discovery_pb2.GetManifestRequest())
    return tuple((profile.name, profile.version) for profile in manifest.profiles)


@pytest.mark.req("P-18-01", "P-2-01", "P-18.1-06")
def test_exactly_those_profiles_are_claimed_whose_every_line_is_shown(
    coverage: dict[str, Any], claims: tuple[tuple[str, str], ...]
) -> None:
    shown = set(coverage["shown"])
    missing = {name: sorted(set(lines_of(name)) - shown) for name in COLUMNS}
    assert claims == PROFILES == claimable(shown), {name: ids for name, ids in missing.items() if ids}
    # Larger profiles are declared beside the smallest one.
    assert len({name for name, _ in claims} - {"Lite"}) > 0


@pytest.mark.req("P-18.12-01")
def test_the_report_names_the_profiles_of_the_manifest(claims: tuple[tuple[str, str], ...]) -> None:
    assert tuple(profile_rows(REPORT.read_text(encoding="utf-8"))) == claims, "run `make report`"


@pytest.mark.req("P-18.12-02")
def test_the_report_documents_the_seven_choices() -> None:
    parts = re.split(r"^## (.+)$", REPORT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    written = dict(zip(parts[1::2], (text.strip() for text in parts[2::2]), strict=True))
    headings = ["Storage", "Authorization", "Indexes", "Export", "Deletion", "Vector results", "Deviations"]
    assert [name for name in headings if len(written.get(name, "")) < 100] == []


def test_the_report_speaks_of_every_line_of_the_catalogue() -> None:
    page = REPORT.read_text(encoding="utf-8").partition("<!-- begin requirements -->")[2]
    told = re.findall(r"^\| ([A-Z][A-Za-z0-9.-]+) \|", page, re.MULTILINE)
    assert told[1:] == list(_catalogue()), "run `make report`"


def test_every_line_that_no_test_shows_has_its_reason(coverage: dict[str, Any]) -> None:
    assert (coverage["without_reason"], coverage["needless_reasons"], coverage["unknown"]) == ([], [], {})


GROUPS = {
    "P-18.4-01": (r"P-(7\.[1-5]|8\.[1-7]|9[.-])", {"Core"}, "Core"),
    "P-18.6-01": (r"P-7\.7-", {"Ledger"}, "Ledger"),
    "P-18.7-01": (r"P-1[0-2]", {"Query"}, "Structured-Query"),
    "P-18.8-01": (r"P-(7\.8|10|11)", {"Semantic"}, "Semantic-Query"),
}
"""Lines that stand for all lines of a part of the catalogue: where those are, of whom, and the profile they make."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.req(name)) for name in GROUPS])
def test_a_profile_that_is_a_group_of_lines_has_them_all_shown(
    coverage: dict[str, Any], claims: tuple[tuple[str, str], ...], name: str
) -> None:
    pattern, columns, profile = GROUPS[name]
    group = [
        one.requirement_id
        for one in _catalogue().values()
        if one.is_mandatory and one.profile in columns and re.match(pattern, one.requirement_id)
    ]
    assert len(group) > 4
    assert sorted(set(group) - set(coverage["shown"])) == []
    assert profile in {claimed for claimed, _ in claims}


def _catalogue() -> dict[str, Requirement]:
    return read_catalogue(CATALOGUE.read_text(encoding="utf-8").splitlines())
