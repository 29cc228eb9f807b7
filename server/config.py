"""Settings: the only place that reads the environment. Each has a REMIT_ variable of its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_PREFIX: Final = "REMIT_"


def _default_data_dir() -> Path:
    return Path.home() / ".remit"


def environment_of_child(settings: Mapping[str, str], *, inherit_settings: bool = True) -> dict[str, str]:
    """Returns the environment for a process that this one starts: its own, with REMIT_ variables as given.

    Without `inherit_settings` the REMIT_ variables that this process found stay out of it.
    """
    inherited = {name: value for name, value in os.environ.items() if inherit_settings or not name.startswith(_PREFIX)}
    return inherited | dict(settings)


class Settings(BaseSettings):
    """Everything that can be set, by environment variable or by the command's options (which win)."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="ignore", frozen=True)

    database_url: SecretStr | None = Field(
        None, description="PostgreSQL URL of the server's role. Absent: the embedded PostgreSQL of the data directory."
    )
    migrate_database_url: SecretStr | None = Field(
        None, description="PostgreSQL URL of the DDL role, for `remit migrate` and `remit tenant`."
    )
    keystore_url: SecretStr | None = Field(
        None, description="PostgreSQL URL of the key store. Absent: a folder of the data directory."
    )
    migrate_keystore_url: SecretStr | None = Field(
        None, description="PostgreSQL URL with DDL rights on the key store, for `remit migrate`."
    )
    kek_file: Path | None = Field(
        None, description="File with the 32-byte key-encryption key. Absent: one made in the data directory."
    )
    data_dir: Path = Field(
        default_factory=_default_data_dir,
        description="Folder of the embedded PostgreSQL, its keys and the development issuer.",
    )
    listen: str = Field("127.0.0.1:50051", description="Address and port to serve on.")
    health_listen: str | None = Field(
        None, description="Address and port of a second, plaintext listener that answers health checks only."
    )
    metrics_listen: str | None = Field(None, description="Address and port of the Prometheus endpoint.")
    metrics_scopes_max: int = Field(
        0, ge=0, le=10_000, description="Workspaces whose contents are counted for that endpoint, their ids as labels."
    )
    metrics_scopes_seconds: float = Field(60.0, gt=0, description="Time between two such counts, seconds.")
    workers: int = Field(1, ge=1, le=256, description="Server processes sharing the port.")
    reflection: bool = Field(False, description="Serve gRPC reflection to authenticated callers.")
    issuers_file: Path | None = Field(
        None, description="JSON file of the issuers trusted. Absent: the development issuer of the data directory."
    )
    development_issuer: bool = Field(
        True, description="Trust the development issuer of the data directory when no issuers file is given."
    )
    tls_cert_file: Path | None = Field(None, description="PEM file of the server's certificate chain.")
    tls_key_file: Path | None = Field(None, description="PEM file of the server's private key.")
    allow_insecure_listen: bool = Field(
        False, description="Permit a non-loopback address without TLS or with the development issuer."
    )
    content_bytes_max: int = Field(1 << 20, ge=1, description="Largest canonical content, bytes.")
    message_bytes_max: int = Field(4 << 20, ge=1024, description="Largest gRPC message, bytes.")
    page_bytes_max: int = Field(3 << 20, ge=1024, description="Largest page of an answer, bytes.")
    json_depth_max: int = Field(64, ge=1, le=500, description="Deepest nesting of canonical content.")
    page_size_default: int = Field(100, ge=1, le=1000, description="Rows of a page when the caller names no limit.")
    deadline_seconds_default: float = Field(30.0, gt=0, description="Deadline of calls that bring none, seconds.")
    deadline_seconds_max: float = Field(300.0, gt=0, description="Longest deadline honoured, seconds.")
    import_records_max: int = Field(
        150_000, ge=1, description="Records of one import. They wait, encrypted, in the temporary folder."
    )
    import_bytes_max: int = Field(1 << 30, ge=1024, description="Bytes of the records of one import.")
    queue_max: int = Field(10_000, ge=1, description="Commands that may wait in one process.")
    database_pool_max: int = Field(8, ge=2, description="Database connections of one process.")
    database_acquire_seconds: float = Field(
        3.0, gt=0, description="How long a call waits for a database connection before it answers unavailable, seconds."
    )
    database_prepared_statements: bool = Field(
        True, description="Use prepared statements. Off behind a transaction-pooling PgBouncer."
    )
    startup_wait_seconds: float = Field(
        60.0, ge=0, description="How long `remit serve` waits for the database and its migrations, seconds."
    )
    drain_seconds: float = Field(20.0, ge=0, description="How long calls may finish after SIGTERM, seconds.")
    key_page_size: int = Field(256, ge=1, le=4096, description="Data keys made durable together.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least level of log lines.")
    log_format: Literal["text", "json"] = Field("text", description="Form of log lines.")

    @field_validator("listen", "health_listen", "metrics_listen")
    @classmethod
    def _host_and_port(cls, value: str | None) -> str | None:
        if value is not None:
            host, separator, port = value.rpartition(":")
            if not separator or not host or not port.isdigit() or int(port) > 65535:
                raise ValueError("must be HOST:PORT")
        return value

    @property
    def listen_is_loopback(self) -> bool:
        """Whether the listen address is reachable from this machine only."""
        host = self.listen.rpartition(":")[0].strip("[]")
        return host in {"localhost", "::1"} or host.startswith("127.")
