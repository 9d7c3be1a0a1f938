"""Google's Go client, if Go and the client are installed. `go/main.go` lists its checks.

Debian has both: `apt-get install golang-go golang-google-cloud-dev`. With TIDEMARK_GO=1, as in CI,
`Scripts/interop` installs them, and the test fails without them.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent / "go"
# The folder in which Debian installs the sources of Go's packages.
PACKAGES = pathlib.Path("/usr/share/gocode")
CHECKS = 16


@pytest.fixture(scope="module")
def results(server, tmp_path_factory):
    is_there = shutil.which("go") and (PACKAGES / "src/cloud.google.com/go/firestore").is_dir()
    if not is_there:
        assert os.environ.get("TIDEMARK_GO") != "1", "Go or Google's Go client is not installed"
        pytest.skip("Go or Google's Go client is not installed")
    program = tmp_path_factory.mktemp("go") / "checks"
    built = subprocess.run(
        ["go", "build", "-o", program, "."], cwd=HERE, capture_output=True, text=True,
        env=dict(os.environ, GO111MODULE="off", GOPATH=str(PACKAGES)))
    assert built.returncode == 0, built.stderr
    run = subprocess.run(
        [program], capture_output=True, text=True, timeout=60,
        env=dict(os.environ, FIRESTORE_EMULATOR_HOST=server.host))
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


# The first build compiles gRPC and the client.
@pytest.mark.bound(600)
def test_every_check_of_the_go_client(results):
    assert len(results) == CHECKS
    assert [f"{result['name']}: {result['problem']}" for result in results if result["problem"]] == []
