"""What a request touches, as its method declares it: the dotted paths of `(remit.v1.access)` into the message."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

from authz.permissions import INSPECT_HISTORY, QUERY, SUBSCRIBE, UNSUBSCRIBE
from authz.request import Touched
from server.access import MethodAccess

_ROW_FILTERED: Final = frozenset({QUERY, INSPECT_HISTORY, SUBSCRIBE, UNSUBSCRIBE})


def touched_of(access: MethodAccess, request: Any) -> tuple[Touched, ...]:
    """Returns the objects a request names, with a type where the caller chooses it: of an object that it makes.

    An id and the type of what is made stand in fields named alike (`object_id` and `object_type`, `target_object_id` and
    `target_object_type`). Any other type a request names is no object's.
    """
    if is_row_filtered(access, request):
        return ()
    touched = []
    for path in access.object_id_fields:
        object_id = _value_at(request, path) or None
        type_path = path.replace("object_id", "object_type")
        if type_path in access.object_type_fields and access.pamspec_operation not in _ROW_FILTERED:
            touched.append(Touched(object_id, _value_at(request, type_path) or None, new=True))
        elif object_id is not None:
            touched.append(Touched(object_id))
    if touched or not access.object_id_fields:
        return tuple(touched)
    return (Touched(None),)


def is_row_filtered(access: MethodAccess, request: Any) -> bool:
    """Returns whether the rows of the answer are filtered by the authority instead of one object being decided."""
    if access.pamspec_operation not in _ROW_FILTERED:
        return False
    return not any(_value_at(request, path) for path in access.object_id_fields)


def first_value(request: Any, paths: tuple[str, ...]) -> str | None:
    """Returns the first text that stands at one of the dotted paths, None when none does."""
    return next((value for path in paths if (value := _value_at(request, path))), None)


def _value_at(request: Any, path: str) -> str:
    """Returns the text at a dotted path; empty where a message on the way is absent."""
    return str(reduce(getattr, path.split("."), request))
