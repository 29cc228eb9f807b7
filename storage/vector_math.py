"""How a database compares vectors: by pgvector where it has it, else by functions of ours, with the same results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from storage.database import Database
from storage.model.embedding import DistanceMetric

_PGVECTOR: Final = """
select n.nspname from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
 where e.extname = 'vector' and pg_catalog.has_schema_privilege(n.oid, 'USAGE')"""
_PGVECTOR_FUNCTIONS: Final = {
    DistanceMetric.COSINE: "cosine_distance",
    DistanceMetric.L2: "l2_distance",
    DistanceMetric.INNER_PRODUCT: "vector_negative_inner_product",
}


@dataclass(frozen=True, slots=True)
class VectorMath:
    """How vectors are compared in this database: by pgvector in a schema, or by functions of ours (None)."""

    pgvector_schema: str | None = None

    def distance(self, metric: DistanceMetric, left: str, right: str) -> str:
        """Returns the distance of a real[] column or expression from what `operand` gave, the smaller the nearer."""
        if self.pgvector_schema is None:
            return f"remit.{metric.value}_distance({left}, {right})"
        return f"{self.pgvector_schema}.{_PGVECTOR_FUNCTIONS[metric]}({left}::{self.pgvector_schema}.vector, {right})"

    def operand(self, value: str) -> str:
        """Returns a value to compare with, converted once for the statement."""
        return (
            f"(select {value})" if self.pgvector_schema is None else f"(select {value}::{self.pgvector_schema}.vector)"
        )


async def load_vector_math(database: Database) -> VectorMath:
    """Returns how the database compares vectors. Raises DatabaseUnavailable."""
    async with database.connection() as connection:
        cursor = await connection.execute(_PGVECTOR)
        rows = await cursor.fetchall()
    return VectorMath('"{}"'.format(rows[0][0].replace('"', '""')) if rows else None)
