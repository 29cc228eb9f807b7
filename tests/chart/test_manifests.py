"""The chart lints, renders, and gives what Kubernetes accepts, for every combination of values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import pytest
import yaml

from server.config import Settings
from server.issuers import read_issuers

Manifest = dict[str, Any]
Render = Callable[..., list[Manifest]]
One = Callable[[list[Manifest], str], Manifest]

#: The first release the chart names, one between, and the newest whose schemas are installed.
KUBERNETES_VERSIONS = ("1.30", "1.34", kubernetes_validate.latest_version())
LINT_INFO = 1
ISSUER = {
    "issuer": "https://login.test",
    "audience": "remit",
    "algorithms": ["EdDSA"],
    "tenants": ["acme"],
    "jwks_file": "login.jwks.json",
}


@pytest.mark.parametrize("kubernetes_version", ["v1.30.0", "v1.34.0"])
def test_lints_without_a_warning(chart_path: Path, values: dict[str, Any], kubernetes_version: str) -> None:
    report = helm_python.lint(chart_path, values, strict=True, namespace="prod", kube_version=kubernetes_version)
    assert report["errors"] == []
    assert [m for m in report["messages"] if m["severity"] > LINT_INFO] == []


@pytest.mark.parametrize("kubernetes_version", KUBERNETES_VERSIONS)
def test_fits_the_schemas_of_kubernetes(manifests: list[Manifest], kubernetes_version: str) -> None:
    for manifest in manifests:
        kubernetes_validate.validate(manifest, kubernetes_version, strict=True)


def test_the_schemas_of_kubernetes_refuse_a_misspelt_key(render: Render, one: One) -> None:
    deployment = one(render(), "Deployment")
    deployment["spec"]["template"]["spec"]["terminationGracePeriodsSeconds"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, KUBERNETES_VERSIONS[0], strict=True)


def test_names_are_unique_and_short_enough(manifests: list[Manifest]) -> None:
    names = [(m["kind"], m["metadata"]["name"]) for m in manifests]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 63 for _, name in names)


def test_a_long_release_name_stays_valid(render: Render) -> None:
    for manifest in render(release="r" * 53):
        assert len(manifest["metadata"]["name"]) <= 63
        assert not manifest["metadata"]["name"].endswith("-")


def test_every_value_is_commented(chart_path: Path) -> None:
    lines = (chart_path / "values.yaml").read_text(encoding="utf-8").splitlines()
    keys = [
        (number, line) for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(("#", "-"))
    ]
    bare = [
        line.strip()
        for number, line in keys
        if not lines[number - 1].lstrip().startswith("#") and not line.rstrip().endswith(":")
    ]
    # What stands below a commented key with a structure of its own is covered by that comment.
    assert set(bare) <= {"cpu: 100m", 'cpu: "1"', "memory: 128Mi", "memory: 512Mi", "memory: 1Gi", "issuers: []"}


def test_the_service_speaks_grpc_and_reaches_only_the_server(render: Render, one: One) -> None:
    manifests = render()
    service, deployment, job = (one(manifests, kind) for kind in ("Service", "Deployment", "Job"))
    [port] = service["spec"]["ports"]
    assert port["appProtocol"] == "grpc"
    ports = {p["name"]: p["containerPort"] for p in deployment["spec"]["template"]["spec"]["containers"][0]["ports"]}
    assert port["targetPort"] in ports
    assert "grpc-health" not in {p["targetPort"] for p in service["spec"]["ports"]}
    selector = service["spec"]["selector"].items()
    assert selector <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert not selector <= job["spec"]["template"]["metadata"]["labels"].items()


def test_selectors_do_not_change_with_the_version(render: Render, one: One) -> None:
    old, new = (one(render({"image": {"tag": tag}}), "Deployment") for tag in ("1.0.0", "2.0.0"))
    assert old["spec"]["selector"] == new["spec"]["selector"]


def test_probes_ask_the_plaintext_health_listener_with_and_without_tls(one: One, manifests: list[Manifest]) -> None:
    container = one(manifests, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    args = container["args"]
    health_port = int(args[args.index("--health-listen") + 1].rpartition(":")[2])
    assert health_port != int(args[args.index("--listen") + 1].rpartition(":")[2])
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["grpc"] == {"port": health_port, "service": ""}


def test_every_variable_is_a_setting(manifests: list[Manifest]) -> None:
    settings = {f"REMIT_{name.upper()}" for name in Settings.model_fields}
    for manifest in manifests:
        if manifest["kind"] in {"Deployment", "Job"}:
            names = [e["name"] for c in manifest["spec"]["template"]["spec"]["containers"] for e in c["env"]]
            assert set(names) <= settings
            assert len(set(names)) == len(names)


def test_the_pod_leaves_the_endpoints_before_it_drains(render: Render, one: One) -> None:
    pod = one(render(), "Deployment")["spec"]["template"]["spec"]
    sleep_seconds = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    env = {e["name"]: e.get("value") for e in pod["containers"][0]["env"]}
    assert sleep_seconds > 0
    assert sleep_seconds + int(env["REMIT_DRAIN_SECONDS"]) < pod["terminationGracePeriodSeconds"]


def test_a_changed_issuer_rolls_the_pods(render: Render, one: One) -> None:
    templates = [
        one(render({"issuers": {"config": {"issuers": issuers}}}), "Deployment")["spec"]["template"]
        for issuers in ([], [ISSUER])
    ]
    assert templates[0] != templates[1]


def test_the_server_reads_the_issuers_as_they_were_given(render: Render, one: One, tmp_path: Path) -> None:
    awkward = ISSUER | {"issuer": 'https://login.test/"{{ braces }}"\n'}
    values = {"issuers": {"config": {"issuers": [awkward]}, "jwksFiles": {"login.jwks.json": '{"keys": []}'}}}
    for name, content in one(render(values), "ConfigMap")["data"].items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    [source] = read_issuers(tmp_path / "issuers.json")
    assert source.config.issuer == awkward["issuer"]
    assert source.config.tenants == {"acme"}
    assert source.jwks_file is not None
    assert source.jwks_file.read_text(encoding="utf-8") == '{"keys": []}'


def test_an_existing_configuration_of_issuers_replaces_the_charts(render: Render, one: One) -> None:
    manifests = render({"issuers": {"existingConfigMap": "corporate-issuers", "key": "config.json"}})
    assert [m for m in manifests if m["kind"] == "ConfigMap"] == []
    pod = one(manifests, "Deployment")["spec"]["template"]["spec"]
    [volume] = [v for v in pod["volumes"] if v["name"] == "issuers"]
    assert volume["configMap"]["name"] == "corporate-issuers"
    assert {"name": "REMIT_ISSUERS_FILE", "value": "/etc/remit/issuers/config.json"} in pod["containers"][0]["env"]


def test_the_image_is_pinned_by_digest(render: Render) -> None:
    digest = f"sha256:{'cd' * 32}"
    manifests = render({"image": {"repository": "images.test/remit", "tag": "ignored", "digest": digest}})
    images = {
        container["image"]
        for manifest in manifests
        if manifest["kind"] in {"Deployment", "Job"}
        for container in manifest["spec"]["template"]["spec"]["containers"]
    }
    assert images == {f"images.test/remit@{digest}"}


def test_network_policies_open_the_service_port_alone(render: Render) -> None:
    policies = {
        m["metadata"]["name"]: m["spec"]
        for m in render({"networkPolicy": {"enabled": True}})
        if m["kind"] == "NetworkPolicy"
    }
    assert policies["demo-remit"]["ingress"] == [
        {"from": [{"podSelector": {}}], "ports": [{"port": "grpc", "protocol": "TCP"}]}
    ]
    assert policies["demo-remit-migrate"]["ingress"] == []


def test_metrics_are_read_by_those_named_alone(render: Render, one: One) -> None:
    monitoring = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    manifests = render(
        {
            "metrics": {"enabled": True},
            "networkPolicy": {"enabled": True, "ingressFrom": [], "metricsFrom": monitoring},
            "migrations": {"enabled": False},
        }
    )
    assert one(manifests, "NetworkPolicy")["spec"]["ingress"] == [
        {"from": monitoring, "ports": [{"port": "metrics", "protocol": "TCP"}]}
    ]
    assert "metrics" not in {p["targetPort"] for p in one(manifests, "Service")["spec"]["ports"]}


def test_no_peer_means_nobody(render: Render) -> None:
    manifests = render({"networkPolicy": {"enabled": True, "ingressFrom": []}})
    assert {str(m["spec"]["ingress"]) for m in manifests if m["kind"] == "NetworkPolicy"} == {"[]"}


def test_the_packaged_chart_renders_alike(chart: helm_python.Chart, tmp_path: Path) -> None:
    with helm_python.Chart.load(chart.save(tmp_path)) as packaged:
        assert packaged.render({}, name="demo") == chart.render({}, name="demo")


def test_notes_name_every_secret(chart: helm_python.Chart, render: Render) -> None:
    notes = chart.render({}, name="demo", namespace="prod")["remit/templates/NOTES.txt"]
    named = set()
    for manifest in render():
        if manifest["kind"] in {"Deployment", "Job"}:
            pod = manifest["spec"]["template"]["spec"]
            named |= {
                e["valueFrom"]["secretKeyRef"]["name"] for c in pod["containers"] for e in c["env"] if "valueFrom" in e
            }
            named |= {v["secret"]["secretName"] for v in pod["volumes"] if "secret" in v}
    assert len(named) == 6
    assert all(name in notes for name in named)


def test_chart_and_project_agree_on_the_version(chart_path: Path) -> None:
    project = (chart_path.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{yaml.safe_load((chart_path / "Chart.yaml").read_text())["appVersion"]}"' in project
