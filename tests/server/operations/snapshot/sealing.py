"""Snapshots as tests of them seal and compare them."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import snapshot_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace


def seal(workspace: Workspace, client: Client | None = None, **fields: Any) -> snapshot_pb2.Snapshot:
    """Seals a snapshot; returns it."""
    request = snapshot_pb2.SealSnapshotRequest(scope_id=workspace.scope_id, **fields)
    response: snapshot_pb2.SealSnapshotResponse = (client or workspace.owner).snapshot.SealSnapshot(request)
    return response.snapshot


def evaluation_workspace(cluster: Cluster) -> Workspace:
    """A workspace of kind evaluation."""
    return Workspace(cluster, scope_kind="evaluation")


def compared(
    workspace: Workspace, left: str, right: str, client: Client | None = None, **fields: Any
) -> snapshot_pb2.CompareSnapshotsResponse:
    """All pages of a comparison in one answer."""
    whole = snapshot_pb2.CompareSnapshotsResponse()
    cursor = ""
    while True:
        request = snapshot_pb2.CompareSnapshotsRequest(
            scope_id=workspace.scope_id, left_snapshot_id=left, right_snapshot_id=right, cursor=cursor, **fields
        )
        page = (client or workspace.owner).snapshot.CompareSnapshots(request)
        cursor = page.cursor
        page.ClearField("cursor")
        whole.MergeFrom(page)
        if not cursor:
            return whole


def refusal_of(call: Any, *arguments: Any, **fields: Any) -> Refusal:
    """The refusal of a call."""
    with pytest.raises(Refusal) as refused:
        call(*arguments, **fields)
    return refused.value


def got(workspace: Workspace, snapshot_id: str, client: Client | None = None) -> snapshot_pb2.Snapshot:
    """GetSnapshot."""
    request = snapshot_pb2.GetSnapshotRequest(scope_id=workspace.scope_id, snapshot_id=snapshot_id)
    response: snapshot_pb2.GetSnapshotResponse = (client or workspace.owner).snapshot.GetSnapshot(request)
    return response.snapshot
