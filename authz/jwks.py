"""Published keys by (issuer, key id), fetched seldom (authority.md, Who is calling; field report B11).

No I/O of its own: what fetches and what measures time are handed in.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jwt import PyJWK, PyJWTError

KEYS_MAX: Final = 64

Fetch = Callable[[str], Awaitable[Mapping[str, Any]]]
MonotonicSeconds = Callable[[], float]


@dataclass(slots=True)
class _IssuerKeys:
    """The keys of one issuer. `tried_at` and `fetched_at` are seconds of the monotonic clock, None before the first."""

    keys: dict[str, PyJWK] = field(default_factory=dict)
    tried_at: float | None = None
    fetched_at: float | None = None
    failures: int = 0
    refresh: asyncio.Task[None] | None = None


class JwksCache:
    """A `KeySource` over JSON Web Key Sets.

    An unknown key id refreshes its issuer's set, at most once per `interval_seconds` whatever the ids asked for and
    however the fetch ends: until then an unknown id stays unknown. Concurrent refreshes are one. Every key of the last
    set is honoured, so that old and new stand side by side while both are published; a set older than `age_seconds_max`
    is refreshed, so that a withdrawn key goes. A fetch that fails keeps the keys there are.
    """

    def __init__(
        self,
        fetch: Fetch,
        monotonic: MonotonicSeconds,
        *,
        interval_seconds: float = 30.0,
        age_seconds_max: float = 300.0,
    ) -> None:
        self._fetch = fetch
        self._monotonic = monotonic
        self._interval_seconds = interval_seconds
        self._age_seconds_max = age_seconds_max
        self._issuers: dict[str, _IssuerKeys] = {}

    async def key(self, issuer: str, kid: str) -> PyJWK | None:
        """Returns the issuer's key of this id, or None when it publishes none or was never reached.

        `issuer` must be a registered one: a state is kept for each.
        """
        state = self._issuers.setdefault(issuer, _IssuerKeys())
        found = state.keys.get(kid)
        if found is not None and not self._aged(state):
            return found
        if state.refresh is None and self._may_try(state):
            state.tried_at = self._monotonic()
            state.refresh = asyncio.create_task(self._refresh(issuer, state))
        if state.refresh is not None:
            # Shielded: a caller that gives up must not take the keys from those who wait.
            await asyncio.shield(state.refresh)
        return state.keys.get(kid)

    def failures(self, issuer: str) -> int:
        """Returns how many fetches of the issuer's set have failed since the last that worked, for a metric."""
        state = self._issuers.get(issuer)
        return 0 if state is None else state.failures

    def _aged(self, state: _IssuerKeys) -> bool:
        return state.fetched_at is None or self._monotonic() - state.fetched_at >= self._age_seconds_max

    def _may_try(self, state: _IssuerKeys) -> bool:
        return state.tried_at is None or self._monotonic() - state.tried_at >= self._interval_seconds

    async def _refresh(self, issuer: str, state: _IssuerKeys) -> None:
        try:
            published = keys_of(await self._fetch(issuer))
        except Exception:  # Whatever the transport or the document does wrong, the keys at hand stay good.
            state.failures += 1
        else:
            state.keys = published
            state.fetched_at = self._monotonic()
            state.failures = 0
        finally:
            state.refresh = None


def keys_of(document: Mapping[str, Any]) -> dict[str, PyJWK]:
    """Returns the usable keys of a JSON Web Key Set by id.

    Left out: keys without an id, for another use than signatures, symmetric, private, or of a kind the library can't
    read; and every key of an id that stands there twice, as nobody can tell which is meant.
    Raises ValueError when the document is no key set, or holds over 64 keys.
    """
    listed = document.get("keys")
    if not isinstance(listed, list) or len(listed) > KEYS_MAX:
        raise ValueError("not a JSON Web Key Set of at most 64 keys")
    keys: dict[str, PyJWK] = {}
    seen: set[str] = set()
    for one in listed:
        kid = one.get("kid") if isinstance(one, dict) else None
        if not isinstance(kid, str):
            continue
        if kid in seen:
            keys.pop(kid, None)
            continue
        seen.add(kid)
        key = _usable(one)
        if key is not None:
            keys[kid] = key
    return keys


def _usable(jwk: dict[str, Any]) -> PyJWK | None:
    if jwk.get("kty") not in ("OKP", "EC", "RSA") or "d" in jwk or jwk.get("use", "sig") != "sig":
        return None
    try:
        return PyJWK(jwk)
    except (PyJWTError, ValueError, TypeError):
        return None
