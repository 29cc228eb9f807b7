"""Issuers: the configuration file, the development issuer of a data directory, and where keys are fetched from."""

from __future__ import annotations

import asyncio
import json
import os
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import OKPAlgorithm

from authz.errors import InvalidIssuerConfig, TenantNotAllowed
from authz.principal import DEFAULT_ACTOR_PREFIX, Principal
from authz.tokens import IssuerConfig, TokenVerifier

DEVELOPMENT_ISSUER: Final = "urn:remit:development"
DEVELOPMENT_AUDIENCE: Final = "remit"
_KEY_FILE: Final = "development-issuer.pem"
_TENANTS_FILE: Final = "development-tenants.json"
_JWKS_BYTES_MAX: Final = 1 << 20
_FETCH_SECONDS_MAX: Final = 10.0


@dataclass(frozen=True, slots=True)
class IssuerSource:
    """An issuer with the place of its keys: a file or an https URL of a JWK set, or the set itself."""

    config: IssuerConfig
    jwks_file: Path | None = None
    jwks_url: str | None = None
    jwks: dict[str, Any] | None = None


_FIELDS: Final = {"issuer", "audience", "algorithms", "tenants", "actor_prefix", "jwks_file", "jwks_url"}


def read_issuers(path: Path) -> list[IssuerSource]:
    """Returns the issuers of a configuration file: `{"issuers": [{issuer, audience, algorithms, tenants, ...}]}`.

    Raises InvalidIssuerConfig naming the setting; an unknown one is refused.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = document["issuers"]
        assert isinstance(entries, list)
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        raise InvalidIssuerConfig(str(path), "issuers", "must be a JSON file with a list of issuers") from None
    return [_issuer(entry, path.parent) for entry in entries]


def _issuer(entry: Any, folder: Path) -> IssuerSource:
    name = str(entry.get("issuer", "")) if isinstance(entry, dict) else ""
    if not isinstance(entry, dict) or set(entry) - _FIELDS:
        raise InvalidIssuerConfig(name, "issuers", f"may have the settings {', '.join(sorted(_FIELDS))} only")
    for setting in ("algorithms", "tenants"):
        values = entry.get(setting)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise InvalidIssuerConfig(name, setting, "must be a list of names")
    for setting in ("issuer", "audience", "actor_prefix", "jwks_file", "jwks_url"):
        if not isinstance(entry.get(setting, ""), str):
            raise InvalidIssuerConfig(name, setting, "must be a text")
    if ("jwks_file" in entry) == ("jwks_url" in entry):
        raise InvalidIssuerConfig(name, "jwks_url", "or jwks_file must be set, and not both")
    url = entry.get("jwks_url")
    if url is not None and not url.startswith("https://"):
        raise InvalidIssuerConfig(name, "jwks_url", "must be an https address")
    config = IssuerConfig(
        issuer=name,
        audience=entry.get("audience", ""),
        algorithms=frozenset(entry["algorithms"]),
        tenants=frozenset(entry["tenants"]),
        actor_prefix=entry.get("actor_prefix", DEFAULT_ACTOR_PREFIX),
    )
    return IssuerSource(config, folder / entry["jwks_file"] if "jwks_file" in entry else None, url)


class JwksFetcher:
    """Fetches the JWK set of an issuer; the cache above decides how often."""

    def __init__(self, sources: list[IssuerSource]) -> None:
        self._sources = {source.config.issuer: source for source in sources}

    async def __call__(self, issuer: str) -> dict[str, Any]:
        """Returns the issuer's JWK set. Raises OSError or ValueError when it can't be had."""
        source = self._sources[issuer]
        if source.jwks is not None:
            return source.jwks
        return await asyncio.to_thread(_read_jwks, source)


def _read_jwks(source: IssuerSource) -> dict[str, Any]:
    if source.jwks_file is not None:
        data = source.jwks_file.read_bytes()
    else:
        assert source.jwks_url is not None
        # The scheme is held to https when the configuration is read.
        with urllib.request.urlopen(source.jwks_url, timeout=_FETCH_SECONDS_MAX) as response:  # noqa: S310
            data = response.read(_JWKS_BYTES_MAX + 1)
    if len(data) > _JWKS_BYTES_MAX:
        raise ValueError("the JWK set is too large")
    document = json.loads(data)
    if not isinstance(document, dict):
        raise ValueError("not a JWK set")
    return document


class DevelopmentIssuer:
    """The issuer of a data directory: its key lies there, and it speaks for the tenants that were added there."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def source(self) -> IssuerSource:
        """Returns the issuer with its public key, making the key when there is none."""
        key = self._key()
        jwk: dict[str, Any] = OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
        jwk |= {"kid": self._kid(key), "alg": "EdDSA", "use": "sig"}
        config = IssuerConfig(
            issuer=DEVELOPMENT_ISSUER,
            audience=DEVELOPMENT_AUDIENCE,
            algorithms=frozenset({"EdDSA"}),
            tenants=frozenset(self.tenants()),
        )
        return IssuerSource(config, jwks={"keys": [jwk]})

    def tenants(self) -> list[str]:
        """Returns the tenants it speaks for."""
        path = self._data_dir / _TENANTS_FILE
        return list(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else []

    def add_tenant(self, tenant_id: str) -> None:
        """Lets it speak for a tenant; servers learn of it when they start."""
        tenants = sorted({*self.tenants(), tenant_id})
        self._data_dir.mkdir(parents=True, exist_ok=True)
        draft = self._data_dir / f"{_TENANTS_FILE}.{os.getpid()}"
        draft.write_text(json.dumps(tenants), encoding="utf-8")
        draft.replace(self._data_dir / _TENANTS_FILE)

    def token(self, tenant_id: str, actor_id: str, actor_kind: str, ttl_seconds: int) -> str:
        """Returns a signed token; `actor_id` comes with the prefix `actor:`."""
        key = self._key()
        now = int(time.time())
        claims = {
            "iss": DEVELOPMENT_ISSUER,
            "aud": DEVELOPMENT_AUDIENCE,
            "sub": actor_id.removeprefix(DEFAULT_ACTOR_PREFIX),
            "tenant_id": tenant_id,
            "actor_kind": actor_kind,
            "iat": now,
            "exp": now + ttl_seconds,
        }
        return jwt.encode(claims, key, algorithm="EdDSA", headers={"kid": self._kid(key)})

    def _key(self) -> Ed25519PrivateKey:
        path = self._data_dir / _KEY_FILE
        if not path.exists():
            self._make_key(path)
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        assert isinstance(key, Ed25519PrivateKey)
        return key

    @staticmethod
    def _make_key(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        pem = Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        draft = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        with suppress(FileExistsError):
            os.link(draft, path)  # of several processes that make one at once, the first one's stands
        draft.unlink()

    @staticmethod
    def _kid(key: Ed25519PrivateKey) -> str:
        raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return raw[:8].hex()


class DevelopmentVerifier:
    """A verifier over the development issuer that notices tenants added while the server runs."""

    def __init__(self, issuer: DevelopmentIssuer, build: Callable[[list[IssuerSource]], TokenVerifier]) -> None:
        self._issuer = issuer
        self._build = build
        self._tenants = issuer.tenants()
        self._verifier = build([issuer.source()])

    async def verify(self, token: str, now_us: int) -> Principal:
        """Returns the principal that the token proves; raises InvalidToken."""
        try:
            return await self._verifier.verify(token, now_us)
        except TenantNotAllowed:
            tenants = await asyncio.to_thread(self._issuer.tenants)
            if tenants == self._tenants:
                raise
            self._tenants = tenants
            self._verifier = self._build([self._issuer.source()])
            return await self._verifier.verify(token, now_us)
