"""Ordered faults, networks, tokens, clear and the meter, on a real server over real sockets."""

import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import grpc
import pytest
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

from conftest import BINARY
from wire import Wire, kinds, update

SECRET = "planted-secret-4711"


class Served:
    """A server with its own options. All its output is kept."""

    def __init__(self, folder, *options, token=None):
        ports = folder / "ports.json"
        self.output = (folder / "out").open("w+b")
        environment = {k: v for k, v in os.environ.items() if k != "TIDEMARK_TOKEN"}
        if token:
            environment["TIDEMARK_TOKEN"] = token
        self.token = token
        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", "--control-port", "0", "--memory",
             "--ports-file", ports, *options],
            stdout=subprocess.PIPE, stderr=self.output, env=environment)
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        self.line = self.process.stdout.readline().decode() if readable else ""
        assert self.line.startswith("ready "), self.line + self.printed()
        self.host = self.line.split()[1]
        self.port = int(self.host.rsplit(":", 1)[1])
        self.control = json.loads(ports.read_text())["control"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    def printed(self):
        self.output.seek(0)
        return self.line + self.output.read().decode()

    def stop(self):
        self.__exit__()
        return self.printed()

    def ask(self, method, path, body=None, token=None):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["content-type"] = "application/json"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.control}{path}", method=method, headers=headers,
            data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def client(self, project="faults"):
        os.environ["FIRESTORE_EMULATOR_HOST"] = self.host
        return firestore.Client(project=project, credentials=AnonymousCredentials())


def refused(*options, token=None):
    environment = {k: v for k, v in os.environ.items() if k != "TIDEMARK_TOKEN"}
    if token:
        environment["TIDEMARK_TOKEN"] = token
    done = subprocess.run(
        [BINARY, "serve", "--memory", "--port", "0", *options], capture_output=True, text=True,
        timeout=20, env=environment)
    assert done.returncode != 0 and done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("options, sentence", [
    (["--fault", "rpc=Nothing,silence"], "GetDocument"),
    (["--fault", "latency=5"], "400ms"),
    (["--network", "4g"], "backend-18s"),
    (["--billing", "verify=x"], "unchanged-resume"),
    (["--host", "0.0.0.0"], "TIDEMARK_TOKEN"),
    (["--token", "two words"], "visible ASCII"),
])
def test_bad_options_are_refused_with_a_sentence(options, sentence):
    assert sentence in refused(*options)


def test_a_bad_token_is_refused_and_not_repeated():
    said = refused(token="two words")
    assert "visible ASCII" in said and "two words" not in said


@pytest.mark.parametrize("options", [("--token", "s3cret"), ("--token=s3cret",)])
def test_a_token_of_the_command_line_is_good_and_not_seen_there(tmp_path, options):
    with Served(tmp_path, *options) as server:
        line = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        assert b"serve" in line and b"s3cret" not in line
        assert server.ask("GET", "/tidemark/v1/meter", token="s3cret")[0] == 200
        assert server.ask("GET", "/tidemark/v1/meter", token="other")[0] == 401
        assert "s3cret" not in server.printed()


def test_faults_by_flag_and_at_run_time(tmp_path):
    rule = "rpc=Commit,times=1,error=FAILED_PRECONDITION,text=Not now, later."
    with Served(tmp_path, "--fault", rule) as server:
        document = server.client().document("c/d")
        with pytest.raises(exceptions.FailedPrecondition, match="Not now, later."):
            document.set({"n": 1})
        document.set({"n": 1})
        status, state = server.ask("GET", "/tidemark/v1/faults")
        assert status == 200 and state["network"] == "healthy"
        assert [(r["matched"], r["applied"]) for r in state["rules"]] == [(2, 1)]

        order = {"rules": [{"rpc": "BatchGetDocuments", "nth": 1, "error": "PERMISSION_DENIED"}]}
        assert server.ask("PUT", "/tidemark/v1/faults", order)[0] == 200
        with pytest.raises(exceptions.PermissionDenied):
            document.get()
        assert document.get().to_dict() == {"n": 1}
        assert server.ask("DELETE", "/tidemark/v1/faults") == (
            200, {"network": "healthy", "rules": []})

        for body, part in [
            ({"rules": ["rpc=Commit"]}, "what happens"), ({"network": "4g"}, "healthy"),
            ({"rules": "x"}, "rules"), ([], "rules"), ({"network": "3g"}, "--network"),
            ({"rules": ["silence"] * 101}, "100"),
        ]:
            status, answer = server.ask("PUT", "/tidemark/v1/faults", body)
            assert status in (400, 409) and part in answer["error"]
        assert server.ask("PUT", "/tidemark/v1/faults", {"rules": ["x" * 70_000]})[0] == 413
        assert server.ask("POST", "/tidemark/v1/faults", {})[0] == 405


