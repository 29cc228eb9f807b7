"""The image and the chart agree: the chart's restrictions are possible only if the image was made for them."""

import re
import tomllib
from pathlib import Path

import helm_python
import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (CHECKOUT / "Dockerfile").read_text(encoding="utf-8")


def test_the_user_is_the_charts(dockerfile: str, chart: helm_python.Chart) -> None:
    [user] = re.findall(r"^USER (\d+):(\d+)$", dockerfile, re.MULTILINE)
    context = chart.values["securityContext"]
    assert (int(user[0]), int(user[1])) == (context["runAsUser"], context["runAsGroup"])


def test_the_ports_are_the_charts(dockerfile: str, chart: helm_python.Chart) -> None:
    [ports] = re.findall(r"^EXPOSE (.*)$", dockerfile, re.MULTILINE)
    server = chart.values["server"]
    assert ports.split() == [str(server["port"]), str(server["healthPort"])]


def test_every_package_is_copied_and_let_through(dockerfile: str) -> None:
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    folders = {package.split("/")[0] for package in build["targets"]["wheel"]["packages"]}
    assert set(re.findall(r"^COPY (\w+) \1$", dockerfile, re.MULTILINE)) == folders
    let_through = re.findall(r"^!(\S+)$", (CHECKOUT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    assert folders | {"pyproject.toml", "README.md", "requirements.lock"} == set(let_through)
