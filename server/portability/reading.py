"""An export as it comes in, judged record by record: grammar, order, ids, links, digests, and that it is whole.

What is wrong is told with the number, kind and id of its record; nothing was stored by then (P-8.1-02, P-8.1-15,
P-8.1-27, P-8.3-01, P-8.6-01).
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from remit.v1 import portability_pb2
from server.domain_errors import InvalidObject, InvalidRequest, PolicyDenied
from server.portability import records
from server.portability.derived import DerivedReader
from server.portability.history import (
    ForeignChain,
    check_chainless,
    check_delegation,
    check_delegation_side,
    check_event,
)
from server.portability.incoming import VERSIONED_KINDS, IncomingVersion, shape_refusal, side_of, with_side
from server.wire.grammars import is_extension_object_type
from server.wire.json_text import JsonTextRefused, parse_json_text
from server.wire.limits import Limits
from server.wire.refusal import FieldRefused
from storage.model.identifiers import is_id
from storage.model.memory import SPEC_VERSION, VersionCore
from storage.model.relationship import RelationshipCore
from storage.model.states import AvailabilityState, Dimension
from storage.model.workspace import WorkspacePolicy

_CONTENT: Final = "canonical_content"
_RECORD_BYTES_MAX: Final = 3 << 20
_RANKS: Final = {kind: rank for rank, kind in enumerate(records.KIND_ORDER)}
_ID_KEYS: Final = ("object_id", "relationship_id", "embedding_space_id", "delegation_id", "event_id", "artifact_id")


@dataclass(slots=True)
class Thing:
    """An object or a relationship of the export: where it begins, the ids of its versions, and its last one.

    `misshapen` is the first content that breaks the shape of its type. What redactions took from may, in every version.
    """

    kind: str
    id: str
    first_record: int
    last: VersionCore | RelationshipCore
    version_ids: list[str] = field(default_factory=list)
    was_masked: bool = False
    misshapen: InvalidObject | None = None

    def check_shape(self) -> None:
        """Raises InvalidObject for a content that the service would have refused."""
        if self.misshapen and not self.was_masked and self.last.availability_state is AvailabilityState.AVAILABLE:
            raise self.misshapen


@dataclass(slots=True)
class _Pending:
    """A version that a side record may follow."""

    number: int
    version: IncomingVersion


def check_header(header: portability_pb2.ExportHeader, tenant_id: str, scope_id: str, *, remap: bool) -> None:
    """Raises InvalidRequest for another format or, without a remap, another workspace; InvalidObject for another draft."""
    if header.format != records.FORMAT:
        raise InvalidRequest("header.format", f"must be {records.FORMAT}")
    if header.spec_version != SPEC_VERSION:
        raise InvalidObject("header.spec_version", f"must be {SPEC_VERSION}")
    if not header.scope_id:
        raise InvalidRequest("header.scope_id", "is required")
    foreign = header.scope_id != scope_id or header.tenant_id not in ("", tenant_id)
    if foreign and not remap:
        raise InvalidRequest("header.scope_id", "is another workspace, and no remap was asked for")


class ExportReader:
    """Judges the records of one export in their order; `take` raises InvalidObject.

    `things` are the objects and relationships by kind and id, complete after `close`.
    """

    def __init__(
        self, header: portability_pb2.ExportHeader, place: tuple[str, str], policy: WorkspacePolicy, limits: Limits
    ) -> None:
        """Reads for a workspace, `place` being its tenant and its id, and `policy` its own."""
        self._header = header
        self._place = place
        self._policy = policy
        # The content of a record lies one level deeper than it will be stored.
        self._limits = Limits(content_bytes_max=_RECORD_BYTES_MAX, json_depth_max=limits.json_depth_max + 1)
        self._content_bytes_max = limits.content_bytes_max
        self.things: dict[tuple[str, str], Thing] = {}
        self.digest = records.ExportDigest()
        self.delegations = 0
        self.foreign_events = 0
        self.derived = DerivedReader()
        self._version_ids: set[str] = set()
        self._rank = 0
        self._key: tuple[str, int] = ("", 0)
        self._pending: _Pending | None = None
        self._chain: ForeignChain | None = None
        self._entry: bytes | None = None

    @property
    def number(self) -> int:
        """The number of the record taken last, from 1."""
        return self.digest.count

    def take(self, kind: str, record: bytes) -> None:
        """Takes the next record."""
        try:
            value = parse_json_text(record, self._limits)
        except JsonTextRefused as refused:
            raise InvalidObject(f"records[{self.number + 1}]", f"{refused.problem.value} ({kind})") from None
        if not isinstance(value, dict):
            raise InvalidObject(f"records[{self.number + 1}]", f"must be a JSON object ({kind})")
        self.digest.take(kind, record)
        try:
            self._judge(kind, value, record)
        except FieldRefused as refusal:
            raise self._refused(refusal, kind, value) from None

    def close(self, trailer: portability_pb2.ExportTrailer) -> None:
        """Judges the trailer and what only the end shows."""
        try:
            self._settle()
            self._end_chain()
        except FieldRefused as refusal:
            raise InvalidObject(f"records[{self.number}]", refusal.problem) from None
        for thing in self.things.values():
            thing.check_shape()
        if trailer.record_count != self.number:
            raise InvalidObject("trailer.record_count", f"is not the number of records, {self.number}")
        for name, digest in (("digest", self.digest.whole), ("memory_digest", self.digest.memory)):
            if not hmac.compare_digest(getattr(trailer, name), digest):
                raise InvalidObject(f"trailer.{name}", "is not the digest of the records")

    def _refused(self, refusal: FieldRefused, kind: str, value: dict[str, Any]) -> InvalidObject:
        named = next((value[key] for key in _ID_KEYS if key in value), None)
        shown = f" {named}" if isinstance(named, str) and is_id(named) else ""
        at = refusal.within(f"records[{self.number}]")
        return InvalidObject(at.path, f"{refusal.problem} ({kind}{shown})")

    def _judge(self, kind: str, value: dict[str, Any], record: bytes) -> None:
        base = kind.removesuffix(records.SIDE)
        if base in VERSIONED_KINDS and kind != base:
            self._take_side(base, value)
            return
        self._settle()
        self._enter(kind)
        if kind in VERSIONED_KINDS:
            self._take_version(kind, value, record)
        elif kind.startswith(records.HISTORY):
            self._take_history(kind.removeprefix(records.HISTORY), value, record, own=False)
        elif base in (records.EMBEDDING_SPACE, records.VECTOR):
            self.derived.take(kind, value, self.number, self.things)
        else:
            self._take_history(kind, value, record, own=True)

    def _enter(self, kind: str) -> None:
        section = kind.removesuffix(records.SIDE)
        if section.removeprefix(records.HISTORY) == records.EVENT:
            section = section.removesuffix(records.EVENT) + records.LEDGER
        rank = _RANKS.get(section)
        if rank is None:
            raise FieldRefused("is not a kind of record", "kind")
        if rank < self._rank:
            raise FieldRefused("is out of order", "kind")
        if rank > self._rank:
            if section in (records.DELEGATION, records.LEDGER):
                self._end_chain()
            self._rank, self._key = rank, ("", 0)

    # Memory

    def _take_version(self, kind: str, value: dict[str, Any], record: bytes) -> None:
        content = records.members_of(record.decode()).get(_CONTENT, "")
        if len(content.encode()) > self._content_bytes_max:
            raise FieldRefused("is larger than the limit", _CONTENT)
        version = VERSIONED_KINDS[kind].parse(value, content, *self._place)
        if value["scope_id"] != self._header.scope_id:
            raise FieldRefused("must be the workspace of the export", "scope_id")
        if isinstance(version.core, VersionCore):
            self._demand_admitted(version.core)
        self._pending = _Pending(self.number, version)
        self._follow(kind, version)

    def _follow(self, kind: str, version: IncomingVersion) -> None:
        """Holds a version to the one before it."""
        core = version.core
        thing = self.things.get((kind, version.id))
        if core.version_id in self._version_ids:
            raise FieldRefused("is the id of another version", "version_id")
        if thing is None:
            if version.id <= self._key[0]:
                raise FieldRefused("is out of order", VERSIONED_KINDS[kind].id_key)
            if core.sequence != 1:
                raise FieldRefused("must begin with 1", "sequence")
            thing = self.things[kind, version.id] = Thing(kind, version.id, self.number, core)
        elif version.id != self._key[0] or core.sequence != self._key[1] + 1:
            raise FieldRefused("must follow the version before it", "sequence")
        elif _lasting(core) != _lasting(thing.last):
            raise FieldRefused("is not what it was in the version before it", "object_type")
        elif thing.last.availability_state is AvailabilityState.DELETED:
            raise FieldRefused("follows a tombstone, which is final", "sequence")
        self._version_ids.add(core.version_id)
        self._key = (version.id, core.sequence)
        thing.last = core
        thing.was_masked |= core.availability_state is AvailabilityState.PARTIALLY_REDACTED
        thing.version_ids.append(core.version_id)

    def _demand_admitted(self, core: VersionCore) -> None:
        """Raises PolicyDenied for what could not have come to be in this workspace (P-8.2-06, P-18.1-02)."""
        types = self._policy.extension_types
        if types is not None and is_extension_object_type(core.object_type) and core.object_type not in types:
            raise PolicyDenied("the workspace does not permit the type", field=f"records[{self.number}].object_type")
        for dimension in Dimension:
            if not self._policy.admits(core.object_type, dimension, getattr(core, dimension.column)):
                reason = "the workspace rules out that objects of the type take this state"
                raise PolicyDenied(reason, field=f"records[{self.number}].{dimension.column}")

    def _take_side(self, kind: str, value: dict[str, Any]) -> None:
        pending = self._pending
        if pending is None or (kind, pending.version.id) not in self.things:
            raise FieldRefused("must follow the record it belongs to", "kind")
        id_key = VERSIONED_KINDS[kind].id_key
        side = side_of(value, kind, id_key, pending.version.id, pending.version.core.version_id)
        if side.content_text is not None and len(side.content_text.encode()) > self._content_bytes_max:
            raise FieldRefused("is larger than the limit", "canonical_content_text")
        pending.version = with_side(pending.version, side)
        self._settle()

    def _settle(self) -> None:
        """Judges the content taken last, now that no side record can follow."""
        pending, self._pending = self._pending, None
        if pending is not None:
            thing = self.things[kind_of(pending.version.core), pending.version.id]
            thing.misshapen = thing.misshapen or shape_refusal(pending.version, f"records[{pending.number}]")

    # History

    def _take_history(self, kind: str, value: dict[str, Any], record: bytes, *, own: bool) -> None:
        if self._entry is not None and kind != records.EVENT + records.SIDE and self._chain is not None:
            raise FieldRefused("must be followed by the event as it was hashed", "kind")
        match kind:
            case records.DELEGATION:
                self._take_delegation(*check_delegation(value), own=own)
            case "delegation_side":
                check_delegation_side(value, self._key[0])
            case records.LEDGER:
                self._begin_chain(value, own=own)
            case records.EVENT:
                self._take_entry(value, record, own=own)
            case "event_side":
                if self._chain is None:
                    raise FieldRefused("belongs to no ledger", "kind")
                self._chain.take(value, self._entry)
                self._entry = None
                self.foreign_events += 1
            case _:
                raise FieldRefused("is not a kind of record", "kind")

    def _take_delegation(self, delegation_id: str, number: int, scope_id: str, *, own: bool) -> None:
        if own and scope_id != self._header.scope_id:
            raise FieldRefused("must be the workspace of the export", "scope_id")
        if own and (delegation_id, number) <= self._key:
            raise FieldRefused("is out of order", "delegation_id")
        self._key = (delegation_id, number)
        self.delegations += 1

    def _begin_chain(self, value: dict[str, Any], *, own: bool) -> None:
        self._end_chain()
        self._key = ("", 0)
        if records.LEDGER_ID not in value:
            check_chainless(value)
            return
        chain = ForeignChain(value)
        header = self._header
        if own:
            workspace = (chain.identity.scope_id, header.tenant_id and chain.identity.tenant_id)
            if workspace != (header.scope_id, header.tenant_id):
                raise FieldRefused("must be the workspace of the export", "scope_id")
            head = (chain.identity.sequence, chain.identity.chain_hash)
            if head != (header.ledger_sequence, header.ledger_chain_hash):
                raise FieldRefused("is not the head that the export is bound to", "chain_hash")
        self._chain = chain

    def _end_chain(self) -> None:
        if self._chain is not None:
            if self._entry is not None:
                raise FieldRefused("must be followed by the event as it was hashed", "kind")
            self._chain.close()
        self._chain = self._entry = None

    def _take_entry(self, value: dict[str, Any], record: bytes, *, own: bool) -> None:
        _, sequence, scope_id = check_event(value)
        if own and scope_id != self._header.scope_id:
            raise FieldRefused("must be the workspace of the export", "scope_id")
        if self._chain is not None:
            self._entry = record
            return
        # A ledger without a chain: its entries are in the draft's order, and nothing more can be said of them.
        if sequence <= self._key[1]:
            raise FieldRefused("must follow the event before it", "sequence")
        self._key = ("", sequence)
        self.foreign_events += 1


def kind_of(core: VersionCore | RelationshipCore) -> str:
    """Returns the kind of the record that a version has."""
    return records.MEMORY_OBJECT if isinstance(core, VersionCore) else records.RELATIONSHIP


def _lasting(core: VersionCore | RelationshipCore) -> tuple[str | None, ...]:
    """What is the same in all versions of a thing."""
    if isinstance(core, VersionCore):
        return (core.object_type,)
    return (core.source_object_id, core.target_object_id, core.target_scope_id)


def versions_of(
    spooled: Iterable[tuple[str, bytes]], tenant_id: str, scope_id: str
) -> Iterator[tuple[int, IncomingVersion]]:
    """Yields number and version of the records of an export that was judged before, each with its side record."""
    pending: tuple[int, str, IncomingVersion] | None = None
    for number, (kind, record) in enumerate(spooled, 1):
        base = kind.removesuffix(records.SIDE)
        if pending is not None and kind == pending[1] + records.SIDE:
            found = pending[2]
            id_key = VERSIONED_KINDS[base].id_key
            side = side_of(records.parsed(record), base, id_key, found.id, found.core.version_id)
            yield pending[0], with_side(found, side)
            pending = None
            continue
        if pending is not None:
            yield pending[0], pending[2]
            pending = None
        if kind in VERSIONED_KINDS:
            content = records.members_of(record.decode())[_CONTENT]
            pending = (number, kind, VERSIONED_KINDS[kind].parse(records.parsed(record), content, tenant_id, scope_id))
    if pending is not None:
        yield pending[0], pending[2]
