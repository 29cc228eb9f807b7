"""Metrics of one process, or of all workers of one supervisor together.

Labels are names of ours; no id, content or credential is ever one. The exception is STORED, whose labels are ids of
tenants and workspaces, and which therefore has to be asked for.
"""

from __future__ import annotations

from prometheus_client import Counter, Gauge

CALLS = Counter("remit_calls_total", "Calls answered.", ["method", "code"])
UNAUTHENTICATED = Counter("remit_unauthenticated_total", "Calls without a valid credential.", ["reason"])
DENIALS = Counter("remit_denials_total", "Denials recorded.", ["reason"])
INTEGRITY_VIOLATIONS = Counter("remit_integrity_violations_total", "Stored data refused on read.")
ERASURES = Counter("remit_erasures_total", "Erasure jobs closed.")
SUBSCRIPTION_STREAMS = Gauge(
    "remit_subscription_streams", "Streams of subscriptions that are open.", multiprocess_mode="livesum"
)
WATCHED_WORKSPACES = Gauge(
    "remit_watched_workspaces", "Workspaces watched for subscribers.", multiprocess_mode="livesum"
)
# Counted by whoever served the workspace last: the newest count is the one that holds.
STORED = Gauge(
    "remit_stored",
    "What a workspace holds, of the first REMIT_METRICS_SCOPES_MAX that were served.",
    ["kind", "tenant_id", "scope_id"],
    multiprocess_mode="mostrecent",
)
