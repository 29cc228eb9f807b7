"""Bearer tokens: what is proven, and every known way to prove nothing."""

import base64
import hashlib
import hmac
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from authz import errors
from authz.jwks import JwksCache
from authz.tokens import IssuerConfig, TokenVerifier

NOW = 1_800_000_000
NOW_US = NOW * 1_000_000
OURS, THEIRS = "https://idp.example", "https://other.example"
AUDIENCE = "remit"

ED = ed25519.Ed25519PrivateKey.generate()
EC = ec.generate_private_key(ec.SECP256R1())
EC384 = ec.generate_private_key(ec.SECP384R1())
RSA = rsa.generate_private_key(65537, 2048)
RSA_SHORT = rsa.generate_private_key(65537, 1024)
STRANGER = ed25519.Ed25519PrivateKey.generate()
KEYS = {
    ("ed", OURS): jwt.PyJWK(json.loads(OKPAlgorithm.to_jwk(ED.public_key()))),
    ("ec", OURS): jwt.PyJWK(json.loads(ECAlgorithm.to_jwk(EC.public_key()))),
    ("ec384", OURS): jwt.PyJWK(json.loads(ECAlgorithm.to_jwk(EC384.public_key()))),
    ("rsa", OURS): jwt.PyJWK(json.loads(RSAAlgorithm.to_jwk(RSA.public_key()))),
    ("rsa-short", OURS): jwt.PyJWK(json.loads(RSAAlgorithm.to_jwk(RSA_SHORT.public_key()))),
    ("ed", THEIRS): jwt.PyJWK(json.loads(OKPAlgorithm.to_jwk(STRANGER.public_key()))),
}
ALL = frozenset({"EdDSA", "ES256", "RS256"})
CONFIGS = (
    IssuerConfig(OURS, AUDIENCE, ALL, frozenset({"acme", "beta"})),
    IssuerConfig(THEIRS, AUDIENCE, frozenset({"EdDSA"}), frozenset({"other"}), "actor:other/"),
)


