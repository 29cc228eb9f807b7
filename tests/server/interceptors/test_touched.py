"""What requests touch, by the paths their methods declare (access.proto)."""

from __future__ import annotations

from typing import Any

import pytest

from authz.request import Touched
from remit.v1 import ledger_pb2, memory_pb2
from server.access import declared_access
from server.interceptors.touched import first_value, is_row_filtered, touched_of

ACCESS = {name.rsplit("/", 1)[1]: access for name, access in declared_access().items()}


@pytest.mark.parametrize(
    ("method", "request_made", "touched", "row_filtered"),
    [
        ("Subscribe", ledger_pb2.SubscribeRequest(), (), True),
        ("Subscribe", ledger_pb2.SubscribeRequest(filter={"object_type": "claim"}), (), True),
        # The type that a filter names proves nothing of the object it names.
        (
            "Subscribe",
            ledger_pb2.SubscribeRequest(filter={"object_id": "urn:x:1", "object_type": "claim"}),
            (Touched("urn:x:1"),),
            False,
        ),
        ("Unsubscribe", ledger_pb2.UnsubscribeRequest(subscription_id="urn:x:1"), (), True),
        ("Query", memory_pb2.QueryRequest(), (), True),
        ("Read", memory_pb2.ReadRequest(object_id="urn:x:1"), (Touched("urn:x:1"),), False),
        ("Create", memory_pb2.CreateRequest(object_type="claim"), (Touched(None, "claim", new=True),), False),
    ],
)
def test_paths_lead_into_the_request(
    method: str, request_made: Any, touched: tuple[Touched, ...], row_filtered: bool
) -> None:
    assert touched_of(ACCESS[method], request_made) == touched
    assert is_row_filtered(ACCESS[method], request_made) is row_filtered


def test_the_first_value_is_that_of_the_first_path_that_leads_to_one() -> None:
    request = ledger_pb2.SubscribeRequest(scope_id="workspace:a", filter={"object_type": "claim"})
    assert first_value(request, ("filter.object_id", "filter.object_type", "scope_id")) == "claim"
    assert first_value(request, ("filter.object_id",)) is None
