"""A process that works on a key store as it is told by a line of JSON on its standard input; run by the tests.

Prints one line per finished step, so that a test that kills it knows what had been promised by then.
"""

import asyncio
import json
import sys
from pathlib import Path
from uuid import UUID

from storage.encryption import DeploymentKeys
from storage.keystore import DirectoryKeyStore, KeyId, KeyStore, PostgresKeyStore


async def main() -> None:
    task = json.loads(sys.stdin.readline())
    keys = DeploymentKeys(bytes.fromhex(task["kek"]))
    place: str = task["place"]
    store: KeyStore = DirectoryKeyStore(Path(place), keys) if place.startswith("/") else PostgresKeyStore(place, keys)
    await store.open()
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(task.get("reserve", 0)):
        page = await store.reserve_page(task["tenant_id"], 4)
        print(page.page_id, flush=True)
    for page_id, slot in task.get("destroy", ()):
        destroyed = await store.destroy(task["tenant_id"], [KeyId(UUID(page_id), slot)])
        print(page_id, slot, destroyed, flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main())