class Keys:
    """The published keys, counting how often they are asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def key(self, issuer: str, kid: str) -> jwt.PyJWK | None:
        self.asked.append((issuer, kid))
        return KEYS.get((kid, issuer))


def claims(**changes: Any) -> dict[str, Any]:
    made = {
        "iss": OURS,
        "aud": AUDIENCE,
        "exp": NOW + 600,
        "sub": "alice",
        "tenant_id": "acme",
        "actor_kind": "agent",
        **changes,
    }
    return {name: value for name, value in made.items() if value is not ...}


def token(key: Any = ED, algorithm: str = "EdDSA", kid: Any = "ed", headers: Any = None, **changes: Any) -> str:
    header = {"kid": kid, **(headers or {})}
    return jwt.encode(claims(**changes), key, algorithm, {name: value for name, value in header.items() if value})


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def signed(header: Any, payload: Any, signature: bytes | None = None) -> str:
    body = f"{part(header)}.{part(payload)}"
    return f"{body}.{part(ED.sign(body.encode()) if signature is None else signature)}"


def verifier(**options: Any) -> TokenVerifier:
    return TokenVerifier(CONFIGS, Keys(), **options)


async def verified(one: str, now_us: int = NOW_US):
    return await verifier().verify(one, now_us)


@pytest.mark.parametrize(("key", "algorithm", "kid"), [(ED, "EdDSA", "ed"), (EC, "ES256", "ec"), (RSA, "RS256", "rsa")])
async def test_a_token_proves_a_principal(key, algorithm: str, kid: str) -> None:
    one = token(key, algorithm, kid, session_id="s-1")
    principal = await verified(one)
    assert principal.tenant_id == "acme"
    assert principal.actor_id == "actor:alice"
    assert principal.actor_kind == "agent"
    assert principal.issuer == OURS
    assert principal.expires_at_us == (NOW + 600) * 1_000_000
    assert principal.on_behalf_of is None
    assert principal.session_id == "s-1"
    assert principal.credential_id == hashlib.sha256(one.encode()).hexdigest()


async def test_the_issuers_prefix_names_its_actors() -> None:
    theirs = token(STRANGER, iss=THEIRS, tenant_id="other", sub="bob@x")
    assert (await verified(theirs)).actor_id == "actor:other/bob+40x"


async def test_the_outermost_actor_acts_and_the_subject_is_whom_it_acts_for() -> None:
    act = {"sub": "agent-7", "act": {"sub": "agent-1"}}
    principal = await verified(token(sub="alice", act=act))
    assert principal.actor_id == "actor:agent-7"
    assert principal.on_behalf_of == "actor:alice"


@pytest.mark.parametrize("act", ["agent-7", None, {}, {"sub": 7}, [], {"act": {"sub": "agent-1"}}])
async def test_an_act_that_names_nobody_is_refused(act) -> None:
    with pytest.raises(errors.MalformedToken):
        await verified(token(act=act))


async def test_an_act_of_another_issuer_is_refused() -> None:
    assert (await verified(token(act={"sub": "agent-7", "iss": OURS}))).actor_id == "actor:agent-7"
    with pytest.raises(errors.UnusableSubject):
        await verified(token(act={"sub": "agent-7", "iss": THEIRS}))


@pytest.mark.parametrize("name", ["iss", "aud", "exp", "sub", "tenant_id", "actor_kind"])
@pytest.mark.parametrize("value", [..., None, 7.5, {}, True])
async def test_a_required_claim_is_required_in_its_form(name: str, value: Any) -> None:
    if name == "exp" and value == 7.5:
        value = "soon"
    with pytest.raises(errors.InvalidToken):
        await verified(signed({"alg": "EdDSA", "kid": "ed"}, claims(**{name: value})))


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant_id": "Acme"},
        {"tenant_id": "acme\n"},
        {"actor_kind": ""},
        {"actor_kind": "an agent"},
        {"session_id": 7},
        {"session_id": "x" * 257},
        {"exp": -1},
        {"exp": 10**15},
        {"nbf": "now"},
        {"nbf": None},
    ],
)
async def test_a_claim_out_of_its_form_is_refused(changes) -> None:
    with pytest.raises(errors.MalformedToken):
        await verified(signed({"alg": "EdDSA", "kid": "ed"}, claims(**changes)))


@pytest.mark.parametrize("sub", ["", "x" * 251, "\ud800"])
async def test_a_subject_that_makes_no_actor_id_is_refused(sub: str) -> None:
    with pytest.raises(errors.UnusableSubject):
        await verified(signed({"alg": "EdDSA", "kid": "ed"}, claims(sub=sub)))


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.case("B12")
async def test_a_host_whose_clock_runs_ahead_is_believed_within_the_leeway() -> None:
    assert await verified(token(nbf=NOW + 20, iat=NOW + 300))
    assert await verified(token(nbf=NOW + 30))
    with pytest.raises(errors.TokenNotYetValid):
        await verified(token(nbf=NOW + 31))


@pytest.mark.parametrize("iat", [NOW + 10**6, 0, "yesterday", None])
async def test_iat_never_refuses(iat: Any) -> None:
    assert await verified(signed({"alg": "EdDSA", "kid": "ed"}, claims(iat=iat)))


async def test_expiry_has_the_leeway_too_and_not_one_microsecond_more() -> None:
    one = token(exp=NOW)
    checker = verifier()
    assert await checker.verify(one, NOW_US + 29_999_999)
    with pytest.raises(errors.TokenExpired):
        await checker.verify(one, NOW_US + 30_000_000)


# --- keys and algorithms ---------------------------------------------------------------------------------------------


@pytest.mark.case("B11")
@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
@pytest.mark.parametrize("kid", ["rsa", "ed", "ec"])
async def test_a_public_key_is_no_secret_to_sign_with(alg: str, kid: str) -> None:
    secret = {"rsa": RSA, "ed": ED, "ec": EC}[kid].public_key()
    pem = secret.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header, payload = {"alg": alg, "kid": kid}, claims()
    body = f"{part(header)}.{part(payload)}"
    digest = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}[alg]
    with pytest.raises(errors.AlgorithmNotAllowed):
        await verified(f"{body}.{part(hmac.digest(pem, body.encode(), digest))}")


@pytest.mark.case("B11")
@pytest.mark.parametrize("alg", ["none", "None", "NONE", "", None, 7, "ES384", "PS256", "RS1"])
async def test_what_is_not_on_the_list_is_refused(alg: Any) -> None:
    for signature in (b"", None):
        with pytest.raises(errors.InvalidToken):
            await verified(signed({"alg": alg, "kid": "ed"}, claims(), signature))


@pytest.mark.parametrize(
    ("algorithm", "kid"),
    [("RS256", "ed"), ("ES256", "rsa"), ("EdDSA", "ec"), ("ES256", "ec384"), ("RS256", "rsa-short")],
)
async def test_the_key_must_be_of_the_algorithms_kind(algorithm: str, kid: str) -> None:
    with pytest.raises(errors.AlgorithmNotAllowed):
        await verified(signed({"alg": algorithm, "kid": kid}, claims()))


async def test_a_list_without_an_algorithm_refuses_it_though_the_key_would_do() -> None:
    narrow = TokenVerifier([IssuerConfig(OURS, AUDIENCE, frozenset({"RS256"}), frozenset({"acme"}))], Keys())
    assert await narrow.verify(token(RSA, "RS256", "rsa"), NOW_US)
    with pytest.raises(errors.AlgorithmNotAllowed):
        await narrow.verify(token(), NOW_US)


async def test_a_changed_token_does_not_verify() -> None:
    head, _, signature = token().split(".")
    with pytest.raises(errors.BadSignature):
        await verified(f"{head}.{part(claims(sub='mallory'))}.{signature}")
    with pytest.raises(errors.BadSignature):
        await verified(token(STRANGER))


async def test_keys_are_looked_up_by_issuer_never_pooled() -> None:
    with pytest.raises(errors.BadSignature):
        await verified(token(STRANGER, kid="ed", iss=OURS))
    with pytest.raises(errors.UnknownKey):
        await verified(token(STRANGER, kid="rsa", iss=THEIRS, tenant_id="other"))


@pytest.mark.parametrize("kid", [None, "", "k" * 257])
async def test_a_key_id_is_required(kid: Any) -> None:
    with pytest.raises(errors.MalformedToken):
        await verified(token(kid=kid))


async def test_keys_carried_or_pointed_to_by_the_token_are_not_looked_at() -> None:
    embedded = json.loads(OKPAlgorithm.to_jwk(STRANGER.public_key()))
    for extra in ({"jwk": embedded}, {"jku": "https://mallory.example"}, {"x5u": "https://mallory.example"}):
        with pytest.raises(errors.BadSignature):
            await verified(token(STRANGER, headers=extra))


@pytest.mark.parametrize("headers", [{"crit": ["b64"], "b64": False}, {"crit": ["x"], "x": 1}, {"b64": True}])
async def test_extensions_of_the_format_are_refused(headers) -> None:
    with pytest.raises(errors.MalformedToken):
        await verified(signed({"alg": "EdDSA", "kid": "ed", **headers}, claims()))


@pytest.mark.parametrize("typ", ["remit-policy+jwt", "JWS", "", 7, None])
async def test_another_kind_of_signed_document_is_no_credential(typ: Any) -> None:
    with pytest.raises(errors.MalformedToken):
        await verified(signed({"alg": "EdDSA", "kid": "ed", "typ": typ}, claims()))


@pytest.mark.parametrize("typ", ["JWT", "jwt", "at+jwt", "application/at+JWT", ...])
async def test_the_kinds_that_are(typ: Any) -> None:
    header = {"alg": "EdDSA", "kid": "ed"} | ({} if typ is ... else {"typ": typ})
    assert await verified(signed(header, claims()))


# --- audience, issuer, tenant ----------------------------------------------------------------------------------------


async def test_the_audience_must_be_ours() -> None:
    assert await verified(token(aud=["another", AUDIENCE]))
    for audience in ("another", ["another"], [], "", [[AUDIENCE]], AUDIENCE.upper(), AUDIENCE + "\n"):
        with pytest.raises(errors.WrongAudience):
            await verified(signed({"alg": "EdDSA", "kid": "ed"}, claims(aud=audience)))


@pytest.mark.case("B11")
@pytest.mark.parametrize("audience", ["", None])
def test_an_unset_audience_is_a_configuration_error(audience: Any) -> None:
    with pytest.raises(errors.InvalidIssuerConfig) as refusal:
        IssuerConfig(OURS, audience, ALL, frozenset({"acme"}))
    assert refusal.value.setting == "audience"


@pytest.mark.parametrize(
    ("setting", "changes"),
    [
        ("issuer", {"issuer": ""}),
        ("algorithms", {"algorithms": frozenset()}),
        ("algorithms", {"algorithms": frozenset({"EdDSA", "HS256"})}),
        ("algorithms", {"algorithms": frozenset({"none"})}),
        ("tenants", {"tenants": frozenset()}),
        ("tenants", {"tenants": frozenset({"*"})}),
        ("actor_prefix", {"actor_prefix": "role:"}),
        ("actor_prefix", {"actor_prefix": ""}),
    ],
)
def test_a_configuration_that_would_accept_too_much_is_refused(setting: str, changes) -> None:
    whole = {"issuer": OURS, "audience": AUDIENCE, "algorithms": ALL, "tenants": frozenset({"acme"})}
    with pytest.raises(errors.InvalidIssuerConfig) as refusal:
        IssuerConfig(**{**whole, **changes})
    assert refusal.value.setting == setting


def test_an_issuer_is_registered_once() -> None:
    with pytest.raises(errors.InvalidIssuerConfig):
        TokenVerifier([CONFIGS[0], CONFIGS[0]], Keys())


async def test_an_issuer_speaks_for_its_own_tenants_only() -> None:
    with pytest.raises(errors.TenantNotAllowed):
        await verified(token(STRANGER, iss=THEIRS, tenant_id="acme"))
    with pytest.raises(errors.TenantNotAllowed):
        await verified(token(tenant_id="other"))


async def test_an_unknown_issuer_costs_no_key_lookup() -> None:
    keys = Keys()
    with pytest.raises(errors.UnknownIssuer):
        await TokenVerifier(CONFIGS, keys).verify(token(iss="https://mallory.example"), NOW_US)
    assert keys.asked == []


# --- form ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", ".", "..", "...", "a.b.c", "Bearer x", "é.é.é", "\x00", "e30.e30.", "W10.e30.AA"])
async def test_what_is_no_token(text: str) -> None:
    with pytest.raises(errors.InvalidToken):
        await verified(text)


@pytest.mark.parametrize("tail", [".x", "=", "\n", " "])
async def test_a_token_with_something_after_it_is_another(tail: str) -> None:
    with pytest.raises(errors.InvalidToken):
        await verified(token() + tail)


async def test_a_huge_token_is_not_even_opened() -> None:
    with pytest.raises(errors.TokenTooLarge):
        await verified(token(padding="x" * 8_192))
    with pytest.raises(errors.InvalidToken):
        await verified(signed({"alg": "EdDSA", "kid": "ed"}, b"[" * 3_000))


@pytest.mark.parametrize(
    "payload",
    [
        b"[]",
        b"null",
        b'{"exp": NaN}',
        b"\xff\xfe{}",
        json.dumps(claims()).encode("utf-16"),
        json.dumps(claims())[:-1].encode() + b', "tenant_id": "beta"}',
        json.dumps(claims())[:-1].encode() + b', "iat": Infinity}',
    ],
)
async def test_a_payload_that_can_be_read_in_two_ways_is_refused(payload: bytes) -> None:
    with pytest.raises(errors.MalformedToken):
        await verified(signed({"alg": "EdDSA", "kid": "ed"}, payload))


def test_every_refusal_has_a_reason_of_its_own() -> None:
    kinds = errors.InvalidToken.__subclasses__()
    assert len({kind.reason for kind in [errors.InvalidToken, *kinds]}) == len(kinds) + 1


# --- the cache -------------------------------------------------------------------------------------------------------


async def test_a_verified_token_is_not_verified_again_until_it_expires() -> None:
    keys = Keys()
    checker = TokenVerifier(CONFIGS, keys)
    one = token(exp=NOW + 100)
    first = await checker.verify(one, NOW_US)
    assert await checker.verify(one, NOW_US + 99_999_999) is first
    assert len(keys.asked) == 1
    # Within the leeway it is judged anew each time; beyond, refused.
    assert await checker.verify(one, NOW_US + 100_000_000) == first
    assert await checker.verify(one, NOW_US + 100_000_001) == first
    assert len(keys.asked) == 3
    with pytest.raises(errors.TokenExpired):
        await checker.verify(one, NOW_US + 130_000_000)


async def test_a_remembered_token_is_not_valid_before_its_time() -> None:
    checker = verifier()
    one = token(nbf=NOW)
    assert await checker.verify(one, NOW_US)
    with pytest.raises(errors.TokenNotYetValid):
        await checker.verify(one, NOW_US - 60_000_000)


async def test_a_withdrawn_key_ends_its_tokens_before_they_expire() -> None:
    published = {"keys": [json.loads(OKPAlgorithm.to_jwk(ED.public_key())) | {"kid": "ed"}]}
    seconds = 0.0

    async def fetch(_: str):
        return published

    checker = TokenVerifier(CONFIGS, JwksCache(fetch, lambda: seconds, age_seconds_max=300))
    one = token(exp=NOW + 3_600)
    assert await checker.verify(one, NOW_US)
    published = {"keys": []}
    seconds = 301.0
    with pytest.raises(errors.UnknownKey):
        await checker.verify(one, NOW_US + 301_000_000)


async def test_the_cache_is_bounded_and_forgets_the_longest_unused() -> None:
    keys = Keys()
    checker = TokenVerifier(CONFIGS, keys, cache_entries_max=2)
    one, two, three = (token(sub=name) for name in ("one", "two", "three"))
    for text in (one, two, one, three, one):
        await checker.verify(text, NOW_US)
    assert len(keys.asked) == 3
    await checker.verify(two, NOW_US)
    assert len(keys.asked) == 4


async def test_a_refusal_is_not_remembered_as_anything() -> None:
    checker = verifier()
    bad = token(STRANGER)
    for _ in range(2):
        with pytest.raises(errors.BadSignature):
            await checker.verify(bad, NOW_US)
