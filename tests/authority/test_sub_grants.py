"""What is asked of a sub-grant beyond its parent is a widening, and names the field, whatever the grantors hold."""

from __future__ import annotations

from typing import Any

import pytest

from tests.authority.scene import DELEGATE, GRANTOR, MIDDLE, Scene
from tests.cluster import Refusal


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"operations": ("read", "update")}, "granted_operations"),
        ({"granted_object_types": {"values": ["task"]}}, "granted_object_types"),
        ({"granted_object_ids": {"values": ["urn:object:2"]}}, "granted_object_ids"),
    ],
)
def test_beyond_the_parent_is_wider_even_where_the_root_grantor_holds_no_more(
    scene: Scene, asked: dict[str, Any], field: str
) -> None:
    """The root grantor holds exactly what it granted."""
    scene.add_rule(GRANTOR, "delegate")
    scene.add_rule(GRANTOR, "read", object_type="claim")
    restriction: dict[str, Any] = {
        "granted_object_types": {"values": ["claim"]},
        "granted_object_ids": {"values": ["urn:object:1"]},
    }
    parent = scene.grant("read", by=GRANTOR, to=MIDDLE, max_redelegations=1, **restriction)
    fields = scene.below(parent, **restriction)
    scene.grant("read", by=MIDDLE, to=DELEGATE, **fields)
    wider = fields | asked
    operations = wider.pop("operations", ("read",))
    with pytest.raises(Refusal) as refused:
        scene.grant(*operations, by=MIDDLE, to=DELEGATE, **wider)
    assert refused.value.reason == "POLICY_DENIED"
    assert [detail.value for detail in refused.value.pamspec.details if detail.name == "field"] == [field]


def test_what_the_root_grantor_lost_of_the_parent_cannot_be_passed_on(scene: Scene) -> None:
    scene.add_rule(GRANTOR, "delegate")
    scene.add_rule(GRANTOR, "read")
    updating = scene.add_rule(GRANTOR, "update")
    parent = scene.grant("read", "update", by=GRANTOR, to=MIDDLE, max_redelegations=1)
    fields = scene.below(parent)
    scene.remove_rule(updating)
    with pytest.raises(Refusal) as refused:
        scene.grant("read", "update", by=MIDDLE, **fields)
    assert refused.value.denial_reason == "DELEGATION_NOT_EFFECTIVE"
    scene.grant("read", by=MIDDLE, **fields)
