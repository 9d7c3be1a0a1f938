"""Attacks on each port must be refused, or must have no effect on other clients.

Each test is an attack that once worked. The long forms run with TIDEMARK_ATTACK_HANDSHAKES=10500.
"""

import concurrent.futures
import contextlib
import fcntl
import http.client
import json
import os
import re
import socket
import stat
import subprocess
import threading
import time

import pytest
import requests

from conftest import BINARY, Server

HANDSHAKES = int(os.environ.get("TIDEMARK_ATTACK_HANDSHAKES", 300))
LONG = HANDSHAKES > 10_000
TOKEN = "attackers-do-not-know-this-token"
DOCUMENTS = "/v1/projects/demo/databases/%28default%29/documents"


@contextlib.contextmanager
def serving(folder, *flags, **options):
    folder.mkdir(exist_ok=True)
    server = Server(folder, 0, *flags, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def team(folder, *flags):
    """A server for other machines: it requires a token, and accounts are signed."""
    return serving(folder, "--accounts", "secure", *flags, environment={"TIDEMARK_TOKEN": TOKEN})


def ports(server):
    found = {"firestore": server.port, "control": server.control_port,
             "accounts": server.accounts_port, "requests": server.requests_port,
             "storage": server.storage_port}
    return {name: port for name, port in found.items() if port}


def admin(**headers):
    return {"authorization": f"Bearer {TOKEN}", **headers}


def memory(server, name="VmRSS"):
    """Returns the bytes that the process uses now, or the most that it has used (VmHWM)."""
    status = open(f"/proc/{server.process.pid}/status").read()
    return int(re.search(name + r":\s+(\d+)", status).group(1)) * 1024


def write(server, path, fields, **headers):
    answer = requests.patch(f"http://{server.host}{DOCUMENTS}/{path}", json={"fields": fields},
                            headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text


def raw(port, data, patience=10):
    """Returns the answer of a port to bytes, until the port closes or is silent for the given
    time."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as plain:
        plain.sendall(data)
        answer = b""
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while part := plain.recv(65_536):
                answer += part
        return answer


def head(method, path, length, *headers):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json",
             f"Content-Length: {length}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


# Pages of the console, and of other sites

PAGES = ["/traffic", "/traffic?filter={}", "/cost", "/cost?by=client", "/data", "/query", "/history",
         "/indexes", "/rules", "/accounts", "/places", "/tidemark/v1/meter?by=label,client,target"]


def test_a_long_filter_is_refused(tmp_path):
    with serving(tmp_path) as server:
        url = f"http://127.0.0.1:{server.control_port}/traffic"
        answer = requests.get(url, params={"filter": "a" * 7_000}, timeout=60)
        assert answer.status_code == 400 and "200 bytes" in answer.text
        assert requests.get(url, params={"filter": "a" * 200}, timeout=60).status_code == 200


def test_pages_that_are_hammered_keep_no_call_waiting(tmp_path):
    """Six ask for all pages without a pause, and a good client is answered all the time.

    How long its calls wait at most is measured by `make bench-waits`, with a bar.
    """
    seconds, calls = 3, 1_000
    with serving(tmp_path) as server:
        write(server, "pub/x", {"n": {"integerValue": "1"}})
        good = http.client.HTTPConnection("127.0.0.1", server.port)

        def call():
            good.request("GET", DOCUMENTS + "/pub/x")
            answer = good.getresponse()
            assert answer.status == 200 and answer.read()

        for _ in range(calls):
            call()
        over = threading.Event()

        def hammer(number):
            connection = http.client.HTTPConnection("127.0.0.1", server.control_port)
            done = 0
            while not over.is_set():
                path = PAGES[(number + done) % len(PAGES)].format("pub/" * 49)
                connection.request("GET", path, headers={"accept": "text/html"})
                assert connection.getresponse().read() is not None
                done += 1
            return done

        with concurrent.futures.ThreadPoolExecutor() as pool:
            attackers = [pool.submit(hammer, number) for number in range(6)]
            end, answered = time.monotonic() + seconds, 0
            while time.monotonic() < end:
                call()
                answered += 1
                time.sleep(0.005)
            over.set()
            pages = sum(attacker.result() for attacker in attackers)
        assert pages > 20 and answered > 20, (pages, answered)


def test_pages_of_other_sites_load_nothing(tmp_path):
    with serving(tmp_path, "--storage") as server:
        for port in ports(server).values():
            def status(mode, destination, site="cross-site", **more):
                headers = {"sec-fetch-site": site, "sec-fetch-mode": mode,
                           "sec-fetch-dest": destination, **more}
                return requests.get(f"http://127.0.0.1:{port}/", headers=headers, timeout=60,
                                    allow_redirects=False).status_code
            assert status("no-cors", "image") == 403, port
            assert status("no-cors", "script") == 403, port
            assert status("navigate", "iframe") == 403, port
            assert status("navigate", "document", **{"sec-purpose": "prefetch"}) == 403, port
            # A user may follow a link. The server's own pages and addresses that a user types are
            # also allowed.
            assert status("navigate", "document") != 403, port
            assert status("no-cors", "image", site="same-origin") != 403, port
            assert status("navigate", "document", site="none") != 403, port
            # A page of this machine sends its origin.
            assert status("cors", "empty", origin="http://localhost:3000") != 403, port


# Descriptors

@pytest.mark.bound(120)
def test_a_server_without_descriptors_goes_on_and_exports(tmp_path):
    out = tmp_path / "out"
    with serving(tmp_path, "--storage", "--export-on-exit", out, limits="ulimit -n 160") as server:
        write(server, "pub/x", {"n": {"integerValue": "1"}})
        for name, port in ports(server).items():
            held = []
            for _ in range(220):
                with contextlib.suppress(OSError):
                    plain = socket.create_connection(("127.0.0.1", port), timeout=2)
                    with contextlib.suppress(OSError):
                        plain.sendall(b"GET / HTTP/1.1\r\nHost: 127")
                    held.append(plain)
            assert server.process.poll() is None, f"{name} ended the server"
            # The other ports have their own share of descriptors.
            for other, place in ports(server).items():
                if other != name and other != "requests":
                    url = f"http://127.0.0.1:{place}/"
                    assert requests.get(url, timeout=60).status_code < 500, (name, other)
            for plain in held:
                plain.close()
            deadline = time.monotonic() + 10
            while True:
                with contextlib.suppress(requests.ConnectionError):
                    requests.get(f"http://127.0.0.1:{port}/", timeout=60)
                    break
                assert time.monotonic() < deadline, f"{name} does not come back"
                time.sleep(0.1)
        assert server.process.poll() is None
        server.stop()
        assert server.process.returncode == 0
    assert (out / "firebase-export-metadata.json").exists()


def test_the_soft_limit_of_descriptors_is_raised(tmp_path):
    with serving(tmp_path, limits="ulimit -Sn 256; ulimit -Hn 4096") as server:
        limits = open(f"/proc/{server.process.pid}/limits").read()
        assert re.search(r"Max open files\s+4096\s+4096", limits), limits


# Bodies

@pytest.mark.parametrize("path", [
    f"{DOCUMENTS}:commit", f"{DOCUMENTS}:runQuery", f"{DOCUMENTS}/a/b", "/v1/projects/x",
    "/emulator/v1/projects/demo:securityRules", "/emulator/v1/projects/demo:import",
    "/google.firestore.v1.Firestore/Listen/channel?VER=8&SID=unknown&RID=5",
    "accounts/v1/projects/demo/accounts:batchCreate?key=k", "accounts/v1/projects/demo/accounts",
    "control/_admin/export", "control/import/demo/x", "storage/v0/b/demo.appspot.com/o?name=a",
    "storage/upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&name=a",
    "storage/storage/v1/b",
])
def test_who_calls_is_asked_before_the_body_is_read(tmp_path, path):
    """The answer arrives before any part of the body was sent."""
    with team(tmp_path, "--storage") as server:
        port = server.port
        if not path.startswith("/"):
            name, path = path.split("/", 1)
            port, path = ports(server)[name], "/" + path
            if name == "accounts":
                path = "/identitytoolkit.googleapis.com" + path
        method = "PATCH" if path.endswith("/a/b") else "PUT" if "Rules" in path else "POST"
        with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
            plain.sendall(head(method, path, 900_000))
            answer = plain.recv(65_536)
        assert re.match(rb"HTTP/1.1 (400|401|403|404) ", answer), answer


@pytest.mark.bound(120)
def test_bodies_of_all_callers_have_one_bound(tmp_path):
    """The bodies together stay below the budget although each body alone is allowed. Other calls
    continue."""
    size, count = 10_500_000, 80 if LONG else 45
    with serving(tmp_path) as server:
        write(server, "pub/x", {})
        before, held = memory(server), []
        try:
            for _ in range(count):
                plain = socket.create_connection(("127.0.0.1", server.port), timeout=5)
                plain.sendall(head("POST", f"{DOCUMENTS}:commit", 11_500_000))
                with contextlib.suppress(TimeoutError, ConnectionError):
                    plain.sendall(b" " * size)
                held.append(plain)
            assert memory(server) - before < 330 << 20
            url = f"http://{server.host}{DOCUMENTS}/pub/x"
            assert requests.get(url, timeout=60).status_code == 200
        finally:
            for plain in held:
                plain.close()


# WebChannel

def handshake(server, session, **headers):
    database = "projects/demo/databases/(default)"
    return session.post(
        f"http://{server.host}/google.firestore.v1.Firestore/Listen/channel",
        params={"VER": 8, "database": database, "RID": 1, "CVER": 22, "X-HTTP-Session-Id": "g"},
        data={"count": 1, "ofs": 0, "req0___data__": json.dumps({"database": database})},
        headers=headers, timeout=60)


@pytest.mark.bound(120)
def test_refused_handshakes_keep_nobody_out(tmp_path):
    with team(tmp_path) as server:
        session = requests.Session()
        for _ in range(HANDSHAKES):
            assert handshake(server, session).status_code == 200
        good = handshake(server, session, **admin())
        assert good.status_code == 200
        sid = re.search(r'"c","(\w+)"', good.text).group(1)
        # A caller whose handshake was refused a moment ago still receives the error.
        refused = re.search(r'"c","(\w+)"', handshake(server, session).text).group(1)
        channel = f"http://{server.host}/google.firestore.v1.Firestore/Listen/channel"
        answer = session.get(channel, timeout=60, params={
            "VER": 8, "RID": "rpc", "SID": refused, "AID": 0, "TYPE": "xmlhttp", "CI": 0})
        assert "UNAUTHENTICATED" in answer.text
        # Data from a refused caller are not kept.
        before = memory(server)
        early = {"count": 1, "ofs": 7, "req0___data__": "x" * 5_000_000}
        for _ in range(20):
            one = re.search(r'"c","(\w+)"', handshake(server, session).text).group(1)
            session.post(channel, params={"VER": 8, "RID": 2, "SID": one}, data=early, timeout=60)
        assert memory(server) - before < 40 << 20
        assert session.post(channel, params={"VER": 8, "RID": 2, "SID": sid}, timeout=60,
                            data={"count": 0}).status_code == 200


# Accounts

def test_links_lead_to_the_server_whatever_the_caller_says(tmp_path):
    with team(tmp_path, "--host", "0.0.0.0") as server:
        url = f"http://127.0.0.1:{server.accounts_port}"
        base = url + "/identitytoolkit.googleapis.com/v1"
        requests.post(f"{base}/accounts:signUp?key=k", timeout=60,
                      json={"email": "victim@x.io", "password": "secret-1"})
        for host in ["6.6.6.6", f"6.6.6.6:{server.accounts_port}", "127.0.0.1:1"]:
            answer = requests.post(f"{base}/accounts:sendOobCode?key=k", timeout=60,
                                   headers={"host": host}, json={
                                       "requestType": "PASSWORD_RESET", "email": "victim@x.io"})
            assert answer.status_code == 200, answer.text
            keys = requests.get(url + "/.well-known/openid-configuration", timeout=60,
                                headers={"host": host}).json()
            assert keys["jwks_uri"].startswith(url + "/"), host
        codes = requests.get(f"{url}/emulator/v1/projects/demo/oobCodes", timeout=60,
                             headers=admin()).json()["oobCodes"]
        assert len(codes) >= 1
        for code in codes:
            assert code["oobLink"].startswith(url + "/emulator/action?"), code["oobLink"]


def test_links_have_the_name_that_was_given(tmp_path):
    with team(tmp_path, "--host", "0.0.0.0", "--allow-host", "tidemark.test") as server:
        url = f"http://127.0.0.1:{server.accounts_port}/.well-known/openid-configuration"
        found = requests.get(url, headers={"host": "6.6.6.6"}, timeout=60).json()["jwks_uri"]
        assert found.startswith(f"http://tidemark.test:{server.accounts_port}/")


def test_a_token_of_another_project_is_told_the_option(tmp_path):
    """An app whose key belongs to a project that the server was not told about."""
    with team(tmp_path, "--accounts-project", "demo") as server:
        base = f"http://127.0.0.1:{server.accounts_port}/identitytoolkit.googleapis.com/v1"
        user = requests.post(f"{base}/accounts:signUp?key=of-my-app", timeout=60,
                             json={"email": "ann@x.io", "password": "secret-1"}).json()
        documents = DOCUMENTS.replace("/demo/", "/my-app/")
        answer = requests.get(f"http://{server.host}{documents}/pub/x", timeout=60,
                              headers={"authorization": f"Bearer {user['idToken']}"})
        assert answer.status_code == 401
        for text in (answer.json()["error"]["message"], requests.post(
                f"{base}/projects/my-app/accounts:lookup", timeout=60, headers=admin(),
                json={"idToken": user["idToken"]}).json()["error"]["message"]):
            assert "demo" in text and "my-app" in text and "--accounts-project" in text, text


# Tokens

def test_a_short_token_is_refused_where_others_reach_the_server(tmp_path):
    def start(token):
        return subprocess.run(
            [BINARY, "serve", "--host", "0.0.0.0", "--port", "0", "--memory"], timeout=20,
            capture_output=True, text=True, env=dict(os.environ, TIDEMARK_TOKEN=token))

    for token in ["a", "fifteen-letters"]:
        refused = start(token)
        assert refused.returncode != 0 and "16 characters" in refused.stderr, refused.stderr


def test_tokens_are_not_guessed_by_the_hundred(tmp_path):
    with team(tmp_path) as server:
        url = f"http://127.0.0.1:{server.control_port}/login"

        def login(token):
            return requests.post(url, data={"token": token}, timeout=60, allow_redirects=False)

        began = time.monotonic()
        answers = [login(f"wrong-{number}").status_code for number in range(100)]
        # An address has 20 guesses, and a further one per second.
        judged = 20 + (time.monotonic() - began) + 1
        assert answers[0] == 303 and answers.count(303) <= judged and answers.count(429) > 0

        # A right guess beyond the limit gets the same answer. A second may pass before a guess.
        def is_limited():
            while login("wrong").status_code != 429:
                pass
            return login(TOKEN).status_code == 429
        assert any(is_limited() for _ in range(20))
        # Callers of this machine who send the token as a bearer token are not affected.
        alive = requests.get(f"http://127.0.0.1:{server.control_port}/", headers=admin(), timeout=60)
        assert alive.status_code == 200


def test_the_console_is_used_at_an_address_of_the_network(tmp_path):
    with team(tmp_path, "--host", "0.0.0.0") as server:
        url = f"http://127.0.0.1:{server.control_port}/login"
        host = f"192.168.7.7:{server.control_port}"

        def login(origin):
            return requests.post(url, data={"token": TOKEN}, timeout=60, allow_redirects=False,
                                 headers={"host": host, "origin": origin})

        answer = login(f"http://{host}")
        assert answer.status_code == 303 and "tidemark-session" in answer.headers["set-cookie"]
        for origin in ["http://192.168.7.7", "http://192.168.7.8:80", "null", f"http://evil.{host}"]:
            assert login(origin).status_code == 403, origin


# Files

def modes(folder):
    found = {folder: stat.S_IMODE(folder.stat().st_mode)}
    for path in folder.rglob("*"):
        found[path] = stat.S_IMODE(path.stat().st_mode)
    return found


@pytest.mark.parametrize("mask", ["022", "000"])
def test_exports_are_for_nobody_else(tmp_path, mask):
    out = tmp_path / "out"
    with serving(tmp_path / "data", "--export-on-exit", out, "--accounts", "secure",
                 environment={"TIDEMARK_TOKEN": TOKEN}, limits=f"umask {mask}") as server:
        write(server, "pub/x", {"n": {"integerValue": "1"}}, **admin())
        base = f"http://127.0.0.1:{server.accounts_port}/identitytoolkit.googleapis.com/v1"
        requests.post(f"{base}/accounts:signUp?key=k", timeout=60,
                      json={"email": "a@x.io", "password": "secret-1"})
        server.stop()
    found = modes(out)
    assert any(path.name == "accounts.json" for path in found) and len(found) > 6
    for path, mode in found.items():
        assert mode == (0o700 if path.is_dir() else 0o600), (path, oct(mode))


def test_links_out_of_an_export_are_not_followed(tmp_path):
    out, secret = tmp_path / "out", tmp_path / "secret"
    with serving(tmp_path / "data", "--export-on-exit", out) as server:
        write(server, "pub/x", {})
        server.stop()
    listing = out / "firebase-export-metadata.json"
    secret.write_bytes(listing.read_bytes())
    evil = tmp_path / "evil"
    evil.mkdir()
    for target in [secret, "/dev/zero"]:
        listing.unlink()
        listing.symlink_to(target)
        (evil / "x.overall_export_metadata").unlink(missing_ok=True)
        (evil / "x.overall_export_metadata").symlink_to(target)
        for folder in [out, evil]:
            started = subprocess.run(
                [BINARY, "serve", "--port", "0", "--memory", "--import", folder], timeout=20,
                capture_output=True, text=True)
            assert started.returncode != 0 and "ready" not in started.stdout, (folder, target)


def test_what_a_killed_export_left_is_removed_by_the_next(tmp_path):
    out = tmp_path / "out"
    left = tmp_path / "out.unfinished-0BADCAFE"
    (left / "firestore_export").mkdir(parents=True)
    busy = tmp_path / "out.unfinished-00000001"
    busy.mkdir()
    for folder in (left, busy):
        os.utime(folder, (time.time() - 600, time.time() - 600))
    mark = os.open(busy, os.O_RDONLY)
    fcntl.flock(mark, fcntl.LOCK_EX)
    with serving(tmp_path / "data", "--export-on-exit", out) as server:
        write(server, "pub/x", {})
        server.stop()
    assert not left.exists(), "all data lies in a folder that nobody knows of"
    assert busy.exists(), "somebody writes it"
    assert (out / "firebase-export-metadata.json").exists()
    os.close(mark)


def test_a_start_says_what_a_killed_import_left(tmp_path):
    out, data = tmp_path / "out", tmp_path / "data"
    with serving(tmp_path / "first", "--export-on-exit", out) as server:
        for start in range(0, 3_000, 500):
            writes = [{"update": {"name": f"projects/demo/databases/(default)/documents/pub/{n}"}}
                      for n in range(start, start + 500)]
            assert requests.post(f"http://{server.host}{DOCUMENTS}:commit", timeout=30,
                                 json={"writes": writes}).status_code == 200
        server.stop()
    data.mkdir()
    importing = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--data", data, "--import", out],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (data / "import-unfinished").exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    importing.kill()
    importing.wait()

    def says(*flags):
        with open(tmp_path / "said", "w+") as said:
            with serving(data, *flags, stderr=said):
                pass
            said.seek(0)
            return said.read()

    assert f"an import of {out} ended early" in says()
    assert "imported 3000 documents" in says("--import", out)
    assert "ended early" not in says()


# Pages

def test_a_paste_stops_where_it_is_too_long(tmp_path):
    with serving(tmp_path) as server:
        url = f"http://127.0.0.1:{server.control_port}/import/demo/(default)/pub"
        for text in ["a\n" + "x\n" * 1_000_000, '{"a":1}\n' * 200_000]:
            answer = requests.post(url, json={"text": text}, timeout=20)
            assert answer.status_code == 400 and "10000" in answer.text


def test_pages_are_held_to_the_same_on_each_port(tmp_path):
    rules = tmp_path / "firestore.rules"
    rules.write_text("service cloud.firestore { match /databases/{d}/documents { } }")
    with serving(tmp_path / "data", "--rules", rules) as server:
        path = "/emulator/v1/projects/demo:ruleCoverage.html"
        for port in (server.port, server.control_port):
            answer = requests.get(f"http://127.0.0.1:{port}{path}", timeout=60)
            assert answer.status_code == 200
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        control = f"http://127.0.0.1:{server.control_port}"
        for path in ["/tidemark/v1/meter", "/nothing-here"]:
            assert requests.get(control + path, timeout=60).headers["cache-control"] == "no-store"
        page = requests.get(control + "/data", headers={"accept": "text/html"}, timeout=60)
        assert page.headers["cross-origin-opener-policy"] == "same-origin"


# Rules

@contextlib.contextmanager
def under_blocks(folder, count):
    """A server whose rules try so many allows for each document."""
    folder.mkdir(exist_ok=True)
    rules = folder / "firestore.rules"
    blocks = " ".join(["match /{p=**} { allow read, write: if false; }"] * count)
    rules.write_text("rules_version = '2'; service cloud.firestore { "
                     "match /databases/{d}/documents { %s } }" % blocks)
    with serving(folder / "data", "--rules", rules) as server:
        yield server


def commit_of_500(server):
    name = "projects/demo/databases/(default)/documents/pub/%d"
    writes = [{"update": {"name": name % number}} for number in range(500)]
    return requests.post(f"http://{server.host}{DOCUMENTS}:commit", json={"writes": writes},
                         timeout=60)


def test_a_refusal_by_thousands_of_blocks_is_short(tmp_path):
    with under_blocks(tmp_path, 1_000) as server:
        answer = requests.get(f"http://{server.host}{DOCUMENTS}/a/b", timeout=30)
        assert answer.status_code == 403
        message = answer.json()["error"]["message"]
        assert "980 more did not allow it." in message and len(message) < 2_000
        assert commit_of_500(server).status_code == 403


@pytest.mark.times
def test_rules_of_5000_blocks_take_no_second(tmp_path):
    """Of a release build: a read, a query and a commit, each below a tenth of a second."""
    assert "release" in str(BINARY)
    query = {"structuredQuery": {"from": [{"collectionId": "a"}]}}
    with under_blocks(tmp_path, 5_000) as server:
        url = f"http://{server.host}{DOCUMENTS}"
        for ask in (lambda: requests.get(f"{url}/a/b", timeout=60),
                    lambda: requests.get(f"{url}/{'/'.join('ab' * 20)}", timeout=60),
                    lambda: requests.post(f"{url}:runQuery", json=query, timeout=60),
                    lambda: commit_of_500(server)):
            began = time.monotonic()
            assert ask().status_code == 403
            assert time.monotonic() - began < 0.1


# Slow connections

@pytest.mark.bound(300)
def test_every_port_closes_what_says_nothing(tmp_path):
    """Bytes that drip do not help: a head has 30 s, a body 60 s, a connection that asks nothing 120 s.

    The long form waits for these; the short one for a thirtieth of them.
    """
    scale = 1 if LONG else 1 / 30
    with serving(tmp_path, "--storage", "--patience", scale) as server:
        held = []
        for name, port in ports(server).items():
            for kind, data in [("silent", b""), ("half a head", b"GET / HTTP/1.1\r\nHost: 127"),
                               ("half a body", head("POST", "/login", 1_000) + b"x")]:
                if name == "requests" and kind == "half a body":
                    continue
                began = time.monotonic()
                plain = socket.create_connection(("127.0.0.1", port), timeout=5)
                plain.sendall(data)
                held.append((name, kind, plain, began))
        deadline = time.monotonic() + 135 * scale + 10
        while held and time.monotonic() < deadline:
            for entry in list(held):
                name, kind, plain, began = entry
                plain.settimeout(0.01)
                try:
                    if kind != "silent":
                        plain.sendall(b"x")
                    if plain.recv(65_536):
                        continue
                except TimeoutError:
                    continue
                except OSError:
                    pass
                assert time.monotonic() - began > 20 * scale, (name, kind, "it is too soon")
                held.remove(entry)
            time.sleep(scale)
        assert not held, [entry[:2] for entry in held]
