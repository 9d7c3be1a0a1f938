"""`tidemark audit orphans`: accounts without a profile and profiles without an account."""

import datetime
import json
import os
import re
import select
import signal
import subprocess
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
    # Below a profile: no profile itself.
    client.document("users/bea/notes/zoe").set({})
    code, found = audit(server)
    assert code == 2
    assert found["accountsWithoutProfile"] == {"count": 2, "ids": ["ann", "cleo"]}
    assert found["profilesWithoutAccount"] == {"count": 1, "ids": ["eve"]}
    assert (found["accounts"], found["profiles"], found["repaired"]) == (4, 3, 0)
    report = client.document("admin/orphanedUsers").get().to_dict()
    assert report["count"] == 2 and report["userIds"] == ["ann", "cleo"]
    assert report["orphans"] == 3 and report["ids"] == ["ann", "cleo", "eve"]
    assert abs(report["detectedAt"].timestamp() - time.time()) < 60
    # Nothing was touched.
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
    assert code == 0 and found["count"] == 0


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
    ("--time-zone", "Asia/Tokyo"), ("--grace", "-1"), ("--repair",),
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
