"""Transactions on the wire: their options, their ends, and the requests that they may not make."""

import datetime

import grpc
import pytest
from google.api_core import exceptions

from wire import DATABASE, DOCUMENTS, fields, name, query, update

EXPIRED = "The referenced transaction has expired or is no longer valid."


def rollback(wire, transaction):
    wire.rollback(database=DATABASE, transaction=transaction)


def test_a_read_only_transaction_sees_one_state(wire, group):
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    transaction = wire.begin(read_only={})
    wire.commit_writes(update(f"{group}/a", {"n": 2}), update(f"{group}/b", {}))
    assert wire.get(f"{group}/a", transaction=transaction).fields == fields({"n": 1})
    assert wire.found(query(group), transaction=transaction) == ["a"]
    wire.commit_writes(transaction=transaction)


def test_a_read_only_transaction_at_a_past_time(wire, group):
    first = wire.commit_writes(update(f"{group}/a", {"n": 1})).commit_time
    wire.commit_writes(update(f"{group}/a", {"n": 2}))
    transaction = wire.begin(read_only={"read_time": first})
    assert wire.get(f"{group}/a", transaction=transaction).fields == fields({"n": 1})
    answer = wire.run(query(group), transaction=transaction)[0]
    assert answer.document.fields == fields({"n": 1})
    listed = wire.list_documents(parent=DOCUMENTS, collection_id=group, transaction=transaction)
    assert [row.fields for row in listed] == [fields({"n": 1})]
    assert count(wire, group, transaction=transaction) == 1


def count(wire, group, **options):
    answers = list(wire.run_aggregation_query(
        parent=DOCUMENTS, structured_aggregation_query={
            "structured_query": query(group), "aggregations": [{"alias": "n", "count": {}}]},
        **options))
    return answers[-1].result.aggregate_fields["n"].integer_value


def test_a_read_time_of_long_ago_begins_nothing(wire):
    past = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    with pytest.raises(exceptions.InvalidArgument):
        wire.begin(read_only={"read_time": past})


def test_a_read_only_transaction_does_not_write(wire, group):
    transaction = wire.begin(read_only={})
    with pytest.raises(exceptions.InvalidArgument,
                       match="Cannot modify entities in a read-only transaction"):
        wire.commit_writes(update(f"{group}/a", {}), transaction=transaction)
    with pytest.raises(exceptions.NotFound):
        wire.get(f"{group}/a")


def test_an_empty_commit_of_a_fresh_read_only_transaction_is_well(wire):
    assert wire.commit_writes(transaction=wire.begin(read_only={})).commit_time


def test_a_read_only_transaction_is_not_retried(wire):
    with pytest.raises(exceptions.InvalidArgument,
                       match="Cannot retry a read-only transaction"):
        wire.begin(read_write={"retry_transaction": wire.begin(read_only={})})


def test_a_transaction_that_has_committed_is_over(wire, group):
    transaction = wire.begin()
    wire.commit_writes(update(f"{group}/a", {}), transaction=transaction)
    for use in (
            lambda: wire.commit_writes(transaction=transaction),
            lambda: wire.get(f"{group}/a", transaction=transaction),
            lambda: rollback(wire, transaction)):
        with pytest.raises(exceptions.Aborted, match=EXPIRED):
            use()


def test_a_rollback_may_come_twice_and_undoes_nothing(wire, group):
    transaction = wire.begin()
    wire.found(query(group), transaction=transaction)
    rollback(wire, transaction)
    rollback(wire, transaction)
    with pytest.raises(exceptions.Aborted, match=EXPIRED):
        wire.commit_writes(update(f"{group}/a", {}), transaction=transaction)


@pytest.mark.parametrize("ending", ["committed", "rolled back"])
def test_a_transaction_that_is_over_may_be_retried(wire, group, ending):
    first = wire.begin()
    if ending == "committed":
        wire.commit_writes(transaction=first)
    else:
        rollback(wire, first)
    second = wire.begin(read_write={"retry_transaction": first})
    assert second != first
    wire.commit_writes(update(f"{group}/a", {"n": 1}), transaction=second)
    assert wire.get(f"{group}/a").fields == fields({"n": 1})


