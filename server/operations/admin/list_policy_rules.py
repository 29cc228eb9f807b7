"""ListPolicyRules (P-7.5-09, P-14-02)."""

from __future__ import annotations

from remit.v1 import admin_pb2
from server.call import Call
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.wire.policies import binding_message, permit_message, rule_message
from storage.policy_rules import list_policy


async def handle(call: Call, request: admin_pb2.ListPolicyRulesRequest) -> admin_pb2.ListPolicyRulesResponse:
    """Returns a page of rules by id, and on the first page the permits and bindings.

    With `subject`: only its rules, and the bindings of the actor or to the role. Raises InvalidRequest for a cursor of
    another listing.
    """
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    after = "" if place is None else str(place.last_key[0])
    size = call.page_size()
    page = await list_policy(
        call.services.database, call.tenant_id, call.scope_id, request.subject or None, after, size + 1
    )
    call.confirm(page.heads)
    rules = fitting(call, [rule_message(rule) for rule in page.rules], size)
    return admin_pb2.ListPolicyRulesResponse(
        rules=rules,
        cross_scope_rules=[permit_message(permit) for permit in page.permits],
        bindings=[binding_message(bound) for bound in page.bindings],
        policy_revision=0 if page.heads is None else page.heads.policy_revision,
        cursor=next_cursor(call, binding, [rules[-1].rule_id]) if len(rules) < len(page.rules) else "",
        operation_id=call.operation_id,
    )
