"""A web page in a developer's browser can do nothing to the ports of `tidemark serve`.

The requests are those that a browser sends for a page of another origin. Each request is also sent
in its correct form, and then has an effect. Otherwise, a check that finds no effect would prove
nothing.
"""

import http.client
import json
import select
import socket
import struct
import subprocess
import uuid

import pytest

from conftest import BINARY, Server

EVIL = "https://evil.example"
JSON = {"content-type": "application/json"}
# Requests that a page can send to another origin without a preflight request.
SIMPLE = [
    {"content-type": "text/plain;charset=UTF-8"},
    {"content-type": "application/x-www-form-urlencoded"},
    {"content-type": "multipart/form-data; boundary=x"},
    {},
]


def send(port, method, path, body=None, headers=None, host=None):
    """Returns the status, the headers and the text. `host` is the browser's name for the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{port}")
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    data = (body or "").encode()
    if data:
        connection.putheader("Content-Length", str(len(data)))
    connection.endheaders(data or None)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, response.headers, text


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Server(
        tmp_path_factory.mktemp("browsers"), 0, "--allow-host", "tidemark.test",
        "--allow-origin", "https://app.example")
    yield server
    server.stop()


@pytest.fixture
def document(served):
    """A document that must still exist, and the path that would clear it."""
    project = "p" + uuid.uuid4().hex[:8]
    document = served.client(project).document("c/d")
    document.set({"n": 1})
    path = f"/emulator/v1/projects/{project}/databases/(default)/documents"
    return document, path


def time_is(served, document):
    """Returns the year of the server's clock."""
    return document.set({"n": 1}).update_time.year


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example", ""])
def test_a_name_that_points_here_is_refused(served, document, host):
    """DNS rebinding: the page's own name resolves to 127.0.0.1, so the browser treats both as one
    origin."""
    host = host.format(port=served.control_port)
    document, path = document
    origin = {"origin": f"http://{host}"} if host else {}
    for method, url, body in [
            ("GET", "/tidemark/v1/meter", None), ("GET", "/", None), ("DELETE", path, None),
            ("PUT", "/tidemark/v1/faults", '{"network": "healthy"}'),
            ("POST", "/tidemark/v1/clock", '{"time": 4000000000000000}')]:
        # For GET within one origin, a browser sends no Origin.
        headers = dict(JSON, **({} if method == "GET" else origin))
        status, said, text = send(served.control_port, method, url, body, headers, host)
        assert status in ((403,) if host else (400, 403)), (method, text)
        assert "access-control-allow-origin" not in said
        assert "reads" not in text
    assert document.get().exists
    assert time_is(served, document) < 2090
    status, _, text = send(
        served.accounts_port, "GET", "/emulator/v1/projects/demo/oobCodes", host=host)
    assert status in ((403,) if host else (400, 403)) and "oobCodes" not in text


@pytest.mark.parametrize("headers", SIMPLE)
@pytest.mark.parametrize("origin", [EVIL, "null", None])
def test_a_plain_cross_site_post_has_no_effect(served, document, headers, origin):
    headers = dict(headers, **({"origin": origin} if origin else {}))
    status, said, text = send(
        served.control_port, "POST", "/tidemark/v1/clock", '{"time": 4000000000000000}', headers)
    assert status == (403 if origin else 415), text
    assert "access-control-allow-origin" not in said
    if not origin:
        assert "content-type: application/json" in json.loads(text)["error"]
    assert time_is(served, document[0]) < 2090
    body = json.dumps({"email": f"{uuid.uuid4().hex}@a.b", "password": "secret-1"})
    sign_up = "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any"
    status, said, text = send(served.accounts_port, "POST", sign_up, body, headers)
    assert status == (403 if origin else 415), text
    assert "access-control-allow-origin" not in said and "idToken" not in text
    # The same request in the form of Google's clients.
    status, _, text = send(served.accounts_port, "POST", sign_up, body, JSON)
    assert status == 200 and "idToken" in text


