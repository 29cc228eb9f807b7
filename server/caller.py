"""What an operation at level AUTHENTICATED is given: who calls, and nothing decided."""

from __future__ import annotations

from dataclasses import dataclass

from authz.principal import Principal
from server.services import Services


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller that addresses no workspace."""

    services: Services
    principal: Principal
    operation_id: str
