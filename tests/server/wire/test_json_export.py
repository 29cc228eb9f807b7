"""What is exported validates against the draft's schemas, and what has no place there travels beside it."""

import json
from dataclasses import replace

import pytest

from server.memory.versions import Plaintexts
from server.wire.delegations import delegation_message
from server.wire.enum_numbers import EVENT_TYPE_NAMES, EVENT_TYPE_NUMBERS
from server.wire.envelopes import envelope_of
from server.wire.events import event_message
from server.wire.json_export import (
    DRAFT_EVENT_TYPES,
    draft_event_type,
    export_delegation,
    export_envelope,
    export_event,
    makes_version,
)
from storage.model.administration_events import RoleBound
from storage.model.events import AccessDenied
from tests.server.wire.samples import CONTENT, CORE, CREATED, DELEGATION, PARTS, event_row
from tests.server.wire.shared_schemas import SCHEMAS, needs_shared, refusals


@needs_shared
def test_an_exported_envelope_validates_and_keeps_its_content() -> None:
    record = export_envelope(envelope_of(CORE, PARTS))
    assert refusals("memory-object.schema.json", record.draft) == []
    assert record.side["canonical_content_text"].encode() == CONTENT
    line = record.draft_line()
    assert line is not None
    assert "\n" not in line
    assert '"canonical_content":{"n":9007199254740993,"big":1e400,"s":" a  b ","list":[1,2.50]}' in line
    assert refusals("memory-object.schema.json", json.loads(line)) == []
    assert record.draft is not None
    assert json.loads(line).keys() == record.draft.keys()
    assert json.loads(record.side_line()) == record.side


@needs_shared
@pytest.mark.parametrize("content", [b"null", b"1", b'"x"', b"[]", b"true", b'{"__proto__":{"a":null}}'])
def test_any_content_is_exported(content: bytes) -> None:
    record = export_envelope(envelope_of(CORE, replace(PARTS, content=content)))
    assert refusals("memory-object.schema.json", record.draft) == []
    assert record.draft is not None
    assert record.draft["canonical_content"] == json.loads(content)


@needs_shared
def test_a_withheld_envelope_still_validates_and_says_so_aside() -> None:
    record = export_envelope(envelope_of(CORE, Plaintexts()))
    assert refusals("memory-object.schema.json", record.draft) == []
    assert record.draft is not None
    assert record.draft["canonical_content"] == {"tombstone": True}
    assert record.side["content_withheld"] is True
    assert record.side["provenance_withheld"] is True


@needs_shared
def test_an_exported_grant_validates() -> None:
    record = export_delegation(delegation_message(DELEGATION))
    assert refusals("delegation.schema.json", record.draft) == []
    assert record.draft is not None
    assert record.draft["revocable"] is False
    assert record.side["parent_delegation_id"] == "urn:d:0"
    assert record.side["max_redelegations"] == 2
    bare = replace(DELEGATION, granted_object_types=None, granted_object_ids=None, usage_limit=None)
    assert refusals("delegation.schema.json", export_delegation(delegation_message(bare)).draft) == []


@needs_shared
@pytest.mark.parametrize("event_type", sorted(EVENT_TYPE_NUMBERS))
def test_events_the_draft_can_name_validate_and_others_stay_aside(event_type: str) -> None:
    message = event_message(event_row(event=CREATED), b"p" * 32)
    message.event_type = EVENT_TYPE_NUMBERS[event_type]
    record = export_event(message)
    if event_type in DRAFT_EVENT_TYPES:
        assert refusals("memory-event.schema.json", record.draft) == []
        assert record.draft is not None
        assert record.draft["event_type"] == event_type
        assert record.draft["payload"]["delegation_id"] == "urn:d:1"
        assert record.draft["payload"]["object_sequence"] == 1
        assert record.side["chain_hash"] == "63" * 32
    else:
        assert record.draft is None
        assert record.draft_line() is None
        assert record.side["event_type"] == event_type
        assert record.side["payload"]


def test_the_draft_s_event_types_are_the_schema_s() -> None:
    if SCHEMAS.is_dir():
        schema = json.loads((SCHEMAS / "memory-event.schema.json").read_text())
        assert set(schema["properties"]["event_type"]["enum"]) == DRAFT_EVENT_TYPES


def test_an_extension_type_that_changes_an_object_is_told_as_an_update() -> None:
    assert draft_event_type("trust_tier_downgraded", True) == "object_updated"
    assert draft_event_type("decay_run_opened", False) is None
    assert draft_event_type("object_deleted", True) == "object_deleted"
    assert makes_version(CREATED.TYPE)
    assert not makes_version(RoleBound.TYPE)
    assert not makes_version(AccessDenied.TYPE)
    assert not makes_version("unheard_of")


@needs_shared
def test_such_an_update_names_its_own_type_in_the_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    # No event type of the contract is one yet, so a draft type is taken out of the draft's list.
    monkeypatch.setattr("server.wire.json_export.DRAFT_EVENT_TYPES", DRAFT_EVENT_TYPES - {"object_created"})
    record = export_event(event_message(event_row(event=CREATED), b"p" * 32))
    assert record.draft is not None
    assert record.draft["event_type"] == "object_updated"
    assert record.draft["payload"]["extension_event_type"] == "object_created"
    assert refusals("memory-event.schema.json", record.draft) == []


def test_names_and_numbers_of_event_types_are_one_to_one() -> None:
    assert {name: number for number, name in EVENT_TYPE_NAMES.items()} == EVENT_TYPE_NUMBERS
