"""Reads at a past time: every read that accepts one, and the limit of how old it may be."""

import datetime

import pytest
from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from conftest import Server
from test_control import ask

UTC = datetime.timezone.utc
MICROSECOND = datetime.timedelta(microseconds=1)


@pytest.fixture
def past(client, collection):
    """The time between two states of a collection."""
    client.batch().commit()
    batch = client.batch()
    batch.set(collection.document("a"), {"n": 1})
    batch.set(collection.document("b"), {"n": 2})
    batch.set(collection.document("b").collection("below").document("x"), {})
    time = batch.commit()[0].update_time
    batch = client.batch()
    batch.set(collection.document("a"), {"n": 10})
    batch.delete(collection.document("b"))
    batch.delete(collection.document("b").collection("below").document("x"))
    batch.set(collection.document("c"), {"n": 3})
    batch.set(collection.document("c").collection("later").document("x"), {})
    batch.commit()
    return time


def test_a_document(collection, past):
    document = collection.document("a")
    assert document.get(read_time=past).to_dict() == {"n": 1}
    assert document.get().to_dict() == {"n": 10}
    assert collection.document("b").get(read_time=past).exists
    assert not collection.document("c").get(read_time=past).exists


def test_a_version_is_seen_from_exactly_its_own_time(collection, past):
    document = collection.document("a")
    assert not document.get(read_time=past - MICROSECOND).exists
    changed = document.get().update_time
    assert document.get(read_time=changed - MICROSECOND).to_dict() == {"n": 1}
    assert document.get(read_time=changed).to_dict() == {"n": 10}


def test_the_answer_tells_the_time_it_was_asked_for(collection, past):
    assert collection.document("a").get(read_time=past).read_time == past


def test_many_documents(client, collection, past):
    asked = [collection.document(each) for each in "abc"]
    snapshots = client.get_all(asked, read_time=past)
    assert {s.id: s.to_dict() for s in snapshots} == {"a": {"n": 1}, "b": {"n": 2}, "c": None}


def test_queries(collection, past):
    def query():
        # Each call makes a new query, because limit_to_last permanently reverses the orders of its
        # query.
        return collection.where(filter=FieldFilter("n", ">", 0)).order_by("n")
    assert [s.id for s in query().stream(read_time=past)] == ["a", "b"]
    assert [s.id for s in query().get(read_time=past)] == ["a", "b"]
    assert [s.id for s in query().stream()] == ["c", "a"]
    assert [s.get("n") for s in query().limit_to_last(1).get(read_time=past)] == [2]
    assert [s.id for s in query().start_after({"n": 1}).limit(1).stream(read_time=past)] == ["b"]
    assert len(collection.get(read_time=past)) == len(list(collection.stream(read_time=past))) == 2


def test_groups(client, collection, past):
    def found(**options):
        return [s.reference.path for s in client.collection_group("below").stream(**options)
                if s.reference.path.startswith(collection.id)]
    assert found(read_time=past) == [f"{collection.id}/b/below/x"]
    assert found() == []


def test_aggregations(collection, past):
    query = collection.count(alias="all").sum("n", alias="sum").avg("n", alias="mean")
    def values(**options):
        return {r.alias: r.value for r in query.get(**options)[0]}
    assert values(read_time=past) == {"all": 2, "sum": 3, "mean": 1.5}
    assert values() == {"all": 2, "sum": 13, "mean": 6.5}
    streamed = [r for row in query.stream(read_time=past) for r in row]
    assert {r.alias: r.value for r in streamed} == {"all": 2, "sum": 3, "mean": 1.5}
    assert streamed[0].read_time == past


def test_lists(collection, past):
    assert [d.id for d in collection.list_documents(read_time=past)] == ["a", "b"]
    assert [d.id for d in collection.list_documents()] == ["a", "c"]
    below = collection.document("b")
    assert [c.id for c in below.collections(read_time=past)] == ["below"]
    assert [c.id for c in below.collections()] == []


def test_collections_of_the_database(client, collection, past):
    assert collection.id in [c.id for c in client.collections(read_time=past)]
    assert collection.id not in [c.id for c in client.collections(read_time=past - MICROSECOND)]


def test_inside_a_read_write_transaction(client, collection, past):
    @firestore.transactional
    def read(transaction):
        query = collection.where(filter=FieldFilter("n", ">", 0))
        return [[s.id for s in transaction.get(query, read_time=past)],
                [s.to_dict() for s in transaction.get(collection.document("a"), read_time=past)],
                [s.to_dict() for s in transaction.get_all(
                    [collection.document("b")], read_time=past)]]
    assert read(client.transaction()) == [["a", "b"], [{"n": 1}], [{"n": 2}]]


@pytest.mark.parametrize("read", [
    lambda collection, time: collection.document("a").get(read_time=time),
    lambda collection, time: collection.get(read_time=time),
    lambda collection, time: collection.count().get(read_time=time),
    lambda collection, time: list(collection.list_documents(read_time=time)),
], ids=["document", "query", "aggregation", "list"])
def test_a_time_of_long_ago_is_refused(collection, past, read):
    with pytest.raises(exceptions.InvalidArgument):
        read(collection, datetime.datetime(2020, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("read", [
    lambda collection, time: collection.document("a").get(read_time=time),
    lambda collection, time: collection.get(read_time=time),
], ids=["document", "query"])
def test_a_time_to_come_is_refused(collection, past, read):
    with pytest.raises(exceptions.InvalidArgument):
        read(collection, datetime.datetime.now(UTC) + datetime.timedelta(hours=1))


def test_versions_are_kept_for_an_hour(tmp_path):
    server = Server(tmp_path)
    try:
        document = server.client("history").document("c/a")
        first = document.set({"n": 1}).update_time

        def later(minutes):
            time = first + datetime.timedelta(minutes=minutes)
            microseconds = (time - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND
            assert ask(server, "/tidemark/v1/clock", f'{{"time": {microseconds}}}')[0] == 200

        later(30)
        document.set({"n": 2})
        later(59)
        assert document.get(read_time=first).to_dict() == {"n": 1}
        later(61)
        with pytest.raises((exceptions.InvalidArgument, exceptions.FailedPrecondition)):
            document.get(read_time=first)
        assert document.get(read_time=first + datetime.timedelta(minutes=2)).to_dict() == {"n": 1}
        assert document.get().to_dict() == {"n": 2}
    finally:
        server.stop()
