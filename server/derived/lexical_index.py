"""The lexical index brought up to date: at a hybrid query, within bounds, or as a whole (Q65; P-7.6-01, P-12-08).

It is derived state: taking it up to date makes no version and no event, reads only what the gate gives to anybody, and
is done by whoever comes first.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from server.authority.refusals import StaleFacts
from server.call import Call
from server.memory.retrieval import open_rows
from server.memory.versions import Plaintexts
from server.wire.json_text import read_json_text
from storage.commands import ColdChange, Command
from storage.encryption import IntegrityViolation
from storage.lexical import IndexedObject, Pending, emptied, indexed, load_pending
from storage.model.memory import PartKind, VersionCore
from storage.model.words import counted_words, token_of, words_of
from storage.objects import Heads, StoredVersion

_log = logging.getLogger(__name__)

_VERSIONS_OF_BATCH: Final = 250
_BYTES_OF_BATCH: Final = 4 << 20
BATCHES_OF_QUERY: Final = 4
"""How many batches of versions a query takes in before it answers with an index that is behind."""


async def catch_up(call: Call, batches_max: int | None = None) -> int:
    """Takes in what was written since; returns the ledger sequence that the index is current to.

    Raises StaleFacts when something was removed while it was read.
    """
    done = 0
    while True:
        pending = await load_pending(
            call.services.database, call.tenant_id, call.scope_id, _VERSIONS_OF_BATCH, _BYTES_OF_BATCH
        )
        if pending.heads is None:
            raise StaleFacts
        if not pending.looked_at:
            return pending.heads.sequence
        if batches_max is not None and done >= batches_max:
            return pending.indexed_sequence
        await _commit(call, indexed(pending, await _hashed(call, pending, pending.heads)))
        done += 1


async def rebuild(call: Call) -> int:
    """Empties the index and fills it again; returns the ledger sequence that it is current to. Raises StaleFacts."""
    await _commit(call, emptied())
    return await catch_up(call)


def query_tokens(call: Call, text: str) -> list[bytes]:
    """Returns the hashes of a text's words, each once."""
    key = call.services.keys.lexical_key(call.tenant_id, call.scope_id)
    return sorted({token_of(key, word) for word in words_of(text)})


async def _commit(call: Call, change: ColdChange) -> None:
    command = Command(
        tenant_id=call.tenant_id, scope_id=call.scope_id, actor_id=call.actor_id, events=(), colds=[change]
    )
    await call.services.coalescer.submit(command)


async def _hashed(call: Call, pending: Pending, heads: Heads) -> list[IndexedObject]:
    key = call.services.keys.lexical_key(call.tenant_id, call.scope_id)
    objects = []
    for core, parts in await _opened(call, pending.versions, heads):
        content = core.parts.get(PartKind.CONTENT)
        if parts.content is None or content is None:
            continue
        counted = counted_words(read_json_text(parts.content))
        occurrences = {token_of(key, word): count for word, count in counted.items()}
        objects.append(IndexedObject(core.object_id, core.sequence, content.content_id, occurrences))
    return objects


async def _opened(call: Call, versions: Sequence[StoredVersion], heads: Heads) -> list[tuple[VersionCore, Plaintexts]]:
    try:
        return await open_rows(call, [(version, True) for version in versions], heads)
    except IntegrityViolation:
        opened: list[tuple[VersionCore, Plaintexts]] = []
        for version in versions:
            try:
                opened += await open_rows(call, [(version, True)], heads)
            except IntegrityViolation as violation:
                # It is refused to whoever reads it; here it only is not indexed.
                _log.error("not indexed: %s", violation)
        return opened