def test_a_response_is_lost_after_the_commit(tmp_path):
    with Served(tmp_path, "--fault", "rpc=Commit,nth=1,lose-response") as server:
        document = server.client().document("c/d")
        # The client's own retry finds the document that its first attempt created.
        with pytest.raises(exceptions.AlreadyExists):
            document.create({"n": 1})
        assert document.get().to_dict() == {"n": 1}


def test_a_false_filter_is_told_before_the_first_snapshot(tmp_path):
    """On the wire, because Google's Python watch loses its callback when a filter shows a
    mismatch."""
    with Served(tmp_path, "--fault", "rpc=Listen,false-filter=3") as server:
        wire = Wire(server.host)
        wire.commit_writes(update("watched/a", {}))
        with wire.listen() as listen:
            listen.target(2, "watched")
            assert kinds(listen.boundary()) == [
                ("ADD", [2]), ("change", "a"), ("CURRENT", [2]), ("filter", 4), ("boundary",)]
            wire.commit_writes(update("watched/b", {}))
            assert kinds(listen.boundary()) == [("change", "b"), ("boundary",)]
        wire.close()


def test_a_watch_converges_through_resets_and_duplicates(tmp_path):
    with Served(tmp_path, "--fault", "rpc=Listen,reset,duplicate") as server:
        collection = server.client().collection("watched")
        collection.document("a").set({"n": 1})
        seen = []
        watch = collection.on_snapshot(
            lambda documents, changes, at: seen.append(sorted(d.id for d in documents)))
        collection.document("b").set({"n": 2})
        collection.document("a").delete()
        deadline = time.monotonic() + 20
        while (not seen or seen[-1] != ["b"]) and time.monotonic() < deadline:
            select.select([], [], [], 0.02)
        watch.unsubscribe()
        assert seen and seen[-1] == ["b"], seen


# MARK: networks

