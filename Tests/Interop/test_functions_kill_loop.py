"""Kills the server and the functions with kill -9 among deliveries, many times on the same data.

Each change is delivered at least once, in the order of its document, and a repetition has the id of
the first delivery. After each kill the writers pause, and `triggers:idle` must not answer before the
functions were told of every acknowledged change.

TIDEMARK_KILL_ROUNDS sets the number of kills (default 4), TIDEMARK_KILL_EVENTS the number of changes
for each of them (default 60), TIDEMARK_KILL_DOCUMENTS the number of documents (default 40), and
TIDEMARK_KILL_SEED the random seed.
"""

import os
import random
import threading

import pytest
from google.api_core import exceptions

from conftest import Server
from functions_host import Functions, free_port, idle

ROUNDS = int(os.environ.get("TIDEMARK_KILL_ROUNDS", "4"))
EVENTS = int(os.environ.get("TIDEMARK_KILL_EVENTS", "60"))
ROOMS = int(os.environ.get("TIDEMARK_KILL_DOCUMENTS", "40"))
SEED = int(os.environ.get("TIDEMARK_KILL_SEED", "0")) or random.randrange(1 << 30)
WRITERS = 4


class Writer(threading.Thread):
    """Counts in rooms of its own, until it is told to stop. A write that fails is tried again with
    the same number, so that each number is one change."""

    def __init__(self, server, number):
        super().__init__(daemon=True)
        self.rooms = [f"room{number}-{index}" for index in range(ROOMS // WRITERS)]
        self.counts = {room: 0 for room in self.rooms}
        self.client = server.client()
        self.stopped = threading.Event()
        self.may_write = threading.Event()
        self.may_write.set()
        self.rests = threading.Event()
        self.written = 0
        self.start()

    def run(self):
        while not self.stopped.is_set():
            for room in self.rooms:
                if not self.may_write.is_set():
                    self.rests.set()
                    self.may_write.wait()
                    self.rests.clear()
                self.write(room, self.counts[room] + 1)

    def pause(self):
        """Returns when the writer has no write under way."""
        self.may_write.clear()
        assert self.rests.wait(timeout=60)

    def write(self, room, count):
        while not self.stopped.is_set():
            try:
                self.client.document(f"rooms/{room}").set({"n": count}, retry=None, timeout=10)
                self.counts[room] = count
                self.written += 1
                return
            except exceptions.GoogleAPICallError:
                self.stopped.wait(0.02)


def told_of_everything(server, functions, writers):
    """Pauses the writers, and compares what the functions were told once `triggers:idle` has
    answered."""
    for writer in writers:
        writer.pause()
    counts = {room: count for writer in writers for room, count in writer.counts.items()}
    idle(server)
    told = {}
    for line in functions.told():
        told[line["room"]] = max(told.get(line["room"], 0), line["after"]["n"])
    early = {room: (count, told.get(room, 0)) for room, count in counts.items()
             if told.get(room, 0) < count}
    assert not early, f"idle was early: {early}"
    for writer in writers:
        writer.may_write.set()


@pytest.mark.bound(60 + 30 * ROUNDS + EVENTS * ROUNDS // 20)
def test_deliveries_with_kills_again_and_again(tmp_path):
    print(f"TIDEMARK_KILL_SEED={SEED}")
    dice = random.Random(SEED)
    functions = Functions(tmp_path, "written")
    triggers = functions.triggers()
    port = free_port()
    server = Server(tmp_path, port, "--triggers", triggers)
    functions.start(server.host)
    writers = [Writer(server, number) for number in range(WRITERS)]
    try:
        for round in range(ROUNDS):
            goal = EVENTS * (round + 1)
            while sum(writer.written for writer in writers) < goal:
                threading.Event().wait(0.01)
            victim = dice.choice(["server", "functions", "both"])
            if victim != "functions":
                server.kill()
            if victim != "server":
                functions.kill()
                functions.start(f"127.0.0.1:{port}")
            if victim != "functions":
                server = Server(tmp_path, port, "--triggers", triggers)
            told_of_everything(server, functions, writers)
        for writer in writers:
            writer.stopped.set()
        for writer in writers:
            writer.join(timeout=30)
            assert not writer.is_alive()
        report = idle(server)
        assert report["waiting"] == 0 and report["setAside"] == []
        check(functions.told(), writers)
    finally:
        for writer in writers:
            writer.stopped.set()
            writer.may_write.set()
        server.kill()
        functions.kill()


def check(told, writers):
    counts = {room: count for writer in writers for room, count in writer.counts.items()}
    ids, changes = {}, {}
    for line in told:
        change = (line["room"], line["after"]["n"])
        before = line["before"]["n"] if line["before"] else 0
        assert before == change[1] - 1, line
        assert ids.setdefault(line["id"], change) == change, "an id of two changes"
        assert changes.setdefault(change, line["id"]) == line["id"], "a change with two ids"
    for room, count in counts.items():
        numbers = [line["after"]["n"] for line in told if line["room"] == room]
        newest = list(dict.fromkeys(numbers))
        # The last write can have been applied without an answer.
        assert newest in (list(range(1, count + 1)), list(range(1, count + 2))), (room, count)
        for earlier, later in zip(numbers, numbers[1:]):
            assert later - earlier in (0, 1), f"{room}: {later} after {earlier}"
    print(f"{len(told)} deliveries of {len(changes)} changes, {ROUNDS} kills")
