"""Receivers of document events: Google's functions framework, and an emulator of functions."""

import base64
import http.server
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

# The functions that are not named after their events.
WRITTEN = {"failing", "reading", "looping"}
FOLDER = pathlib.Path(__file__).with_name("functions")


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Functions:
    """A process with functions of `functions/main.py`. It can be killed and started again."""

    def __init__(self, folder, *names):
        self.folder, self.names = pathlib.Path(folder), names
        self.port = free_port()
        self.log = self.folder / "events.jsonl"
        self.log.touch()
        self.process = None

    def start(self, server_host):
        environment = dict(
            os.environ, EVENT_LOG=str(self.log), FIRESTORE_EMULATOR_HOST=server_host,
            GCLOUD_PROJECT="interop")
        self.process = subprocess.Popen(
            [sys.executable, FOLDER / "host.py", str(self.port), *self.names],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        readable, _, _ = select.select([self.process.stdout], [], [], 50)
        line = self.process.stdout.readline() if readable else ""
        assert line == "ready\n", f"the functions said {line!r}"

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def triggers(self):
        """Returns the path of a file for `tidemark serve --triggers`."""
        path = self.folder / "triggers.json"
        path.write_text(json.dumps({"project": "interop", "triggers": [
            {"key": name, "event": "written" if name in WRITTEN else name.removesuffix("_by"),
             "withAuthContext": name.endswith("_by"), "document": "rooms/{room}",
             "url": f"http://127.0.0.1:{self.port}/{name}"} for name in self.names]}))
        return path

    def told(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]


class FunctionsEmulator:
    """Takes deliveries as the emulator of functions does, and keeps them."""

    def __init__(self, *keys):
        self.keys, self.deliveries = set(keys), []
        self.status, self.project = 200, "interop"
        emulator = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                key = self.path.rsplit("/", 1)[1]
                known = self.path.startswith(f"/functions/projects/{emulator.project}/triggers/")
                status = emulator.status if known and key in emulator.keys else 404
                # The names of fields have no case; a client may write them as it likes.
                fields = {name.lower(): value for name, value in self.headers.items()}
                emulator.deliveries.append((key, fields, body, status))
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def take(self):
        taken, self.deliveries = self.deliveries, []
        return taken


def ask(server, method, path, body=None):
    """Returns the status and the JSON of a request to the port of Firestore."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://{server.host}{path}", data=data, method=method,
        headers={"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def idle(server, seconds=50):
    """Waits until all events are delivered, and returns the report."""
    status, report = ask(server, "POST", f"/tidemark/v1/triggers:idle?timeout={seconds}")
    assert status == 200, report
    return report


def decoded(body):
    return base64.b64decode(body, validate=True)
