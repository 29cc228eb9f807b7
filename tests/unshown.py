"""Why no test shows a line of the draft: by the catalogue's id. `make coverage-of-spec` holds it to the tests."""

from __future__ import annotations

from typing import Final

_JOBS: Final = "lifecycle jobs are not in this version"

REASONS: Final[dict[str, str]] = {
    "P-15.8-01": f"{_JOBS}: derived state of the service's own goes in the same transaction, stores elsewhere are not told",
    "P-16.2-01": f"{_JOBS}, and with them no deadlines of retention classes",
}
