"""Kills the server with kill -9 under load, many times on the same data, and checks the data
against the answers that clients received.

TIDEMARK_KILL_ROUNDS sets the number of kills (default 20), and TIDEMARK_KILL_SEED the random seed.
"""

import os
import random
import subprocess
import threading
import time
import urllib.request

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from conftest import BINARY, Server

ROUNDS = int(os.environ.get("TIDEMARK_KILL_ROUNDS", "20"))
SEED = int(os.environ.get("TIDEMARK_KILL_SEED", "0")) or random.randrange(1 << 30)
# Versions are dropped almost immediately, so kills also happen during that work.
OPTIONS = ["--history", "1"]


class Writer(threading.Thread):
    """Writes until the server is killed, and records the acknowledged writes and the write under
    way."""

    def __init__(self, server, name, dice):
        super().__init__(daemon=True)
        self.client = server.client(name)
        self.dice = random.Random(dice.random())
        self.told = 0
        self.start()

    def run(self):
        try:
            while True:
                self.step()
                self.told += 1
        except (exceptions.GoogleAPICallError, OSError):
            pass


class Versions(Writer):
    """Writes single documents in sequence, some of them often. Deletes one now and then."""

    def __init__(self, server, dice):
        self.acknowledged, self.under_way = {}, {}
        super().__init__(server, "versions", dice)

    def step(self):
        name = f"items/{self.dice.randrange(40)}"
        fields = {"n": self.dice.random(), "text": "é" * self.dice.randrange(2000)}
        document = self.client.document(name)
        if self.dice.random() < 0.15:
            self.under_way = {name: None}
            document.delete(retry=None, timeout=10)
            self.acknowledged[name] = None
        else:
            self.under_way = {name: fields}
            result = document.set(fields, retry=None, timeout=10)
            self.acknowledged[name] = (fields, result.update_time)
        self.under_way = {}

    def check(self, client):
        for name, told in self.acknowledged.items():
            found = client.document(name).get()
            if name in self.under_way and found.to_dict() == self.under_way[name]:
                continue
            if told is None:
                assert not found.exists, f"{name} was deleted"
            else:
                assert found.to_dict() == told[0], f"{name} is not what was acknowledged"
                assert found.update_time == told[1], f"{name} has another version"


class Wide(Writer):
    """Commits 500 writes together: either all of them have the same stamp, or none has it."""

    def __init__(self, server, dice):
        self.stamp = self.acknowledged = 0
        super().__init__(server, "wide", dice)

    def step(self):
        self.stamp += 1
        batch = self.client.batch()
        for row in range(500):
            batch.set(self.client.document(f"wide/{row}"), {"stamp": self.stamp, "row": row})
        batch.commit(retry=None, timeout=20)
        self.acknowledged = self.stamp

    def check(self, client):
        rows = list(client.collection("wide").stream())
        stamps = {row.get("stamp") for row in rows}
        assert len(stamps) <= 1 and len(rows) in (0, 500), f"half a commit: {len(rows)}, {stamps}"
        assert {row.update_time for row in rows} == {row.update_time for row in rows[:1]}
        # The state of an earlier round remains until the first commit of this round.
        if self.acknowledged:
            assert stamps <= {self.acknowledged, self.acknowledged + 1}, "a commit is lost"


class Counter(Writer):
    """Creates a document and increments a counter in one commit: the counter equals the number of
    documents."""

    def __init__(self, server, dice, total):
        self.total = total
        super().__init__(server, "counter", dice)

    def step(self):
        batch = self.client.batch()
        batch.create(self.client.document(f"log/{self.total + self.told:06}"), {"n": self.told})
        batch.set(self.client.document("state/n"), {"n": firestore.Increment(1)}, merge=True)
        batch.commit(retry=None, timeout=10)

    def check(self, client):
        count = client.collection("log").count().get()[0][0].value
        stored = client.document("state/n").get().to_dict() or {"n": 0}
        assert stored["n"] == count, "a commit was applied by halves, or twice"
        assert self.total + self.told <= count <= self.total + self.told + 1
        return int(count)


class Cleared(Writer):
    """Clears a database in one step, and fills it again with commits of 100 writes."""

    def __init__(self, server, dice):
        self.url = (f"http://127.0.0.1:{server.control_port}/emulator/v1/projects/cleared"
                    "/databases/(default)/documents")
        super().__init__(server, "cleared", dice)

    def step(self):
        batch = self.client.batch()
        for row in range(100):
            batch.set(self.client.document(f"c/{row}"), {"row": row})
        batch.commit(retry=None, timeout=20)
        urllib.request.urlopen(urllib.request.Request(self.url, method="DELETE"), timeout=20)

    def check(self, client):
        rows = len(list(client.collection("c").stream()))
        assert rows in (0, 100), f"half a clear, or half a commit: {rows}"


@pytest.mark.bound(60 + 10 * ROUNDS)
def test_the_server_is_killed_again_and_again(tmp_path):
    dice = random.Random(SEED)
    print(f"TIDEMARK_KILL_SEED={SEED}")
    total = 0
    for turn in range(ROUNDS):
        server = Server(tmp_path, 0, *OPTIONS)
        writers = [Versions(server, dice), Wide(server, dice), Cleared(server, dice),
                   Counter(server, dice, total)]
        begin = time.monotonic()
        wanted = dice.choice([1, 1, 3, 10, 25])
        while writers[3].told < wanted and time.monotonic() < begin + 30:
            assert writers[3].is_alive(), "the server refused a write"
            writers[3].join(0.005)
        writers[3].join(dice.random() * 0.1)
        server.kill()
        for writer in writers:
            writer.join(30)
        if dice.random() < 0.25:
            kill_while_it_starts(tmp_path, dice)
        server = Server(tmp_path, 0, *OPTIONS)
        try:
            for writer, name in zip(writers, ["versions", "wide", "cleared", "counter"]):
                result = writer.check(server.client(name))
            total = result
        except AssertionError as error:
            raise AssertionError(f"round {turn}, TIDEMARK_KILL_SEED={SEED}: {error}") from error
        server.kill()
    assert total >= ROUNDS, "hardly anything was written"


def kill_while_it_starts(data, dice):
    process = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--data", data], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    time.sleep(dice.random() * 0.15)
    process.kill()
    process.wait()
