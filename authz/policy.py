"""Own authority: the rules of one workspace, meant by Casbin and compiled for the hot path (authority.md).

The model is model.conf. `Enforcer` answers what Casbin's own `enforce` answers, from indexes built once for a revision
(write-path.md, "Casbin, fast and still Casbin"); tests hold the two equal. An enforcer never changes.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

import casbin
from casbin.rbac.default_role_manager import RoleManager

from authz.errors import InvalidFacts
from authz.permissions import ALL_ACTIONS, ANY
from authz.reach import NO_TYPE, NOTHING, Pair, Reach, TypeReach, widest

ALLOW: Final = "allow"
DENY: Final = "deny"
ACTOR_PREFIX: Final = "actor:"
ROLE_PREFIX: Final = "role:"
CROSS_SCOPE_DELEGATION: Final = "delegation"
CROSS_SCOPE_RELATIONSHIP: Final = "relationship"

# Entries are bounded by what rules name, not by what callers ask (see Enforcer.check); this is the second bound.
_MEMO_ENTRIES_MAX: Final = 100_000
_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_MODEL_PATH: Final = Path(__file__).with_name("model.conf")


@dataclass(frozen=True, slots=True)
class Rule:
    """`subject` may (effect `allow`) or may not (`deny`) do `action`; action, type and id may each be `*`."""

    rule_id: str
    subject: str
    action: str
    object_type: str
    object_id: str
    effect: str


@dataclass(frozen=True, slots=True)
class Binding:
    """The actor has the role. Roles have no roles."""

    actor_id: str
    role_id: str


@dataclass(frozen=True, slots=True)
class CrossScopeRule:
    """The workspace `source_scope_id` of the same tenant may reach into this one in the way `kind` names."""

    rule_id: str
    source_scope_id: str
    kind: str


class Verdict(NamedTuple):
    """What the rules say. `rule_id` decided: the deny, else the allow; None when no rule matched."""

    allowed: bool
    rule_id: str | None
    explicit_deny: bool


_NO_RULE: Final = Verdict(False, None, False)


class CasbinEnforcer(Protocol):
    """The one call of Casbin's enforcer that is compared with ours."""

    def enforce(self, *request: str) -> bool:
        """Returns whether (actor, action, type, id) is allowed."""
        ...


def is_actor(subject: str) -> bool:
    """Returns whether the subject is an actor, so that an actor named like a role is never one."""
    return subject.startswith(ACTOR_PREFIX)


def casbin_enforcer(rules: Iterable[Rule], bindings: Iterable[Binding]) -> CasbinEnforcer:
    """Returns Casbin's own enforcer over the facts: the reference that `Enforcer` is held to.

    It has no adapter and no watcher, so nothing it does can reach a store.
    """
    model = casbin.Enforcer.new_model(str(_MODEL_PATH))
    model["p"]["p"].policy = [
        [rule.subject, rule.action, rule.object_type, rule.object_id, rule.effect] for rule in rules
    ]
    model["g"]["g"].policy = [[binding.actor_id, binding.role_id] for binding in bindings]
    enforcer = casbin.Enforcer(model)
    enforcer.enable_auto_save(False)
    enforcer.add_function("is_actor", is_actor)
    enforcer.build_role_links()
    reference: CasbinEnforcer = enforcer
    return reference


# object id or `*` -> object type or `*` -> the smallest rule id, so that the order of rules never shows.
_ById = dict[str, dict[str, str]]


class _Slots(NamedTuple):
    """The rules of one subject and one action."""

    allow: _ById
    deny: _ById


