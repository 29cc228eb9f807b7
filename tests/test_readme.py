"""What the README tells of the code is so."""

import re
from pathlib import Path

from authz.reasons import CoarseReason

README = Path(__file__).parents[1] / "README.md"


def test_the_denial_reasons_are_those_of_the_contract() -> None:
    listed = re.findall(r"^\| `([A-Z_]+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(CoarseReason)