def connects(port, data=b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", wait=1.0):
    """Returns the first event of a new connection: bytes, "refused", "reset", or "silence"."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
            peer.settimeout(wait)
            peer.sendall(data)
            return peer.recv(4096)
    except ConnectionRefusedError:
        return "refused"
    except ConnectionResetError:
        return "reset"
    except TimeoutError:
        return "silence"


def test_networks_at_the_gate_change_under_open_connections(tmp_path):
    with Served(tmp_path, "--network", "healthy") as server:
        document = server.client().document("c/d")
        document.set({"n": 1})

        def play(name):
            status, state = server.ask("PUT", "/tidemark/v1/faults", {"network": name})
            assert (status, state["network"]) == (200, name)

        def get(timeout):
            return document.get(timeout=timeout, retry=None).to_dict()

        assert isinstance(connects(server.port), bytes)

        # A round trip takes 400 ms on the connection that is already open.
        play("3g")
        begin = time.monotonic()
        assert get(10) == {"n": 1}
        assert time.monotonic() - begin >= 0.4

        play("blackhole")
        assert connects(server.port, wait=0.5) == "silence"
        with pytest.raises(exceptions.DeadlineExceeded):
            get(0.5)
        # The held data arrive on the same connection.
        play("healthy")
        assert get(10) == {"n": 1}

        play("refuse")
        assert connects(server.port) == "refused"
        with pytest.raises((exceptions.ServiceUnavailable, exceptions.DeadlineExceeded)):
            get(1)

        play("captive")
        answer = connects(server.port)
        assert answer.startswith(b"HTTP/1.1 302 ") and b"Location: " in answer and b"<p>" in answer
        with pytest.raises((exceptions.ServiceUnavailable, exceptions.DeadlineExceeded)):
            get(1)

        play("healthy")
        fresh = server.client().document("c/d")
        assert fresh.get(timeout=20).to_dict() == {"n": 1}


def test_a_narrow_network_is_narrow(tmp_path):
    with Served(tmp_path, "--network", "healthy") as server:
        document = server.client().document("c/large")
        document.set({"t": "x" * 400_000})
        document.get()
        server.ask("PUT", "/tidemark/v1/faults", {"network": "3g"})
        begin = time.monotonic()
        assert len(document.get(timeout=30).to_dict()["t"]) == 400_000
        # The time for 400,000 bytes at 200,000 per second, and for the round trip.
        assert time.monotonic() - begin > 2.3


@pytest.mark.parametrize("network", ["refuse", "captive", "blackhole"])
def test_a_server_may_start_on_a_bad_network(tmp_path, network):
    with Served(tmp_path, "--network", network) as server:
        heard = connects(server.port, wait=0.3)
        assert {"refuse": heard == "refused", "blackhole": heard == "silence",
                "captive": b"302" in heard if isinstance(heard, bytes) else False}[network]
        # The control port is not part of the simulated network.
        assert server.ask("GET", "/")[0] == 200


def test_backend_18s_and_flaky_need_no_gate(tmp_path):
    with Served(tmp_path) as server:
        document = server.client().document("c/d")
        document.set({"n": 1})
        assert server.ask("PUT", "/tidemark/v1/faults", {"network": "backend-18s"})[0] == 200
        with pytest.raises(exceptions.DeadlineExceeded):
            document.get(timeout=0.5, retry=None)
        assert server.ask("PUT", "/tidemark/v1/faults", {"network": "flaky-30"})[0] == 200
        failed = 0
        for _ in range(200):
            try:
                document.get(timeout=10, retry=None)
            except exceptions.ServiceUnavailable:
                failed += 1
        assert 30 <= failed <= 90, failed


# MARK: tokens

def call(server, method, request, metadata=()):
    """Makes a call on its own channel: (trailers, status code, details)."""
    with grpc.insecure_channel(server.host) as channel:
        stub = channel.unary_unary(
            f"/google.firestore.v1.Firestore/{method}",
            request_serializer=lambda r: type(r).serialize(r), response_deserializer=bytes)
        try:
            _, done = stub.with_call(request, metadata=list(metadata), timeout=10)
            return dict(done.trailing_metadata()), grpc.StatusCode.OK, None
        except grpc.RpcError as error:
            return dict(error.trailing_metadata()), error.code(), error.details()


def get_request(name="c/d", project="faults"):
    from google.cloud.firestore_v1.types import GetDocumentRequest
    return GetDocumentRequest(name=f"projects/{project}/databases/(default)/documents/{name}")


def commit_request(*names, project="faults"):
    from google.cloud.firestore_v1.types import CommitRequest, Write
    root = f"projects/{project}/databases/(default)"
    return CommitRequest(
        database=root,
        writes=[Write(update={"name": f"{root}/documents/{name}"}) for name in names])


def test_a_token_is_asked_of_every_call_and_request(tmp_path):
    from google.rpc import error_details_pb2, status_pb2

    token = "s3cret-token-of-a-team"
    with Served(tmp_path, "--host", "0.0.0.0", token=token) as server:
        server.host = f"127.0.0.1:{server.port}"
        for metadata in [[], [("authorization", "Bearer owner")]]:
            trailers, code, _ = call(server, "Commit", commit_request("c/d"), metadata)
            assert code == grpc.StatusCode.UNAUTHENTICATED
            status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
            info = error_details_pb2.ErrorInfo()
            assert status.details[0].Unpack(info)
            assert info.reason == "CREDENTIALS_MISSING"
            assert info.metadata["service"] == "firestore.googleapis.com"
            assert info.metadata["method"] == "google.firestore.v1.Firestore.Commit"
        good = [("authorization", f"Bearer {token}")]
        assert call(server, "Commit", commit_request("c/d"), good)[1] == grpc.StatusCode.OK
        for path in ["/", "/tidemark/v1/meter", "/tidemark/v1/faults", "/nothing"]:
            assert server.ask("GET", path)[0] == 401
            assert server.ask("GET", path, token="s3cret-tokeN")[0] == 401
        assert server.ask("GET", "/", token=token)[0] == 200

        environment = dict(
            os.environ, FIRESTORE_EMULATOR_HOST=server.host, TIDEMARK_TOKEN=token)
        command = [BINARY, "get", "c/d", "--project", "faults"]
        done = subprocess.run(command, env=environment, capture_output=True, timeout=30)
        assert done.returncode == 0, done.stderr
        environment["TIDEMARK_TOKEN"] = "wrong"
        done = subprocess.run(command, env=environment, capture_output=True, timeout=30)
        assert done.returncode != 0
        assert b"wrong" not in done.stderr
        assert token not in server.stop()


# MARK: the meter

def test_the_meter_by_its_dimensions_and_in_trailers(tmp_path):
    with Served(tmp_path, "--billing", "missing-document=0") as server:
        usage = [("x-tidemark-usage", "1"), ("x-tidemark-label", "app"),
                 ("x-tidemark-client", "phone")]
        trailers, _, _ = call(server, "Commit", commit_request("c/a", "c/b"), usage)
        assert trailers["x-tidemark-writes"] == "2" and trailers["x-tidemark-reads"] == "0"
        trailers, _, _ = call(server, "GetDocument", get_request("c/a"), usage)
        assert trailers["x-tidemark-reads"] == "1"
        trailers, code, _ = call(server, "GetDocument", get_request("c/none"), usage)
        assert code == grpc.StatusCode.NOT_FOUND and trailers["x-tidemark-reads"] == "0"
        trailers, _, _ = call(server, "GetDocument", get_request("c/a"), usage[1:])
        assert "x-tidemark-reads" not in trailers

        status, rows = server.ask("GET", "/tidemark/v1/meter?by=client,target,method")
        assert status == 200
        assert rows == [
            {"client": "phone", "target": "c", "method": "Commit", "reads": 0, "writes": 2,
             "deletes": 0},
            {"client": "phone", "target": "c", "method": "GetDocument", "reads": 2, "writes": 0,
             "deletes": 0},
        ]
        assert server.ask("GET", "/tidemark/v1/meter?by=colour")[0] == 400
        assert server.ask("DELETE", "/tidemark/v1/meter")[0] == 200
        assert server.ask("GET", "/tidemark/v1/meter") == (200, [])
        call(server, "Commit", commit_request("c/a"), usage)
        printed = server.stop()
        assert "app: 0 reads, 1 writes, 0 deletes\ntotal: 0 reads, 1 writes" in printed


# MARK: clearing

def test_clearing_tells_a_watch_and_leaves_nothing(tmp_path):
    with Served(tmp_path) as server:
        client = server.client()
        for number in range(3):
            client.document(f"c/{number}").set({"n": number})
        seen = []
        watch = client.collection("c").on_snapshot(
            lambda documents, changes, at: seen.append(len(documents)))

        def wait_for(count):
            deadline = time.monotonic() + 20
            while (not seen or seen[-1] != count) and time.monotonic() < deadline:
                select.select([], [], [], 0.02)
            assert seen and seen[-1] == count, seen

        wait_for(3)
        for database in ["(default)", "%28default%29"]:
            path = f"/emulator/v1/projects/faults/databases/{database}/documents"
            assert server.ask("DELETE", path) == (200, {})
        wait_for(0)
        assert list(client.collections()) == []
        client.document("c/again").set({})
        wait_for(1)
        watch.unsubscribe()
        assert server.ask("GET", path)[0] == 405
        assert server.ask("DELETE", "/emulator/v1/projects//databases/x/documents")[0] == 400


def test_what_is_printed_holds_no_contents(tmp_path):
    rules = ["rpc=Commit,every=3,error=INTERNAL", "rpc=Listen,reset,false-filter",
             "rpc=RunQuery,every=2,cut=before:1"]
    options = [part for rule in rules for part in ("--fault", rule)]
    with Served(tmp_path, *options) as server:
        client = server.client()
        secret = client.document(f"c/{SECRET}")
        watch = client.collection("c").on_snapshot(lambda *_: None)
        for number in range(6):
            try:
                secret.set({"text": SECRET, SECRET: number})
            except exceptions.GoogleAPICallError:
                pass
        queries = [
            client.collection("c").where("text", "==", SECRET).limit(1),
            client.collection(SECRET).order_by(client.field_path(SECRET)),
            client.collection("c").where("text", "not-in", [SECRET] * 40),
        ]
        for query in queries:
            try:
                list(query.stream(retry=None))
            except exceptions.GoogleAPICallError:
                pass
        try:
            client.document(f"c/__{SECRET}__").set({"t": "x" * 2_000_000})
        except exceptions.GoogleAPICallError:
            pass
        server.ask("POST", "/tidemark/v1/clock", {"time": SECRET})
        server.ask("GET", f"/{SECRET}")
        watch.unsubscribe()
        assert SECRET not in server.stop()
