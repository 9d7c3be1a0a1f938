"""The container's steps where there is no Docker: each path, package, flag and command of them."""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess

import pytest
import requests
import yaml

from conftest import BINARY, ROOT

INSTALLED = "/usr/local/bin/tidemark"


def steps():
    """The instructions, in their order, as names and texts."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    return [line.split(None, 1) for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def step(name):
    found = [text for instruction, text in steps() if instruction == name]
    assert len(found) == 1, f"{name}: {found}"
    return found[0]


def command(name):
    return json.loads(step(name))


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [plain.getsockname()[1] for plain in sockets]
    for plain in sockets:
        plain.close()
    return ports


def test_what_is_copied_is_there():
    ignored = (ROOT / ".dockerignore").read_text().split()
    for name, text in steps():
        if name != "COPY" or text.startswith("--from"):
            continue
        *sources, target = text.split()
        assert target.startswith("./")
        for source in sources:
            assert (ROOT / source).exists(), source
            assert source not in ignored
    # Each folder in which the package looks for its targets, and what a build of the program needs.
    copied = " ".join(text for name, text in steps() if name == "COPY")
    manifest = (ROOT / "Package.swift").read_text()
    for folder in {path.split("/")[0] for path in re.findall(r'path: "([^"]+)"', manifest)}:
        assert f"COPY {folder} " in "\n".join(" ".join(pair) for pair in steps()), copied
    outside = re.findall(r'\.(?:copy|process|embedInCode)\("\.\./([^"]+)"\)', manifest)
    assert outside == []


def test_what_is_installed_is_what_a_build_needs():
    run = next(text for name, text in steps() if name == "RUN" and "apt-get" in text)
    needed = re.search(r'^debian="([^"]+)"', (ROOT / "Scripts/setup").read_text(), re.MULTILINE)
    assert set(needed[1].split()) <= set(run.split())


def test_the_build_takes_its_flags():
    run = shlex.split(next(text for name, text in steps() if name == "RUN" and "swift build" in text))
    assert run[:2] == ["swift", "build"] and "--product" in run
    swift = shutil.which("swift") or pytest.skip("there is no swift here")
    usage = subprocess.run(
        [swift, "build", "--help"], capture_output=True, text=True, timeout=60).stdout
    for flag in (word for word in run if word.startswith("--")):
        assert re.search(rf"{flag}\b", usage), flag
    assert f'name: "tidemark"' in (ROOT / "Package.swift").read_text()


def test_the_libraries_that_are_copied_are_all_that_it_needs(tmp_path):
    """Runs the step that collects libraries, on the binary that is here."""
    run = next(text for name, text in steps() if name == "RUN" and text.startswith("ldd"))
    out = tmp_path / "out"
    (out / "lib").mkdir(parents=True)
    (out / "tidemark").symlink_to(BINARY)
    subprocess.run(["bash", "-euo", "pipefail", "-c", run.replace("/out/", f"{out}/")], check=True)
    copied = {path.name for path in (out / "lib").iterdir()}
    linked = subprocess.run(["ldd", BINARY], capture_output=True, text=True).stdout
    needed = set(re.findall(r"(\S+) => ", linked))
    # What distroless/cc has, and what --static-swift-stdlib puts into the program.
    there = re.compile(
        r"^(libc|libm|libgcc_s|libstdc\+\+|libdl|libpthread|librt)\.so|^libswift|^lib_?Foundation"
        r"|^libdispatch|^libBlocksRuntime|^linux-vdso|^ld-linux")
    assert {name for name in needed if not there.match(name)} == copied
    # The program that is made is smaller when it is stripped, so that the step has something to do.
    assert shutil.which("strip"), "strip is missing"


@pytest.fixture
def started(tmp_path):
    """The image's own command, with paths and ports of this test."""
    environment = compose()["services"]["tidemark"]["environment"]
    assert list(environment) == ["TIDEMARK_TOKEN"]
    ports = dict(zip(("8080", "4000", "9099"), free_ports(3)))
    data = tmp_path / "data"
    data.mkdir()
    words = command("ENTRYPOINT") + command("CMD")
    assert words[0] == INSTALLED
    words = [str(BINARY)] + [
        {"/data": str(data), **{old: str(new) for old, new in ports.items()}}.get(word, word)
        for word in words[1:]]
    user = {}
    if os.geteuid() == 0 and reachable():
        # As nobody, whose folder the data is.
        uid, gid = map(int, step("USER").split(":"))
        os.chown(data, uid, gid)
        for folder in list(data.parents)[:-1]:
            if folder.stat().st_uid == os.geteuid() and "pytest" in folder.name:
                folder.chmod(0o755)
        (tmp_path).chmod(0o755)
        user = {"user": uid, "group": gid, "extra_groups": []}
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
        env={"TIDEMARK_TOKEN": "secret", "PATH": "/usr/bin"}, **user)
    line = process.stdout.readline()
    assert line == f"ready 0.0.0.0:{ports['8080']}\n", line + process.stderr.read()
    yield process, ports, data
    if process.poll() is None:
        process.kill()
        process.wait()


