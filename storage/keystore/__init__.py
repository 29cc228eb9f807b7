"""Data keys, kept apart from the content they encrypt (memory.md, Encrypted parts).

What erasure rests on: a content row without its data key is noise, in every backup and replica of the content database.
So keys have a store of their own, are destroyed there durably before an erasure is reported done, and can't come back
but from a backup of the key store itself, which the operator lets age out.
"""

from storage.keystore.directory import DirectoryKeyStore
from storage.keystore.page import KeyDestroyed, KeyFolderExposed, KeyId, KeyPage, KeyStore, KeyStoreUnavailable
from storage.keystore.postgres import PostgresKeyStore, create_schema
from storage.keystore.ring import KeyRing

__all__ = [
    "DirectoryKeyStore",
    "KeyDestroyed",
    "KeyFolderExposed",
    "KeyId",
    "KeyPage",
    "KeyRing",
    "KeyStore",
    "KeyStoreUnavailable",
    "PostgresKeyStore",
    "create_schema",
]
