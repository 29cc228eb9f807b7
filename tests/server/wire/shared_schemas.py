"""The shared schemas of the draft, as validators that resolve each other and judge formats."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

from tests.spec_coverage import shared_folder

SCHEMAS = shared_folder() / "spec" / "schemas"
needs_shared = pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the shared schemas are not here")


def shared_validator(schema_name: str) -> Draft202012Validator:
    """The validator of one schema file."""
    read = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.schema.json")}
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in read.values()
    )
    return Draft202012Validator(read[schema_name], registry=registry, format_checker=FormatChecker())


def refusals(schema_name: str, record: Any) -> list[str]:
    """What the schema has against the record."""
    return [error.message for error in shared_validator(schema_name).iter_errors(record)]
