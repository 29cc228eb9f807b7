"""The arrows of ARCHITECTURE.md, held to the sources: who imports whom, who constructs, and how long a thing may be."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
PACKAGES = ("server", "authz", "storage", "migrations")
FILE_LINES_MAX = 350
FUNCTION_LINES_MAX = 70
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "base", "core", "shared", "tools", "lib"}

# What each package may import beside the standard library and the distributions of pyproject.toml.
OURS = {"server", "authz", "storage", "migrations", "remit", "tests"}
MAY_IMPORT = {
    "server": {"server", "authz", "storage", "remit"},
    "authz": {"authz"},
    "storage": {"storage"},
    "migrations": {"migrations", "storage"},
}
PROTOBUF = {"google", "grpc", "grpc_status", "grpc_health", "grpc_reflection"}


@dataclass(frozen=True)
class Source:
    """A file with its tree; `name` is its path in the checkout."""

    name: str
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The top-level folder."""
        return self.name.split("/", 1)[0]

    def imports(self) -> Iterator[str]:
        """Every imported module, wherever in the file; of `from a import b` both `a` and `a.b`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name}: imports are absolute"
                assert node.module is not None
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def names(self) -> set[str]:
        """Every name and attribute that its code mentions."""
        found = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        return found | {node.attr for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)}

    def calls(self) -> set[str]:
        """The names of what it calls: `a` of `a()`, `b` of `a.b()`."""
        called = [node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        return {func.id if isinstance(func, ast.Name) else getattr(func, "attr", "") for func in called}


def _read(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(path.relative_to(CHECKOUT).as_posix(), text, ast.parse(text))


@cache
def sources() -> tuple[Source, ...]:
    """Every source file of ours that is neither generated nor a test."""
    paths = [path for package in PACKAGES for path in sorted((CHECKOUT / package).rglob("*.py"))]
    return tuple(_read(path) for path in paths)


def below(folder: str) -> list[Source]:
    """The sources below a folder or of a file."""
    found = [source for source in sources() if source.name.startswith(folder)]
    assert found, folder
    return found


def tops(source: Source) -> set[str]:
    """The top-level names that a source imports."""
    return {name.split(".", 1)[0] for name in source.imports()}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_in_the_direction_of_the_arrows(package: str) -> None:
    wrong = {source.name: tops(source) & OURS - MAY_IMPORT[package] for source in below(f"{package}/")}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize("package", ["authz", "storage", "migrations"])
def test_only_the_server_knows_the_wire(package: str) -> None:
    assert [source.name for source in below(f"{package}/") if tops(source) & PROTOBUF] == []


def test_values_need_nothing_but_the_standard_library() -> None:
    for source in below("storage/model/"):
        foreign = {name for name in tops(source) if name not in sys.stdlib_module_names}
        assert foreign <= {"storage"}, source.name
        ours = {name for name in source.imports() if name.startswith("storage")}
        assert all(name.startswith("storage.model") for name in ours), source.name


def test_authority_decides_without_io() -> None:
    """No clock, no file, no socket, no database: facts are handed in."""
    forbidden = {"time", "datetime", "os", "pathlib", "socket", "urllib", "psycopg", "sqlalchemy", "random", "secrets"}
    for source in below("authz/"):
        # The model stands in a file beside the policy.
        allowed = {"pathlib"} if source.name == "authz/policy.py" else set()
        assert tops(source) & forbidden <= allowed, source.name
        assert not {"open", "write_text", "write_bytes", "urlopen"} & source.calls(), source.name


def test_no_layer_of_the_server_reaches_back_up() -> None:
    """Operations do not know interceptors, the wire's forms know neither, and nobody knows the composition root."""
    not_imported = {
        "server/operations/": ("server.interceptors", "server.app", "server.cli", "server.rpc"),
        "server/wire/": ("server.interceptors", "server.operations", "server.app", "server.cli", "storage.commit"),
        "server/interceptors/": ("server.operations", "server.app", "server.cli"),
        "server/workers/": ("server.interceptors", "server.operations", "server.app", "server.cli", "server.wire"),
    }
    for folder, forbidden in not_imported.items():
        for source in below(folder):
            assert [name for name in source.imports() if name.startswith(forbidden)] == [], source.name
    users = {source.name for source in sources() if "server.app" in set(source.imports())}
    assert users <= {source.name for source in below("server/cli/")}, users


@pytest.mark.parametrize("folder", ["server/operations/", "server/interceptors/", "server/wire/"])
def test_no_sql_outside_storage(folder: str) -> None:
    for source in below(folder):
        assert not tops(source) & {"psycopg", "psycopg_pool", "sqlalchemy"}, source.name


