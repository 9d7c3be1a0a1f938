"""Google's own Python client against `tidemark serve`, as a developer would point it there."""

import json
import os
import pathlib
import select
import signal
import subprocess
import uuid

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("TIDEMARK", ROOT / ".build/debug/tidemark"))


class Server:
    """A server process. It is told a free port and says when it is ready."""

    def __init__(self, data, port=0):
        self.data = pathlib.Path(data)
        ports = self.data / "ports.json"
        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", str(port), "--control-port", "0",
             "--data", self.data, "--ports-file", ports],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline() if readable else ""
        assert line.startswith("ready "), f"the server said {line!r}"
        self.host = line.split()[1]
        self.port = int(self.host.rsplit(":", 1)[1])
        self.control_port = json.loads(ports.read_text())["control"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    def client(self, project="interop"):
        os.environ["FIRESTORE_EMULATOR_HOST"] = self.host
        return firestore.Client(project=project, credentials=AnonymousCredentials())

    def run(self, *arguments, **options):
        """Runs another `tidemark` command against this server."""
        environment = dict(os.environ, FIRESTORE_EMULATOR_HOST=self.host)
        return subprocess.run(
            [BINARY, *map(str, arguments)], env=environment, capture_output=True, text=True,
            timeout=60, **options)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()
    assert server.process.returncode == 0, "the server did not end cleanly"


@pytest.fixture(scope="session")
def client(server):
    return server.client()


@pytest.fixture
def collection(client):
    """A collection that no other test uses."""
    return client.collection("c-" + uuid.uuid4().hex[:12])
