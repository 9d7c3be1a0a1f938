"""Many accounts: reads all pages in constant memory. TIDEMARK_ACCOUNTS=100000 runs the full
size."""

import os
import pathlib
import time

import pytest

from accounts.conftest import Client
from conftest import Server

COUNT = int(os.environ.get("TIDEMARK_ACCOUNTS", "5000"))
OWNER = {"Authorization": "Bearer owner"}


def resident(server):
    """Returns the memory in MiB."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    line = [line for line in status.splitlines() if line.startswith("VmRSS")][0]
    return int(line.split()[1]) / 1024


@pytest.mark.bound(600)
@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="memory is read of /proc")
def test_all_pages_take_no_more_memory_than_one(tmp_path):
    server = Server(tmp_path)
    rest = Client(server)
    base = f"{rest.base}/identitytoolkit.googleapis.com/v1/projects/{rest.project}/accounts:"
    start = time.monotonic()
    for first in range(0, COUNT, 1000):
        users = [{"localId": f"user{number:07}", "email": f"user{number:07}@example.com",
                  "displayName": "Somebody with a name", "createdAt": "1700000000000"}
                 for number in range(first, min(first + 1000, COUNT))]
        response = rest.session.post(
            base + "batchCreate", json={"users": users}, headers=OWNER).json()
        assert "error" not in response, response["error"][:1]
    made = time.monotonic() - start
    seconds = {}
    for name, mask in (("whole", ""), ("ids", "&fields=nextPageToken,users.localId")):
        read_all(rest, base, mask, limit=3)
        before = resident(server)
        start = time.monotonic()
        ids = read_all(rest, base, mask)
        seconds[name] = time.monotonic() - start
        assert ids == [f"user{number:07}" for number in range(COUNT)]
        assert resident(server) - before < 16, "memory grows with the pages"
    print(f"{COUNT} accounts: made in {made:.1f} s, listed whole in {seconds['whole']:.1f} s, "
          f"ids in {seconds['ids']:.1f} s, {resident(server):.0f} MiB")
    server.stop()


def read_all(rest, base, mask, limit=None):
    ids, token, pages = [], "", 0
    while pages != limit:
        page = rest.session.get(
            f"{base}batchGet?maxResults=1000{mask}{token}", headers=OWNER).json()
        ids += [user["localId"] for user in page.get("users", [])]
        pages += 1
        if "nextPageToken" not in page:
            break
        token = "&nextPageToken=" + page["nextPageToken"]
    return ids
