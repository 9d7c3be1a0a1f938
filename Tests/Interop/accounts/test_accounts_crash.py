"""kill -9 during calls: no acknowledged account is lost, and no account is incomplete."""

import os
import random
import signal
import threading
import time

import pytest
import requests

from accounts.conftest import Client
from conftest import Server

ROUNDS = int(os.environ.get("TIDEMARK_KILL_ROUNDS", "4"))


@pytest.mark.bound(60 + ROUNDS * 8)
def test_no_acknowledged_account_is_lost(tmp_path):
    seed = int(os.environ.get("TIDEMARK_KILL_SEED", random.randrange(1 << 32)))
    chance = random.Random(seed)
    acknowledged, deleted, refreshed = {}, set(), {}
    for round_number in range(ROUNDS):
        server = Server(tmp_path)
        check(Client(server), acknowledged, deleted, refreshed, chance)
        stop = threading.Event()
        threads = [
            threading.Thread(target=work, args=(
                server, f"{round_number}-{thread}", stop, acknowledged, deleted, refreshed))
            for thread in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.2 + chance.random())
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        stop.set()
        for thread in threads:
            thread.join()
    server = Server(tmp_path)
    check(Client(server), acknowledged, deleted, refreshed, chance, most=1000)
    server.stop()
    print(f"seed {seed}: {len(acknowledged)} accounts, {len(deleted)} deleted, "
          f"{len(refreshed)} sessions, {ROUNDS} kills")
    assert len(acknowledged) > ROUNDS


def work(server, name, stop, acknowledged, deleted, refreshed):
    rest = Client(server)
    number = 0
    try:
        while not stop.is_set():
            number += 1
            email = f"u{name}-{number}@example.com"
            session = rest.call("signUp", email=email, password="secret-1")
            acknowledged[email] = session["localId"]
            if number % 4 == 0:
                # The account is removed from the list before the request, because a lost answer
                # does not tell if it exists.
                del acknowledged[email]
                rest.call("delete", idToken=session["idToken"])
                deleted.add(email)
            else:
                answer = rest.refresh(session["refreshToken"]).json()
                refreshed[email] = answer["refresh_token"]
    except (requests.RequestException, ValueError):
        pass


def check(rest, acknowledged, deleted, refreshed, chance, most=40):
    """Checks some accounts of each kind: those before the last kill, and random earlier ones."""
    def some(all_of_them):
        ordered = list(all_of_them)
        return ordered[-most:] + chance.sample(ordered, min(most, len(ordered)))

    for email in some(acknowledged):
        session = rest.call("signInWithPassword", email=email, password="secret-1")
        assert session["localId"] == acknowledged[email], email
    for email in some(sorted(deleted)):
        assert rest.refusal("signInWithPassword", email=email, password="secret-1") == \
            "EMAIL_NOT_FOUND"
    for email in some(refreshed):
        if email in acknowledged:
            assert rest.refresh(refreshed[email]).json()["user_id"] == acknowledged[email]
