"""What the oracles find in a history that was kept as JSON lines: `python -m tests.history.verdict CALLS EXPORT`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from tests.history.content_oracle import check_contents, check_removed
from tests.history.ledger_oracle import Ledger, check_ledger, read_export
from tests.history.order_oracle import Call, History


def findings(calls: list[Call], ledger: Ledger) -> list[str]:
    """Returns everything that is wrong."""
    history = History(calls, ledger)
    return [*check_ledger(ledger), *history.check(), *check_contents(history), *check_removed(history)]


def keep(calls: Iterable[Call], file: Path) -> None:
    """Writes the calls."""
    file.write_text("".join(json.dumps(asdict(call)) + "\n" for call in calls), encoding="utf-8")


def main() -> None:
    calls_file, export_file = map(Path, sys.argv[1:])
    with calls_file.open(encoding="utf-8") as lines:
        calls = [Call(**json.loads(line)) for line in lines]
    with export_file.open(encoding="utf-8") as lines:
        found = findings(calls, read_export(lines))
    print("\n".join(found) or f"nothing is wrong with {len(calls)} calls")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
