"""The asynchronous client: queries, groups, aggregations, vectors, explain, transactions."""

import asyncio

import pytest
from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_aggregation import CountAggregation, SumAggregation
from google.cloud.firestore_v1.base_query import FieldFilter
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.query_profile import ExplainOptions
from google.cloud.firestore_v1.vector import Vector


@pytest.fixture
def rows(async_client, client, group):
    batch = client.batch()
    for number in range(6):
        batch.set(client.collection(group).document(str(number)), {
            "n": number, "odd": number % 2 == 1, "v": Vector([float(number), 0.0])})
    batch.commit()
    return async_client.collection(group)


async def ids(query):
    return "".join([snapshot.id async for snapshot in query.stream()])


@pytest.mark.parametrize("query, expected", [
    (lambda q: q.where(filter=FieldFilter("n", ">", 3)), "45"),
    (lambda q: q.where(filter=FieldFilter("n", "in", [1, 4])).order_by("n"), "14"),
    (lambda q: q.order_by("n", direction="DESCENDING").limit(2), "54"),
    (lambda q: q.order_by("n").offset(4), "45"),
    (lambda q: q.order_by("n").start_at({"n": 4}), "45"),
    (lambda q: q.order_by("n").start_after({"n": 4}), "5"),
    (lambda q: q.order_by("n").end_at({"n": 1}), "01"),
    (lambda q: q.order_by("n").end_before({"n": 1}), "0"),
    (lambda q: q.select(["odd"]).limit(1), "0"),
    (lambda q: q.limit(3), "012"), (lambda q: q.offset(5), "5"),
], ids=range(11))
async def test_queries_of_a_collection_and_of_a_group(async_client, rows, query, expected):
    assert await ids(query(rows)) == expected
    assert await ids(query(async_client.collection_group(rows.id))) == expected


@pytest.mark.parametrize("of", ["collection", "query", "group"])
async def test_every_operation_of_every_kind_of_query(async_client, rows, of):
    def query():
        return {"collection": rows, "query": rows.where(filter=FieldFilter("n", ">=", 0)),
                "group": async_client.collection_group(rows.id)}[of]
    snapshot = await rows.document("3").get()
    assert await ids(query().order_by("n").start_at(snapshot)) == "345"
    assert await ids(query().start_at(snapshot).order_by("n")) == "345"
    assert await ids(query().start_after(snapshot).order_by("n")) == "45"
    assert await ids(query().end_at(snapshot).order_by("n")) == "0123"
    assert await ids(query().end_before(snapshot).order_by("n")) == "012"
    assert "".join(s.id for s in await query().limit_to_last(2).order_by("n").get()) == "45"
    assert "".join(s.id for s in await query().get()) == "012345"
    assert await ids(query().limit(2)) == "01"
    assert await ids(query().offset(4)) == "45"
    assert await ids(query().where(filter=FieldFilter("odd", "==", True))) == "135"
    assert [s.to_dict() async for s in query().select(["odd"]).limit(1).stream()] == [
        {"odd": False}]
    assert (await query().count().get())[0][0].value == 6
    assert (await query().sum("n").get())[0][0].value == 15
    assert (await query().avg("n").get())[0][0].value == 2.5


async def test_recursive_queries(async_client, rows):
    await rows.document("1").collection("below").document("x").set({})
    assert await ids(rows.recursive()) == "01x2345"
    assert await ids(rows.limit(3).recursive()) == "01x"
    assert await ids(async_client.collection_group(rows.id).recursive()) == "01x2345"


async def test_aggregations(rows):
    query = rows.count(alias="all").sum("n", alias="sum").avg("n", alias="mean").count(alias="x")
    query.add_aggregation(CountAggregation(alias="again"))
    values = {result.alias: result.value for result in (await query.get())[0]}
    assert values == {"all": 6, "sum": 15, "mean": 2.5, "x": 6, "again": 6}
    query = rows.count(alias="all")
    query.add_aggregations([SumAggregation("n", alias="sum")])
    streamed = [result async for row in query.stream() for result in row]
    assert {result.alias: result.value for result in streamed} == {"all": 6, "sum": 15}


async def test_six_aggregations_are_refused(rows):
    query = rows.count()
    query.add_aggregations([CountAggregation(alias=str(number)) for number in range(5)])
    with pytest.raises(exceptions.InvalidArgument, match="maximum number of aggregations"):
        await query.get()


