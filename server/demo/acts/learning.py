"""Act 7: what the desk learned is kept: promoted, related, cleared of what must not stay, found by meaning, compared."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any, Final

from server.demo.account import DONE, Outcome
from server.demo.play import MIRA, OLGA, Play, encoded

_CONTACT: Final = "ada.okafor@harbour.example"
_FILTERS: Final = {
    "validation_state": ["VALIDATION_STATE_UNVERIFIED"],
    "availability_state": ["AVAILABILITY_STATE_AVAILABLE", "AVAILABILITY_STATE_PARTIALLY_REDACTED"],
}
_BASIS: Final = "desk memory, weekly review"


async def learn(play: Play) -> None:
    """Mira promotes a worker's note, relates it, erases an address from it, finds it by meaning, compares two snapshots."""
    account = play.account
    account.begin(
        "7  What the desk learned",
        "Agents leave notes in working memory; most are of no use tomorrow. Mira makes one of them lasting, says what it "
        "is about, and takes out what should never have been in it. Two snapshots show what that changed.",
    )
    note_id, claim_id = f"note:{play.run}-returns", f"claim:{play.run}-returns"
    await _note(play, note_id)
    before = await _seal(play, "before")
    if await _promote(play, note_id, claim_id):
        await _relate(play, note_id, claim_id)
        await _erase(play, claim_id)
        space_id = await _embed(play, claim_id)
        after = await _seal(play, "after")
        await _find(play, claim_id, space_id, after)
        await _compare(play, before, after, note_id, claim_id)
    account.end()


async def _note(play: Play, note_id: str) -> None:
    request = play.request(
        object_type="working_memory",
        object_id=note_id,
        canonical_content=encoded(
            {
                "task_ref": f"task:{play.run}-returns",
                "content": {"seen": "refunds go to the card that paid, not to a new one", "contact": _CONTACT},
            }
        ),
        provenance={"activity": "noted while working", "source_ref": play.order.object_id},
        idempotency_key=f"note-{play.run}",
    )
    answer = await play.account.call(
        play.player(MIRA), "keeps a note in working memory", "MemoryService/Create", request
    )
    play.versions[note_id] = str(answer.response.get("result", {}).get("version_id", ""))


async def _seal(play: Play, when: str) -> str:
    sealed = snapshot_id(play, when)
    request = play.request(snapshot_id=sealed, idempotency_key=f"seal-{play.run}-{when}")
    await play.account.call(play.player(MIRA), f"seals a snapshot: {when}", "SnapshotService/SealSnapshot", request)
    return sealed


async def _promote(play: Play, note_id: str, claim_id: str) -> bool:
    account, mira = play.account, play.player(MIRA)

    def request(expected_version_id: str, target_id: str, key: str) -> dict[str, Any]:
        return play.request(
            source_object_id=note_id,
            expected_version_id=expected_version_id,
            target_object_type="claim",
            target_object_id=target_id,
            target_canonical_content=encoded(
                {"claim": "Refunds go to the card that paid.", "contact": _CONTACT, "order": play.order.source_id}
            ),
            provenance={"activity": "promoted after review"},
            idempotency_key=f"promote-{play.run}-{key}",
        )

    noted = play.versions[note_id]
    answer = await account.call(
        mira, "makes the note a claim, and supersedes the note", "MemoryService/Promote", request(noted, claim_id, "1")
    )
    if not answer.ok:
        return False
    play.versions[claim_id] = str(answer.response["target"]["version_id"])
    again = request(noted, f"{claim_id}-2", "2")
    await account.call(
        mira, "promotes the note's first version again", "MemoryService/Promote", again, Outcome("version_conflict")
    )
    again = request(str(answer.response["source"]["version_id"]), f"{claim_id}-2", "3")
    await account.call(
        mira, "promotes the superseded note", "MemoryService/Promote", again, Outcome("invalid_state_transition")
    )
    events = await play.events(OLGA, play.scope_id, filter_operation_id=answer.operation_id)
    kinds = Counter(event["event_type"].removeprefix("EVENT_TYPE_").lower() for event in events)
    wanted = ["lifecycle_transitioned", "object_created", "relationship_created", "working_memory_promoted"]
    account.check("entries of the one promotion", wanted, sorted(kinds.elements()))
    return True


async def _relate(play: Play, note_id: str, claim_id: str) -> None:
    account, mira = play.account, play.player(MIRA)
    request = play.request(
        source_object_id=claim_id,
        target_object_id=play.order.object_id,
        relationship_type="references",
        directionality="DIRECTIONALITY_DIRECTED",
        provenance={"activity": "linked to its case"},
        idempotency_key=f"relate-{play.run}",
    )
    what = f"relates the claim to {play.order.object_id}: references"
    await account.call(mira, what, "MemoryService/Relate", request)
    walked = await account.call(
        mira,
        "walks from the claim, one step",
        "MemoryService/TraverseRelationships",
        play.request(start_object_id=claim_id, max_depth=1, limit=10),
    )
    reached = sorted(
        f"{step['relationship']['relationship_type']} {step['object']['object_id']}"
        for step in walked.response.get("steps", [])
    )
    account.check(
        "reached from the claim", sorted([f"derived_from {note_id}", f"references {play.order.object_id}"]), reached
    )


