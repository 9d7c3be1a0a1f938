"""Transactions that compete: which one waits, which one wins, and that no write is lost.

The locks follow recordings of production: readers share a lock, a writer waits for all readers, and
if two transactions wait for each other, the younger is aborted immediately.
"""

import concurrent.futures

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from wire import DATABASE, DOCUMENTS, field_filter, fields, query, update

DEADLOCK = "Aborted due to cross-transaction contention."


@pytest.fixture
def pool():
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        yield pool


@pytest.fixture
def aside(pool, wire, group):
    """Starts a call that must wait, and gives the server time to receive it."""
    def start(call, *arguments, **options):
        future = pool.submit(call, *arguments, **options)
        for _ in range(20):
            wire.found(query(group + "-elsewhere"))
        return future
    return start


def rollback(wire, transaction):
    wire.rollback(database=DATABASE, transaction=transaction)


def committed(wire, *writes, **options):
    return wire.commit_writes(*writes, **options).commit_time


def test_a_plain_write_waits_for_the_reader(wire, group, aside):
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    transaction = wire.begin()
    wire.get(f"{group}/a", transaction=transaction)
    plain = aside(committed, wire, update(f"{group}/a", {"n": 9}))
    assert not plain.done()
    mine = committed(wire, update(f"{group}/a", {"n": 2}), transaction=transaction)
    assert plain.result() > mine
    assert wire.get(f"{group}/a").fields == fields({"n": 9})


def test_a_plain_write_goes_on_when_the_reader_rolls_back(wire, group, aside):
    transaction = wire.begin()
    wire.found(query(group), transaction=transaction)
    plain = aside(committed, wire, update(f"{group}/a", {"n": 9}))
    assert not plain.done()
    rollback(wire, transaction)
    assert plain.result()


def test_a_plain_write_waits_for_every_reader(wire, group, aside):
    readers = [wire.begin() for _ in range(3)]
    for reader in readers:
        wire.found(query(group), transaction=reader)
    plain = aside(committed, wire, update(f"{group}/a", {}))
    for reader in readers:
        assert not plain.done()
        rollback(wire, reader)
    assert plain.result()


def test_a_missing_document_is_locked_too(wire, group, aside):
    transaction = wire.begin()
    with pytest.raises(exceptions.NotFound):
        wire.get(f"{group}/a", transaction=transaction)
    plain = aside(committed, wire, update(f"{group}/a", {"n": 9}))
    mine = committed(wire, update(f"{group}/a", {"n": 1}, current_document={"exists": False}),
                     transaction=transaction)
    assert plain.result() > mine


def test_what_a_query_would_match_is_locked(wire, group, aside):
    """A write that makes a document a result of the query waits. A write to another document does
    not."""
    transaction = wire.begin()
    matching = query(group, where=field_filter("n", "GREATER_THAN", 5))
    assert wire.found(matching, transaction=transaction) == []
    committed(wire, update(f"{group}/outside", {"n": 1}))
    plain = aside(committed, wire, update(f"{group}/inside", {"n": 6}))
    assert not plain.done()
    mine = committed(wire, update(f"{group}/mine", {"n": 7}), transaction=transaction)
    assert plain.result() > mine


def test_a_lock_of_a_query_ignores_its_limit(wire, group, aside):
    wire.commit_writes(*(update(f"{group}/{n}", {"n": n}) for n in range(3)))
    transaction = wire.begin()
    first = query(group, order_by=[{"field": {"field_path": "n"}}], limit=1)
    assert wire.found(first, transaction=transaction) == ["0"]
    plain = aside(committed, wire, update(f"{group}/2", {"n": 20}))
    assert not plain.done()
    mine = committed(wire, update(f"{group}/mine", {}), transaction=transaction)
    assert plain.result() > mine


def test_a_list_in_a_transaction_locks(wire, group, aside):
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    transaction = wire.begin()
    listed = wire.list_documents(parent=DOCUMENTS, collection_id=group, transaction=transaction)
    assert len(list(listed)) == 1
    plain = aside(committed, wire, update(f"{group}/a", {"n": 2}))
    assert not plain.done()
    rollback(wire, transaction)
    assert plain.result()


def test_an_aggregation_in_a_transaction_locks(wire, group, aside):
    transaction = wire.begin()
    list(wire.run_aggregation_query(
        parent=DOCUMENTS, transaction=transaction, structured_aggregation_query={
            "structured_query": query(group), "aggregations": [{"alias": "n", "count": {}}]}))
    plain = aside(committed, wire, update(f"{group}/a", {"n": 2}))
    assert not plain.done()
    rollback(wire, transaction)
    assert plain.result()


def test_other_documents_and_plain_reads_never_wait(wire, group, aside):
    wire.commit_writes(update(f"{group}/a", {"n": 1}), update(f"{group}/b", {"n": 1}))
    transaction = wire.begin()
    wire.get(f"{group}/a", transaction=transaction)
    plain = aside(committed, wire, update(f"{group}/a", {"n": 9}))
    committed(wire, update(f"{group}/b", {"n": 2}))
    assert wire.get(f"{group}/a").fields == fields({"n": 1})
    assert wire.found(query(group)) == ["a", "b"]
    rollback(wire, transaction)
    assert plain.result()


def test_a_read_only_transaction_locks_nothing(wire, group):
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    transaction = wire.begin(read_only={})
    wire.get(f"{group}/a", transaction=transaction)
    committed(wire, update(f"{group}/a", {"n": 2}))
    assert wire.get(f"{group}/a", transaction=transaction).fields == fields({"n": 1})