def nearest(query, limit=2, **options):
    return query.find_nearest("v", Vector([4.0, 0.0]), limit, DistanceMeasure.EUCLIDEAN, **options)


@pytest.mark.parametrize("of", ["collection", "query", "group"])
async def test_vectors(async_client, rows, of):
    query = {"collection": rows, "query": rows.where(filter=FieldFilter("odd", "==", True)),
             "group": async_client.collection_group(rows.id)}[of]
    expected = "53" if of == "query" else "43"
    found = await nearest(query, distance_result_field="d").get()
    assert sorted(s.id for s in found) == sorted(expected)
    assert found[0].get("d") == (1.0 if of == "query" else 0.0)
    assert sorted(await ids(nearest(query))) == sorted(expected)
    again = nearest(query).find_nearest("v", Vector([0.0, 0.0]), 1, DistanceMeasure.EUCLIDEAN)
    assert await ids(again) == ("1" if of == "query" else "0")


async def test_explain(rows):
    analyze = ExplainOptions(analyze=True)
    results = await rows.order_by("n").limit(2).get(explain_options=analyze)
    stats = results.get_explain_metrics().execution_stats
    assert len(results) == stats.results_returned == stats.read_operations == 2
    stream = rows.order_by("n").stream(explain_options=analyze)
    assert stream.explain_options == analyze
    assert len([snapshot async for snapshot in stream]) == 6
    assert (await stream.get_explain_metrics()).execution_stats.results_returned == 6
    counted = await rows.count().get(explain_options=analyze)
    assert counted.get_explain_metrics().execution_stats.read_operations == 1
    plan = rows.order_by("n").stream(explain_options=ExplainOptions())
    assert (await plan.get_explain_metrics()).plan_summary.indexes_used
    await plan.aclose()


async def test_partitions(async_client, rows):
    parts = [part async for part in async_client.collection_group(rows.id).get_partitions(3)]
    found = [s.id for part in parts async for s in part.query().stream()]
    assert found == list("012345")


async def test_a_transaction(async_client, rows):
    @firestore.async_transactional
    async def run(transaction):
        assert transaction.in_progress and transaction.id
        snapshot = await rows.document("1").get(transaction=transaction)
        found = [s.id async for s in await transaction.get(rows.limit(2))]
        # The client's own get_all in a transaction awaits a generator. So does its get of a
        # document.
        many = [s.id async for s in async_client.get_all(
            [rows.document("2")], transaction=transaction)]
        transaction.update(rows.document("1"), {"n": snapshot.get("n") + 10})
        transaction.create(rows.document("new"), {})
        transaction.set(rows.document("set"), {})
        transaction.delete(rows.document("0"))
        return found, many

    transaction = async_client.transaction()
    assert await run(transaction) == (["0", "1"], ["2"])
    assert (await rows.document("1").get()).get("n") == 11
    assert not (await rows.document("0").get()).exists


async def test_a_transaction_that_fails_writes_nothing(async_client, rows):
    @firestore.async_transactional
    async def run(transaction):
        transaction.set(rows.document("new"), {})
        transaction.create(rows.document("1"), {})

    with pytest.raises(exceptions.AlreadyExists):
        await run(async_client.transaction())
    assert not (await rows.document("new").get()).exists


async def test_a_transaction_that_was_not_begun_commits_as_a_batch(async_client, rows):
    transaction = async_client.transaction()
    transaction.set(rows.document("new"), {"n": 1})
    assert len(await transaction.commit()) == 1
    assert (await rows.document("new").get()).get("n") == 1


async def test_a_read_only_transaction(async_client, rows):
    @firestore.async_transactional
    async def run(transaction):
        before = (await rows.document("1").get(transaction=transaction)).get("n")
        await rows.document("1").set({"n": 100})
        return before, (await rows.document("1").get(transaction=transaction)).get("n")

    assert await run(async_client.transaction(read_only=True)) == (1, 1)


async def test_a_counter_under_contention_misses_nothing(async_client, rows):
    @firestore.async_transactional
    async def increment(transaction):
        snapshot = await rows.document("1").get(transaction=transaction)
        transaction.update(rows.document("1"), {"n": snapshot.get("n") + 1})

    await asyncio.gather(*(
        increment(async_client.transaction(max_attempts=50)) for _ in range(12)))
    assert (await rows.document("1").get()).get("n") == 13
