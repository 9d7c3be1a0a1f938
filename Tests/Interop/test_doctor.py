"""`tidemark doctor` against real servers: its diagnosis, its evidence, and its exit status."""

import contextlib
import json
import os
import socket
import subprocess
import threading

import pytest

from conftest import BINARY, Server

PROXIES = {"https_proxy", "all_proxy", "http_proxy"}


def run(place, *flags, **environment):
    clean = {name: value for name, value in os.environ.items() if name.lower() not in PROXIES}
    return subprocess.run(
        [BINARY, "doctor", "--host", place, "--project", "interop", *map(str, flags)],
        env=dict(clean, **environment), capture_output=True, text=True, timeout=60)


def diagnose(place, *flags, **environment):
    result = run(place, "--json", *flags, **environment)
    assert result.stderr == "", "nothing is left to say once it has ended"
    report = json.loads(result.stdout)
    assert result.returncode == (0 if report["isHealthy"] else 1)
    report["details"] = {step["name"]: step["detail"] for step in report["steps"]}
    # The diagnosis stops at the first failure, apart from this machine's own interfaces.
    assert all(step["ok"] for step in report["steps"][1:-1])
    return report


@contextlib.contextmanager
def saying(answer):
    """A server that sends one answer to every client and closes the connection. With None, it sends
    nothing."""
    listener = socket.create_server(("127.0.0.1", 0))
    held = []

    def serve():
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            held.append(peer)
            if answer is not None:
                peer.settimeout(5)
                with contextlib.suppress(OSError):
                    if peer.recv(4096):
                        peer.sendall(answer)
                    peer.shutdown(socket.SHUT_RDWR)
                peer.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for peer in held:
            peer.close()


def test_all_is_well(server):
    report = diagnose(server.host)
    assert report["verdict"] in ("healthy", "slow")
    assert [step["name"] for step in report["steps"]] == [
        "interface", "names", "connection", "protocol", "read"]
    assert report["details"]["names"] == "127.0.0.1"
    assert report["details"]["connection"] == f"127.0.0.1 port {server.port}"
    # The difference comes from the time in the answer to the read.
    assert abs(report["clockAheadSeconds"]) < 30


@pytest.mark.parametrize("fault, verdict, detail", [
    ("error=RESOURCE_EXHAUSTED,text=Quota exceeded.", "quota",
     "resourceExhausted: Quota exceeded."),
    ("error=UNAUTHENTICATED", "credentials", "unauthenticated"),
    ("error=PERMISSION_DENIED", "forbidden", "permissionDenied"),
    ("error=INTERNAL", "backendFailing", "internal"),
    ("error=UNAVAILABLE", "backendDown", "unavailable"),
    ("silence", "backendSlow", "no answer"),
])
def test_what_a_server_that_is_reached_says(tmp_path, fault, verdict, detail):
    server = Server(tmp_path, 0, "--fault", fault)
    report = diagnose(server.host, "--step-seconds", "2")
    server.stop()
    assert report["verdict"] == verdict
    assert detail in report["details"]["read"]


def test_a_slow_answer_is_an_answer(tmp_path):
    server = Server(tmp_path, 0, "--fault", "latency=2500ms")
    report = diagnose(server.host)
    server.stop()
    assert report["verdict"] == "slow" and report["isHealthy"]
    assert report["steps"][-1]["milliseconds"] > 2_400


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    report = diagnose(f"127.0.0.1:{port}")
    assert report["verdict"] == "backendDown" and report["details"]["connection"] == "refused"


def test_no_such_name():
    report = diagnose("nothing.invalid:443", "--tls")
    assert report["verdict"] in ("nameUnknown", "namesFail", "noNetwork")


@pytest.mark.parametrize("flags", [(), ("--tls",)])
def test_silence(flags):
    """A step that is abandoned at its time limit ends without an answer."""
    with saying(None) as place:
        report = diagnose(place, "--step-seconds", "0.3", *flags)
    assert report["verdict"] == "silence"
    assert report["steps"][-1]["milliseconds"] < 5_000, "the time of a step where none is named"


@pytest.mark.parametrize("status, verdict", [
    ("407 Proxy Authentication Required", "proxy"), ("502 Bad Gateway", "backendDown"),
    ("429 Too Many Requests", "quota"), ("404 Not Found", "wrongService"),
    ("302 Found\r\nLocation: http://login.example/", "captivePortal"),
])
@pytest.mark.parametrize("flags", [(), ("--tls",)])
def test_who_else_answers(status, verdict, flags):
    with saying(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()) as place:
        report = diagnose(place, *flags)
    assert report["verdict"] == verdict
    assert f"HTTP status {status[:3]}" in report["steps"][-1]["detail"]


def test_a_server_without_tls(server):
    report = diagnose(server.host, "--tls")
    assert report["verdict"] == "wrongService"
    assert "HTTP/2" in report["details"]["security"]


def test_a_proxy_that_is_named_is_blamed_and_its_password_is_not_shown():
    with saying(b"") as place:
        assert diagnose(place)["verdict"] == "backendDown"
        result = run(place, "--json", HTTPS_PROXY="http://somebody:hushhush@proxy.example:3128")
    report = json.loads(result.stdout)
    assert report["verdict"] == "proxy"
    assert report["steps"][0]["detail"].endswith("proxy proxy.example:3128")
    assert "hushhush" not in result.stdout + result.stderr


def test_the_table(server):
    result = run(server.host)
    assert result.returncode == 0 and "ok    read" in result.stdout
    with saying(b"HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\n\r\n") as place:
        result = run(place)
    assert result.returncode == 1
    assert "FAIL  protocol" in result.stdout
    assert "HTTP status 302 to http://login.example/" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("captivePortal: This network wants you")
