"""What operations work with. Constructed in `server.app` only."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from server.clock import DatabaseClock
from server.config import Settings
from server.subscriptions.feeds import LedgerFeeds
from server.views import WorkspaceViews
from server.workers.erasure import ErasureWorker
from storage.commit import Coalescer
from storage.cursors import CursorCodec
from storage.database import Database
from storage.delegations import GrantChain
from storage.encryption import DeploymentKeys
from storage.idempotency_keys import StoredKey
from storage.keystore import KeyRing
from storage.objects import ObjectFacts, ObjectKey
from storage.reader import CoalescedReader
from storage.subscriptions import SubscriptionFacts
from storage.vector_math import VectorMath


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """One process's ways to the database, the keys and the policy.

    `audits` is how many whole ledgers may be read at once, each on a connection of its own.
    """

    settings: Settings
    database: Database
    coalescer: Coalescer
    keys: DeploymentKeys
    key_ring: KeyRing
    cursors: CursorCodec
    vector_math: VectorMath
    views: WorkspaceViews
    clock: DatabaseClock
    erasures: ErasureWorker
    audits: asyncio.Semaphore
    objects: CoalescedReader[ObjectKey, ObjectFacts]
    chains: CoalescedReader[tuple[str, str], GrantChain | None]
    idempotency_keys: CoalescedReader[tuple[str, str, str], StoredKey | None]
    feeds: LedgerFeeds
    subscriptions: CoalescedReader[tuple[str, str], SubscriptionFacts]
