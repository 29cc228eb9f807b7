"""Log lines of a process: text for people, JSON for machines. They never hold content or credentials."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from server.config import Settings

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line of a record."""
        line = {"time": self.formatTime(record), "level": record.levelname, "message": record.getMessage()}
        return json.dumps(line | _facts(record), default=str)


class TextLines(logging.Formatter):
    """Time, level, message and facts."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line of a record."""
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        return f"{self.formatTime(record)} {record.levelname} {record.getMessage()} {facts}".rstrip()


def configure_logs(settings: Settings) -> None:
    """Sends log lines of the level asked for, and above, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if settings.log_format == "json" else TextLines())
    logging.basicConfig(level=settings.log_level, handlers=[handler], force=True)
