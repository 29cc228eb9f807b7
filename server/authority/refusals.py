"""How a call is turned back inside the service, before it is told: to be decided again, or to the ledger first."""

from __future__ import annotations

from dataclasses import dataclass

from authz.decision import Denied


class StaleFacts(Exception):
    """The policy moved after the view was read: decide again on a fresh view."""


@dataclass(eq=False)
class Refused(Exception):
    """The evaluator's denial on its way to the ledger. `object_id` is the object the call named, if any."""

    denied: Denied
    object_id: str | None = None