class Enforcer:
    """The rules of one workspace at one revision. Built with `build`; safe to share; never changes.

    `policy_revision` stamps every rule and binding, `restrict_revision` those that can take something away: a denial is
    guarded by the first, an allow by the second (authority.md, Own authority).
    """

    __slots__ = (
        "_cross_scope",
        "_index",
        "_named_ids",
        "_named_types",
        "_reach_memo",
        "_subjects",
        "_type_memo",
        "_verdict_memo",
        "members",
        "policy_revision",
        "restrict_revision",
        "scope_id",
        "tenant_id",
    )

    def __init__(
        self,
        tenant_id: str,
        scope_id: str,
        policy_revision: int,
        restrict_revision: int,
        index: dict[Pair, _Slots],
        subjects: dict[str, tuple[str, ...]],
        cross_scope: dict[Pair, str],
    ) -> None:
        self.tenant_id = tenant_id
        self.scope_id = scope_id
        self.policy_revision = policy_revision
        self.restrict_revision = restrict_revision
        self.members: frozenset[str] = frozenset(subjects)
        self._index = index
        self._subjects = subjects
        self._cross_scope = cross_scope
        by_ids = [by_id for slots in index.values() for by_id in slots]
        self._named_ids = frozenset(object_id for by_id in by_ids for object_id in by_id)
        self._named_types = frozenset(kind for by_id in by_ids for types in by_id.values() for kind in types)
        self._verdict_memo: dict[tuple[str, str, str, str], Verdict] = {}
        self._type_memo: dict[tuple[str, str, str], TypeReach] = {}
        self._reach_memo: dict[Pair, Reach] = {}

    @classmethod
    def build(
        cls,
        tenant_id: str,
        scope_id: str,
        policy_revision: int,
        restrict_revision: int,
        rules: Iterable[Rule],
        bindings: Iterable[Binding],
        cross_scope_rules: Iterable[CrossScopeRule],
    ) -> "Enforcer":
        """Returns the enforcer of one snapshot of a workspace's rules.

        Raises InvalidFacts when a rule or binding is not one: a workspace whose rules can't be read decides nothing.
        """
        rules, bindings = tuple(rules), tuple(bindings)
        _refuse_malformed(rules, bindings)
        cross_scope: dict[Pair, str] = {}
        for permit in cross_scope_rules:
            key = (permit.source_scope_id, permit.kind)
            cross_scope[key] = min(permit.rule_id, cross_scope.get(key, permit.rule_id))
        return cls(
            tenant_id,
            scope_id,
            policy_revision,
            restrict_revision,
            _index_of(rules),
            _subjects_of(rules, bindings),
            cross_scope,
        )

    def check(self, actor_id: str, action: str, object_type: str, object_id: str) -> Verdict:
        """Returns what the rules say of the actor doing the action on one object.

        `*` for the type or id asks "on everything" and is met by `*` rules only. A type or id that no rule names is met
        by `*` rules only as well, so it is asked as `*`: the memo grows with the rules, never with the callers' ids.
        """
        if object_type not in self._named_types:
            object_type = ANY
        if object_id not in self._named_ids:
            object_id = ANY
        key = (actor_id, action, object_type, object_id)
        verdict = self._verdict_memo.get(key)
        if verdict is None:
            if actor_id not in self._subjects:
                return _NO_RULE
            verdict = self._judge(actor_id, action, object_type, object_id)
            _remember(self._verdict_memo, key, verdict)
        return verdict

    def denies(self, actor_id: str, action: str, object_type: str, object_id: str) -> str | None:
        """Returns the rule that explicitly denies it, or None: what a delegate is judged by."""
        verdict = self.check(actor_id, action, object_type, object_id)
        return verdict.rule_id if verdict.explicit_deny else None

    def type_reach(self, actor_id: str, action: str, object_id: str) -> TypeReach:
        """Returns for which types the action is allowed on the id, to be decided before the object is loaded."""
        if object_id not in self._named_ids:
            object_id = ANY
        key = (actor_id, action, object_id)
        reach = self._type_memo.get(key)
        if reach is None:
            if actor_id not in self._subjects:
                return NO_TYPE
            slots = self._slots(actor_id, action)
            allow = _types_for(object_id, [slot.allow for slot in slots])
            deny = _types_for(object_id, [slot.deny for slot in slots])
            reach = TypeReach.of(
                None if ANY in allow else frozenset(allow),
                None if ANY in deny else frozenset(deny),
                allow.get(ANY),
                deny.get(ANY),
            )
            _remember(self._type_memo, key, reach)
        return reach

    def reach(self, actor_id: str, action: str) -> Reach:
        """Returns the (type, id) pairs the action is allowed and denied on, for a filter inside SQL."""
        if actor_id not in self._subjects:
            return NOTHING
        reach = self._reach_memo.get((actor_id, action))
        if reach is None:
            slots = self._slots(actor_id, action)
            reach = Reach(_pairs([slot.allow for slot in slots]), _pairs([slot.deny for slot in slots]))
            _remember(self._reach_memo, (actor_id, action), reach)
        return reach

    def actions_of(self, actor_id: str) -> frozenset[str]:
        """Returns the actions the actor may do on something here, for the manifest."""
        return frozenset(action for action in ALL_ACTIONS if not self.reach(actor_id, action).empty)

    def cross_scope_rule(self, source_scope_id: str, kind: str) -> str | None:
        """Returns the rule that permits the other workspace to reach into this one, or None."""
        return self._cross_scope.get((source_scope_id, kind))

    def permits_cross_scope(self, source_scope_id: str, kind: str = CROSS_SCOPE_DELEGATION) -> bool:
        """Returns whether the other workspace may reach into this one."""
        return (source_scope_id, kind) in self._cross_scope

    def _slots(self, actor_id: str, action: str) -> list[_Slots]:
        actions = (action,) if action == ANY else (action, ANY)
        find = self._index.get
        keys = [(subject, one) for subject in self._subjects[actor_id] for one in actions]
        return [slots for key in keys if (slots := find(key)) is not None]

    def _judge(self, actor_id: str, action: str, object_type: str, object_id: str) -> Verdict:
        slots = self._slots(actor_id, action)
        denied = _smallest_rule([slot.deny for slot in slots], object_type, object_id)
        if denied is not None:
            return Verdict(False, denied, True)
        allowed = _smallest_rule([slot.allow for slot in slots], object_type, object_id)
        return _NO_RULE if allowed is None else Verdict(True, allowed, False)


