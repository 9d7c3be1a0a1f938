"""Three processes of one app share a cache and are killed many times: no write is lost, and none is
sent twice.

TIDEMARK_KILL_ROUNDS sets the number of kills (default 20), and TIDEMARK_KILL_SEED the random seed.
"""

import random

import pytest

from conftest import Server
from test_client_kill_loop import (
    Ledger, Life, ROUNDS, SEED, cached, check_shown, on_server)

ROLES = ["app", "helper", "helper"]
# No process makes this many writes. Each process has its own range of numbers and documents.
BLOCK = 100_000


class Processes:
    """The running processes, and the reports of the killed ones."""

    def __init__(self, server, cache, dice):
        self.server, self.cache, self.dice = server, cache, dice
        self.lives, self.ledger, self.started, self.looks = [None] * len(ROLES), Ledger(), 0, 0

    def start_missing(self):
        for index, role in enumerate(ROLES):
            if self.lives[index] is None:
                self.lives[index] = Life(
                    self.server, self.cache, self.started * BLOCK + 1, 100,
                    self.dice.randrange(1 << 30), share=role)
                self.started += 1

    def kill(self, index):
        life, self.lives[index] = self.lives[index], None
        ended = life.process.poll()
        assert ended in (None, 0), f"a process ended by itself with {ended}: {life.lines[-1:]}"
        life.kill()
        check_shown(life)
        self.ledger.take(life)
        return life

    def check_cached(self, life, known):
        """Checks that the cache that a new process finds contains all writes of the processes
        killed before."""
        found = cached(life)
        if found is None:
            return
        self.looks += 1
        for name, document in known.items():
            document.check(found.get(name), name, is_settled=False)


@pytest.mark.bound(120 + 10 * ROUNDS)
def test_processes_of_one_cache_are_killed_again_and_again(tmp_path):
    dice = random.Random(SEED)
    print(f"TIDEMARK_KILL_SEED={SEED}")
    server = Server(tmp_path / "server")
    processes = Processes(server, tmp_path / "cache", dice)
    known = [{} for _ in ROLES]
    for turn in range(ROUNDS):
        for index, life in enumerate(processes.lives):
            if life is None:
                known[index] = dict(processes.ledger.documents)
        processes.start_missing()
        waiting = dice.choice(processes.lives)
        if dice.random() < 0.2:
            waiting.reader.join(dice.random() * 0.3)
        else:
            waiting.wait_for(dice.choice(["journalled", "acknowledged", "shown"]),
                             dice.choice([1, 5, 30]))
        try:
            # Usually one process is killed, sometimes all together.
            count = dice.choice([1, 1, 1, 2, 3])
            for index in dice.sample(range(len(ROLES)), count):
                processes.check_cached(processes.kill(index), known[index])
            processes.ledger.check_acknowledged(on_server(server))
        except AssertionError as error:
            raise AssertionError(f"round {turn}, TIDEMARK_KILL_SEED={SEED}: {error}") from error
    for index, life in enumerate(processes.lives):
        if life is not None:
            processes.kill(index)

    # The last process writes nothing, and sends the writes of the earlier processes.
    life = Life(server, tmp_path / "cache", processes.started * BLOCK, 0, 0, share="app")
    assert life.process.wait(timeout=60) == 0
    life.reader.join(30)
    assert ["sent", "all"] in life.lines
    found = on_server(server)
    ledger = processes.ledger
    ledger.check(found, is_settled=True)
    ledger.check_acknowledged(found)
    counter = server.client("churn").document("churn-state/counter").get().to_dict() or {"n": 0}
    assert ledger.pairs <= counter["n"] <= ledger.pairs + ledger.pairs_perhaps
    assert processes.looks > ROUNDS // 2, "the cache was hardly ever looked at"
    assert ledger.said["journalled"] > 10 * ROUNDS, f"hardly anything was written: {ledger.said}"
    assert ledger.said["acknowledged"] > 3 * ROUNDS, f"hardly anything was sent: {ledger.said}"
    print(f"{processes.started} processes, {dict(ledger.said)}, {processes.looks} caches compared, "
          f"{len(found)} documents at the end")
    server.stop()
