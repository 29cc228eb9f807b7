"""Keys are fetched seldom, and a bad fetch changes nothing."""

import asyncio
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from authz.jwks import JwksCache, keys_of

ISSUER = "https://idp.example"


def jwk(kid: str | None = "k1", **changes):
    made = json.loads(OKPAlgorithm.to_jwk(ed25519.Ed25519PrivateKey.generate().public_key()))
    made |= {"kid": kid, **changes}
    return {name: value for name, value in made.items() if value is not None}


class Published:
    """An issuer's key set, and the monotonic clock beside it."""

    def __init__(self, *kids: str) -> None:
        self.keys = [jwk(kid) for kid in kids]
        self.fetches: list[str] = []
        self.now = 1_000.0
        self.fails = False
        self.gate: asyncio.Event | None = None
        self.reached = asyncio.Event()
        self.cache = JwksCache(self.fetch, lambda: self.now, interval_seconds=30, age_seconds_max=300)

    async def fetch(self, issuer: str):
        self.fetches.append(issuer)
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            raise ConnectionError
        return {"keys": self.keys}


async def test_a_known_key_is_fetched_once() -> None:
    published = Published("k1", "k2")
    assert await published.cache.key(ISSUER, "k1") is await published.cache.key(ISSUER, "k1")
    assert await published.cache.key(ISSUER, "k2") is not None
    assert published.fetches == [ISSUER]


@pytest.mark.case("B11")
async def test_a_flood_of_unknown_kids_fetches_at_most_once_per_interval() -> None:
    published = Published("k1")
    for second in range(61):
        published.now = 1_000.0 + second
        for number in range(20):
            assert await published.cache.key(ISSUER, f"unknown-{second}-{number}") is None
    assert len(published.fetches) == 3
    assert await published.cache.key(ISSUER, "k1") is not None


@pytest.mark.case("B11")
async def test_a_rotated_key_is_found_and_the_old_one_stays_while_it_is_published() -> None:
    published = Published("old")
    assert await published.cache.key(ISSUER, "old") is not None
    published.keys.append(jwk("new"))
    published.now += 31
    assert await published.cache.key(ISSUER, "new") is not None
    assert await published.cache.key(ISSUER, "old") is not None
    published.keys.pop(0)
    published.now += 301
    assert await published.cache.key(ISSUER, "old") is None
    assert await published.cache.key(ISSUER, "new") is not None


async def test_concurrent_refreshes_are_one_and_outlive_a_caller_that_gives_up() -> None:
    published = Published("k1")
    published.gate = asyncio.Event()
    waiting = [asyncio.create_task(published.cache.key(ISSUER, "k1")) for _ in range(50)]
    await published.reached.wait()
    waiting[0].cancel()
    await asyncio.sleep(0)
    published.gate.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError)
    assert all(key is found[1] and key is not None for key in found[1:])
    assert published.fetches == [ISSUER]


async def test_a_failed_fetch_keeps_the_keys_and_is_limited_as_well() -> None:
    published = Published("k1")
    before = await published.cache.key(ISSUER, "k1")
    published.fails = True
    published.now += 301
    for _ in range(10):
        assert await published.cache.key(ISSUER, "k1") is before
        assert await published.cache.key(ISSUER, "k2") is None
    assert len(published.fetches) == 2
    assert published.cache.failures(ISSUER) == 1
    published.fails = False
    published.keys.append(jwk("k2"))
    published.now += 31
    assert await published.cache.key(ISSUER, "k2") is not None
    assert published.cache.failures(ISSUER) == 0


async def test_a_document_that_is_no_key_set_is_a_failed_fetch() -> None:
    published = Published("k1")
    before = await published.cache.key(ISSUER, "k1")
    for document in ("no list", [jwk(f"k{number}") for number in range(65)]):
        published.keys = document
        published.now += 301
        assert await published.cache.key(ISSUER, "k1") is before


async def test_issuers_are_never_pooled() -> None:
    published = Published("k1")
    ours = await published.cache.key(ISSUER, "k1")
    published.keys = [jwk("k1")]
    theirs = await published.cache.key("https://other.example", "k1")
    assert ours is not theirs
    assert published.fetches == [ISSUER, "https://other.example"]


def test_only_public_signature_keys_with_one_id_are_used() -> None:
    private = json.loads(OKPAlgorithm.to_jwk(ed25519.Ed25519PrivateKey.generate())) | {"kid": "private"}
    ok = [
        jwk("ed"),
        json.loads(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key())) | {"kid": "ec"},
        json.loads(RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 2048).public_key()))
        | {"kid": "rsa", "use": "sig", "key_ops": ["verify"]},
    ]
    bad = [
        private,
        jwk(None),
        jwk("encrypts", use="enc"),
        {"kty": "oct", "k": "c2VjcmV0", "kid": "symmetric"},
        jwk("broken", x="!"),
        jwk("confused", alg="HS256"),
        jwk("twice"),
        jwk("twice"),
        jwk("twice"),
        "no key",
        {"kid": "empty"},
    ]
    assert set(keys_of({"keys": [*bad, *ok]})) == {"ed", "ec", "rsa"}
    with pytest.raises(ValueError, match="not a JSON Web Key Set"):
        keys_of({})
