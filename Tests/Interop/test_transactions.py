"""Transactions as Google's client runs them, with one client and with a competing client."""

import concurrent.futures

import pytest
from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter


def test_what_is_read_and_written_is_one_commit(client, collection):
    collection.document("a").set({"n": 1})

    @firestore.transactional
    def run(transaction):
        n = next(iter(transaction.get(collection.document("a")))).get("n")
        transaction.update(collection.document("a"), {"n": n + 1})
        transaction.create(collection.document("b"), {"n": n})
        transaction.set(collection.document("c"), {"n": n})
        transaction.set(collection.document("d"), {"m": {"x": 1}}, merge=True)
        transaction.delete(collection.document("gone"))
        return n

    assert run(client.transaction()) == 1
    snapshots = list(collection.stream())
    assert [s.id for s in snapshots] == ["a", "b", "c", "d"]
    assert len({s.update_time for s in snapshots}) == 1


def test_reads_of_every_kind(client, collection):
    for number in range(3):
        collection.document(str(number)).set({"n": number})
    positive = collection.where(filter=FieldFilter("n", ">", 0))

    @firestore.transactional
    def run(transaction):
        documents = [collection.document("0"), collection.document("9")]
        return (
            [s.exists for s in transaction.get_all(documents)],
            [s.id for s in transaction.get(positive)],
            [s.id for s in positive.get(transaction=transaction)],
            [s.id for s in positive.stream(transaction=transaction)],
            collection.count(alias="n").get(transaction=transaction)[0][0].value,
            documents[0].get(transaction=transaction).to_dict())

    # Missing documents can be at any position.
    exists, *rest = run(client.transaction())
    assert sorted(exists) == [False, True]
    assert rest == [["1", "2"], ["1", "2"], ["1", "2"], 3, {"n": 0}]


def test_the_results_and_the_time_of_the_commit(client, collection):
    transaction = client.transaction()

    @firestore.transactional
    def run(transaction):
        assert transaction.in_progress and transaction.id
        transaction.set(collection.document("a"), {})

    run(transaction)
    assert not transaction.in_progress and transaction.id is None
    assert [r.update_time for r in transaction.write_results] == [transaction.commit_time]
    assert collection.document("a").get().update_time == transaction.commit_time


def test_an_exception_rolls_back(client, collection):
    @firestore.transactional
    def run(transaction):
        collection.document("a").get(transaction=transaction)
        transaction.set(collection.document("a"), {})
        raise LookupError

    with pytest.raises(LookupError):
        run(client.transaction())
    assert not collection.document("a").get().exists
    collection.document("a").set({})


def test_a_failed_precondition_is_told_and_not_retried(client, collection):
    collection.document("a").set({"n": 1})
    runs = []

    @firestore.transactional
    def run(transaction):
        runs.append(1)
        transaction.set(collection.document("b"), {})
        transaction.create(collection.document("a"), {})

    with pytest.raises(exceptions.AlreadyExists):
        run(client.transaction())
    assert len(runs) == 1 and not collection.document("b").get().exists


def test_reading_after_writing_is_refused_by_the_client(client, collection):
    @firestore.transactional
    def run(transaction):
        transaction.set(collection.document("a"), {})
        collection.document("a").get(transaction=transaction)

    with pytest.raises(firestore.ReadAfterWriteError):
        run(client.transaction())


def test_a_read_only_transaction(client, collection):
    collection.document("a").set({"n": 1})

    @firestore.transactional
    def run(transaction):
        first = collection.document("a").get(transaction=transaction).get("n")
        collection.document("a").set({"n": first + 1})
        return first, collection.document("a").get(transaction=transaction).get("n")

    assert run(client.transaction(read_only=True)) == (1, 1)
    with pytest.raises(ValueError):
        client.transaction(read_only=True).set(collection.document("a"), {})


def test_a_transaction_that_was_not_begun_commits_as_a_batch(client, collection):
    """The client's own `commit` then sends no transaction id."""
    transaction = client.transaction()
    transaction.create(collection.document("a"), {"n": 1})
    results = transaction.commit()
    assert collection.document("a").get().update_time == results[0].update_time


def test_a_transaction_is_run_again_when_an_older_one_was_first(client, collection):
    document = collection.document("a")
    document.set({"n": 0})
    rival = client.transaction()
    rival._begin()
    document.get(transaction=rival)
    rival.update(document, {"n": 100})
    seen, waiting = [], []

    @firestore.transactional
    def run(transaction):
        n = document.get(transaction=transaction).get("n")
        seen.append(n)
        if not waiting:
            waiting.append(pool.submit(rival._commit))
        transaction.update(document, {"n": n + 1})

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        run(client.transaction())
        assert waiting[0].result()
    assert seen == [0, 100] and document.get().to_dict() == {"n": 101}


def test_a_transaction_gives_up_after_its_attempts(client, collection):
    document = collection.document("a")
    attempts = []

    @firestore.transactional
    def run(transaction):
        attempts.append(transaction.id)
        # The test rolls the transaction back without the client's knowledge. The commit is ABORTED,
        # which the client retries.
        client._firestore_api.rollback(metadata=client._rpc_metadata, request={
            "database": client._database_string, "transaction": transaction.id})
        transaction.set(document, {})

    with pytest.raises(ValueError, match="Failed to commit transaction in 3 attempts."):
        run(client.transaction(max_attempts=3))
    assert len(set(attempts)) == 3 and not document.get().exists


@pytest.mark.parametrize("merge, expected", [
    (False, {"b": 2}), (True, {"a": 1, "m": {"x": 1}, "b": 2})])
def test_set_in_a_transaction(client, collection, merge, expected):
    collection.document("a").set({"a": 1, "m": {"x": 1}})

    @firestore.transactional
    def run(transaction):
        transaction.set(collection.document("a"), {"b": 2}, merge=merge)

    run(client.transaction())
    assert collection.document("a").get().to_dict() == expected


def test_an_option_in_a_transaction(client, collection):
    time = collection.document("a").set({"n": 1}).update_time

    def run(option):
        @firestore.transactional
        def run(transaction):
            transaction.update(collection.document("a"), {"n": 2}, option=option)
        run(client.transaction())

    run(client.write_option(last_update_time=time))
    with pytest.raises(exceptions.FailedPrecondition):
        run(client.write_option(last_update_time=time))