def two_readers(wire, group):
    """An older and a younger transaction that have both read the same document."""
    wire.commit_writes(update(f"{group}/a", {"n": 0}))
    older, younger = wire.begin(), wire.begin()
    wire.get(f"{group}/a", transaction=older)
    wire.get(f"{group}/a", transaction=younger)
    return older, younger


def test_the_younger_commits_first_and_waits_for_the_older(wire, group, aside):
    older, younger = two_readers(wire, group)
    waiting = aside(committed, wire, update(f"{group}/a", {"n": 2}), transaction=younger)
    assert not waiting.done()
    committed(wire, update(f"{group}/a", {"n": 1}), transaction=older)
    with pytest.raises(exceptions.Aborted, match=DEADLOCK):
        waiting.result()
    assert wire.get(f"{group}/a").fields == fields({"n": 1})


def test_the_older_waits_and_the_younger_is_aborted_at_once(wire, group, aside):
    older, younger = two_readers(wire, group)
    waiting = aside(committed, wire, update(f"{group}/a", {"n": 1}), transaction=older)
    assert not waiting.done()
    with pytest.raises(exceptions.Aborted, match=DEADLOCK):
        committed(wire, update(f"{group}/a", {"n": 2}), transaction=younger)
    assert waiting.result()
    assert wire.get(f"{group}/a").fields == fields({"n": 1})


def test_the_one_that_was_aborted_is_retried_and_sees_the_winner(wire, group, aside):
    older, younger = two_readers(wire, group)
    waiting = aside(committed, wire, update(f"{group}/a", {"n": 1}), transaction=older)
    with pytest.raises(exceptions.Aborted):
        committed(wire, update(f"{group}/a", {"n": 2}), transaction=younger)
    waiting.result()
    again = wire.begin(read_write={"retry_transaction": younger})
    assert wire.get(f"{group}/a", transaction=again).fields == fields({"n": 1})
    committed(wire, update(f"{group}/a", {"n": 2}), transaction=again)


def test_a_retried_transaction_keeps_its_place_in_line(wire, group, aside):
    """The retry has the age of its first attempt. A third transaction that began in between is
    younger."""
    older, younger = two_readers(wire, group)
    waiting = aside(committed, wire, update(f"{group}/a", {"n": 1}), transaction=older)
    with pytest.raises(exceptions.Aborted):
        committed(wire, update(f"{group}/a", {"n": 2}), transaction=younger)
    waiting.result()
    third = wire.begin()
    again = wire.begin(read_write={"retry_transaction": younger})
    for transaction in (third, again):
        wire.get(f"{group}/a", transaction=transaction)
    waiting = aside(committed, wire, update(f"{group}/a", {"n": 3}), transaction=third)
    committed(wire, update(f"{group}/a", {"n": 2}), transaction=again)
    with pytest.raises(exceptions.Aborted, match=DEADLOCK):
        waiting.result()
    assert wire.get(f"{group}/a").fields == fields({"n": 2})


    older, younger = wire.begin(), wire.begin()
    for transaction, document in ((older, "a"), (younger, "b")):
        wire.found(query(f"{group}-{document}"), transaction=transaction)
    waiting = aside(committed, wire, update(f"{group}-b/x", {}), transaction=older)
    with pytest.raises(exceptions.Aborted, match=DEADLOCK):
        committed(wire, update(f"{group}-a/x", {}), transaction=younger)
    assert waiting.result()


def test_a_reader_behind_a_waiting_writer_waits(wire, group, aside):
    """Otherwise, a stream of readers would block the writer forever."""
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    first, second = wire.begin(), wire.begin()
    wire.get(f"{group}/a", transaction=first)
    writer = aside(committed, wire, update(f"{group}/a", {"n": 2}))
    reader = aside(wire.get, f"{group}/a", transaction=second)
    assert not writer.done() and not reader.done()
    rollback(wire, first)
    assert writer.result() and reader.result().fields == fields({"n": 2})
    rollback(wire, second)


def test_two_parallel_creates_have_one_winner(wire, group, pool):
    both = [pool.submit(committed, wire, update(
        f"{group}/a", {"of": each}, current_document={"exists": False})) for each in range(2)]
    errors = [future.exception() for future in both]
    assert [type(error) for error in errors if error] == [exceptions.AlreadyExists]


def test_a_counter_of_four_clients_misses_nothing(server, collection, pool):
    counter = collection.document("counter")
    counter.set({"n": 0})

    @firestore.transactional
    def increment(transaction, document):
        n = document.get(transaction=transaction).get("n")
        transaction.update(document, {"n": n + 1})

    def work():
        client = server.client()
        document = client.document(counter.path)
        for _ in range(10):
            increment(client.transaction(max_attempts=50), document)
        client.close()

    for future in [pool.submit(work) for _ in range(4)]:
        future.result()
    assert counter.get().to_dict() == {"n": 40}


def test_a_set_that_keeps_an_invariant_over_a_query(server, collection, pool):
    """At most three members may join. No transaction can add one between another's count and
    write."""
    def join(number):
        client = server.client()

        @firestore.transactional
        def run(transaction):
            members = list(client.collection(collection.id).stream(transaction=transaction))
            if len(members) < 3:
                transaction.create(client.document(f"{collection.id}/{number}"), {})
            return len(members) < 3
        try:
            return run(client.transaction(max_attempts=50))
        finally:
            client.close()

    joined = list(pool.map(join, range(6)))
    assert sum(joined) == len(list(collection.stream())) == 3
