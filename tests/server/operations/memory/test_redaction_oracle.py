"""Random documents in several versions, redacted and restored in random order, against an account of what each may show.

The account knows nothing of how the service keeps redactions: it has the documents as they were written and two lists of
places, those that are hidden and those that are gone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.v1 import memory_pb2
from server.wire.json_text import JsonValue
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.redactions import ERASE, SUPPRESS, redact
from tests.server.operations.memory.requests import history, transition, update
from tests.server.wire.json_documents import Place, documents, places_of, pointer_of, without


@dataclass
class Account:
    """One object: every document written, by version, and what is redacted of it."""

    documents: dict[str, JsonValue] = field(default_factory=dict)
    hidden: set[Place] = field(default_factory=set)
    gone: set[Place] = field(default_factory=set)
    is_whole: bool = False
    newest: str = ""

    def written(self, version_id: str, document: JsonValue) -> None:
        """A version with a document of its own."""
        self.documents[version_id] = document
        self.newest = version_id

    def carried(self, version_id: str) -> None:
        """A version with the content of the one before."""
        self.written(version_id, self.documents[self.newest])

    def seen(self, version_id: str) -> JsonValue:
        """What a version may show."""
        document = self.documents[version_id]
        return without(document, [place for place in self.hidden | self.gone if place in places_of(document)])

    def there(self) -> list[Place]:
        """The places that may still be redacted, the root aside: whatever was not erased."""
        document = self.documents[self.newest]
        return places_of(without(document, [place for place in self.gone if place in places_of(document)]))[1:]


def check(workspace: Workspace, object_id: str, account: Account) -> None:
    """Every version shows what it may, read by itself and in the history."""
    entries = [entry for entry in history(workspace, object_id=object_id) if entry.HasField("version")]
    assert [entry.version.version_id for entry in entries] == list(account.documents)
    for entry in entries:
        version_id = entry.version.version_id
        if account.is_whole:
            assert entry.content_state == memory_pb2.CONTENT_STATE_WITHHELD
            with pytest.raises(Refusal) as refusal:
                workspace.read(object_id, version_id=version_id)
            assert refusal.value.reason == "OBJECT_REDACTED"
            continue
        read = workspace.read(object_id, version_id=version_id)
        assert json.loads(read.envelope.canonical_content) == account.seen(version_id)
        is_partial = bool(account.hidden or account.gone)
        state = memory_pb2.CONTENT_STATE_PARTIAL if is_partial else memory_pb2.CONTENT_STATE_PRESENT
        assert read.content_state == state
        if entry.content_state != memory_pb2.CONTENT_STATE_WITHHELD:
            # A version that was made to withhold everything stays so in the history.
            assert entry.version.canonical_content == read.envelope.canonical_content


def step(workspace: Workspace, object_id: str, account: Account, data: st.DataObject) -> None:
    """One random change, in the service and in the account."""
    move = data.draw(st.sampled_from(["update", "touch", "suppress", "erase", "suppress", "whole", "restore"]))
    named = (workspace, object_id, account.newest)
    if move == "restore":
        if account.gone or not (account.is_whole or account.hidden):
            with pytest.raises(Refusal) as refusal:
                transition(*named, "availability", "available")
            assert refusal.value.reason == ("POLICY_DENIED" if account.gone else "INVALID_STATE_TRANSITION")
            return
        account.carried(transition(*named, "availability", "available").version_id)
        account.hidden, account.is_whole = set(), False
    elif account.is_whole or (move in {"suppress", "erase"} and not account.there()):
        return
    elif move == "update":
        document = data.draw(documents())
        content = json.dumps(document).encode()
        account.written(update(*named, canonical_content=content).version_id, document)
    elif move == "touch":
        account.carried(update(*named, update_mask=["valid_until"], valid_until={"seconds": 1}).version_id)
    elif move == "whole":
        account.carried(redact(*named, whole=True).result.version_id)
        account.is_whole = True
    else:
        places: list[Any] = data.draw(st.lists(st.sampled_from(account.there()), min_size=1, max_size=3, unique=True))
        pointers = [pointer_of(place) for place in places]
        response = redact(*named, *pointers, mode=SUPPRESS if move == "suppress" else ERASE)
        if move == "suppress":
            account.hidden |= {*places} - account.gone
        else:
            account.gone |= {*places}
            account.hidden -= account.gone
        account.carried(response.result.version_id)
        in_force = sorted(pointer_of(place) for place in account.hidden | account.gone)
        assert list(response.redacted_pointers) == in_force
        assert json.loads(response.result.envelope.canonical_content) == account.seen(account.newest)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_versions_show_what_the_account_says(cluster: Cluster, data: st.DataObject) -> None:
    workspace = Workspace(cluster)
    document = data.draw(documents())
    made = workspace.create(canonical_content=json.dumps(document).encode())
    account = Account()
    account.written(made.version_id, document)
    for _ in range(data.draw(st.integers(3, 9))):
        step(workspace, made.object_id, account, data)
    check(workspace, made.object_id, account)
