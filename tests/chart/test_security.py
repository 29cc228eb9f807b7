"""What runs is confined, what migrates has authority of its own, and no secret passes through the chart."""

from collections.abc import Callable
from typing import Any

import pytest

Manifest = dict[str, Any]
Render = Callable[..., list[Manifest]]
One = Callable[[list[Manifest], str], Manifest]


def pods(manifests: list[Manifest]) -> list[dict[str, Any]]:
    return [m["spec"]["template"]["spec"] for m in manifests if m["kind"] in {"Deployment", "Job"}]


def secrets_of(pod: dict[str, Any]) -> set[str]:
    by_env = {e["valueFrom"]["secretKeyRef"]["name"] for c in pod["containers"] for e in c["env"] if "valueFrom" in e}
    return by_env | {v["secret"]["secretName"] for v in pod["volumes"] if "secret" in v}


def test_pods_keep_the_restricted_standard(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"].get("runAsUser") != 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert {kind for v in pod["volumes"] for kind in v.keys() - {"name"}} <= {"configMap", "emptyDir", "secret"}
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["readOnlyRootFilesystem"] is True
            assert context["runAsNonRoot"] is True
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert context["seccompProfile"] == {"type": "RuntimeDefault"}
            assert "privileged" not in context
            assert not any("hostPort" in port for port in container.get("ports", []))


def test_only_the_temporary_folder_is_writable(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        for container in pod["containers"]:
            writable = [m["mountPath"] for m in container["volumeMounts"] if not m.get("readOnly")]
            assert writable == ["/tmp"]


def test_no_pod_gets_a_token_or_service_variables(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
    for account in (m for m in manifests if m["kind"] == "ServiceAccount"):
        assert account["automountServiceAccountToken"] is False


def test_the_migration_is_no_hook(manifests: list[Manifest]) -> None:
    annotations = [key for m in manifests for key in m["metadata"].get("annotations", {})]
    assert not [key for key in annotations if key.startswith("helm.sh/hook")]


def test_the_migration_has_authority_of_its_own(render: Render, one: One) -> None:
    manifests = render()
    server, job = (one(manifests, kind)["spec"]["template"]["spec"] for kind in ("Deployment", "Job"))
    assert server["serviceAccountName"] != job["serviceAccountName"]
    assert secrets_of(server).isdisjoint(secrets_of(job))
    assert secrets_of(job) == {"remit-database-ddl", "remit-keystore-ddl"}
    assert not {"REMIT_MIGRATE_DATABASE_URL", "REMIT_MIGRATE_KEYSTORE_URL"} & {
        e["name"] for e in server["containers"][0]["env"]
    }


@pytest.mark.parametrize("store", ["database", "keystore"])
def test_the_server_may_not_be_given_the_ddl_role(render: Render, store: str) -> None:
    with pytest.raises(Exception, match="must not hold the DDL role"):
        render({store: {"existingSecret": f"remit-{store}-ddl"}})


@pytest.mark.parametrize(
    "change",
    [
        {"image": {"tag": "0.2.0"}},
        {"image": {"digest": f"sha256:{'ef' * 32}"}},
        {"migrations": {"attempt": 2}},
        {"migrations": {"extraArgs": ["--verbose"]}},
        {"migrations": {"database": {"existingSecret": "other-ddl"}}},
        {"migrations": {"resources": {"limits": {"memory": "1Gi"}}}},
    ],
    ids=str,
)
def test_a_changed_migration_is_a_new_job(render: Render, one: One, change: dict[str, Any]) -> None:
    """A Job's pod template is immutable: an upgrade that kept the name would be refused by the cluster."""
    before, after = one(render(), "Job"), one(render(change), "Job")
    assert before["spec"]["template"] != after["spec"]["template"]
    assert before["metadata"]["name"] != after["metadata"]["name"]


def test_an_unchanged_migration_stays_the_same_job(render: Render, one: One) -> None:
    before, after = one(render(), "Job"), one(render({"replicaCount": 7, "podAnnotations": {"rotated": "x"}}), "Job")
    assert before == after


def test_the_chart_makes_no_secret(manifests: list[Manifest]) -> None:
    assert "Secret" not in {m["kind"] for m in manifests}
    for pod in pods(manifests):
        for container in pod["containers"]:
            for variable in container["env"]:
                if variable["name"].endswith("_URL"):
                    assert variable.keys() == {"name", "valueFrom"}
            assert not [argument for argument in container["args"] if "://" in argument]


def test_secret_files_are_closed_to_others(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        for volume in pod["volumes"]:
            if "secret" in volume:
                assert volume["secret"]["defaultMode"] == 0o440
                assert volume["secret"].get("optional") is not True


def test_tls_is_the_default(render: Render, one: One) -> None:
    env = {
        e["name"]: e.get("value")
        for e in one(render(), "Deployment")["spec"]["template"]["spec"]["containers"][0]["env"]
    }
    assert {"REMIT_TLS_CERT_FILE", "REMIT_TLS_KEY_FILE"} <= env.keys()
    assert "REMIT_ALLOW_INSECURE_LISTEN" not in env


def test_plaintext_has_to_be_said_twice(render: Render, one: One) -> None:
    with pytest.raises(Exception, match=r"tls\.allowInsecureListen"):
        render({"tls": {"enabled": False}})
    manifests = render({"tls": {"enabled": False, "allowInsecureListen": True}})
    pod = one(manifests, "Deployment")["spec"]["template"]["spec"]
    assert {"name": "REMIT_ALLOW_INSECURE_LISTEN", "value": "true"} in pod["containers"][0]["env"]
    assert "tls" not in {v["name"] for v in pod["volumes"]}
