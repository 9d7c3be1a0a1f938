"""`tidemark audit orphans`: accounts without a profile and profiles without an account."""

import datetime
import http.server
import json
import os
import re
import select
import signal
import subprocess
import threading
import time

import pytest

from accounts.conftest import Client
from conftest import BINARY, Server

OWNER = {"Authorization": "Bearer owner"}
COUNT = int(os.environ.get("TIDEMARK_ACCOUNTS", "3000"))


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data")
    yield server
    server.stop()


def audit(server, *flags):
    result = server.run(
        "audit", "orphans", "--project", "accounts", "--accounts-host",
        f"127.0.0.1:{server.accounts_port}", "--json", *flags)
    return result.returncode, json.loads(result.stdout) if result.stdout else result.stderr


def make_accounts(server, ids, created=1_700_000_000_000):
    rest = Client(server)
    url = f"/identitytoolkit.googleapis.com/v1/projects/{rest.project}/accounts:batchCreate"
    for first in range(0, len(ids), 1000):
        users = [{"localId": uid, "createdAt": str(created)} for uid in ids[first:first + 1000]]
        assert "error" not in rest.post(url, {"users": users}, headers=OWNER).json()


def make_profiles(server, ids):
    client = server.client(project="accounts")
    for first in range(0, len(ids), 500):
        batch = client.batch()
        for uid in ids[first:first + 500]:
            batch.set(client.document("users/" + uid), {"name": "Somebody", "bio": "x" * 50})
        batch.commit()
    return client


def test_both_kinds_are_found_and_reported(server):
    make_accounts(server, ["ann", "bea", "cleo", "dan"])
    client = make_profiles(server, ["bea", "dan", "eve"])
    # A document below a profile is not a profile.
    client.document("users/bea/notes/zoe").set({})
    code, found = audit(server)
    assert code == 2
    assert found["accountsWithoutProfile"] == {"count": 2, "ids": ["ann", "cleo"]}
    assert found["profilesWithoutAccount"] == {"count": 1, "ids": ["eve"]}
    assert (found["accounts"], found["profiles"], found["repaired"]) == (4, 3, 0)
    assert (found["count"], found["userIds"], found["orphans"]) == (2, ["ann", "cleo"], 3)
    detected = datetime.datetime.fromisoformat(found["detectedAt"].replace("Z", "+00:00"))
    report = client.document("admin/orphanedUsers").get().to_dict()
    assert report["count"] == 2 and report["userIds"] == ["ann", "cleo"]
    assert report["orphans"] == 3 and report["ids"] == ["ann", "cleo", "eve"]
    assert abs(report["detectedAt"].timestamp() - time.time()) < 60
    assert int(report["detectedAt"].timestamp()) == int(detected.timestamp())
    # The audit has changed nothing.
    assert client.document("users/eve").get().exists
    assert len(Client(server).session.get(
        f"http://127.0.0.1:{server.accounts_port}/identitytoolkit.googleapis.com/v1/projects/"
        "accounts/accounts:batchGet", headers=OWNER).json()["users"]) == 4


def test_its_count_of_reads_is_the_meter_s(server):
    import urllib.request
    make_accounts(server, ["ann", "bea"])
    make_profiles(server, ["bea", "dan", "eve"])
    _, found = audit(server, "--no-report")
    with urllib.request.urlopen(f"http://127.0.0.1:{server.control_port}/tidemark/v1/meter") as rows:
        billed = {row["label"]: row for row in json.load(rows)}["audit"]
    assert found["reads"] == billed["reads"] and billed["writes"] == 0


def test_nothing_to_find(server):
    make_accounts(server, ["ann"])
    make_profiles(server, ["ann"])
    code, found = audit(server)
    assert code == 0 and found["count"] == 0 and found["orphans"] == 0 and found["userIds"] == []


def test_who_signs_up_just_now_is_no_orphan(server):
    make_accounts(server, ["old"])
    Client(server).call("signUp")
    code, found = audit(server)
    assert found["accountsWithoutProfile"]["ids"] == ["old"] and found["tooYoung"] == 1
    code, found = audit(server, "--grace", "0")
    assert found["accountsWithoutProfile"]["count"] >= 1


def test_repair_does_what_it_is_told_by_name(server):
    make_accounts(server, ["ann", "bea"])
    client = make_profiles(server, ["bea", "eve"])
    code, error = audit(server, "--repair", "everything")
    assert code == 64
    code, found = audit(server, "--repair", "delete-profiles")
    assert (code, found["repaired"]) == (2, 1)
    assert not client.document("users/eve").get().exists
    code, found = audit(server, "--repair", "delete-accounts")
    assert (code, found["repaired"], found["count"]) == (0, 1, 1)
    assert audit(server)[0] == 0


