"""Shapes of event bodies and of version cores, together with the columns that repeat them.

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service. What is matched
is a body and behind it, after a line's end (which no shape holds within), the line's other texts that must agree with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.cli.offline_format import EVENT_COLUMNS, VERSION_COLUMNS
from server.cli.offline_shapes import Match, Path, Place, Shapes, literal
from server.cli.offline_tables import REPLAYED_WHOLE, read_effect

_CHAIN_MAX = 32
_EVENT_ID: Path = ("event_id",)
_OPERATION_ID: Path = ("operation_id",)
_ACTOR_ID: Path = ("actor", "actor_id")
_BODY_FIXED: frozenset[Path] = frozenset((("v",), ("event_type",), ("tenant_id",), ("scope_id",)))
# Where a body names the columns of its line; the type is part of the shape.
_BODY_COLUMNS: dict[str, Path] = {
    key: _ACTOR_ID if key == "actor_id" else (key,) for key in EVENT_COLUMNS if key != "event_type"
}
_VERSION_PATHS: tuple[Path, ...] = (
    *(("object_id",), ("payload", "object_sequence"), ("version_id",), ("payload", "envelope_digest")),
)
_USE_PATHS: tuple[Path, ...] = (("delegation_id",), ("payload", "delegation_sequence"))
_CHAIN_PATHS: tuple[Path, ...] = tuple(("payload", "chain", index) for index in range(_CHAIN_MAX))
_CORE_FIXED: frozenset[Path] = frozenset((("tenant_id",), ("scope_id",)))
_CORE_COLUMNS: dict[str, Path] = {key: _ACTOR_ID if key == "actor_id" else (key,) for key in VERSION_COLUMNS}
# In the order in which a row names them too.
_CORE_NAMES: tuple[Path, ...] = (("object_id",), ("version_id",), ("sequence",))
_OBJECT_TYPE: Path = ("object_type",)


@dataclass(frozen=True, slots=True)
class BodyShape:
    """A shape of bodies, each with the line's columns behind it."""

    match: Match
    # Event id, operation id; of a named version: object, number, version id, digest; of a use: grant, version, chain.
    groups: tuple[int, ...]
    names_version: bool
    is_use: bool
    mirrored: bool


@dataclass(frozen=True, slots=True)
class CoreShape:
    """A shape of cores, each with the row's names and with its columns behind it."""

    match: Match
    # The group of the object type.
    object_type: int


def body_shapes() -> Shapes[BodyShape]:
    """Shapes of bodies that are right and belong to the workspace."""
    wanted = frozenset((*_BODY_COLUMNS.values(), *_VERSION_PATHS, *_USE_PATHS, *_CHAIN_PATHS))
    return Shapes(wanted, _BODY_FIXED, _body_suffix, _make_body_shape)


def core_shapes() -> Shapes[CoreShape]:
    """Shapes of cores that are right and belong to the workspace."""
    wanted = frozenset((*_CORE_COLUMNS.values(), *_CORE_NAMES))
    return Shapes(wanted, _CORE_FIXED, _core_suffix, _make_core_shape)


def _body_suffix(body: Any, places: Mapping[Path, Place]) -> str:
    event_type = literal(json.dumps(body["event_type"]))
    named = {key: places[path].again for key, path in _BODY_COLUMNS.items() if path in places}
    return r"\n" + _columns(EVENT_COLUMNS, {**named, "event_type": event_type})


def _make_body_shape(match: Match, places: Mapping[Path, Place], body: Any) -> BodyShape | None:
    if body["event_type"] in REPLAYED_WHOLE:
        return None  # rare, and replayed from the body as a whole
    named, use, _ = read_effect(body)
    paths: tuple[Path, ...] = (_EVENT_ID, _OPERATION_ID)
    if named is not None:
        paths += _VERSION_PATHS
    elif use is not None:
        chain = use[2]
        if len(chain) > _CHAIN_MAX:
            return None
        paths += (*_USE_PATHS, *_CHAIN_PATHS[: len(chain)])
    groups = tuple(places[path].group for path in paths)
    return BodyShape(match, groups, named is not None, use is not None, "mirror_of" in body["payload"])


def _core_suffix(_core: Any, places: Mapping[Path, Place]) -> str:
    names = ",".join(rf'"{path[0]}":{places[path].again}' for path in _CORE_NAMES if path in places)
    named = {key: places[path].again for key, path in _CORE_COLUMNS.items() if path in places}
    return rf"\n{names}\n" + _columns(VERSION_COLUMNS, named)


def _make_core_shape(match: Match, places: Mapping[Path, Place], core: Any) -> CoreShape | None:
    # The core agrees with a row, but 1 agrees with 1.0 and with true as well, whose places a match does not yield.
    for key, path in _CORE_COLUMNS.items():
        holder = core["actor"] if key == "actor_id" else core
        if holder.get(key) is not None and path not in places:
            return None
    if not places.keys() >= set(_CORE_NAMES):
        return None
    return CoreShape(match, places[_OBJECT_TYPE].group)


def _columns(keys: tuple[str, ...], values: Mapping[str, str]) -> str:
    return r"\{" + ",".join(f'"{key}":{values.get(key, "null")}' for key in keys) + r"\}"
