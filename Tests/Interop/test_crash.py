"""kill -9 during writes: no acknowledged write is lost, and no write is applied twice."""

import os
import re
import subprocess
import threading
import time

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from conftest import LAB, Server


@pytest.mark.parametrize("kill_after", [1, 40, 150])
def test_the_server_is_killed(tmp_path, kill_after):
    server = Server(tmp_path)
    client = server.client("crash")
    acknowledged = []
    reached = threading.Event()

    def write():
        counter = client.document("state/counter")
        number = 0
        try:
            while True:
                batch = client.batch()
                batch.create(client.document(f"log/{number:06}"), {"number": number})
                batch.set(counter, {"n": firestore.Increment(1)}, merge=True)
                batch.commit(retry=None, timeout=10)
                acknowledged.append(number)
                number += 1
                if number == kill_after:
                    reached.set()
        except exceptions.GoogleAPICallError:
            pass

    writer = threading.Thread(target=write)
    writer.start()
    assert reached.wait(timeout=30)
    server.kill()
    writer.join(timeout=30)

    server = Server(tmp_path)
    client = server.client("crash")
    numbers = [d.get("number") for d in client.collection("log").order_by("number").stream()]
    assert numbers[:len(acknowledged)] == acknowledged, "an acknowledged write is lost"
    assert len(numbers) <= len(acknowledged) + 1, "only the write in flight may be there too"
    assert client.document("state/counter").get().get("n") == len(numbers), \
        "a batch was applied by halves, or twice"
    last = client.collection("log").document(f"{numbers[-1]:06}").get().update_time
    assert client.document("log/after").set({}).update_time > last, "time went back"
    server.stop()


@pytest.mark.parametrize("kill_after", [1, 60, 200])
def test_the_client_is_killed(tmp_path, kill_after):
    server = Server(tmp_path / "server")
    cache = tmp_path / "cache"
    process = pump(server, cache, 100000)
    journalled = read_until_journalled(process, kill_after)
    process.kill()
    for line in process.stdout:
        if match := re.match(r"journalled (\d+)\n", line):
            journalled = int(match[1])
    process.wait()

    # The next process sends the remaining writes, and writes nothing itself.
    assert pump(server, cache, 0).wait(timeout=60) == 0
    assert expect_each_once(server) >= journalled + 1, "a journalled write is lost"
    server.stop()


@pytest.mark.bound(300)
def test_the_server_is_killed_under_a_client(tmp_path):
    """The server is killed many times while it answers. The client finds it on the same port and
    continues."""
    count = 1000
    server = Server(tmp_path / "server")
    process = pump(server, tmp_path / "cache", count)
    end = time.monotonic() + 120
    for applied in [1, 150, 300, 450, 600]:
        counter = server.client("crash").document("log-state/counter")
        while (counter.get().get("n") or 0) < applied:
            assert process.poll() is None, "the client ended before it had sent everything"
            assert time.monotonic() < end, "the client does not go on"
        server.kill()
        server = Server(tmp_path / "server", server.port)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert expect_each_once(server) == count
    server.stop()


def pump(server, cache, count):
    return subprocess.Popen(
        [LAB, "pump", "log", "--project", "crash", "--cache", cache, "--count", str(count)],
        env=dict(os.environ, FIRESTORE_EMULATOR_HOST=server.host), stdout=subprocess.PIPE,
        text=True)


def read_until_journalled(process, number):
    for line in process.stdout:
        if (match := re.match(r"journalled (\d+)", line)) and int(match[1]) >= number:
            return int(match[1])
    raise AssertionError(f"the client ended before {number}")


def expect_each_once(server):
    """Checks that every numbered document was written once, in order, and counted once. Returns
    their number."""
    client = server.client("crash")
    documents = list(client.collection("log").order_by("number").stream())
    numbers = [d.get("number") for d in documents]
    assert numbers == list(range(len(numbers))), "a write is missing, or out of order"
    assert all(d.create_time == d.update_time for d in documents), "a write was applied twice"
    times = [d.create_time for d in documents]
    assert times == sorted(times), "writes were applied out of order"
    assert client.document("log-state/counter").get().get("n") == len(numbers), \
        "an increment was applied twice, or not at all"
    return len(numbers)