async def _erase(play: Play, claim_id: str) -> None:
    account, mira = play.account, play.player(MIRA)
    first_version = play.versions[claim_id]
    request = play.request(
        object_id=claim_id,
        expected_version_id=first_version,
        target={"json_pointers": ["/contact"]},
        mode="REDACTION_MODE_ERASE",
        policy_basis=_BASIS,
        idempotency_key=f"redact-{play.run}",
    )
    await account.call(mira, "erases the address from the claim, for good", "MemoryService/Redact", request)
    shown = await play.read(MIRA, "reads the claim", claim_id)
    old = await account.call(
        mira,
        "reads the version before the redaction",
        "MemoryService/Read",
        play.request(object_id=claim_id, version_id=first_version),
    )
    texts = [_content(answer.response) for answer in (shown, old)]
    account.check("versions of the claim that still show the claim", 2, sum("Refunds go" in text for text in texts))
    account.check("versions of the claim that still show the address", 0, sum(_CONTACT in text for text in texts))


async def _embed(play: Play, claim_id: str) -> str:
    """Vectors come from the client's model; three numbers stand here for the hundreds of a real one."""
    account, mira = play.account, play.player(MIRA)
    space = toy_space(play)
    space_id = str(space["embedding_space_id"])
    await account.call(
        mira,
        "registers the embedding space of her model",
        "DerivedService/RegisterEmbeddingSpace",
        play.request(embedding_space=space, idempotency_key=f"space-{play.run}"),
    )
    others = [order.object_id for order in play.input.orders[:2]]
    for object_id in others:
        await play.read(MIRA, f"reads {object_id}", object_id)
    vectors = dict(zip((claim_id, *others), ([0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.0, 0.2, 0.9]), strict=True))
    requests = [
        play.request(
            source_object_id=object_id,
            source_version_id=play.versions[object_id],
            artifact_type="embedding",
            artifact_id=f"vector:{play.run}-{number}",
            embedding_space_id=space_id,
            vector=vector,
            idempotency_key=f"vector-{play.run}-{number}",
        )
        for number, (object_id, vector) in enumerate(vectors.items())
    ]
    await account.calls(mira, "registers vectors", "DerivedService/RegisterDerivative", requests, [DONE])
    return space_id


async def _find(play: Play, claim_id: str, space_id: str, snapshot: str) -> None:
    account, mira = play.account, play.player(MIRA)
    semantic = {"kind": "QUERY_KIND_SEMANTIC", "filters": _FILTERS}
    found = await account.call(
        mira,
        "asks in the second snapshot what is nearest to a question about refunds",
        "MemoryService/Query",
        play.request(
            query=semantic, embedding_space_id=space_id, query_vector=[1.0, 0.0, 0.0], limit=2, snapshot_id=snapshot
        ),
    )
    nearest = [row["object_id"] for row in found.response.get("results", [])]
    account.check("nearest to the question", claim_id, nearest[0] if nearest else "nothing")
    exact = not found.response.get("metadata", {}).get("approximate", False)
    account.check("the answer says that every vector was compared", True, exact)
    await account.call(
        mira,
        "asks with a vector of another model",
        "MemoryService/Query",
        play.request(query=semantic, embedding_space_id=space_id, query_vector=[1.0, 0.0], limit=2),
        Outcome("embedding_space_mismatch"),
    )


async def _compare(play: Play, before: str, after: str, note_id: str, claim_id: str) -> None:
    account = play.account
    compared = await account.call(
        play.player(MIRA),
        "compares the two snapshots",
        "SnapshotService/CompareSnapshots",
        play.request(left_snapshot_id=before, right_snapshot_id=after, limit=100),
    )
    told = compared.response
    added = [member["object_id"] for member in told.get("added", [])]
    moved = [delta["object_id"] for delta in told.get("version_deltas", [])]
    states = [
        f"{delta['object_id']} {delta['dimension']} {delta['left_state']} -> {delta['right_state']}"
        for delta in told.get("state_deltas", [])
    ]
    account.check("added between the snapshots", [claim_id], added)
    account.check("objects with a new version", [note_id], moved)
    account.check("states that moved", [f"{note_id} lifecycle scratch -> superseded"], states)


def snapshot_id(play: Play, when: str) -> str:
    """Returns the id of a snapshot of this performance: `before` or `after`."""
    return f"snapshot:{play.run}-{when}"


def toy_space(play: Play) -> dict[str, Any]:
    """Returns the embedding space of this performance."""
    return {
        "embedding_space_id": f"space:{play.run}-toy",
        "provider": "demo",
        "model": "toy",
        "model_revision": "1",
        "dimensions": 3,
        "distance_metric": "cosine",
        "normalization": "none",
        "preprocessing_profile": "none",
        "embedding_kind": "text",
        "canonicalization_rules": "none",
    }


def _content(response: dict[str, Any]) -> str:
    content = base64.b64decode(response.get("envelope", {}).get("canonical_content", ""))
    return json.dumps(json.loads(content or b"null"))
