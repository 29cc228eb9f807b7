"""What a walk along relationships must give, worked out from the whole graph by plain sets (P-8.5-07, P-15.7-01)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

OUT, IN, ANY = 1, 2, 3
Place = tuple[str, str]
"""A workspace's name and an object in it."""
Found = tuple[int, str, str, Place]
"""Depth, workspace and id of a relationship, and the object it leads to."""


@dataclass(frozen=True)
class Edge:
    """A relationship, which lies in the workspace of its source."""

    relationship_id: str
    kind: str
    directionality: int
    source: Place
    target: Place
    removed: bool = False

    @property
    def key(self) -> Place:
        return self.source[0], self.relationship_id


@dataclass
class World:
    """Objects with their types, what is deleted, relationships, and the pairs of workspaces that are permitted."""

    types: dict[Place, str] = field(default_factory=dict)
    deleted: set[Place] = field(default_factory=set)
    edges: list[Edge] = field(default_factory=list)
    permitted: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class Walker:
    """An actor's rules, by workspace: what is allowed and denied, as types or object ids, `*` for all."""

    allow: dict[str, set[str]]
    deny: dict[str, set[str]]

    def may_see(self, world: World, place: Place) -> bool:
        """Whether the actor may query the object."""
        names = {"*", place[1], world.types[place]}
        return bool(names & self.allow[place[0]]) and not names & self.deny[place[0]]


def walk(
    world: World, walker: Walker, start: Place, direction: int, depth_max: int, kinds: frozenset[str]
) -> list[Found]:
    """The steps in the order they must come: by depth, then by workspace and id of the relationship."""
    seen, followed = {start}, set[Place]()
    frontier = {start}
    found: list[Found] = []
    for depth in range(1, depth_max + 1):
        level: dict[Place, Place] = {}
        for edge in world.edges:
            if edge.removed or edge.key in followed or (kinds and edge.kind not in kinds):
                continue
            crosses = (edge.source[0], edge.target[0])
            if crosses[0] != crosses[1] and crosses not in world.permitted:
                continue
            both_ways = edge.directionality != 1
            ways = []
            if edge.source in frontier and (direction in (OUT, ANY) or both_ways):
                ways.append(edge.target)
            if edge.target in frontier and (direction in (IN, ANY) or both_ways):
                ways.append(edge.source)
            for other in ways:
                if walker.may_see(world, other):
                    # From the source, where both ends are on the way.
                    level.setdefault(edge.key, other)
        found.extend((depth, *key, level[key]) for key in sorted(level))
        followed |= level.keys()
        frontier = {other for other in level.values() if other not in seen and other not in world.deleted}
        seen |= set(level.values())
    return found


def random_world(chance: random.Random, names: tuple[str, ...], objects: int, edges: int) -> World:
    """A graph over a few workspaces."""
    world = World()
    for name in names:
        for number in range(objects):
            world.types[name, f"mem:{number}"] = chance.choice(("claim", "task", "artifact"))
    places = sorted(world.types)
    for number in range(edges):
        source = chance.choice(places)
        near = [place for place in places if place[0] == source[0]]
        target = chance.choice(places if chance.random() < 0.3 else near)
        world.edges.append(
            Edge(
                f"rel:{number:02}",
                chance.choice(("supports", "part_of")),
                chance.choice((1, 1, 2, 3)),
                source,
                target,
                removed=chance.random() < 0.1,
            )
        )
    world.permitted = {(one, two) for one in names for two in names if one != two and chance.random() < 0.7}
    world.deleted = set(chance.sample(places, max(1, len(places) // 8)))
    return world


def random_walker(chance: random.Random, world: World) -> Walker:
    """An actor with a few rules in each workspace, and none in some."""
    names = sorted({name for name, _ in world.types})
    walker = Walker({name: set() for name in names}, {name: set() for name in names})
    for name in names:
        own = [object_id for place, object_id in world.types if place == name]
        walker.allow[name] = set(
            chance.choice((["*"], ["*"], ["claim", "task"], chance.sample(own, len(own) // 2), []))
        )
        if chance.random() < 0.6:
            walker.deny[name] = {chance.choice([*own, "artifact"])}
    return walker
