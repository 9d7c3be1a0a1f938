"""Kills the client with kill -9 many times on the same cache, and checks the cache against the
client's reports.

TIDEMARK_KILL_ROUNDS sets the number of kills (default 20), and TIDEMARK_KILL_SEED the random seed.
"""

import collections
import os
import queue
import random
import subprocess
import threading
import time

import pytest

from conftest import LAB, Server

ROUNDS = int(os.environ.get("TIDEMARK_KILL_ROUNDS", "20"))
SEED = int(os.environ.get("TIDEMARK_KILL_SEED", "0")) or random.randrange(1 << 30)


class Life:
    """One process of the app, with every line that it has printed."""

    def __init__(self, server, cache, first, count, seed, share=None):
        self.process = subprocess.Popen(
            [LAB, "churn", "--project", "churn", "--cache", cache, "--first", str(first),
             "--count", str(count), "--seed", str(seed)]
            + (["--share", share] if share else []),
            env=dict(os.environ, FIRESTORE_EMULATOR_HOST=server.host), stdout=subprocess.PIPE,
            text=True)
        self.lines = []
        self.news = queue.SimpleQueue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            # A kill can cut off the last line.
            if line.endswith("\n"):
                self.lines.append(line.split())
                self.news.put(self.lines[-1][0])

    def wait_for(self, kind, times, seconds=30):
        """Returns true if a kind of line has appeared this many times."""
        end = time.monotonic() + seconds
        while times > 0:
            if self.process.poll() is not None and self.news.empty():
                return False
            try:
                times -= self.news.get(timeout=0.2) == kind
            except queue.Empty:
                assert time.monotonic() < end, f"no {kind} in {seconds} s"
        return True

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(30)


class Document:
    """The writes that a document certainly contains, and those that it may contain."""

    def __init__(self):
        self.sure, self.perhaps = set(), set()
        # The value is None, "perhaps" or "sure".
        self.deleted = None

    def check(self, found, name, is_settled):
        """The count can be too high until all writes are acknowledged. If the device did not know
        the document, it cannot tell if the server's count already includes the waiting write."""
        if found is None:
            assert self.deleted or not self.sure, f"{name} is lost"
            return
        times, by = found
        assert self.deleted != "sure", f"{name} was deleted"
        is_right = times == len(by) if is_settled else times >= len(by)
        assert is_right, f"{name} counts {times} of the writes {sorted(by)}"
        assert self.sure <= by, f"{name} lacks {sorted(self.sure - by)}"
        assert by <= self.sure | self.perhaps, f"{name} has {sorted(by - self.sure)}"


class Ledger:
    """The app's reports about all its writes, over all its processes."""

    def __init__(self):
        self.documents = collections.defaultdict(Document)
        self.acknowledged = collections.defaultdict(set)
        self.gone = set()
        self.pairs, self.pairs_perhaps = 0, 0
        self.last = 0
        self.said = collections.Counter()

    def take(self, life):
        begun, known = {}, {}
        for line in life.lines:
            self.said[line[0]] += 1
            assert line[0] != "failed", f"the listen failed: {line}"
            if line[0] == "begins":
                begun[line[1]] = known[line[1]] = line[2:]
                self.last = int(line[1])
            elif line[0] == "journalled":
                self.apply(int(line[1]), *begun.pop(line[1]), "sure")
            elif line[0] == "acknowledged":
                kind, name = known[line[1]]
                if kind == "delete":
                    self.gone.add(name)
                else:
                    self.acknowledged[name].add(int(line[1]))
        for number, (kind, name) in begun.items():
            self.apply(int(number), kind, name, "perhaps")

    def apply(self, number, kind, name, certainty):
        document = self.documents[name]
        if kind == "delete":
            document.deleted = certainty
            return
        getattr(document, certainty).add(number)
        if kind == "pair" and certainty == "sure":
            self.pairs += 1
        elif kind == "pair":
            self.pairs_perhaps += 1

    def check(self, found, is_settled):
        """Checks that each journalled write is present once, and that there are no other writes."""
        for name in self.documents.keys() | found.keys():
            self.documents[name].check(found.get(name), name, is_settled)

    def check_acknowledged(self, found):
        for name, numbers in self.acknowledged.items():
            if name not in found:
                assert self.documents[name].deleted, f"{name} was acknowledged, and is lost"
            else:
                assert numbers <= found[name][1], f"{name} lacks what was acknowledged"
        assert not self.gone & found.keys(), "what was deleted, and acknowledged, is there"


