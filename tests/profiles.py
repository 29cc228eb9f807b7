"""The profiles of the draft's section 18, and the catalogue's lines that each of them consists of.

Names and ids only; what the lines say stands in the catalogue. A line is mandatory when its strength is MUST or MUST*,
the star marking what the draft merely describes and this service adopts. A profile may be claimed when a test shows every
mandatory line of it, of the profiles it layers on, and of EVERY_PROFILE.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1-draft"

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "Lite": ("Lite",),
    "Delegation": ("Delegation",),
    "Subscribe": ("Subscribe",),
    "Core": ("Core", "Errors"),
    "Versioning": ("Versioning",),
    "Ledger": ("Ledger",),
    "Structured-Query": ("Query",),
    "Semantic-Query": ("Semantic",),
    "Relationship": ("Relationship",),
    "Protocol-Binding": ("Binding", "Errors"),
    "Evaluation": ("Evaluation",),
}
"""Each profile, in the draft's order, with the catalogue's names for its lines. The error codes are of the core error
envelope and of the binding's mapping, so both need them."""

EVERY_PROFILE: Final = ("General", "All", "Report")
"""The catalogue's names for lines that any claim at all needs."""

LAYERS: Final[dict[str, tuple[str, ...]]] = {"Delegation": ("Lite",), "Subscribe": ("Lite",)}
"""The profiles that a profile layers on."""