@pytest.mark.parametrize("origin", [EVIL, "null", "http://localhost.evil.example"])
def test_a_question_of_a_foreign_page_is_answered_no(served, origin):
    for port in (served.control_port, served.accounts_port):
        for method in ("POST", "DELETE", "PUT", "PATCH"):
            status, said, _ = send(port, "OPTIONS", "/tidemark/v1/clock", headers={
                "origin": origin, "access-control-request-method": method,
                "access-control-request-headers": "content-type"})
            assert status == 403
            assert not [name for name in said if name.lower().startswith("access-control")]


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://[::1]:8", "https://app.example"])
def test_a_page_of_this_machine_or_a_given_one_may_call(served, document, origin):
    document, path = document
    for port, url in ((served.control_port, path),
                      (served.accounts_port, "/v1/accounts:signUp?key=any")):
        status, said, _ = send(port, "OPTIONS", url, headers={
            "origin": origin, "access-control-request-method": "DELETE",
            "access-control-request-headers": "content-type,x-client-version"})
        assert status == 204 and said["access-control-allow-origin"] == origin
        assert "DELETE" in said["access-control-allow-methods"]
        assert said["access-control-allow-headers"] == "content-type,x-client-version"
        assert said["vary"] == "Origin"
    status, said, _ = send(served.control_port, "DELETE", path, headers={"origin": origin})
    assert status == 200 and said["access-control-allow-origin"] == origin
    assert not document.get().exists


def test_deletes_and_orders_of_a_foreign_page_have_no_effect(served, document):
    """A browser would send a preflight request first. A page that can avoid it is still refused."""
    document, path = document
    for method, url, body in [
            ("DELETE", path, None), ("DELETE", "/tidemark/v1/meter", None),
            ("PUT", "/tidemark/v1/faults", '{"rules": ["rpc=Commit,error=UNAVAILABLE"]}'),
            ("GET", "/tidemark/v1/meter", None)]:
        headers = dict(JSON, origin=EVIL, authorization="Bearer owner")
        status, said, text = send(served.control_port, method, url, body, headers)
        assert status == 403 and "access-control-allow-origin" not in said, text
        assert "reads" not in text
    assert document.get().exists
    status, _, text = send(served.control_port, "GET", "/tidemark/v1/faults")
    assert status == 200 and json.loads(text)["rules"] == []
    assert send(served.control_port, "DELETE", path)[0] == 200
    assert not document.get().exists


def test_accounts_have_nothing_for_a_foreign_page(served):
    port, project = served.accounts_port, "b" + uuid.uuid4().hex[:8]
    owner = dict(JSON, authorization="Bearer owner")
    account = f"/v1/projects/{project}/accounts"
    status, _, text = send(port, "POST", account, '{"localId": "one"}', owner)
    assert status == 200, text
    for method, url, body in [
            ("DELETE", f"/emulator/v1/projects/{project}/accounts", None),
            ("GET", f"/emulator/v1/projects/{project}/oobCodes", None),
            ("PATCH", f"/emulator/v1/projects/{project}/config", "{}"),
            ("POST", account + ":batchDelete", '{"localIds": ["one"], "force": true}'),
            ("POST", "/securetoken.googleapis.com/v1/token?key=any", "grant_type=refresh_token")]:
        status, said, text = send(port, method, url, body, dict(owner, origin=EVIL))
        assert status == 403 and "PERMISSION_DENIED" in text, (method, url, text)
        assert "access-control-allow-origin" not in said
    status, _, text = send(port, "POST", account + ":lookup", '{"localId": ["one"]}', owner)
    assert [user["localId"] for user in json.loads(text)["users"]] == ["one"]


def test_a_given_name_is_known(served):
    assert send(served.control_port, "GET", "/", host="tidemark.test:1")[0] == 200
    assert send(served.control_port, "GET", "/", host="localhost")[0] == 200


