"""What the stranger of act 8 tries: one well-formed request for every method that addresses a workspace."""

from __future__ import annotations

from typing import Any

from server.demo.acts.learning import snapshot_id, toy_space
from server.demo.play import BO, REX, Play, encoded


def attempts(play: Play, event_id: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Returns a well-formed request for every method that addresses a workspace, by service and method."""
    object_id = play.order.object_id
    version_id = play.versions.get(object_id, "version:none")
    changing = {"object_id": object_id, "expected_version_id": version_id}
    basis = {"policy_basis": "curiosity"}
    grant_id = play.account.grants[0].delegation_id if play.account.grants else "urn:uuid:none"
    check = {"target_delegation_id": grant_id, "delegated_actor_id": BO.actor_id, "operation": "read"}
    named = {"target_delegation_id": grant_id}
    content = {"canonical_content": encoded({"statement": "mine"}), "provenance": {"activity": "asserted"}}
    rule = {"subject": REX.actor_id, "action": "read", "object_type": "*", "object_id": "*", "effect": "EFFECT_ALLOW"}
    subscription = {"subscription_id": "urn:uuid:none"}
    binding = {"actor_id": REX.actor_id, "role_id": "role:owner"}
    return {
        "MemoryService": {
            "Create": {"object_type": "claim", **content},
            "Read": {"object_id": object_id},
            "Update": changing | content,
            "Transition": changing | basis | {"dimension": "DIMENSION_LIFECYCLE", "target_state": "archived"},
            "Delete": changing | basis,
            "Query": {"query": {"kind": "QUERY_KIND_STRUCTURED"}, "limit": 10},
            "InspectHistory": {"object_id": object_id},
            "Relate": {
                "source_object_id": object_id,
                "target_object_id": object_id,
                "relationship_type": "references",
                "directionality": "DIRECTIONALITY_DIRECTED",
                "provenance": content["provenance"],
            },
            "TraverseRelationships": {"start_object_id": object_id},
            "Redact": changing | basis | {"target": {"whole": True}, "mode": "REDACTION_MODE_ERASE"},
            "Promote": {
                "source_object_id": object_id,
                "expected_version_id": version_id,
                "target_object_type": "claim",
                "target_canonical_content": content["canonical_content"],
                "provenance": content["provenance"],
            },
        },
        "DelegationService": {
            "GrantDelegation": basis
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
            "RevokeDelegation": named | basis,
            "GetDelegation": named,
            "ListDelegations": {},
        },
        "LedgerService": {
            "ListEvents": {},
            "GetEvent": {"event_id": event_id},
            "VerifyLedger": {},
            "Subscribe": {"filter": {}},
            "PollSubscription": subscription,
            "StreamSubscription": subscription,
            "AcknowledgeSubscription": subscription,
            "ResetSubscription": subscription,
            "Unsubscribe": subscription,
        },
        "AdminService": {
            "CreateWorkspace": {"new_scope_id": f"workspace:rex-{play.run}", "scope_kind": "workspace"},
            "GetWorkspace": {},
            "ListWorkspaces": {},
            "AddPolicyRule": {"rule": rule},
            "RemovePolicyRule": {"rule_id": "urn:uuid:none"},
            "ListPolicyRules": {},
            "BindRole": binding,
            "UnbindRole": binding,
        },
    } | _around_memory(play, object_id, version_id)


def _around_memory(play: Play, object_id: str, version_id: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Returns the same for snapshots, derived state, exports and imports."""
    snapshots = [snapshot_id(play, when) for when in ("before", "after")]
    artifact = {"artifact_type": "embedding", "artifact_id": f"vector:{play.run}-0"}
    return {
        "SnapshotService": {
            "SealSnapshot": {},
            "GetSnapshot": {"snapshot_id": snapshots[0]},
            "CompareSnapshots": {"left_snapshot_id": snapshots[0], "right_snapshot_id": snapshots[1]},
        },
        "DerivedService": {
            "RegisterEmbeddingSpace": {"embedding_space": toy_space(play)},
            "GetEmbeddingSpace": {"embedding_space_id": toy_space(play)["embedding_space_id"]},
            "RegisterDerivative": artifact | {"source_object_id": object_id, "source_version_id": version_id},
            "RemoveDerivative": artifact,
            "ListLineage": {"source_object_id": object_id},
            "RecordIndexRebuild": {"index_id": "index:lexical"},
        },
        "PortabilityService": {
            "ExportWorkspace": {"include_ledger": True},
            "ImportWorkspace": {
                "policy_basis": "curiosity",
                "header": {"format": "remit-export/1", "scope_id": play.scope_id},
            },
        },
    }
