"""TLS on the server's port: HTTP/2 for browsers and curl, beside all unencrypted protocols."""

import json
import os
import select
import socket
import ssl
import stat
import subprocess
import time
import uuid

import grpc
import pytest

from conftest import BINARY, Server

DATABASE = "projects/interop/databases/(default)"
SERVICE = "/google.firestore.v1.Firestore"


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("tls"), 0, "--tls", "--allow-host", "tidemark.test")
    yield server
    server.stop()
    assert server.process.returncode == 0


def certificate(server):
    return server.data / "tidemark-tls.crt"


def curl(server, path, *options, host="localhost", body=None):
    """Returns the body and curl's report of the call. Curl trusts only this certificate."""
    done = subprocess.run(
        ["curl", "-sS", "--cacert", certificate(server), "-w", "\\n%{http_code} %{http_version}",
         *options, f"https://{host}:{server.port}{path}"],
        input=body, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    body, _, said = done.stdout.rpartition("\n")
    return body, said


def document(id=None):
    return f"/v1/{DATABASE}/documents/tls/{id or uuid.uuid4().hex}".replace("(", "%28").replace(")", "%29")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "tidemark.test"])
def test_a_program_that_trusts_the_certificate_speaks_http_2(encrypted, host):
    options = ["--resolve", f"{host}:{encrypted.port}:127.0.0.1"]
    assert curl(encrypted, "/", *options, host=host) == ("Ok\n", "200 2")
    assert curl(encrypted, "/", "--http1.1", *options, host=host) == ("Ok\n", "200 1.1")