def on_server(server):
    rows = server.client("churn").collection("churn").stream()
    return {row.id: (row.get("times"), set(row.get("by"))) for row in rows}


def cached(life):
    """Returns the cached documents that the app was shown before its first write; None if it was
    killed before."""
    if ["cached", "all"] not in life.lines:
        return None
    lines = [line for line in life.lines if line[0] == "cached" and len(line) == 4]
    return {name: contents(*rest) for _, name, *rest in lines}


def contents(times, by):
    return int(times), {int(number) for number in by.split(",")}


def check_shown(life):
    """Checks that a listener never receives a document in a state before a write that it has
    already received."""
    seen = {}
    for line in life.lines:
        if line[0] != "shown":
            continue
        if line[2] == "gone":
            seen.pop(line[1], None)
            continue
        numbers = contents(*line[2:])[1]
        assert seen.get(line[1], set()) <= numbers, f"{line} after {seen[line[1]]}"
        seen[line[1]] = numbers


@pytest.mark.bound(120 + 10 * ROUNDS)
def test_the_client_is_killed_again_and_again(tmp_path):
    dice = random.Random(SEED)
    print(f"TIDEMARK_KILL_SEED={SEED}")
    server = Server(tmp_path / "server")
    cache, ledger, shown = tmp_path / "cache", Ledger(), 0
    for turn in range(ROUNDS):
        life = Life(server, cache, ledger.last + 1, 2000, dice.randrange(1 << 30))
        kind = dice.choice(["journalled", "journalled", "acknowledged", "shown", "start"])
        if kind == "start":
            # The kill comes while the app opens its cache, possibly before its first line.
            life.reader.join(dice.random() * 0.3)
        else:
            life.wait_for(kind, dice.choice([1, 5, 30, 120]))
            life.reader.join(dice.random() * 0.05)
        if dice.random() < 0.3:
            server.kill()
            life.reader.join(dice.random() * 0.2)
            life.kill()
            server = Server(tmp_path / "server", server.port)
        else:
            life.kill()
        try:
            found = cached(life)
            if found is not None:
                shown += 1
                ledger.check(found, is_settled=False)
            check_shown(life)
            ledger.take(life)
            ledger.check_acknowledged(on_server(server))
        except AssertionError as error:
            raise AssertionError(f"round {turn}, TIDEMARK_KILL_SEED={SEED}: {error}") from error

    # The last process writes nothing, and sends the writes of the earlier processes.
    life = Life(server, cache, ledger.last + 1, 0, 0)
    assert life.process.wait(timeout=60) == 0
    life.reader.join(30)
    assert ["sent", "all"] in life.lines
    ledger.check(cached(life), is_settled=False)
    found = on_server(server)
    ledger.check(found, is_settled=True)
    ledger.check_acknowledged(found)
    counter = server.client("churn").document("churn-state/counter").get().to_dict() or {"n": 0}
    assert ledger.pairs <= counter["n"] <= ledger.pairs + ledger.pairs_perhaps
    assert shown > ROUNDS // 2, "the cache was hardly ever looked at"
    assert ledger.said["journalled"] > 10 * ROUNDS, f"hardly anything was written: {ledger.said}"
    print(f"{dict(ledger.said)}, {shown} caches compared, {len(found)} documents at the end")
    server.stop()
