"""A subscriber of its own process: prints the sequence of each event as it comes, acknowledges, and can be killed.

`python -m tests.faults.subscriber_process ADDRESS TOKEN SCOPE SUBSCRIPTION`
"""

from __future__ import annotations

import sys

import grpc

from remit.v1 import ledger_pb2, ledger_pb2_grpc


def main() -> None:
    """Streams until it is killed or the stream ends."""
    address, token, scope_id, subscription_id = sys.argv[1:]
    metadata = (("authorization", f"Bearer {token}"),)
    stub = ledger_pb2_grpc.LedgerServiceStub(grpc.insecure_channel(address))
    request = ledger_pb2.StreamSubscriptionRequest(scope_id=scope_id, subscription_id=subscription_id)
    for response in stub.StreamSubscription(request, metadata=metadata):
        if response.HasField("keepalive"):
            print("begun", flush=True)
        for event in response.batch.events:
            print(event.sequence, flush=True)
            acknowledgement = ledger_pb2.AcknowledgeSubscriptionRequest(
                scope_id=scope_id, subscription_id=subscription_id, sequence=event.sequence
            )
            stub.AcknowledgeSubscription(acknowledgement, metadata=metadata)


if __name__ == "__main__":
    main()