def _remember(memo: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if len(memo) >= _MEMO_ENTRIES_MAX:
        memo.clear()
    memo[key] = value


def _smallest_rule(by_ids: list[_ById], object_type: str, object_id: str) -> str | None:
    smallest = None
    for by_id in by_ids:
        for one in (object_id, ANY):
            types = by_id.get(one)
            if types is None:
                continue
            for kind in (object_type, ANY):
                rule_id = types.get(kind)
                if rule_id is not None and (smallest is None or rule_id < smallest):
                    smallest = rule_id
    return smallest


def _types_for(object_id: str, by_ids: list[_ById]) -> dict[str, str]:
    """Returns type or `*` -> smallest rule id, over the rules of the id and of every id."""
    types: dict[str, str] = {}
    for by_id in by_ids:
        for one in {object_id, ANY}:
            for kind, rule_id in by_id.get(one, {}).items():
                types[kind] = min(rule_id, types.get(kind, rule_id))
    return types


def _pairs(by_ids: list[_ById]) -> frozenset[Pair]:
    return widest((kind, object_id) for by_id in by_ids for object_id, types in by_id.items() for kind in types)


def _refuse_malformed(rules: tuple[Rule, ...], bindings: tuple[Binding, ...]) -> None:
    seen: set[str] = set()
    for rule in rules:
        if rule.rule_id in seen:
            raise InvalidFacts(rule.rule_id, "two rules of one id")
        seen.add(rule.rule_id)
        if not rule.subject.startswith((ACTOR_PREFIX, ROLE_PREFIX)):
            raise InvalidFacts(rule.rule_id, "the subject is neither an actor nor a role")
        if rule.effect not in (ALLOW, DENY):
            raise InvalidFacts(rule.rule_id, "the effect is neither allow nor deny")
        if not (rule.action and rule.object_type and rule.object_id):
            raise InvalidFacts(rule.rule_id, "action, object type and object id are each a name or *")
    for binding in bindings:
        if not is_actor(binding.actor_id):
            raise InvalidFacts(binding.actor_id, "only an actor has roles")
        if not binding.role_id.startswith(ROLE_PREFIX):
            raise InvalidFacts(binding.role_id, "only a role is bound")


def _index_of(rules: tuple[Rule, ...]) -> dict[Pair, _Slots]:
    index: dict[Pair, _Slots] = {}
    for rule in rules:
        slots = index.setdefault((rule.subject, rule.action), _Slots({}, {}))
        types = (slots.allow if rule.effect == ALLOW else slots.deny).setdefault(rule.object_id, {})
        types[rule.object_type] = min(rule.rule_id, types.get(rule.object_type, rule.rule_id))
    return index


def _subjects_of(rules: tuple[Rule, ...], bindings: tuple[Binding, ...]) -> dict[str, tuple[str, ...]]:
    """Returns actor -> itself and its roles, as Casbin's role manager has them."""
    roles = RoleManager()
    for binding in bindings:
        roles.add_link(binding.actor_id, binding.role_id)
    subjects: dict[str, tuple[str, ...]] = {rule.subject: (rule.subject,) for rule in rules if is_actor(rule.subject)}
    for actor_id in {binding.actor_id for binding in bindings}:
        subjects[actor_id] = (actor_id, *sorted(roles.get_roles(actor_id)))
    return subjects
