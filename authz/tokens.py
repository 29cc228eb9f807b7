"""JSON Web Tokens as credentials (authority.md, Who is calling; field reports B11, B12).

PyJWT proves the signature; the claims are judged here, by the clock that is handed in. A token is refused with an
`InvalidToken` whose reason is for logs and metrics: the caller learns only that it is not authenticated.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple, Protocol

from jwt import InvalidAlgorithmError, InvalidKeyError, InvalidSignatureError, PyJWK, PyJWS, PyJWTError

from authz.errors import (
    AlgorithmNotAllowed,
    BadSignature,
    InvalidActorName,
    InvalidIssuerConfig,
    MalformedToken,
    TenantNotAllowed,
    TokenExpired,
    TokenNotYetValid,
    TokenTooLarge,
    UnknownIssuer,
    UnknownKey,
    UnusableSubject,
    WrongAudience,
)
from authz.principal import DEFAULT_ACTOR_PREFIX, Principal, actor_id_of, is_actor_prefix

# Algorithm -> the type of key it needs. A token's header chooses among its issuer's; it never chooses the kind of key.
KEY_TYPE_OF: Final = {"EdDSA": "OKP", "ES256": "EC", "RS256": "RSA"}
LEEWAY_US: Final = 30_000_000
TOKEN_BYTES_MAX: Final = 8_192
CACHE_ENTRIES_MAX: Final = 10_000
# A withdrawn key ends its tokens within this time, though they are not expired.
CACHE_AGE_US_MAX: Final = 300_000_000

_SECONDS_MAX: Final = 253_402_300_799  # 9999-12-31T23:59:59Z
_TENANT_ID: Final = re.compile(r"[a-z0-9-]{1,63}", re.ASCII)
_ACTOR_KIND: Final = re.compile(r"[A-Za-z0-9_\-.:]{1,64}", re.ASCII)
_SESSION_ID: Final = re.compile(r"[\x21-\x7e]{1,256}", re.ASCII)
_KID_CHARS_MAX: Final = 256
# Other signed documents of the deployment (policies, triggers, receipts) name their own type and are no credentials.
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})


class KeySource(Protocol):
    """Where verification keys come from."""

    async def key(self, issuer: str, kid: str) -> PyJWK | None:
        """Returns the key that the issuer publishes under the id, or None."""
        ...


@dataclass(frozen=True, slots=True)
class IssuerConfig:
    """One registered issuer: the audience its tokens must name, what it may sign with, and the tenants it speaks for.

    Raises InvalidIssuerConfig when a setting is missing or would accept what it must not; an unset audience is such.
    """

    issuer: str
    audience: str
    algorithms: frozenset[str]
    tenants: frozenset[str]
    actor_prefix: str = DEFAULT_ACTOR_PREFIX

    def __post_init__(self) -> None:
        """Refuses a configuration that could not be enforced."""
        self._require("issuer", bool(self.issuer), "must be set")
        self._require("audience", bool(self.audience), "must be set: a token for anyone is a token for no one")
        known = ", ".join(KEY_TYPE_OF)
        self._require("algorithms", bool(self.algorithms), f"must be some of {known}")
        self._require("algorithms", self.algorithms <= KEY_TYPE_OF.keys(), f"must be some of {known}")
        self._require("tenants", bool(self.tenants), "must name at least one tenant")
        valid = all(_TENANT_ID.fullmatch(tenant_id) for tenant_id in self.tenants)
        self._require("tenants", valid, "must be tenant ids")
        self._require("actor_prefix", is_actor_prefix(self.actor_prefix), "must begin with actor: in the id grammar")

    def _require(self, setting: str, holds: bool, problem: str) -> None:
        if not holds:
            raise InvalidIssuerConfig(self.issuer, setting, problem)


class _Remembered(NamedTuple):
    """A verified token. It is honoured in `not_before_us <= now < until_us`; beyond that it is verified anew."""

    principal: Principal
    not_before_us: int
    until_us: int


class TokenVerifier:
    """Turns bearer tokens into principals.

    Verified tokens are remembered by their SHA-256, at most `cache_entries_max` of them, never beyond their expiry.
    """

    def __init__(
        self, issuers: Iterable[IssuerConfig], keys: KeySource, *, cache_entries_max: int = CACHE_ENTRIES_MAX
    ) -> None:
        self._issuers: dict[str, IssuerConfig] = {}
        for config in issuers:
            if config.issuer in self._issuers:
                raise InvalidIssuerConfig(config.issuer, "issuer", "is registered twice")
            self._issuers[config.issuer] = config
        self._keys = keys
        self._cache: OrderedDict[bytes, _Remembered] = OrderedDict()
        self._cache_entries_max = cache_entries_max
        self._jws = PyJWS(sorted(KEY_TYPE_OF), options={"enforce_minimum_key_length": True})

    async def verify(self, token: str, now_us: int) -> Principal:
        """Returns the principal that the token proves. `now_us` is the time in microseconds since 1970.

        Raises InvalidToken, of the class that says why.
        """
        if len(token) > TOKEN_BYTES_MAX:
            raise TokenTooLarge(f"over {TOKEN_BYTES_MAX} bytes")
        if not token.isascii():
            raise MalformedToken("not ASCII")
        octets = token.encode("ascii")
        digest = sha256(octets).digest()
        remembered = self._cache.get(digest)
        if remembered is not None:
            if remembered.not_before_us <= now_us < remembered.until_us:
                self._cache.move_to_end(digest)
                return remembered.principal
            del self._cache[digest]
        config, claims = await self._proven(octets)
        principal, not_before_us = _judged(config, claims, now_us, digest)
        self._remember(digest, _Remembered(principal, not_before_us, _until(principal, now_us)), now_us)
        return principal

    def _remember(self, digest: bytes, remembered: _Remembered, now_us: int) -> None:
        if self._cache_entries_max < 1 or remembered.until_us <= now_us:
            return
        self._cache[digest] = remembered
        if len(self._cache) > self._cache_entries_max:
            self._cache.popitem(last=False)

    async def _proven(self, octets: bytes) -> tuple[IssuerConfig, dict[str, Any]]:
        """Returns the issuer and the claims of a token whose signature verifies under a key of that issuer."""
        try:
            opened = self._jws.decode_complete(octets, options={"verify_signature": False})
        except PyJWTError as error:
            raise MalformedToken(str(error)) from None
        header = opened["header"]
        issuer = _claims(opened["payload"]).get("iss")
        config = self._issuers.get(issuer) if isinstance(issuer, str) else None
        if config is None:
            raise UnknownIssuer
        algorithm, kid = _header(header)
        if algorithm not in config.algorithms:
            raise AlgorithmNotAllowed(algorithm)
        key = await self._keys.key(config.issuer, kid)
        if key is None:
            raise UnknownKey(kid)
        if key.key_type != KEY_TYPE_OF[algorithm] or key.public_key_use not in (None, "sig"):
            raise AlgorithmNotAllowed(f"{algorithm} with a key of type {key.key_type}")
        try:
            proven = self._jws.decode_complete(octets, key=key, algorithms=[algorithm])
        except InvalidSignatureError:
            raise BadSignature from None
        except (InvalidAlgorithmError, InvalidKeyError) as error:
            raise AlgorithmNotAllowed(str(error)) from None
        except PyJWTError as error:
            raise MalformedToken(str(error)) from None
        return config, _claims(proven["payload"])


def _header(header: dict[str, Any]) -> tuple[str, str]:
    """Returns the algorithm and key id of a header that asks for nothing special."""
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str):
        raise MalformedToken("no algorithm")
    if not isinstance(kid, str) or not 0 < len(kid) <= _KID_CHARS_MAX:
        raise MalformedToken("no key id")
    if "crit" in header or "b64" in header:
        raise MalformedToken("an extension of the format")
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise MalformedToken("a signed document of another type")
    return algorithm, kid


def _claims(payload: bytes) -> dict[str, Any]:
    try:
        claims = json.loads(payload.decode("utf-8"), object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise MalformedToken("the payload is no JSON object with each key once") from None
    if not isinstance(claims, dict):
        raise MalformedToken("the payload is no JSON object")
    return claims


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    claims = dict(pairs)
    if len(claims) != len(pairs):
        raise ValueError("a key stands twice")
    return claims


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _judged(config: IssuerConfig, claims: dict[str, Any], now_us: int, digest: bytes) -> tuple[Principal, int]:
    """Returns the principal and from when the token is valid, the leeway taken off. `iat` is not looked at."""
    audience = claims.get("aud")
    if config.audience not in (audience if isinstance(audience, list) else [audience]):
        raise WrongAudience
    expires_at_us = _instant_us(claims, "exp")
    if now_us >= expires_at_us + LEEWAY_US:
        raise TokenExpired
    not_before_us = _instant_us(claims, "nbf") - LEEWAY_US if "nbf" in claims else 0
    if now_us < not_before_us:
        raise TokenNotYetValid
    tenant_id = _text(claims, "tenant_id", _TENANT_ID)
    if tenant_id not in config.tenants:
        raise TenantNotAllowed(tenant_id)
    actor_kind = _text(claims, "actor_kind", _ACTOR_KIND)
    session_id = _text(claims, "session_id", _SESSION_ID) if claims.get("session_id") is not None else None
    subject, acts_for = _subjects(config, claims)
    try:
        principal = Principal(
            tenant_id=tenant_id,
            actor_id=actor_id_of(subject, config.actor_prefix),
            actor_kind=actor_kind,
            issuer=config.issuer,
            expires_at_us=expires_at_us,
            on_behalf_of=None if acts_for is None else actor_id_of(acts_for, config.actor_prefix),
            session_id=session_id,
            credential_id=digest.hex(),
        )
    except InvalidActorName as error:
        raise UnusableSubject(error.problem) from None
    return principal, not_before_us


def _subjects(config: IssuerConfig, claims: dict[str, Any]) -> tuple[str, str | None]:
    """Returns who acts and for whom: with `act` (RFC 8693) the outermost `act.sub`, for `sub`; else `sub`, for nobody.

    An actor nested deeper acted before and has no part in this call. An `act` that names another issuer's subject is
    refused: that issuer's prefix and tenants were not applied to it.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str):
        raise MalformedToken("no sub")
    if "act" not in claims:
        return subject, None
    act = claims["act"]
    if not isinstance(act, dict) or not isinstance(act.get("sub"), str):
        raise MalformedToken("act without sub")
    if act.get("iss", config.issuer) != config.issuer:
        raise UnusableSubject("act names another issuer")
    return act["sub"], subject


def _text(claims: dict[str, Any], name: str, pattern: re.Pattern[str]) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise MalformedToken(f"no {name}, or not in its form")
    return value


def _instant_us(claims: dict[str, Any], name: str) -> int:
    seconds = claims.get(name)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _SECONDS_MAX:
        raise MalformedToken(f"no {name}, or not seconds since 1970")
    return int(seconds * 1_000_000)


def _until(principal: Principal, now_us: int) -> int:
    return min(principal.expires_at_us, now_us + CACHE_AGE_US_MAX)
