"""Invalid, doubled, endless and slow requests to a port have no effect on other clients."""

import json
import re
import socket

import pytest
import requests

from conftest import Server


def talk(server, data, answers=None):
    """Sends bytes and returns the answers: all of them if the bytes end there, otherwise `answers`
    of them and those of the next second."""
    host, port = server.host.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as plain:
        answer = b""
        try:
            plain.sendall(data)
            if answers is None:
                plain.shutdown(socket.SHUT_WR)
            while part := plain.recv(65_536):
                answer += part
                if answers is not None and len(statuses(answer)) >= answers:
                    plain.settimeout(1)
        except TimeoutError:
            assert answer, "nothing was answered"
        except (ConnectionResetError, BrokenPipeError):
            pass
        return answer


def statuses(answer):
    return re.findall(rb"HTTP/1\.1 (\d+)", answer)


GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize("data", [
    b"P", b"PR", b"PRI", b"PRI * HTTP/2.0\r\n\r\nSM", b"\x00\x01\x02", b"GET", b"\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
    GET + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
    GET + b"".join(b"X%d: a\r\n" % n for n in range(5_000)) + b"\r\n",
    GET.replace(b"GET", b"POST") + b"Content-Length: -1\r\n\r\n",
    GET.replace(b"GET", b"POST") + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    GET.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    GET.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
])
def test_bytes_that_are_no_request(server, data):
    answer = talk(server, data)
    assert all(status in (b"400", b"403", b"404", b"413", b"431") for status in statuses(answer))
    assert requests.get(f"http://{server.host}/", timeout=10).text == "Ok\n"


def test_a_body_that_is_two_requests_is_one(server):
    """The length defines the body. The body's content is never a separate request."""
    inner = b"DELETE /emulator/v1/projects/smuggled/databases/d/documents HTTP/1.1\r\nHost: a\r\n\r\n"
    data = (b"POST /v1/projects/smuggled/databases/d/documents:commit HTTP/1.1\r\n"
            b"Host: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(inner)) + inner
    assert statuses(talk(server, data, 1)) == [b"400"]
    assert statuses(talk(server, GET + b"\r\n" + GET + b"\r\n", 2)) == [b"200", b"200"]


def test_two_hosts_are_refused(server):
    refused = ([b"403"], [b"400"])
    assert statuses(talk(server, GET + b"Host: evil.example\r\n\r\n", 1)) in refused
    assert statuses(talk(server, b"GET / HTTP/1.1\r\n\r\n", 1)) in refused


def test_a_body_without_an_end_is_cut_off(server):
    host, port = server.host.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as plain:
        plain.sendall(GET.replace(b"GET /", b"POST /v1/projects/p/databases/d/documents:commit")
                      + b"Transfer-Encoding: chunked\r\n\r\n")
        sent, answer = 0, b""
        try:
            while sent < 64 << 20:
                plain.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")
                sent += 65_536
            answer = plain.recv(65_536)
        except (ConnectionResetError, BrokenPipeError):
            pass
        assert sent < 64 << 20 or b" 400 " in answer, "it would have been read to its end"
    assert requests.get(f"http://{server.host}/", timeout=10).text == "Ok\n"


def test_many_connections_that_say_nothing_stop_nobody(server):
    host, port = server.host.split(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(300)]
    for plain in silent[::2]:
        plain.sendall(b"GE")
    # The server closes silent connections after 30 s, so they are still open when the answer
    # arrives.
    assert requests.get(f"http://{server.host}/", timeout=20).text == "Ok\n"
    for plain in silent:
        plain.close()


def test_a_token_is_asked_for_over_http_too(tmp_path):
    server = Server(tmp_path, 0, "--token", "secret")
    try:
        url = f"http://{server.host}/v1/projects/p/databases/d/documents/a/b"
        answer = requests.get(url, timeout=10)
        assert answer.status_code == 401
        assert answer.json()["error"]["details"][0]["reason"] == "CREDENTIALS_MISSING"
        headers = {"authorization": "Bearer secret"}
        assert requests.patch(url, json={}, headers=headers, timeout=10).status_code == 200
        assert requests.get(url, headers=headers, timeout=10).status_code == 200
    finally:
        server.stop()


def test_a_refused_page_hears_it_on_its_channel(tmp_path):
    from webchannel import Channel
    server = Server(tmp_path, 0, "--token", "secret")
    try:
        database = "projects/p/databases/d"
        channel = Channel(server.host, "Listen", database, {"database": database}).listen()
        messages = channel.wait(lambda arrays: arrays)
        assert messages[0]["error"]["status"] == "UNAUTHENTICATED"
        channel.close()
        channel = Channel(server.host, "Write", database, {"database": database},
                          headers={"Authorization": "Bearer secret"}).listen()
        assert channel.wait(lambda arrays: arrays)[0]["streamToken"]
        channel.close()
    finally:
        server.stop()


def test_pages_that_were_named_may_call(tmp_path):
    server = Server(tmp_path, 0, "--allow-origin", "https://app.example")
    try:
        url = f"http://{server.host}/v1/projects/p/databases/d/documents/a/b"
        answer = requests.patch(url, json={}, headers={"origin": "https://app.example"}, timeout=10)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
    finally:
        server.stop()


def test_the_file_by_which_tools_find_the_hub(tmp_path):
    server = Server(tmp_path, 0, "--hub-project", "demo-hub", environment={"TMPDIR": str(tmp_path)})
    locator = tmp_path / "hub-demo-hub.json"
    try:
        found = json.loads(locator.read_text())
        assert found["origins"] == [f"http://127.0.0.1:{server.control_port}"]
        assert found["pid"] == server.process.pid
        emulators = requests.get(found["origins"][0] + "/emulators", timeout=10).json()
        assert emulators["firestore"]["port"] == server.port
    finally:
        server.stop()
    assert not locator.exists()
