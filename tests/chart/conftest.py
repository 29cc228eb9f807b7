"""Renders the chart with the Helm SDK: offline, no cluster, no `helm` binary."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import helm_python
import pytest
import yaml

Manifest = dict[str, Any]
Values = dict[str, Any]

DIGEST = f"sha256:{'ab' * 32}"

#: Combinations of values an installation may have; each must lint, render and be valid. The names are test ids.
VALUE_SETS: dict[str, Values] = {
    "defaults": {},
    "plaintext": {"tls": {"enabled": False, "allowInsecureListen": True}},
    "existing_secrets": {
        "database": {"existingSecret": "pg-app", "urlKey": "dsn"},
        "keystore": {
            "existingSecret": "keys-app",
            "urlKey": "dsn",
            "kek": {"existingSecret": "kek-2026", "key": "raw"},
        },
        "tls": {"existingSecret": "wildcard", "certKey": "chain.pem", "privateKeyKey": "key.pem"},
        "migrations": {
            "database": {"existingSecret": "pg-ddl", "urlKey": "dsn"},
            "keystore": {"existingSecret": "keys-ddl", "urlKey": "dsn"},
        },
    },
    "existing_issuers": {"issuers": {"existingConfigMap": "corporate-issuers", "key": "config.json"}},
    "own_issuers": {
        "issuers": {
            "config": {
                "issuers": [
                    {
                        "issuer": 'https://login.test/"{{ braces }}"',
                        "audience": "remit",
                        "algorithms": ["EdDSA", "ES256"],
                        "tenants": ["acme", "umbrella"],
                        "actor_prefix": "actor:login:",
                        "jwks_file": "login.jwks.json",
                    },
                    {
                        "issuer": "https://other.test",
                        "audience": "remit",
                        "algorithms": ["RS256"],
                        "tenants": ["acme"],
                        "jwks_url": "https://other.test/keys",
                    },
                ]
            },
            "jwksFiles": {"login.jwks.json": '{"keys": []}'},
        }
    },
    "network_policy": {"networkPolicy": {"enabled": True}},
    "metrics": {"metrics": {"enabled": True}, "networkPolicy": {"enabled": True, "metricsFrom": [{"podSelector": {}}]}},
    "network_policy_closed": {
        "networkPolicy": {
            "enabled": True,
            "ingressFrom": [],
            "egress": {
                "enabled": True,
                "serverRules": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/24"}}], "ports": [{"port": 5432}]}],
                "migrationRules": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/24"}}], "ports": [{"port": 5432}]}],
            },
        }
    },
    "digest": {"image": {"repository": "images.test/remit", "digest": DIGEST, "pullSecrets": ["pull"]}},
    "no_migrations": {"migrations": {"enabled": False}},
    "bounded_migrations": {
        "migrations": {
            "ttlSecondsAfterFinished": 600,
            "activeDeadlineSeconds": 3600,
            "attempt": 2,
            "extraArgs": ["--verbose"],
        }
    },
    "accounts_from_outside": {
        "serviceAccount": {"create": False, "name": "remit-runs"},
        "migrationServiceAccount": {"create": False},
    },
    "platform_chooses_ids": {"securityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
    "headless": {"service": {"headless": True, "port": 443, "annotations": {"team": "memory"}}},
    "database_ca": {"databaseCa": {"existingConfigMap": "pg-ca"}},
    "everything_placed": {
        "replicaCount": 5,
        "server": {"bindAddress": "[::]", "workers": 4, "extraEnv": {"REMIT_DATABASE_PREPARED_STATEMENTS": "false"}},
        "preStopSleepSeconds": 0,
        "topologySpread": {"whenUnsatisfiable": "DoNotSchedule", "topologyKeys": ["kubernetes.io/hostname"]},
        "podDisruptionBudget": {"maxUnavailable": "20%"},
        "podAnnotations": {"rotated": "2026-11-30"},
        "podLabels": {"team": "memory"},
        "priorityClassName": "high",
        "nodeSelector": {"kubernetes.io/arch": "amd64"},
        "tolerations": [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {"nodeAffinity": {}},
        "fullnameOverride": "memory",
    },
    "nothing_optional": {
        "podDisruptionBudget": {"enabled": False},
        "topologySpread": {"enabled": False},
        "resources": {"requests": None, "limits": None},
    },
}


@pytest.fixture(scope="session")
def chart_path() -> Path:
    return Path(__file__).parents[2] / "helm" / "remit"


@pytest.fixture(scope="session")
def chart(chart_path: Path) -> Iterator[helm_python.Chart]:
    with helm_python.Chart.load(chart_path) as loaded:
        yield loaded


@pytest.fixture(scope="session")
def render(chart: helm_python.Chart) -> Callable[..., list[Manifest]]:
    """Gives the manifests of a release as the cluster would get them."""

    def rendered(values: Values | None = None, release: str = "demo") -> list[Manifest]:
        files = chart.render(values or {}, name=release, namespace="prod")
        return [
            manifest
            for path, text in sorted(files.items())
            if path.endswith(".yaml")
            for manifest in yaml.safe_load_all(text)
            if manifest is not None
        ]

    return rendered


@pytest.fixture(params=VALUE_SETS.values(), ids=VALUE_SETS.keys())
def values(request: pytest.FixtureRequest) -> Values:
    """Each combination in turn."""
    combination: Values = request.param
    return combination


@pytest.fixture
def manifests(render: Callable[..., list[Manifest]], values: Values) -> list[Manifest]:
    """The manifests of each combination in turn."""
    return render(values)


@pytest.fixture(scope="session")
def one() -> Callable[[list[Manifest], str], Manifest]:
    """Picks the only manifest of a kind."""

    def picked(manifests: list[Manifest], kind: str) -> Manifest:
        [manifest] = [m for m in manifests if m["kind"] == kind]
        return manifest

    return picked
