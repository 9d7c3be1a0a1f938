"""`tidemark exec`: the tools of Firebase start this program in the place of their emulator. A script
plays the tools, with the calls that the official ones were seen to make."""

import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest

from conftest import BINARY
from functions_host import FunctionsEmulator, free_port

SCRIPT = pathlib.Path(__file__).with_name("functions") / "firebase.py"
CLOSED = "rules_version = '2';\nservice cloud.firestore { }\n"
OPEN = """rules_version = '2';
service cloud.firestore { match /{all=**} { allow read, write: if true; } }
"""


@pytest.fixture
def emulator():
    emulator = FunctionsEmulator("us-central1-first-0", "us-central1-second-0")
    emulator.project = "demo-test"
    yield emulator
    emulator.close()


@pytest.fixture
def tools(tmp_path, emulator):
    """Runs the script of the tools under `tidemark exec`, with a PATH that has no Java."""
    empty = tmp_path / "bin"
    empty.mkdir()
    folder = tmp_path / "project"
    folder.mkdir()

    def run(*options, popen=False, path=str(empty), **settings):
        settings = dict(
            port=free_port(), websocket_port=free_port(), functions_emulator=emulator.host,
            **settings)
        command = [BINARY, "exec", *options, "--", sys.executable, SCRIPT, json.dumps(settings)]
        environment = dict(os.environ, PATH=path, TMPDIR=str(tmp_path))
        if popen:
            return subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
        done.seen = json.loads(done.stdout) if done.stdout else None
        done.folder = folder
        return done

    run.folder, run.temporary = folder, tmp_path
    return run


def leftovers(tools):
    return list(tools.temporary.glob("tidemark-exec-*"))


def test_the_recorded_exchange(tools, emulator):
    rules = tools.folder / "firestore.rules"
    rules.write_text(OPEN)
    done = tools(rules=str(rules), new_rules=CLOSED, code=3)
    assert done.returncode == 3, "the code of the tools is passed on"
    seen = done.seen
    assert seen["java"] == [0, 21]
    assert seen["first"] == [200, {}]
    status, body = seen["second"]
    assert status == 200 and body["eventType"] == "google.cloud.firestore.document.v1.created"
    assert seen["write"][0] == 200
    assert seen["rules"] == [200, {"issues": []}] and seen["closed"] == 403
    assert seen["idle"] == 200 and seen["ended"] in (0, 130)
    told = {key: (headers, body, status) for key, headers, body, status in emulator.take()}
    headers, body, status = told["us-central1-first-0"]
    assert status == 200 and headers["content-type"].startswith("application/json")
    document = "projects/demo-test/databases/(default)/documents/rooms/blue"
    event = json.loads(body)
    assert event["data"]["value"]["name"] == document and event["data"]["updateMask"] == {}
    assert event["context"]["resource"]["name"] == document
    headers, body, status = told["us-central1-second-0"]
    assert status == 200 and headers["content-type"].startswith("application/protobuf")
    assert document.encode() in base64.b64decode(body, validate=True), "the tools take base64"
    assert "The console: http://127.0.0.1:" in done.stderr
    assert leftovers(tools) == []


def test_what_was_exported_is_imported_again(tools):
    export = tools.folder / "export"
    first = tools(export_directory=str(export))
    assert first.seen["export"] == [200, {}], first.seen
    metadata = next(export.rglob("*.overall_export_metadata"))
    again = tools(seed_from_export=str(metadata), read="rooms/blue")
    status, document = again.seen["read"]
    assert status == 200 and document["fields"] == {"n": {"integerValue": "1"}}


def test_each_database_has_its_rules_without_a_flag(tools):
    """With several databases the tools pass no rules. This server reads firebase.json itself."""
    (tools.folder / "closed.rules").write_text(CLOSED)
    (tools.folder / "open.rules").write_text(OPEN)
    (tools.folder / "firebase.json").write_text(json.dumps({"firestore": [
        {"database": "(default)", "rules": "closed.rules"},
        {"database": "second", "rules": "open.rules"}]}))
    assert tools().seen["write"][0] == 403


def test_ctrl_c_ends_the_tools_and_the_folder_goes(tools):
    process = tools(popen=True, hold=True)
    seen = json.loads(process.stdout.readline())
    assert seen["write"][0] == 200 and len(leftovers(tools)) == 1
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=40)
    assert json.loads(output)["ended"] in (0, 130), "no server is left"
    assert process.returncode == 130 and leftovers(tools) == []


def test_options_of_the_server(tools):
    data = tools.temporary / "kept"
    data.mkdir()
    refused = subprocess.run(
        [BINARY, "exec", "--serve=--nonsense", "--", "true"], capture_output=True, text=True)
    assert refused.returncode == 64 and "nonsense" in refused.stderr
    none = subprocess.run([BINARY, "exec", "--", "no-such-command"], capture_output=True, text=True)
    assert none.returncode == 127 and "no-such-command" in none.stderr
    assert subprocess.run([BINARY, "exec"], capture_output=True).returncode == 64
    done = tools("--serve=--rules-errors=production")
    assert done.seen["write"][0] == 200


@pytest.fixture
def java(tmp_path):
    """This program under the name java, as in the folder of `tidemark exec`."""
    folder = tmp_path / "stand-in"
    folder.mkdir()
    (folder / "java").symlink_to(BINARY)

    def run(*arguments, behind=()):
        path = ":".join([str(folder), *map(str, behind)])
        return subprocess.run(
            ["java", *arguments], env={"PATH": path, "TMPDIR": tempfile.gettempdir()},
            executable=folder / "java", capture_output=True, text=True, timeout=30)
    return run


def real(tmp_path, version):
    folder = tmp_path / f"java-{version}"
    folder.mkdir()
    (folder / "java").write_text(
        f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}.0.1" real\' >&2 '
        '&& exit 0\necho "real java: $*"; exit 5\n')
    (folder / "java").chmod(0o755)
    return folder


def test_other_calls_of_java_are_for_the_real_one(java, tmp_path):
    assert 'version "21"' in java("-version").stderr
    old, new = real(tmp_path, 17), real(tmp_path, 24)
    assert 'version "21"' in java("-version", behind=[old]).stderr, "too old for the tools"
    assert 'version "24.0.1" real' in java("-version", behind=[new]).stderr
    done = java("-jar", "/cache/cloud-storage-rules-runtime-v1.1.3.jar", "serve", behind=[old])
    assert done.returncode == 5
    assert done.stdout == "real java: -jar /cache/cloud-storage-rules-runtime-v1.1.3.jar serve\n"
    done = java("-jar", "/cache/other.jar")
    assert done.returncode == 127 and "There is no Java" in done.stderr
