"""What the stranger of act 8 tries: one well-formed request for every method that addresses a workspace."""

from __future__ import annotations

from typing import Any, Final

from server.demo.acts.learning import snapshot_id, toy_space
from server.demo.play import BO, REX, Play, encoded

Requests = dict[str, dict[str, Any]]

_BASIS: Final = {"policy_basis": "curiosity"}


def attempts(play: Play, event_id: str) -> dict[str, Requests]:
    """Returns a well-formed request for every method that addresses a workspace, by service and method."""
    object_id = play.order.object_id
    version_id = play.versions.get(object_id, "version:none")
    return {
        "MemoryService": _of_memory(object_id, version_id),
        "DelegationService": _of_delegation(play, object_id),
        "LedgerService": _of_ledger(event_id),
        "SnapshotService": _of_snapshots(play),
        "DerivedService": _of_derived_state(play, object_id, version_id),
        "PortabilityService": {
            "ExportWorkspace": {"include_ledger": True},
            "ImportWorkspace": _BASIS | {"header": {"format": "remit-export/1", "scope_id": play.scope_id}},
        },
        "AdminService": _of_administration(play),
    }


def _of_memory(object_id: str, version_id: str) -> Requests:
    changing: dict[str, Any] = {"object_id": object_id, "expected_version_id": version_id}
    content: dict[str, Any] = {"canonical_content": encoded({"statement": "mine"})}
    provenance = {"provenance": {"activity": "asserted"}}
    return {
        "Create": {"object_type": "claim"} | content | provenance,
        "Read": {"object_id": object_id},
        "Update": changing | content | provenance,
        "Transition": changing | _BASIS | {"dimension": "DIMENSION_LIFECYCLE", "target_state": "archived"},
        "Delete": changing | _BASIS,
        "Query": {"query": {"kind": "QUERY_KIND_STRUCTURED"}, "limit": 10},
        "InspectHistory": {"object_id": object_id},
        "Relate": {
            "source_object_id": object_id,
            "target_object_id": object_id,
            "relationship_type": "references",
            "directionality": "DIRECTIONALITY_DIRECTED",
        }
        | provenance,
        "TraverseRelationships": {"start_object_id": object_id},
        "Redact": changing | _BASIS | {"target": {"whole": True}, "mode": "REDACTION_MODE_ERASE"},
        "Promote": {
            "source_object_id": object_id,
            "expected_version_id": version_id,
            "target_object_type": "claim",
            "target_canonical_content": content["canonical_content"],
        }
        | provenance,
    }


def _of_delegation(play: Play, object_id: str) -> Requests:
    grant_id = play.account.grants[0].delegation_id if play.account.grants else "urn:uuid:none"
    check = {"target_delegation_id": grant_id, "delegated_actor_id": BO.actor_id, "operation": "read"}
    named = {"target_delegation_id": grant_id}
    return {
        "GrantDelegation": _BASIS
        | {
            "delegated_actor": {"actor_id": REX.actor_id},
            "granted_operations": ["read"],
            "not_before": "2020-01-01T00:00:00Z",
            "not_after": "2099-01-01T00:00:00Z",
        },
        "CheckDelegation": {"check": check},
        "BatchCheckDelegation": {"checks": [check]},
        "ExplainAccess": {"operation": "read", "object_id": object_id},
        "PreviewRevocation": named,
        "RevokeDelegation": named | _BASIS,
        "GetDelegation": named,
        "ListDelegations": {},
    }


def _of_ledger(event_id: str) -> Requests:
    subscription = {"subscription_id": "urn:uuid:none"}
    return {
        "ListEvents": {},
        "GetEvent": {"event_id": event_id},
        "VerifyLedger": {},
        "Subscribe": {"filter": {}},
        "PollSubscription": subscription,
        "StreamSubscription": subscription,
        "AcknowledgeSubscription": subscription,
        "ResetSubscription": subscription,
        "Unsubscribe": subscription,
    }


def _of_snapshots(play: Play) -> Requests:
    before, after = (snapshot_id(play, when) for when in ("before", "after"))
    return {
        "SealSnapshot": {},
        "GetSnapshot": {"snapshot_id": before},
        "CompareSnapshots": {"left_snapshot_id": before, "right_snapshot_id": after},
    }


def _of_derived_state(play: Play, object_id: str, version_id: str) -> Requests:
    space = toy_space(play)
    artifact = {"artifact_type": "embedding", "artifact_id": f"vector:{play.run}-0"}
    return {
        "RegisterEmbeddingSpace": {"embedding_space": space},
        "GetEmbeddingSpace": {"embedding_space_id": space["embedding_space_id"]},
        "RegisterDerivative": artifact | {"source_object_id": object_id, "source_version_id": version_id},
        "RemoveDerivative": artifact,
        "ListLineage": {"source_object_id": object_id},
        "RecordIndexRebuild": {"index_id": "index:lexical"},
    }


def _of_administration(play: Play) -> Requests:
    rule = {"subject": REX.actor_id, "action": "read", "object_type": "*", "object_id": "*", "effect": "EFFECT_ALLOW"}
    binding = {"actor_id": REX.actor_id, "role_id": "role:owner"}
    return {
        "CreateWorkspace": {"new_scope_id": f"workspace:rex-{play.run}", "scope_kind": "workspace"},
        "GetWorkspace": {},
        "ListWorkspaces": {},
        "AddPolicyRule": {"rule": rule},
        "RemovePolicyRule": {"rule_id": "urn:uuid:none"},
        "ListPolicyRules": {},
        "BindRole": binding,
        "UnbindRole": binding,
    }