def test_tools_need_no_more_than_before(served, document):
    """`curl -X DELETE`, `curl -X PUT -d …`, and a POST without a body but with its content type
    still work."""
    assert send(served.control_port, "PUT", "/tidemark/v1/faults", '{"network": "healthy"}', {
        "content-type": "application/x-www-form-urlencoded"})[0] == 200
    assert send(served.control_port, "DELETE", "/tidemark/v1/meter")[0] == 200
    status, _, text = send(served.control_port, "POST", "/tidemark/v1/clock", '{"time": null}', JSON)
    assert status == 200, text


@pytest.mark.parametrize("options, sentence", [
    (["--allow-host", "http://a"], "is not a host name"),
    (["--allow-host", "a:80"], "without a port"),
    (["--allow-origin", "app.example"], "is not an origin"),
    (["--allow-origin", "null"], "is not an origin"),
])
def test_bad_options_are_refused_with_a_sentence(options, sentence):
    done = subprocess.run(
        [BINARY, "serve", "--memory", "--port", "0", *options], capture_output=True, text=True,
        timeout=20)
    assert done.returncode != 0 and sentence in done.stderr


# gRPC: a browser can reach it only with HTTP/1.1, or with another content type.


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def call_of(port, name, message, content_type, more={}):
    """Returns the bytes of one gRPC call on a new HTTP/2 connection, without header compression."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", f"/google.firestore.v1.Firestore/{name}"),
              (":authority", f"127.0.0.1:{port}"), ("content-type", content_type), ("te", "trailers"), *more.items()]
    headers = b"".join(
        b"\x00" + bytes([len(key)]) + key.encode() + bytes([len(value)]) + value.encode()
        for key, value in fields)
    assert max(len(value) for _, value in fields) < 127
    body = b"\x00" + struct.pack(">I", len(message)) + message
    return (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, headers)
            + frame(0, 1, 1, body))


def pour(port, data):
    """Sends bytes, and reads until the server is silent for a second or closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(data)
        heard = b""
        while select.select([connection], [], [], 1)[0]:
            try:
                part = connection.recv(65_536)
            except ConnectionResetError:
                break
            if not part:
                break
            heard += part
        return heard


def commit(project):
    from google.cloud.firestore_v1 import types
    name = f"projects/{project}/databases/(default)/documents/c/d"
    write = types.Write(update=types.Document(name=name, fields={"n": types.Value(integer_value=1)}))
    request = types.CommitRequest(
        database=f"projects/{project}/databases/(default)", writes=[write])
    return types.CommitRequest.serialize(request)


@pytest.mark.parametrize("kind, has_effect", [
    ("application/grpc", True), ("application/grpc+proto", True), ("text/plain", False),
    ("application/x-www-form-urlencoded", False), ("multipart/form-data; boundary=x", False),
    ("application/json", False)])
def test_grpc_needs_a_content_type_that_a_page_must_ask_for(served, kind, has_effect):
    project = "g" + uuid.uuid4().hex[:8]
    pour(served.port, call_of(served.port, "Commit", commit(project), kind))
    assert served.client(project).document("c/d").get().exists is has_effect


@pytest.mark.parametrize("prefix", [
    "POST /google.firestore.v1.Firestore/Commit HTTP/1.1\r\nHost: evil.example\r\n"
    "Origin: https://evil.example\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n",
    "POST /google.firestore.v1.Firestore/Commit HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n"
    "Content-Type: application/grpc\r\nContent-Length: {length}\r\n\r\n", "\r\n"])
def test_grpc_does_not_hear_what_a_browser_s_http_1_carries(served, prefix):
    """A page can put any bytes into a body, even those of a whole HTTP/2 connection."""
    project = "h" + uuid.uuid4().hex[:8]
    data = call_of(served.port, "Commit", commit(project), "application/grpc")
    pour(served.port, prefix.format(length=len(data)).encode() + data)
    assert not served.client(project).document("c/d").get().exists
    pour(served.port, data)
    assert served.client(project).document("c/d").get().exists
