"""Metrics of one process. Labels are names of ours; no id, content or credential is ever one."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

CALLS = Counter("remit_calls_total", "Calls answered.", ["method", "code"])
UNAUTHENTICATED = Counter("remit_unauthenticated_total", "Calls without a valid credential.", ["reason"])
DENIALS = Counter("remit_denials_total", "Denials recorded.", ["reason"])
INTEGRITY_VIOLATIONS = Counter("remit_integrity_violations_total", "Stored data refused on read.")
ERASURES = Counter("remit_erasures_total", "Erasure jobs closed.")
SUBSCRIPTION_STREAMS = Gauge("remit_subscription_streams", "Streams of subscriptions that are open.")
WATCHED_WORKSPACES = Gauge("remit_watched_workspaces", "Workspaces watched for subscribers.")
