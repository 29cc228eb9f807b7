"""What `remit serve` refuses to start with, told in one line; and that it starts with TLS."""

from __future__ import annotations

import datetime
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from grpc_health.v1 import health_pb2, health_pb2_grpc
from psycopg import sql
from psycopg.conninfo import make_conninfo

from remit.v1 import discovery_pb2, discovery_pb2_grpc
from server.cli.serve import serve as serve_command
from tests.cluster import ADMIN, Cluster, ServerProcess
from tests.conftest import DatabaseDsns


def serve(cluster: Cluster, *options: str, **settings: str) -> tuple[int, str]:
    """Runs `remit serve` to its end; returns the exit code and what it said."""
    settings.setdefault("REMIT_STARTUP_WAIT_SECONDS", "0")
    command = [sys.executable, "-m", "server", "serve", *options]
    ended = subprocess.run(command, env=cluster.environment(**settings), capture_output=True, text=True, timeout=60)
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.returncode, ended.stderr


@contextmanager
def role(cluster: Cluster, attributes: str) -> Iterator[str]:
    """The connection string of a role of the test's own that has the server's rights, and more."""
    name = f"r_{uuid.uuid4().hex}"
    identifier = sql.Identifier(name)
    with cluster.superuser() as connection:
        connection.execute(sql.SQL("create role {} login in role remit_app").format(identifier))
        connection.execute(
            sql.SQL("grant connect on database {} to {}").format(sql.Identifier(cluster.database.name), identifier)
        )
        connection.execute(sql.SQL("alter role {} " + attributes).format(identifier))
        try:
            yield make_conninfo(cluster.database.server, user=name)
        finally:
            connection.execute(sql.SQL("drop owned by {}").format(identifier))
            connection.execute(sql.SQL("drop role {}").format(identifier))


def test_a_superuser_is_refused(cluster: Cluster) -> None:
    code, told = serve(cluster, REMIT_DATABASE_URL=cluster.database.superuser)
    assert (code, "is a superuser" in told) == (1, True), told


def test_the_schemas_owner_is_refused(cluster: Cluster) -> None:
    code, told = serve(cluster, REMIT_DATABASE_URL=cluster.database.ddl)
    assert (code, "is a member of remit_owner" in told) == (1, True), told


def test_a_role_without_row_level_security_is_refused(cluster: Cluster) -> None:
    with role(cluster, "bypassrls") as dsn:
        code, told = serve(cluster, REMIT_DATABASE_URL=dsn)
    assert (code, "has BYPASSRLS" in told) == (1, True), told


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"REMIT_LISTEN": "0.0.0.0:0"}, "REMIT_TLS_CERT_FILE"),
        ({"REMIT_LISTEN": "[::]:0"}, "REMIT_TLS_CERT_FILE"),
        (
            {"REMIT_LISTEN": "0.0.0.0:0", "REMIT_TLS_CERT_FILE": "/none", "REMIT_TLS_KEY_FILE": "/none"},
            "REMIT_ISSUERS_FILE",
        ),
        ({"REMIT_TLS_CERT_FILE": "/none"}, "REMIT_TLS_KEY_FILE"),
        ({"REMIT_TLS_KEY_FILE": "/none"}, "REMIT_TLS_CERT_FILE"),
        ({"REMIT_DEVELOPMENT_ISSUER": "false"}, "REMIT_ISSUERS_FILE"),
        ({"REMIT_MIGRATE_DATABASE_URL": "host=/none"}, "REMIT_DATABASE_URL"),
        ({"REMIT_WORKERS": "0"}, "setting workers"),
        ({"REMIT_LISTEN": "nowhere"}, "setting listen"),
        ({"REMIT_LISTEN": "127.0.0.1:70000"}, "setting listen"),
        ({"REMIT_HEALTH_LISTEN": "8080"}, "setting health_listen"),
        ({"REMIT_DATABASE_POOL_MAX": "1"}, "setting database_pool_max"),
        ({"REMIT_DRAIN_SECONDS": "-1"}, "setting drain_seconds"),
        ({"REMIT_LOG_LEVEL": "loud"}, "setting log_level"),
        ({"REMIT_DATABASE_PREPARED_STATEMENTS": "perhaps"}, "setting database_prepared_statements"),
    ],
)
def test_a_bad_setting_exits_with_2_and_is_named(tmp_path: Path, settings: dict[str, str], named: str) -> None:
    ended = CliRunner().invoke(serve_command, env=settings | {"REMIT_DATA_DIR": str(tmp_path / "data")})
    assert (ended.exit_code, named in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "data").exists()


def test_a_refused_setting_is_not_repeated() -> None:
    """It may be a secret that was put into the wrong one."""
    ended = CliRunner().invoke(serve_command, env={"REMIT_LISTEN": "hunter2"})
    assert ended.exit_code == 2
    assert "hunter2" not in ended.output


@pytest.mark.parametrize(
    "settings",
    [
        {"REMIT_TLS_CERT_FILE": "/none/cert.pem", "REMIT_TLS_KEY_FILE": "/none/key.pem"},
        {"REMIT_ISSUERS_FILE": "/none/issuers.json"},
        {"REMIT_KEK_FILE": "/none/kek"},
        {"REMIT_DATABASE_URL": "host=/none user=remit_server dbname=remit"},
        {"REMIT_DATABASE_URL": "postgresql://remit_server:secret@127.0.0.1:1/remit"},
    ],
)
def test_what_is_not_there_is_told_plainly(cluster: Cluster, settings: dict[str, str]) -> None:
    code, told = serve(cluster, **settings)
    assert code == 1, told
    assert told.strip()
    assert "secret" not in told


def test_a_port_that_is_taken_is_told_plainly(cluster: Cluster) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for workers in ("1", "2"):
            code, told = serve(cluster, REMIT_LISTEN=address, REMIT_WORKERS=workers)
            assert (code, address in told) == (1, True), told


def test_an_unmigrated_database_is_refused(cluster: Cluster, empty_database: DatabaseDsns) -> None:
    code, told = serve(cluster, REMIT_DATABASE_URL=empty_database.server)
    assert (code, "remit migrate" in told) == (1, True), told


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, str]:
    """A self-signed certificate of 127.0.0.1, as settings."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "remit under test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(pem)
    return {
        "REMIT_TLS_CERT_FILE": str(tmp_path / "cert.pem"),
        "REMIT_TLS_KEY_FILE": str(tmp_path / "key.pem"),
    }


def test_calls_are_answered_over_tls_only(cluster: Cluster, certificate: dict[str, str], tmp_path: Path) -> None:
    server = ServerProcess(cluster.environment(**certificate), tmp_path / "log")
    try:
        trusted = grpc.ssl_channel_credentials((tmp_path / "cert.pem").read_bytes())
        request = health_pb2.HealthCheckRequest()
        with grpc.secure_channel(server.address, trusted) as channel:
            assert health_pb2_grpc.HealthStub(channel).Check(request, timeout=30).status == 1
            manifest = discovery_pb2_grpc.DiscoveryServiceStub(channel).GetManifest(
                discovery_pb2.GetManifestRequest(),
                metadata=(("authorization", f"Bearer {cluster.token(ADMIN)}"),),
                timeout=30,
            )
            assert manifest.ListFields()
        for untrusting in (
            grpc.insecure_channel(server.address),
            grpc.secure_channel(server.address, grpc.ssl_channel_credentials()),
        ):
            with untrusting as channel, pytest.raises(grpc.RpcError) as refused:
                health_pb2_grpc.HealthStub(channel).Check(request, timeout=30)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    finally:
        assert server.terminate() == 0