def test_ids_are_not_told_twice(wire):
    ids = [wire.begin() for _ in range(20)]
    assert len(set(ids)) == 20 and all(ids)
    for each in ids:
        rollback(wire, each)


@pytest.mark.parametrize("bad", [b"x", b"\x00" * 64], ids=["short", "long"])
def test_an_id_that_was_never_given_reads_nothing(wire, group, bad):
    with pytest.raises((exceptions.Aborted, exceptions.InvalidArgument)):
        wire.found(query(group), transaction=bad)


def test_a_transaction_belongs_to_its_database(wire, group):
    transaction = wire.begin(database="projects/interop/databases/elsewhere")
    with pytest.raises((exceptions.Aborted, exceptions.InvalidArgument)):
        wire.found(query(group), transaction=transaction)


def test_a_query_begins_a_transaction_and_tells_its_id_first(wire, group):
    wire.commit_writes(update(f"{group}/a", {}))
    answers = wire.run(query(group), new_transaction={"read_write": {}})
    transaction = answers[0].transaction
    assert transaction and "document" not in answers[0]
    assert [a.document.name for a in answers if "document" in a] == [name(f"{group}/a")]
    assert not any(answer.transaction for answer in answers[1:])
    wire.commit_writes(update(f"{group}/b", {}), transaction=transaction)


def test_a_batch_get_begins_a_transaction_and_tells_its_id_with_the_first(wire, group):
    answers = list(wire.batch_get_documents(
        database=DATABASE, documents=[name(f"{group}/a"), name(f"{group}/b")],
        new_transaction={"read_only": {}}))
    ids = [answer.transaction for answer in answers]
    assert ids[0] and not any(ids[1:])
    assert len([answer for answer in answers if "missing" in answer]) == 2
    rollback(wire, ids[0])


def test_an_aggregation_begins_a_transaction(wire, group):
    answers = list(wire.run_aggregation_query(
        parent=DOCUMENTS, new_transaction={"read_only": {}}, structured_aggregation_query={
            "structured_query": query(group), "aggregations": [{"alias": "n", "count": {}}]}))
    ids = [answer.transaction for answer in answers if answer.transaction]
    assert len(ids) == 1
    rollback(wire, ids[0])


def test_writes_in_a_transaction_are_not_seen_before_its_commit(wire, group):
    transaction = wire.begin()
    assert wire.found(query(group), transaction=transaction) == []
    assert wire.found(query(group)) == []
    wire.commit_writes(update(f"{group}/a", {}), transaction=transaction)
    assert wire.found(query(group)) == ["a"]


def test_a_commit_that_fails_its_precondition_ends_the_transaction(wire, group):
    transaction = wire.begin()
    with pytest.raises(exceptions.NotFound):
        wire.commit_writes(
            update(f"{group}/a", {}, current_document={"exists": True}), transaction=transaction)
    rollback(wire, transaction)


def test_an_optimistic_client_needs_no_transaction(wire, group):
    """Mobile clients do this: the version that was read is a precondition of the write."""
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    read = wire.get(f"{group}/a")
    held = {"update_time": read.update_time}
    wire.commit_writes(update(f"{group}/a", {"n": 2}, current_document=held))
    with pytest.raises(exceptions.FailedPrecondition):
        wire.commit_writes(update(f"{group}/a", {"n": 3}, current_document=held))
    with pytest.raises(exceptions.AlreadyExists):
        wire.commit_writes(update(f"{group}/a", {}, current_document={"exists": False}))


def test_pipelines_are_refused_as_a_standard_database_refuses_them(wire):
    pipeline = {"pipeline": {"stages": [{"name": "database"}]}}
    with pytest.raises(exceptions.FailedPrecondition) as refusal:
        list(wire.execute_pipeline(database=DATABASE, structured_pipeline=pipeline))
    assert refusal.value.grpc_status_code == grpc.StatusCode.FAILED_PRECONDITION
    assert refusal.value.message.startswith(
        "Pipeline Operations are only available for Firestore databases in Enterprise edition.")
