"""Walks over random graphs under random rights, held to an oracle that knows nothing of the service (P-8.5-07)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from remit.v1 import common_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.memory.relationships import again, permit, relate, traverse
from tests.server.operations.memory.requests import delete
from tests.server.operations.memory.walk_oracle import (
    ANY,
    IN,
    OUT,
    Found,
    Walker,
    World,
    random_walker,
    random_world,
    walk,
)

NAMES = ("one", "two")
OBJECTS, EDGES, WALKERS = 5, 16, 3


class Stage:
    """A world as it stands in the service: a workspace for each name."""

    def __init__(self, cluster: Cluster, world: World) -> None:
        self.world = world
        made = sorted((Workspace(cluster) for _ in NAMES), key=lambda workspace: workspace.scope_id)
        # Steps come by the ids of workspaces, so the names of the oracle are in their order.
        self.workspaces = dict(zip(sorted(NAMES), made, strict=True))
        self.names = {workspace.scope_id: name for name, workspace in self.workspaces.items()}
        versions = {
            place: self.workspaces[place[0]].create(object_id=place[1], object_type=kind).version_id
            for place, kind in world.types.items()
        }
        rules = [(one, two) for one in NAMES for two in NAMES if one != two]
        removed = {pair: permit(self.workspaces[pair[1]], self.workspaces[pair[0]]) for pair in rules}
        for edge in world.edges:
            self._relate(edge)
        for place in world.deleted:
            delete(self.workspaces[place[0]], place[1], versions[place])
        for pair, rule_id in removed.items():
            if pair not in world.permitted:
                remove_rule(self.workspaces[pair[1]], rule_id)

    def _relate(self, edge: Any) -> None:
        home, target = self.workspaces[edge.source[0]], self.workspaces[edge.target[0]]
        fields: dict[str, Any] = {}
        if home is not target:
            fields = {"target_scope_id": target.scope_id, "policy_basis": "basis:1"}
        made = relate(
            home,
            edge.source[1],
            edge.target[1],
            relationship_id=edge.relationship_id,
            relationship_type=edge.kind,
            directionality=edge.directionality,
            **fields,
        ).relationship
        if edge.removed:
            state = common_pb2.AVAILABILITY_STATE_DELETED
            again(home, made, canonical_content=b"", availability_state=state)

    def admit(self, actor_id: str, walker: Walker) -> None:
        """Gives an actor the rules of a walker."""
        for name, workspace in self.workspaces.items():
            # A member of every workspace, whatever it may see there.
            workspace.allow(actor_id, "snapshot.read")
            for add, names in ((workspace.allow, walker.allow[name]), (workspace.deny, walker.deny[name])):
                for one in names:
                    limits = {"object_id": one} if one.startswith("mem:") else {"object_type": one}
                    add(actor_id, "query", **limits)

    def walked(self, client: Client, start: tuple[str, str], **fields: Any) -> list[Found]:
        """The service's answer in the oracle's words; the tombstones in it are those of the world."""
        steps = traverse(self.workspaces[start[0]], start[1], client, **fields)
        for step in steps:
            place = (self.names[step.object.scope_id], step.object.object_id)
            is_tombstone = step.object.availability_state == common_pb2.AVAILABILITY_STATE_DELETED
            assert is_tombstone == (place in self.world.deleted)
            assert step.object.object_type == self.world.types[place]
        return [
            (
                step.depth,
                self.names[step.relationship.scope_id],
                step.relationship.relationship_id,
                (self.names[step.object.scope_id], step.object.object_id),
            )
            for step in steps
        ]


@pytest.mark.req("P-8.5-07")
@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_a_walk_gives_what_the_oracle_gives(cluster: Cluster, seed: int) -> None:
    chance = random.Random(seed)
    world = random_world(chance, NAMES, OBJECTS, EDGES)
    stage = Stage(cluster, world)
    steps_seen = 0
    for number in range(WALKERS):
        walker = random_walker(chance, world)
        client = cluster.client(f"actor:walker-{seed}-{number}")
        stage.admit(client.actor_id, walker)
        for start in sorted(world.types):
            direction, depth = chance.choice((OUT, IN, ANY)), chance.choice((1, 2, 3, 8))
            kinds = frozenset(chance.choice(([], ["supports"], ["part_of", "supports"])))
            fields = {"direction": direction, "max_depth": depth, "relationship_types": sorted(kinds)}
            if not walker.may_see(world, start) or start in world.deleted:
                with pytest.raises(Refusal) as refused:
                    stage.walked(client, start, **fields)
                visible = walker.may_see(world, start)
                assert refused.value.reason == ("OBJECT_DELETED" if visible else "ACCESS_DENIED")
                continue
            expected = walk(world, walker, start, direction, depth, kinds)
            assert stage.walked(client, start, limit=chance.choice((1, 3, 100)), **fields) == expected
            steps_seen += len(expected)
    assert steps_seen > 10
