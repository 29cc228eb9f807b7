"""The acts, in their order."""

from __future__ import annotations

from server.demo.acts.audit import audit
from server.demo.acts.ending import lose_the_role, revoke_amid_work
from server.demo.acts.granting import grant_work
from server.demo.acts.learning import learn
from server.demo.acts.opening import load_input, open_workspace
from server.demo.acts.stranger import try_everything
from server.demo.acts.working import work

ACTS = (
    open_workspace,
    load_input,
    grant_work,
    work,
    revoke_amid_work,
    lose_the_role,
    learn,
    try_everything,
    audit,
)
