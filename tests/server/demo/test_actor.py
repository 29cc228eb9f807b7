"""An actor's process knows the contract and nothing else."""

import subprocess
import sys


def test_an_actor_shares_no_code_with_the_server() -> None:
    code = (
        "import sys, server.demo.actor; "
        "print(*sorted(n for n in sys.modules if n.split('.')[0] in ('server', 'storage', 'authz')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["server", "server.demo", "server.demo.actor"]
