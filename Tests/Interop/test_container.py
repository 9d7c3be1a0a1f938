"""The steps of the container without Docker: each path, package, flag and command."""

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
    """Returns the instructions in order, as names and texts."""
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
    # The folders in which the package has its targets, and the other files that a build of the
    # program needs.
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
    # The linker's flags follow -Xlinker.
    own = [word for before, word in zip(run, run[1:]) if before != "-Xlinker"]
    for flag in (word for word in own if word.startswith("--")):
        assert re.search(rf"{flag}\b", usage), flag
    assert f'name: "tidemark"' in (ROOT / "Package.swift").read_text()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """Makes the content of the image with the commands of the steps, from the binary of this
    build."""
    out = tmp_path_factory.mktemp("image")
    binary = out / "binary"
    binary.symlink_to(BINARY)
    collecting = [text for name, text in steps() if name == "RUN" and "/out/" in text]
    assert len(collecting) == 2
    for run in collecting:
        run = run.replace("/out/", f"{out}/").replace(".build/release/tidemark", str(binary))
        subprocess.run(["bash", "-euo", "pipefail", "-c", run], check=True)
    yield out / "root"
    shutil.rmtree(out)


def test_the_image_has_what_the_program_is_linked_with(image):
    program = image / INSTALLED.lstrip("/")
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    needed = re.findall(r"/\S+", linked)
    assert any("libsqlite3" in path for path in needed)
    for path in needed:
        assert (image / path.lstrip("/")).is_file(), path
    assert program.stat().st_size < os.stat(BINARY).st_size, "it is stripped"
    assert (image / "tmp").stat().st_mode & 0o7777 == 0o1777


# Runs the command like Docker: the process sees only the image and /proc.
ENTER = """
mount --bind /proc "$0/proc"
exec chroot --userspec="$1" "$0" "${@:2}"
"""


def may_enter(image):
    """Returns true if this process may make a folder the root of another process."""
    (image / "proc").mkdir(exist_ok=True)
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "--mount", "mount", "--bind", "/proc", str(image / "proc")],
        capture_output=True).returncode == 0


@pytest.fixture
def started(tmp_path, image):
    """Starts the image's own command with free ports. It runs in the image and as the image's user,
    if the test may do that."""
    environment = compose()["services"]["tidemark"]["environment"]
    assert list(environment) == ["TIDEMARK_TOKEN"]
    ports = dict(zip(("8080", "4000", "9099"), free_ports(3)))
    words = command("ENTRYPOINT") + command("CMD")
    assert words[0] == INSTALLED
    if may_enter(image):
        data = image / "data"
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir()
        os.chown(data, *map(int, step("USER").split(":")))
        begin = ["unshare", "--mount", "bash", "-euc", ENTER, str(image), step("USER"), INSTALLED]
        folder = "/data"
    else:
        data = tmp_path / "data"
        data.mkdir()
        begin, folder = [str(BINARY)], str(data)
    words = begin + [
        {"/data": folder, **{old: str(new) for old, new in ports.items()}}.get(word, word)
        for word in words[1:]]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
        env={"TIDEMARK_TOKEN": "secret-of-a-whole-team", "PATH": os.environ["PATH"]})
    line = process.stdout.readline()
    assert line == f"ready 0.0.0.0:{ports['8080']}\n", line + process.stderr.read()
    yield process, ports, data
    if process.poll() is None:
        process.kill()
        process.wait()


def test_the_command_serves_and_is_healthy_and_ends(started):
    process, ports, data = started
    url = f"http://127.0.0.1:{ports['8080']}/v1/projects/p/databases/(default)/documents/a/b"
    assert requests.get(url, timeout=10).status_code == 401
    token = {"authorization": "Bearer secret-of-a-whole-team"}
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

    healthy = check(TIDEMARK_TOKEN="secret-of-a-whole-team")
    assert healthy.returncode == 0, healthy.stdout + healthy.stderr
    # Docker ends a container with SIGTERM.
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
    assert check(TIDEMARK_TOKEN="secret-of-a-whole-team").returncode == 1


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
    # The ports are published only on this machine.
    assert published == [["127.0.0.1", port, port] for port in exposed]
    words = command("CMD")
    assert [words[words.index(flag) + 1] for flag in (
        "--port", "--control-port", "--accounts-port")] == exposed
    volume, target = service["volumes"][0].split(":")
    assert target == step("VOLUME") == words[words.index("--data") + 1]
    assert volume in file["volumes"]
    assert service["environment"]["TIDEMARK_TOKEN"].startswith("${TIDEMARK_TOKEN:?")