def reachable():
    """Whether nobody can run the binary that is here."""
    return subprocess.run(
        [BINARY, "--help"], user=65534, group=65534, extra_groups=[], capture_output=True,
        cwd="/").returncode == 0 if os.access(BINARY, os.X_OK) else False


def test_the_command_serves_and_is_healthy_and_ends(started):
    process, ports, data = started
    url = f"http://127.0.0.1:{ports['8080']}/v1/projects/p/databases/(default)/documents/a/b"
    assert requests.get(url, timeout=10).status_code == 401
    token = {"authorization": "Bearer secret"}
    assert requests.patch(url, json={}, headers=token, timeout=10).status_code == 200
    assert requests.get(f"http://127.0.0.1:{ports['4000']}/", headers=token, timeout=10).ok
    assert requests.get(f"http://127.0.0.1:{ports['9099']}/", timeout=10).status_code < 500
    assert any(data.iterdir())

    health = step("HEALTHCHECK").split("CMD", 1)
    assert re.fullmatch(r"(--(interval|timeout|start-period|retries)=\d+s? +)+", health[0])
    words = json.loads(health[1])
    assert words[0] == INSTALLED
    words = [str(BINARY)] + [
        word.replace("8080", str(ports["8080"])) for word in words[1:]]

    def check(**environment):
        return subprocess.run(
            words, env={"PATH": "/usr/bin", **environment}, capture_output=True, text=True,
            timeout=30, cwd="/")

    healthy = check(TIDEMARK_TOKEN="secret")
    assert healthy.returncode == 0, healthy.stdout + healthy.stderr
    # Docker ends a container with SIGTERM.
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
    assert check(TIDEMARK_TOKEN="secret").returncode == 1


def test_without_a_token_it_does_not_begin(tmp_path):
    words = [str(BINARY)] + [
        str(tmp_path) if word == "/data" else word for word in command("CMD")]
    process = subprocess.run(
        words, env={"PATH": "/usr/bin"}, capture_output=True, text=True, timeout=30, cwd="/")
    assert process.returncode != 0 and "TIDEMARK_TOKEN" in process.stderr


def compose():
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def test_compose_says_what_the_image_says():
    file = compose()
    service = file["services"]["tidemark"]
    assert (ROOT / service["build"] / "Dockerfile").is_file()
    exposed = step("EXPOSE").split()
    published = [port.split(":") for port in service["ports"]]
    # On this machine alone.
    assert published == [["127.0.0.1", port, port] for port in exposed]
    words = command("CMD")
    assert [words[words.index(flag) + 1] for flag in (
        "--port", "--control-port", "--accounts-port")] == exposed
    volume, target = service["volumes"][0].split(":")
    assert target == step("VOLUME") == words[words.index("--data") + 1]
    assert volume in file["volumes"]
    assert service["environment"]["TIDEMARK_TOKEN"].startswith("${TIDEMARK_TOKEN:?")