def test_without_a_server_it_fails_and_says_so(server):
    result = server.run(
        "audit", "orphans", "--project", "accounts", "--accounts-host", "127.0.0.1:1")
    assert result.returncode == 1 and "cannot be reached" in result.stderr


class Hook:
    """A chat's webhook on a port of this machine, which stores the posted messages."""

    def __init__(self):
        self.posts = []
        self.status = 204
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                hook.posts.append((self.path, self.headers["content-type"], json.loads(body)))
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def hook():
    hook = Hook()
    yield hook
    hook.server.shutdown()
    hook.server.server_close()


def test_a_webhook_hears_of_findings_alone(server, hook):
    make_accounts(server, ["ann", "bea"])
    client = make_profiles(server, ["bea"])
    code, found = audit(server, "--webhook", hook.address)
    assert code == 2
    [(path, kind, body)] = hook.posts
    assert (path, kind) == ("/hook", "application/json")
    assert body["count"] == 1 and body["userIds"] == ["ann"]
    assert body["profilesWithoutAccount"] == 0
    assert body["detectedAt"] == found["detectedAt"]
    assert body["text"] == "1 accounts without a profile, 0 profiles without an account."
    # A profile without an account is also a finding.
    make_profiles(server, ["ann", "eve"])
    assert audit(server, "--webhook", hook.address)[0] == 2
    assert [body["count"] for _, _, body in hook.posts] == [1, 0]
    assert hook.posts[1][2]["profilesWithoutAccount"] == 1
    client.document("users/eve").delete()
    assert audit(server, "--webhook", hook.address)[0] == 0
    assert len(hook.posts) == 2, "nothing was found"


def test_a_webhook_that_takes_nothing_is_named_and_changes_no_result(server, hook):
    make_accounts(server, ["ann"])
    hook.status = 404
    result = server.run(
        "audit", "orphans", "--project", "accounts", "--accounts-host",
        f"127.0.0.1:{server.accounts_port}", "--json", "--webhook", hook.address)
    assert result.returncode == 2 and json.loads(result.stdout)["userIds"] == ["ann"]
    assert "The webhook rejected the report" in result.stderr
    assert len(hook.posts) == 1, "what is refused is not sent again"


def audit_daily(server, *flags):
    return subprocess.Popen(
        [BINARY, "audit", "orphans", "--project", "accounts", "--accounts-host",
         f"127.0.0.1:{server.accounts_port}", "--host", server.host, *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_daily_says_when_and_stays_until_it_is_told_to_end(server, end):
    process = audit_daily(server, "--daily", "02:00", "--time-zone", "Asia/Tokyo")
    readable, _, _ = select.select([process.stderr], [], [], 30)
    line = process.stderr.readline() if readable else ""
    said = re.search(r"The next audit is at (\S+) \(Asia/Tokyo\)", line)
    assert said, line
    due = datetime.datetime.fromisoformat(said[1])
    assert (due.hour, due.minute, due.utcoffset()) == (2, 0, datetime.timedelta(hours=9))
    left = due - datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta(0) < left <= datetime.timedelta(days=1)
    assert process.poll() is None
    process.send_signal(end)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, ""), "nothing was due"


@pytest.mark.parametrize("flags", [
    ("--daily", "25:00"), ("--daily", "two"), ("--daily", "02:00", "--time-zone", "Nowhere/At_All"),
    ("--time-zone", "Asia/Tokyo"), ("--grace", "-1"), ("--repair",), ("--webhook", "ftp://a/b"),
])
def test_what_is_no_order_is_refused_before_anything_is_read(server, flags):
    process = audit_daily(server, *flags)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 64 and error


def test_a_report_s_place_is_a_document_s(server):
    make_accounts(server, ["ann"])
    for place in ("admin", "admin/..", "/admin/x", "admin//x", "__a__/x/"):
        code, error = audit(server, "--report", place)
        assert code == 64, place
    code, _ = audit(server, "--report", "reports/of/nights/last")
    assert code == 2
    client = server.client(project="accounts")
    assert client.document("reports/of/nights/last").get().get("ids") == ["ann"]
    assert not client.document("admin/orphanedUsers").get().exists


@pytest.mark.bound(600)
def test_many(server):
    ids = [f"user{number:07}" for number in range(COUNT)]
    make_accounts(server, ids)
    make_profiles(server, [uid for number, uid in enumerate(ids) if number % 1000] + ["zoe"])
    start = time.monotonic()
    code, found = audit(server)
    took = time.monotonic() - start
    assert found["accountsWithoutProfile"]["ids"] == ids[::1000]
    assert found["profilesWithoutAccount"]["ids"] == ["zoe"]
    print(f"{COUNT} accounts and about as many profiles: audited in {took:.1f} s, "
          f"{found['reads']} reads")
