"""Issuers that sign whatever a test asks for, and the configuration file that makes a server trust them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "remit-under-test"
_TO_JWK: dict[str, Any] = {"EdDSA": OKPAlgorithm, "ES256": ECAlgorithm, "RS256": RSAAlgorithm}


def new_key(algorithm: str) -> Any:
    """A private key for one of the three algorithms."""
    if algorithm == "EdDSA":
        return Ed25519PrivateKey.generate()
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer:
    """An issuer with keys by id. `jwks_file` is its published set; `publish` rewrites it."""

    def __init__(
        self, folder: Path, name: str, tenants: list[str], algorithms: list[str], prefix: str = "actor:"
    ) -> None:
        self.name = f"https://{name}.issuer.test"
        self.tenants = tenants
        self.algorithms = algorithms
        self.prefix = prefix
        self.jwks_file = folder / f"{name}.jwks.json"
        self.keys: dict[str, tuple[str, Any]] = {
            f"{name}-{algorithm}": (algorithm, new_key(algorithm)) for algorithm in algorithms
        }
        self.publish(*self.keys)

    def publish(self, *kids: str) -> None:
        """Makes these the published keys, all at once."""
        keys = []
        for kid in kids:
            algorithm, key = self.keys[kid]
            keys.append(_TO_JWK[algorithm].to_jwk(key.public_key(), as_dict=True) | {"kid": kid, "alg": algorithm})
        draft = self.jwks_file.with_suffix(".draft")
        draft.write_text(json.dumps({"keys": keys}), encoding="utf-8")
        draft.replace(self.jwks_file)

    def configuration(self) -> dict[str, Any]:
        """Its entry in the issuers file."""
        return {
            "issuer": self.name,
            "audience": AUDIENCE,
            "algorithms": self.algorithms,
            "tenants": self.tenants,
            "actor_prefix": self.prefix,
            "jwks_file": self.jwks_file.name,
        }

    def claims(self, subject: str, tenant_id: str, /, **changes: Any) -> dict[str, Any]:
        """Good claims, with changes; None takes a claim away."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.name,
            "aud": AUDIENCE,
            "sub": subject,
            "tenant_id": tenant_id,
            "actor_kind": "agent",
            "iat": now,
            "exp": now + 3600,
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, subject: str, tenant_id: str, /, *, kid: str = "", header: Any = None, **changes: Any) -> str:
        """A token signed with one of its keys, the first unless named."""
        kid = kid or next(iter(self.keys))
        algorithm, key = self.keys[kid]
        headers = {"kid": kid} | (header or {})
        return jwt.encode(self.claims(subject, tenant_id, **changes), key, algorithm=algorithm, headers=headers)

    def public_pem(self, kid: str) -> bytes:
        """The public key as everybody can have it."""
        public = self.keys[kid][1].public_key()
        pem: bytes = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        return pem


def write_issuers(folder: Path, *issuers: Issuer) -> Path:
    """Writes the issuers file that trusts these."""
    path = folder / "issuers.json"
    path.write_text(json.dumps({"issuers": [issuer.configuration() for issuer in issuers]}), encoding="utf-8")
    return path


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def forged(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    """A token put together by hand: HMAC-SHA256 with the secret, or no signature at all."""
    signed = f"{_part(json.dumps(header).encode())}.{_part(json.dumps(claims).encode())}"
    signature = b"" if secret is None else hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{_part(signature)}"


def bad_tokens(issuer: Issuer, other: Issuer, subject: str, tenant_id: str) -> dict[str, str]:
    """Tokens that prove nothing, by what is wrong with each. `other` must not speak for the tenant."""
    now = int(time.time())
    claims = issuer.claims(subject, tenant_id)
    kid = next(iter(issuer.keys))
    good = issuer.token(subject, tenant_id)
    head, body, signature = good.split(".")
    confused = {
        f"HS256 with the public key of {name}": forged({"alg": "HS256", "kid": name}, claims, issuer.public_pem(name))
        for name in issuer.keys
    }
    return confused | {
        "expired": issuer.token(subject, tenant_id, exp=now - 60),
        "not yet valid": issuer.token(subject, tenant_id, nbf=now + 120),
        "without expiry": issuer.token(subject, tenant_id, exp=None),
        "wrong audience": issuer.token(subject, tenant_id, aud="another"),
        "without audience": issuer.token(subject, tenant_id, aud=None),
        "wrong issuer": issuer.token(subject, tenant_id, iss="https://nobody.test"),
        "issuer of another key": issuer.token(subject, tenant_id, iss=other.name),
        "tenant not of the issuer": other.token(subject, tenant_id),
        "no tenant": issuer.token(subject, tenant_id, tenant_id=None),
        "unknown key": issuer.token(subject, tenant_id, header={"kid": "unknown"}),
        "key of another issuer": issuer.token(subject, tenant_id, header={"kid": next(iter(other.keys))}),
        "no key named": forged({"alg": "EdDSA"}, claims, b"x"),
        "alg none": forged({"alg": "none", "kid": kid}, claims, None),
        "alg None in capitals": forged({"alg": "NONE", "kid": kid}, claims, None),
        "good claims of nobody": f"{head}.{body}.{_part(bytes(64))}",
        "changed claims": f"{head}.{_part(json.dumps(claims | {'sub': 'admin2'}).encode())}.{signature}",
        "without signature": f"{head}.{body}.",
        "a signed document of another type": issuer.token(subject, tenant_id, header={"typ": "policy+jws"}),
        "no token at all": "sample",
        "empty": "",
    }