def test_the_offline_verifier_shares_nothing_with_what_it_verifies() -> None:
    found = below("server/cli/offline_")
    for source in found:
        foreign = {name for name in tops(source) if name not in sys.stdlib_module_names}
        assert foreign <= {"server"}, source.name
        ours = {name for name in source.imports() if name.startswith("server")}
        assert all(name.startswith(("server.cli.offline_", "server.cli")) for name in ours), source.name
        modules = {name for name in ours if name.count(".") >= 2}
        assert all(name.startswith("server.cli.offline_") for name in modules), source.name


def test_oracles_share_nothing_with_what_they_judge() -> None:
    oracles = [path for path in sorted((CHECKOUT / "tests").rglob("*oracle*.py")) if not path.name.startswith("test_")]
    assert oracles
    for path in oracles:
        source = _read(path)
        ours = {name for name in source.imports() if name.split(".", 1)[0] in OURS}
        assert all("oracle" in name for name in ours), source.name


READS_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}


def test_only_config_reads_the_environment() -> None:
    readers = {source.name for source in sources() if source.names() & READS_ENVIRONMENT}
    assert readers == {"server/config.py"}


CONSTRUCTED = {
    "Database",
    "Coalescer",
    "CoalescedReader",
    "KeyRing",
    "WorkspaceViews",
    "CursorCodec",
    "DatabaseClock",
    "TokenVerifier",
    "JwksCache",
    "ErasureWorker",
    "CapacityWorker",
    "Services",
    "HandlerRegistry",
    "DirectoryKeyStore",
    "PostgresKeyStore",
    "EmbeddedPostgres",
}
# The key store has a database of its own, which nobody else may reach.
OWN_DATABASE = {"storage/keystore/postgres.py": {"Database"}}


def test_only_the_composition_root_and_commands_construct() -> None:
    defined = {node.name for source in sources() for node in source.tree.body if isinstance(node, ast.ClassDef)}
    assert defined >= CONSTRUCTED, "a class of the list has another name now"
    made = {
        source.name: source.calls() & CONSTRUCTED - OWN_DATABASE.get(source.name, set())
        for source in sources()
        if not source.name.startswith(("server/app.py", "server/cli/", "server/demo/stage.py"))
    }
    made_elsewhere = {name: found for name, found in made.items() if found}
    assert made_elsewhere == {}


def test_importing_does_nothing() -> None:
    """No call at the top of a module opens, connects, starts or reads."""
    forbidden = {"open", "connect", "run", "start", "read_text", "read_bytes", "Popen", "urlopen", "get_event_loop"}
    for source in sources():
        if source.name in {"migrations/env.py", "server/__main__.py"}:
            continue  # run, not imported
        for node in source.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If):
                continue
            called = Source(source.name, "", ast.Module([node], [])).calls()
            assert not called & forbidden, f"{source.name}:{node.lineno}"


def test_files_are_short() -> None:
    lengths = {source.name: source.text.count("\n") for source in sources()}
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX} == {}


def test_functions_are_short() -> None:
    long = {
        f"{source.name}:{node.name}": node.end_lineno - node.lineno + 1
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    }
    assert {name: lines for name, lines in long.items() if lines > FUNCTION_LINES_MAX} == {}


def test_every_module_is_named_for_what_it_holds() -> None:
    for source in sources():
        parts = Path(source.name).with_suffix("").parts
        assert not VAGUE_NAMES & set(parts), source.name
        assert not any(part.endswith(("_v2", "_new", "_old", "2")) for part in parts), source.name


def test_every_module_says_what_it_is() -> None:
    bare = [source.name for source in sources() if source.text.strip() and not ast.get_docstring(source.tree)]
    assert bare == []


@pytest.mark.parametrize("name", ["server", "authz", "storage"])
def test_no_other_distribution_owns_a_name_of_ours(name: str) -> None:
    """The names are generic: another package of that name would be imported in our place, or we in its."""
    assert set(packages_distributions().get(name, [])) <= {"remit"}
    module = importlib.import_module(name)
    assert {Path(path) for path in module.__path__} == {CHECKOUT / name}


def test_one_operation_is_one_file_with_one_handler() -> None:
    for source in below("server/operations/"):
        if source.name.endswith("__init__.py"):
            assert source.text == "", source.name
            continue
        public = [
            node.name
            for node in source.tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
        ]
        assert public == ["handle"], source.name
