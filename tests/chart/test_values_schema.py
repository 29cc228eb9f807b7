"""The schema of the values knows every value and refuses what could not run."""

from pathlib import Path
from typing import Any, get_args

import helm_python
import jsonschema
import pytest
from pydantic import SecretStr

from server.config import Settings

ISSUER = {
    "issuer": "https://login.test",
    "audience": "remit",
    "algorithms": ["EdDSA"],
    "tenants": ["acme"],
    "jwks_url": "https://login.test/keys",
}


def issuers_with(change: dict[str, Any]) -> dict[str, Any]:
    return {"issuers": {"config": {"issuers": [ISSUER | change]}}}


def issuers_without(setting: str) -> dict[str, Any]:
    return {"issuers": {"config": {"issuers": [{key: value for key, value in ISSUER.items() if key != setting}]}}}


REFUSED: dict[str, dict[str, Any]] = {
    "unknown key": {"replicas": 3},
    "unknown nested key": {"database": {"url": "postgresql://user:password@db/remit"}},
    "unknown probe key": {"probes": {"liveness": {"httpGet": {}}}},
    "number as text": {"replicaCount": "2"},
    "negative replicas": {"replicaCount": -1},
    "privileged port": {"server": {"port": 443}},
    "no worker": {"server": {"workers": 0}},
    "host to bind": {"server": {"bindAddress": "127.0.0.1"}},
    "secret name missing": {"database": {"existingSecret": ""}},
    "dsn as secret name": {"database": {"existingSecret": "postgresql://user:password@db/remit"}},
    "short digest": {"image": {"digest": "sha256:abc"}},
    "tag with a colon": {"image": {"tag": "a:b"}},
    "pull policy": {"image": {"pullPolicy": "Sometimes"}},
    "root": {"securityContext": {"runAsUser": 0}},
    "privileged": {"securityContext": {"privileged": True}},
    "credential in extraEnv": {"server": {"extraEnv": {"REMIT_DATABASE_URL": "postgresql://u:p@db/remit"}}},
    "placed setting in extraEnv": {"server": {"extraEnv": {"REMIT_ALLOW_INSECURE_LISTEN": "true"}}},
    "foreign extraEnv": {"server": {"extraEnv": {"LD_PRELOAD": "x.so"}}},
    "number in extraEnv": {"server": {"extraEnv": {"REMIT_QUEUE_MAX": 3}}},
    "service type": {"service": {"type": "ExternalName"}},
    "key set with an odd name": {"issuers": {"jwksFiles": {"../keys": "{}"}}},
    "issuer without an audience": issuers_without("audience"),
    "issuer without tenants": issuers_without("tenants"),
    "issuer without keys": issuers_without("jwks_url"),
    "issuer with two places of keys": issuers_with({"jwks_file": "login.jwks.json"}),
    "issuer with keys in plaintext": issuers_with({"jwks_url": "http://login.test/keys"}),
    "issuer that signs with a shared secret": issuers_with({"algorithms": ["HS256"]}),
    "issuer with an unknown key": issuers_with({"client_secret": "x"}),
    "issuers as text": {"issuers": {"config": "{}"}},
    "attempt zero": {"migrations": {"attempt": 0}},
    "negative ttl": {"migrations": {"ttlSecondsAfterFinished": -1}},
    "quantity": {"resources": {"limits": {"memory": "lots"}}},
    "resource key": {"resources": {"limit": {"memory": "1Gi"}}},
    "whole disruption": {"podDisruptionBudget": {"maxUnavailable": "100%"}},
    "scheduling": {"topologySpread": {"whenUnsatisfiable": "Maybe"}},
    "the chart's own label": {"podLabels": {"app.kubernetes.io/name": "other"}},
}

#: Refused by the templates, with a sentence: the schema could only say that something does not match.
CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "does not listen in plaintext unless tls.allowInsecureListen": {"tls": {"enabled": False}},
    "no meaning with tls.enabled": {"tls": {"allowInsecureListen": True}},
    "service.headless needs": {"service": {"headless": True, "type": "LoadBalancer"}},
    "must differ": {"server": {"healthPort": 50051}},
    "terminationGracePeriodSeconds must exceed": {"terminationGracePeriodSeconds": 35},
    "probes.startup must allow for": {"server": {"startupWaitSeconds": 361}},
}


@pytest.mark.parametrize("values", REFUSED.values(), ids=REFUSED.keys())
def test_refuses(chart: helm_python.Chart, values: dict[str, Any]) -> None:
    with pytest.raises(helm_python.HelmValuesError):
        chart.validate_schema(chart.merge_values(values))
    with pytest.raises(helm_python.HelmValuesError):
        chart.render(values, name="demo")


@pytest.mark.parametrize(("message", "values"), CONTRADICTIONS.items(), ids=CONTRADICTIONS.keys())
def test_contradictions_are_named(chart: helm_python.Chart, message: str, values: dict[str, Any]) -> None:
    with pytest.raises(helm_python.HelmRenderError, match=message):
        chart.render(values, name="demo")


def test_accepts(chart: helm_python.Chart, values: dict[str, Any]) -> None:
    chart.validate_schema(chart.merge_values(values))


def test_no_credential_fits_into_the_further_settings(chart: helm_python.Chart) -> None:
    """Each setting that holds a secret is among the names that `server.extraEnv` refuses."""
    schema = chart.schema
    assert schema is not None
    refused = set(schema["properties"]["server"]["properties"]["extraEnv"]["propertyNames"]["not"]["enum"])
    secret = {name for name, field in Settings.model_fields.items() if SecretStr in get_args(field.annotation)}
    assert secret
    assert {f"REMIT_{name.upper()}" for name in secret} <= refused
    assert refused <= {f"REMIT_{name.upper()}" for name in Settings.model_fields}


def test_lint_reports_a_refusal(chart_path: Path) -> None:
    report = helm_python.lint(chart_path, {"replicas": 3}, strict=True)
    assert any("replicas" in error for error in report["errors"])


def test_the_chart_may_be_a_dependency(chart: helm_python.Chart) -> None:
    """Helm adds `global` to the values of a dependency."""
    chart.validate_schema(chart.merge_values({"global": {"region": "north"}}))


def test_every_object_of_the_schema_is_closed_and_every_value_is_in_it(chart: helm_python.Chart) -> None:
    schema = chart.schema
    assert schema is not None
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    # Kinds of Kubernetes itself: validated where they are used.
    open_objects = {"global", "affinity"}

    def walk(name: str, node: dict[str, Any]) -> list[str]:
        found = [name] if node.get("type") == "object" and node.get("additionalProperties", True) is True else []
        for key, child in (node.get("properties", {}) | node.get("definitions", {})).items():
            found += walk(key, child)
        return found

    assert set(walk("", schema)) == open_objects
    assert schema["properties"].keys() - {"global"} == chart.values.keys()
