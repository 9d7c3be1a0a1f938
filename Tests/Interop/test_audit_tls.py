"""The token of a service account is asked for over TLS, and only of a server that the system trusts."""

import http.server
import json
import os
import ssl
import subprocess
import threading
import urllib.parse

import pytest

from conftest import BINARY

# The authorities that URLSession trusts on Debian, in a file that only this path names.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
# A process that sees another file in that place.
ELSEWHERE = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount", "sh", "-euc",
             f'mount --bind "$1" {AUTHORITIES}; shift; exec "$@"', "sh"]


@pytest.fixture
def token_server(tmp_path):
    """A server with a certificate of its own, and the bodies of the requests that it received."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
         certificate, "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    bodies = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(self.rfile.read(int(self.headers["content-length"])).decode())
            text = json.dumps({"error": "invalid_grant", "error_description": "seen"}).encode()
            self.send_response(400)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    class Listener(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            """A client that refuses the certificate is no error of this server."""

    server = Listener(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    account = tmp_path / "account.json"
    account.write_text(json.dumps({
        "type": "service_account", "project_id": "my-app", "private_key_id": "k1",
        "private_key": key.read_text(), "client_email": "audit@my-app.iam.gserviceaccount.com",
        "token_uri": f"https://localhost:{server.server_port}/token"}))
    yield account, certificate, bodies
    server.shutdown()
    server.server_close()


def audit(account, *begin):
    environment = {name: value for name, value in os.environ.items() if "EMULATOR" not in name}
    environment.pop("TIDEMARK_TOKEN", None)
    return subprocess.run(
        [*begin, BINARY, "audit", "orphans"], capture_output=True, text=True, timeout=60,
        env={**environment, "GOOGLE_APPLICATION_CREDENTIALS": str(account)})


def test_the_key_s_signature_goes_to_a_trusted_server(token_server):
    account, certificate, bodies = token_server
    ended = audit(account, *ELSEWHERE, certificate)
    form = urllib.parse.parse_qs(bodies[0])
    assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    assert len(form["assertion"][0].split(".")) == 3
    # The answer of the server is read, too.
    assert ended.returncode == 1 and "invalid_grant: seen" in ended.stderr


def test_no_signature_goes_to_a_server_with_an_unknown_certificate(token_server):
    account, _, bodies = token_server
    ended = audit(account)
    assert ended.returncode == 1 and "certificate" in ended.stderr
    assert bodies == []
