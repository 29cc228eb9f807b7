"""Derived state, wire <-> model: embedding spaces and lineage (PAMSPEC 7.8; P-7.8-05)."""

from __future__ import annotations

from remit.v1 import derived_pb2
from server.domain_errors import InvalidRequest
from server.wire.actors import actor_message
from server.wire.times import optional_timestamp_of, timestamp_of
from storage.derivatives import LineageRow
from storage.model.actor import ActorRef
from storage.model.embedding import DistanceMetric, EmbeddingSpace


def space_from(message: derived_pb2.EmbeddingSpace, created_by: ActorRef) -> EmbeddingSpace:
    """Returns the descriptor of a validated message. Raises InvalidRequest for what the server fills or can't compare."""
    for name in ("created_at", "created_by"):
        if message.HasField(name):
            raise InvalidRequest(f"embedding_space.{name}", "is filled by the server")
    try:
        metric = DistanceMetric(message.distance_metric)
    except ValueError:
        raise InvalidRequest("embedding_space.distance_metric", "must be cosine, l2 or inner_product") from None
    return EmbeddingSpace(
        embedding_space_id=message.embedding_space_id,
        provider=message.provider,
        model=message.model,
        model_revision=message.model_revision,
        dimensions=message.dimensions,
        distance_metric=metric,
        normalization=message.normalization,
        preprocessing_profile=message.preprocessing_profile,
        embedding_kind=message.embedding_kind,
        canonicalization_rules=message.canonicalization_rules,
        created_by=created_by,
    )


def space_message(space: EmbeddingSpace) -> derived_pb2.EmbeddingSpace:
    """Returns the descriptor with when and by whom it was registered."""
    return derived_pb2.EmbeddingSpace(
        embedding_space_id=space.embedding_space_id,
        provider=space.provider,
        model=space.model,
        model_revision=space.model_revision,
        dimensions=space.dimensions,
        distance_metric=space.distance_metric.value,
        normalization=space.normalization,
        preprocessing_profile=space.preprocessing_profile,
        embedding_kind=space.embedding_kind,
        canonicalization_rules=space.canonicalization_rules,
        created_at=optional_timestamp_of(space.created_at_us or None),
        created_by=None if space.created_by is None else actor_message(space.created_by),
    )


def lineage_message(row: LineageRow) -> derived_pb2.LineageRow:
    """Returns a row of lineage."""
    return derived_pb2.LineageRow(
        source_object_id=row.object_id,
        source_version_id=row.version_id,
        source_sequence=row.sequence,
        artifact_type=row.artifact.artifact_type,
        artifact_id=row.artifact.artifact_id,
        store_id=row.artifact.store_id,
        artifact_version=row.artifact.artifact_version,
        embedding_space_id=row.embedding_space_id or "",
        registered_at=timestamp_of(row.registered_at_us),
        current=row.current,
    )
