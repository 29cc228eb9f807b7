"""The base of all events, and an event as it goes into the ledger: who, what, on which object (ledger.md, Shape)."""

from dataclasses import dataclass, fields
from typing import ClassVar, Final

from storage.model.actor import ActorRef
from storage.model.canonical import JsonValue, canonical_json

BODY_VERSION: Final = 1

# `from` and `to` are the wire's keys, and `from` is a keyword of the language.
_RENAMED: Final = {"from_state": "from", "to_state": "to"}


_payload_keys: Final[dict[type["Event"], tuple[tuple[str, str], ...]]] = {}


def _keys_of(event_class: type["Event"]) -> tuple[tuple[str, str], ...]:
    keys = _payload_keys.get(event_class)
    if keys is None:
        keys = tuple((item.name, _RENAMED.get(item.name, item.name)) for item in fields(event_class))
        _payload_keys[event_class] = keys
    return keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened; a subclass names its wire string and whether it always names the version it made (P-7.7-08)."""

    TYPE: ClassVar[str]
    NAMES_VERSION: ClassVar[bool] = False

    @classmethod
    def payload_keys(cls) -> frozenset[str]:
        """Returns the wire's keys of everything that the payload may hold."""
        return frozenset(key for _, key in _keys_of(cls))

    def payload(self) -> dict[str, JsonValue]:
        """Returns the payload; absent optional fields are omitted."""
        return {key: value for name, key in _keys_of(type(self)) if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionEvent(Event):
    """An event that makes a version. `envelope_digest` is the hex SHA-256 of the version's core bytes."""

    NAMES_VERSION: ClassVar[bool] = True

    object_sequence: int
    envelope_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """An event with everything that is known before the ledger's lock is taken.

    Raises ValueError when made without the version that its type always names.
    """

    scope_id: str
    event_id: str
    operation_id: str
    actor: ActorRef
    event: Event
    object_id: str | None = None
    version_id: str | None = None
    delegation_id: str | None = None
    correlation_id: str | None = None
    purpose: str | None = None
    relationship_id: str | None = None
    evaluation_run_id: str | None = None

    def __post_init__(self) -> None:
        if self.event.NAMES_VERSION and self.version_id is None:
            raise ValueError(f"{self.event.TYPE} names a version")

    def body(self, tenant_id: str) -> bytes:
        """Returns the canonical bytes that are hashed and stored.

        What is only known under the lock (sequence, time, use number) is not in them. Raises ValueError on a lone
        surrogate in a text.
        """
        body: dict[str, JsonValue] = {
            "v": BODY_VERSION,
            "tenant_id": tenant_id,
            "scope_id": self.scope_id,
            "event_id": self.event_id,
            "event_type": self.event.TYPE,
            "operation_id": self.operation_id,
            "actor": self.actor.for_event(),
            "payload": self.event.payload(),
        }
        if self.object_id is not None:
            body["object_id"] = self.object_id
        if self.version_id is not None:
            body["version_id"] = self.version_id
        if self.delegation_id is not None:
            body["delegation_id"] = self.delegation_id
        if self.correlation_id is not None:
            body["correlation_id"] = self.correlation_id
        if self.purpose is not None:
            body["purpose"] = self.purpose
        if self.relationship_id is not None:
            body["relationship_id"] = self.relationship_id
        if self.evaluation_run_id is not None:
            body["evaluation_run_id"] = self.evaluation_run_id
        return canonical_json(body)
