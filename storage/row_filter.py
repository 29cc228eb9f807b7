"""Conditions of a WHERE clause that depend on the caller: collected with their parameters, inside the statement.

What an authority covers is judged here for rows, so that no page is cut before it (authority.md, Delegated authority).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Pair = tuple[str, str]
ANY: Final = "*"
_BIGINT_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Rows that an authority covers: an allow pair matches, no deny pair does. A pair is (type or `*`, id or `*`)."""

    allow: frozenset[Pair]
    deny: frozenset[Pair]


@dataclass(slots=True)
class Conditions:
    """Conditions joined with AND, and the named parameters they mention."""

    params: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Adds a condition; its values must have been bound."""
        self.texts.append(text)

    def bind(self, value: Any, sql_type: str) -> str:
        """Returns SQL that stands for the value; `sql_type` is its type, `text[]` for instance.

        A number beyond bigint stands for the largest one: no stored number is beyond either.
        """
        if sql_type == "bigint":
            value = min(value, _BIGINT_MAX)
        name = f"p{len(self.params)}"
        self.params[name] = value
        return f"%({name})b::{sql_type}"

    def equal(self, values: Mapping[str, str | None]) -> None:
        """Adds `column = value` for each value that is not None."""
        for column, value in values.items():
            if value is not None:
                self.add(f"{column} = {self.bind(value, 'text')}")

    def one_of(self, column: str, values: Sequence[str]) -> None:
        """Adds that the column has one of the values; nothing when there are none."""
        if values:
            self.add(f"{column} = any ({self.bind(list(values), 'text[]')})")

    def admitted(self, filters: Iterable[RowFilter], type_column: str, id_column: str) -> None:
        """Adds that every filter covers the row. A row whose type or id is null is covered by none."""
        for row_filter in filters:
            self.add(self.covers(row_filter, type_column, id_column))

    def covers(self, row_filter: RowFilter, type_column: str, id_column: str) -> str:
        """Returns the condition that one filter covers the row."""
        allowed = self._matches(row_filter.allow, type_column, id_column)
        denied = self._matches(row_filter.deny, type_column, id_column)
        return f"({type_column} is not null and {id_column} is not null and {allowed} and not {denied})"

    def _matches(self, pairs: frozenset[Pair], type_column: str, id_column: str) -> str:
        if not pairs:
            return "false"
        if (ANY, ANY) in pairs:
            return "true"
        types = sorted(kind for kind, object_id in pairs if object_id == ANY)
        ids = sorted(object_id for kind, object_id in pairs if kind == ANY)
        both = sorted(pair for pair in pairs if ANY not in pair)
        texts = []
        if types:
            texts.append(f"{type_column} = any ({self.bind(types, 'text[]')})")
        if ids:
            texts.append(f"{id_column} = any ({self.bind(ids, 'text[]')})")
        if both:
            kinds = self.bind([kind for kind, _ in both], "text[]")
            named = self.bind([object_id for _, object_id in both], "text[]")
            texts.append(f"({type_column}, {id_column}) in (select * from unnest({kinds}, {named}))")
        return f"({' or '.join(texts)})"

    @property
    def sql(self) -> str:
        """All conditions as text that continues a WHERE clause."""
        return "".join(f"\n   and {text}" for text in self.texts)
