"""Many of Google's Python clients at the same time, each with its own connection, on the same
accounts."""

import concurrent.futures
import random
import time

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from conftest import Server

CLIENTS = 32
ACCOUNTS = 40
TRANSFERS = 5


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """A server on which no call waits long for a lock."""
    server = Server(tmp_path_factory.mktemp("impatient"), 0, "--lock-timeout", "0.5")
    yield server
    server.stop()


def in_parallel(server, work):
    """Runs `work(client, number)` in 32 threads, and returns the results in order."""
    def run(number):
        client = server.client()
        try:
            return work(client, number)
        finally:
            client.close()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(run, range(CLIENTS)))


def test_a_bank_under_32_clients_keeps_its_sum(server, collection):
    accounts = [f"{collection.id}/{number}" for number in range(ACCOUNTS)]
    for account in accounts:
        collection.document(account.split("/")[1]).set({"n": 100})
    attempts = []

    def work(client, number):
        dice = random.Random(number)
        slowest = 0
        for _ in range(TRANSFERS):
            amount = dice.randint(1, 20)
            pair = [client.document(account) for account in dice.sample(accounts, 2)]

            @firestore.transactional
            def transfer(transaction):
                attempts.append(number)
                balances = [one.get(transaction=transaction).get("n") for one in pair]
                transaction.update(pair[0], {"n": balances[0] - amount})
                transaction.update(pair[1], {"n": balances[1] + amount})

            start = time.monotonic()
            transfer(client.transaction(max_attempts=100))
            slowest = max(slowest, time.monotonic() - start)
        return slowest

    start = time.monotonic()
    slowest = max(in_parallel(server, work))
    took = time.monotonic() - start
    done = CLIENTS * TRANSFERS
    print(f"bank: {done} transfers of {CLIENTS} Python clients in {took:.1f} s, "
          f"{done / took:.0f} a second, {len(attempts) - done} attempts aborted, "
          f"slowest transfer {slowest:.2f} s")
    balances = [document.get("n") for document in collection.stream()]
    assert sum(balances) == 100 * ACCOUNTS


def test_the_oldest_always_wins_so_that_as_many_attempts_as_clients_are_enough(server, collection):
    """A retry keeps the age of its first attempt. Each transaction that wins against it began
    earlier and completes."""
    counter = collection.document("counter")
    counter.set({"n": 0})

    def work(client, number):
        document = client.document(counter.path)

        @firestore.transactional
        def increment(transaction):
            n = document.get(transaction=transaction).get("n")
            transaction.update(document, {"n": n + 1})
        increment(client.transaction(max_attempts=CLIENTS))

    in_parallel(server, work)
    assert counter.get().to_dict() == {"n": CLIENTS}


def test_whoever_meets_a_lock_that_stays_is_aborted_in_time(impatient):
    client = impatient.client()
    document = client.document("c/locked")
    document.set({"n": 1})
    holder = client.transaction()
    holder._begin()
    document.get(transaction=holder)

    start = time.monotonic()
    # This call does not retry a plain write.
    with pytest.raises(exceptions.Aborted, match="Too much contention on these documents"):
        document.set({"n": 2}, retry=None)
    waited = time.monotonic() - start
    assert waited >= 0.5

    attempts = []

    @firestore.transactional
    def write(transaction):
        attempts.append(transaction)
        document.get(transaction=transaction)
        transaction.update(document, {"n": 3})

    with pytest.raises(ValueError, match="Failed to commit transaction in 2 attempts"):
        write(client.transaction(max_attempts=2))
    assert len(attempts) == 2
    holder._rollback()
    write(client.transaction(max_attempts=2))
    assert document.get().to_dict() == {"n": 3}
    client.close()