_MANDATORY_IDS: Final = {
    "Lite": """
        P-10.1-06 P-10.1-07 P-18.1-01 P-18.1-02 P-18.1-03 P-18.1-04 P-18.1-05 P-18.1-07
    """,
    "Delegation": """
        P-15.4-03 P-15.4-04 P-15.4-06 P-15.4-07 P-15.4-08 P-15.4-09 P-15.4-10 P-15.4-11 P-15.4-12 P-15.4-13
        P-15.4-14 P-15.4-15 P-18.2-01 P-18.2-02 P-18.2-03 P-18.2-04 P-18.2-05 P-18.2-06 P-18.2-07
    """,
    "Subscribe": """
        P-10.8-01 P-10.8-02 P-10.8-03 P-10.8-04 P-10.8-05 P-10.8-07 P-10.8-08 P-10.8-09 P-10.8-10 P-10.8-11
        P-18.3-01 P-18.3-02 P-18.3-03 P-18.3-04 P-18.3-05
    """,
    "Core": """
        P-1-01 P-3-02 P-7.1-01 P-7.2-01 P-7.3-01 P-7.4-01 P-7.5-01 P-7.5-02 P-7.5-03 P-7.5-05 P-7.5-07
        P-7.5-08 P-7.6-01 P-7.6-02 P-8.1-01 P-8.1-02 P-8.1-03 P-8.1-04 P-8.1-05 P-8.1-06 P-8.1-08 P-8.1-09
        P-8.1-10 P-8.1-12 P-8.1-13 P-8.1-14 P-8.1-15 P-8.1-16 P-8.1-18 P-8.1-19 P-8.1-20 P-8.1-22 P-8.1-23
        P-8.1-24 P-8.1-26 P-8.1-27 P-8.2-01 P-8.2-02 P-8.2-03 P-8.2-04 P-8.2-05 P-8.2-08 P-8.2-09 P-8.2-11
        P-8.2-12 P-8.2-13 P-8.2-14 P-8.2-15 P-8.3-01 P-8.3-02 P-8.6-01 P-8.6-03 P-8.6-04 P-8.6-06 P-8.7-01
        P-9-01 P-9-02 P-9.1-01 P-9.1-02 P-9.1-03 P-9.1-04 P-9.1-05 P-9.1-06 P-9.1-07 P-9.2-01 P-9.2-02
        P-9.2-03 P-9.2-04 P-9.3-01 P-9.3-02 P-9.3-03 P-9.3-04 P-9.4-01 P-9.4-02 P-9.4-03 P-9.4-04 P-9.5-01
        P-9.5-02 P-9.5-03 P-9.5-L1 P-9.5-L2 P-9.5-L3 P-9.5-L4 P-9.5-L5 P-9.5-L6 P-9.5-L7 P-9.5-V1 P-9.5-V2
        P-9.5-V3 P-9.5-V4 P-9.5-A1 P-9.5-A2 P-9.5-A3 P-9.5-A4 P-9.5-R1 P-9.5-R2 P-9.5-R3 P-9.5-R4 P-9.6-01
        P-9.6-02 P-9.6-03 P-9.6-04 P-10-02 P-10.1-01 P-10.1-03 P-10.1-04 P-10.1-08 P-10.1-09 P-10.2-01
        P-10.2-02 P-10.2-03 P-10.2-05 P-10.3-01 P-10.3-04 P-10.3-05 P-10.4-01 P-10.4-03 P-10.7-01 P-10.7-02
        P-10.7-03 P-10.9-01 P-10.9-02 P-10.9-03 P-10.10-01 P-10.10-02 P-10.10-03 P-10.10-04 P-10.10-05
        P-10.10-06 P-10.10-09 P-10.11-01 P-10.11-02 P-10.11-03 P-11-10 P-11-11 P-12-03 P-12-04 P-12-07
        P-12-10 P-12-11 P-15.2-01 P-17.4-01 P-18.4-01
    """,
    "Versioning": """
        P-8.4-01 P-8.4-02 P-8.4-03 P-8.4-04 P-8.4-05 P-10.3-02 P-12-01 P-12-02 P-18.5-01
    """,
    "Ledger": """
        P-7.7-01 P-7.7-02 P-7.7-03 P-7.7-04 P-7.7-05 P-7.7-06 P-7.7-07 P-7.7-08 P-7.7-10 P-7.7-11 P-10.1-05
        P-10.4-02 P-10.10-07 P-12-06 P-18.6-01
    """,
    "Query": """
        P-10.6-01 P-10.6-02 P-11-01 P-11-02 P-11-05 P-11-06 P-11-07 P-11-08 P-11-09 P-11-12 P-12-08 P-12-09
        P-18.7-01
    """,
    "Semantic": """
        P-7.5-06 P-7.8-02 P-7.8-03 P-7.8-04 P-7.8-05 P-7.8-06 P-7.8-07 P-7.8-08 P-10.3-03 P-10.6-04 P-11-04
        P-18.8-01
    """,
    "Relationship": """
        P-7.5-04 P-8.5-01 P-8.5-02 P-8.5-03 P-8.5-04 P-8.5-05 P-8.5-06 P-8.5-07 P-8.5-09 P-10.5-01 P-10.5-02
        P-10.5-03 P-10.10-08 P-18.9-01
    """,
    "Binding": """
        P-10-01 P-13-01 P-13-02 P-13-03 P-13-04 P-13-05 P-18.10-01
    """,
    "Evaluation": """
        P-18.11-01 P-18.11-02 P-18.11-03 P-18.11-04 P-18.11-05 P-18.11-06 P-18.11-07
    """,
    "Errors": """
        P-14-01 P-14-02 P-14-04 P-14-05 P-14-06 P-14-07 P-14-08 P-14-09 P-14-10 P-14-11 P-14-12 P-14-13
        P-14-14 P-14-15 P-14-16 P-14-17 P-14-18 P-14-19 P-14-20 P-14-21 P-14-22 P-14-23
    """,
    "General": """
        P-2-01 P-6-01
    """,
    "All": """
        P-18-01
    """,
    "Report": """
        P-18.12-01
    """,
}

MANDATORY: Final = {column: tuple(ids.split()) for column, ids in _MANDATORY_IDS.items()}
"""The mandatory lines by the catalogue's name for what they belong to."""


def lines_of(profile: str) -> list[str]:
    """Returns the ids of every line that a claim of the profile needs, each once."""
    columns = [*COLUMNS[profile], *(column for below in LAYERS.get(profile, ()) for column in COLUMNS[below])]
    return [requirement_id for column in (*columns, *EVERY_PROFILE) for requirement_id in MANDATORY[column]]


def claimable(shown: set[str]) -> tuple[tuple[str, str], ...]:
    """Returns the profiles, as name and version, whose lines are all among `shown`."""
    return tuple((profile, VERSION) for profile in COLUMNS if shown.issuperset(lines_of(profile)))
