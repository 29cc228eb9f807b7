"""Act 8: a stranger, an administrator of the other tenant, tries everything."""

from __future__ import annotations

import asyncio
import base64
import json
import time

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from server.demo.account import DONE, NO_SUCH_SCOPE, UNAUTHENTICATED, denied
from server.demo.acts.attempts import attempts
from server.demo.cast import Player
from server.demo.play import BO, OLGA, REX, SHOP, Play

_NO_TOKEN = ""


async def try_everything(play: Play) -> None:
    """Rex calls every method with the true ids of the shop, its grants in his own workspace, and with forged tokens."""
    account, rex = play.account, play.player(REX)
    account.begin(
        "8  A stranger tries everything",
        "Rex administers the other tenant. He has got hold of every id: workspace, objects, versions, grants, events. "
        "For him the workspace is not there, and his attempts are recorded where he belongs, in his own tenant.",
    )
    event_id = (await play.last_event(OLGA))["event_id"]
    for service, requests in attempts(play, event_id).items():
        answers = await asyncio.gather(
            *(
                rex.call(f"{service}/{method}", {"scope_id": play.scope_id, **request}, account.operation_id())
                for method, request in requests.items()
            )
        )
        account.keep(
            rex,
            f"{service}: {', '.join(requests)}",
            f"{service}/*",
            f"tenant:{REX.tenant_id}",
            answers,
            [NO_SUCH_SCOPE] * len(answers),
            authority="nothing there",
        )
    root = {"scope_id": f"tenant:{SHOP}", "new_scope_id": f"workspace:rex-{play.run}", "scope_kind": "workspace"}
    answer = await rex.call("AdminService/CreateWorkspace", root, account.operation_id())
    account.keep(
        rex,
        f"creates a workspace in tenant:{SHOP}",
        "AdminService/CreateWorkspace",
        f"tenant:{REX.tenant_id}",
        [answer],
        [NO_SUCH_SCOPE],
        authority="nothing there",
    )
    by_grant = {"scope_id": play.rival_scope_id, "object_id": play.order.object_id}
    for grant in account.grants[:1]:
        await account.call(
            rex,
            f"reads {play.order.object_id} in his own workspace, by {grant.name}",
            "MemoryService/Read",
            by_grant,
            denied("DELEGATION_NOT_EFFECTIVE"),
            grant=grant,
        )
    manifest = await account.call(rex, "asks what there is", "DiscoveryService/GetManifest", {}, DONE)
    seen = {scope["scope_id"] for scope in manifest.response.get("scopes", [])}
    account.check("workspaces of the shop that Rex is shown", 0, len(seen & {play.scope_id, f"tenant:{SHOP}"}))
    await _forge(play)
    events = await play.events(OLGA, play.scope_id, actor_id=REX.actor_id)
    account.check("entries of Rex in the shop's ledger", 0, len(events))
    account.end()


async def _forge(play: Play) -> None:
    """Tokens that prove nothing: altered, made with a key of one's own, or absent. They end before any workspace."""
    token = play.stage.token(REX.tenant_id, REX.actor_id, REX.actor_kind)
    tokens = {
        "with a token whose tenant he altered": altered(token, tenant_id=SHOP),
        "with Bo's name under a key of his own": self_made(token, SHOP, BO.actor_id),
        "with no token": _NO_TOKEN,
    }
    for how, forged in tokens.items():
        player = await Player.enter(play.stage, REX, forged)
        try:
            await play.account.call(
                player,
                f"reads {play.order.object_id} {how}",
                "MemoryService/Read",
                play.request(object_id=play.order.object_id),
                UNAUTHENTICATED,
                authority="proves nobody",
            )
        finally:
            await player.leave()


def altered(token: str, **claims: str) -> str:
    """Returns a token with other claims under the old signature."""
    header, payload, signature = token.split(".")
    told = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))) | claims
    return f"{header}.{base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip('=')}.{signature}"


def self_made(token: str, tenant_id: str, actor_id: str) -> str:
    """Returns a token that names another's issuer, key and actor and is signed with a key made here."""
    told = jwt.decode(token, options={"verify_signature": False})
    told |= {"tenant_id": tenant_id, "sub": actor_id.removeprefix("actor:"), "exp": int(time.time()) + 600}
    key_id = jwt.get_unverified_header(token)["kid"]
    return jwt.encode(told, Ed25519PrivateKey.generate(), algorithm="EdDSA", headers={"kid": key_id})