def test_a_program_that_does_not_trust_it_is_warned(encrypted):
    done = subprocess.run(["curl", "-sS", f"https://localhost:{encrypted.port}/"],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 60, "the certificate vouches for itself alone"


@pytest.mark.parametrize("version", ["--http2", "--http1.1"])
def test_documents_are_written_and_read(encrypted, version):
    path = document()
    fields = {"fields": {"t": {"stringValue": "é" * 50_000}}}
    made, said = curl(
        encrypted, path, version, "-X", "PATCH", "-d", "@-", body=json.dumps(fields))
    assert said.startswith("200") and json.loads(made)["fields"] == fields["fields"]
    found, _ = curl(encrypted, path, version)
    assert json.loads(found)["fields"] == fields["fields"]
    assert curl(encrypted, "/", version, "-I")[1].startswith("200")


def test_a_body_that_says_no_length_is_read(encrypted):
    path = document()
    done = subprocess.run(
        ["curl", "-sS", "--cacert", certificate(encrypted), "-X", "PATCH", "-T", "-",
         f"https://localhost:{encrypted.port}{path}"],
        input='{"fields": {"n": {"integerValue": "7"}}}', capture_output=True, text=True, timeout=30)
    assert json.loads(done.stdout)["fields"] == {"n": {"integerValue": "7"}}


def test_a_body_that_is_too_large_is_refused(encrypted, tmp_path):
    large = tmp_path / "large"
    large.write_bytes(b" " * (12 << 20))
    body, said = curl(encrypted, document(), "-X", "PATCH", "--data-binary", f"@{large}")
    assert said == "400 2" and "exceeds the limit" in body
    assert curl(encrypted, "/") == ("Ok\n", "200 2")


def test_everything_else_goes_on_without(encrypted):
    reference = encrypted.client().collection("tls").document()
    reference.set({"n": 1})
    plain = subprocess.run(["curl", "-sS", f"http://{encrypted.host}{document(reference.id)}"],
                           capture_output=True, text=True, timeout=30)
    assert json.loads(plain.stdout)["fields"] == {"n": {"integerValue": "1"}}


def test_grpc_is_told_that_it_goes_without(encrypted):
    credentials = grpc.ssl_channel_credentials(certificate(encrypted).read_bytes())
    with grpc.secure_channel(f"localhost:{encrypted.port}", credentials) as channel:
        call = channel.unary_unary("/google.firestore.v1.Firestore/Commit")
        with pytest.raises(grpc.RpcError) as refused:
            call(b"", timeout=20)
    assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert "without TLS" in refused.value.details()


def test_a_page_of_another_site_is_refused(encrypted):
    body, said = curl(encrypted, "/", "-H", "origin: https://evil.example")
    assert said == "403 2" and "may not call" in body


def channel(server, rpc, *options, **query):
    text = "&".join(f"{name}={value}" for name, value in {"VER": 8, **query}.items())
    return curl(server, f"{SERVICE}/{rpc}/channel?{text}", *options)[0]


def test_a_write_stream_that_shares_its_connection_stays_open(encrypted):
    hello = channel(encrypted, "Write", "--data-urlencode", "count=1", "--data-urlencode", "ofs=0",
                    "--data-urlencode", f"req0___data__={json.dumps({'database': DATABASE})}", RID=1)
    sid = json.loads(hello.split("\n", 1)[1])[0][1][1]
    began = time.monotonic()
    done = subprocess.run(
        ["curl", "-sS", "-N", "--max-time", "5", "--cacert", certificate(encrypted),
         f"https://localhost:{encrypted.port}{SERVICE}/Write/channel"
         f"?VER=8&RID=rpc&SID={sid}&AID=0&CI=0&TYPE=xmlhttp"],
        capture_output=True, text=True, timeout=30)
    assert done.returncode == 28 and time.monotonic() - began > 4, "it was still open"
    assert "streamToken" in done.stdout and "close" not in done.stdout


def test_the_certificate_is_kept_and_its_key_is_the_owner_s(tmp_path):
    server = Server(tmp_path, 0, "--tls", stderr=subprocess.PIPE)
    first = certificate(server).read_bytes()
    key = tmp_path / "tidemark-tls.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    server.stop()
    said = server.process.stderr.read()
    assert f"Created a certificate: {certificate(server)}" in said
    assert f"https://localhost:{server.port} uses the certificate {certificate(server)}" in said
    server = Server(tmp_path, 0, "--tls", stderr=subprocess.PIPE)
    assert certificate(server).read_bytes() == first
    server.stop()
    assert "Created a certificate" not in server.process.stderr.read()
    # A new name or a missing key requires a new certificate.
    server = Server(tmp_path, 0, "--tls", "--allow-host", "tidemark.test")
    second = certificate(server).read_bytes()
    assert second != first
    server.stop()
    key.unlink()
    server = Server(tmp_path, 0, "--tls", "--allow-host", "tidemark.test")
    assert certificate(server).read_bytes() != second
    assert curl(server, "/") == ("Ok\n", "200 2")
    server.stop()


def test_a_certificate_of_one_s_own(tmp_path):
    made, key = tmp_path / "own.crt", tmp_path / "own.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", made,
         "-days", "2", "-subj", "/CN=own", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True)
    server = Server(tmp_path / "data", 0, "--tls-certificate", made, "--tls-key", key)
    done = subprocess.run(
        ["curl", "-sS", "--cacert", made, f"https://localhost:{server.port}/"],
        capture_output=True, text=True, timeout=30)
    assert done.stdout == "Ok\n", done.stderr
    assert not certificate(server).exists()
    server.stop()


@pytest.mark.parametrize("flags, said", [
    (["--tls-certificate", "x"], "need each other"),
    (["--tls-certificate", "x", "--tls-key", "y"], "x and y are not a certificate and its key."),
])
def test_what_is_no_certificate_is_refused(tmp_path, flags, said):
    done = subprocess.run(
        [BINARY, "serve", "--port", "0", "--data", tmp_path, *flags], capture_output=True, text=True,
        timeout=30)
    assert done.returncode != 0 and said in done.stderr


def test_where_there_is_no_certificate_the_connection_is_closed(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as plain:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ssl._create_unverified_context().wrap_socket(plain)
    assert server.client().collection("tls").document("x").get().exists in (True, False)


def test_damaged_handshakes_are_survived(encrypted):
    for start in (b"\x16", b"\x16\x03\x01\x00\x05hello", b"\x16" + os.urandom(2_000)):
        with socket.create_connection(("127.0.0.1", encrypted.port), timeout=20) as plain:
            plain.sendall(start)
            plain.shutdown(socket.SHUT_WR)
            readable, _, _ = select.select([plain], [], [], 20)
            assert readable, "it is closed"
    assert curl(encrypted, "/") == ("Ok\n", "200 2")
