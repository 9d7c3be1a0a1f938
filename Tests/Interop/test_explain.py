"""Explain: the indexes and the cost of a query, either only planned or also run."""

import datetime

import pytest
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.query_profile import ExplainOptions, QueryExplainError
from google.cloud.firestore_v1.vector import Vector

PLAN, ANALYZE = ExplainOptions(analyze=False), ExplainOptions(analyze=True)


@pytest.fixture(scope="module")
def rows(client):
    collection = client.collection("explained")
    for number in range(6):
        collection.document(str(number)).set({
            "a": number, "color": "red" if number % 2 else "blue",
            "embedding": Vector([float(number), 0.0, 0.0])})
    return collection


def check(metrics, results, reads):
    """Checks that a run has all counters, and returns them."""
    stats = metrics.execution_stats
    assert (stats.results_returned, stats.read_operations) == (results, reads)
    assert stats.execution_duration > datetime.timedelta(0)
    assert set(stats.debug_stats) == {
        "billing_details", "documents_scanned", "index_entries_scanned"}
    assert set(stats.debug_stats["billing_details"]) == {
        "documents_billable", "index_entries_billable", "small_ops", "min_query_cost"}
    return stats.debug_stats


def test_a_plan_alone_returns_no_documents(rows):
    query = rows.where(filter=FieldFilter("a", ">", 2))
    results = query.get(explain_options=PLAN)
    assert list(results) == [] and results.explain_options == PLAN
    metrics = results.get_explain_metrics()
    assert metrics.plan_summary.indexes_used == [
        {"query_scope": "Collection", "properties": "(a ASC, __name__ ASC)"}]
    with pytest.raises(QueryExplainError):
        metrics.execution_stats


def test_an_analysis_returns_documents_and_what_they_cost(rows):
    query = rows.where(filter=FieldFilter("a", ">", 2))
    results = query.get(explain_options=ANALYZE)
    assert [snapshot.get("a") for snapshot in results] == [3, 4, 5]
    metrics = results.get_explain_metrics()
    assert metrics.plan_summary.indexes_used[0]["properties"] == "(a ASC, __name__ ASC)"
    stats = check(metrics, 3, 3)
    assert stats["billing_details"]["documents_billable"] == "3"
    assert int(stats["documents_scanned"]) >= 3, "what the run really read"


def test_a_stream_tells_its_cost_at_its_end(rows):
    stream = rows.where(filter=FieldFilter("a", "<", 2)).stream(explain_options=ANALYZE)
    assert stream.explain_options == ANALYZE
    with pytest.raises(QueryExplainError):
        stream.get_explain_metrics()
    assert len(list(stream)) == 2
    check(stream.get_explain_metrics(), 2, 2)


def test_a_stream_of_a_plan_tells_it_at_once(rows):
    stream = rows.order_by("a").stream(explain_options=PLAN)
    plan = stream.get_explain_metrics().plan_summary.indexes_used
    assert plan == [{"query_scope": "Collection", "properties": "(a ASC, __name__ ASC)"}]
    stream.close()


def test_without_options_there_are_no_metrics(rows):
    results = rows.limit(1).get()
    assert results.explain_options is None
    with pytest.raises(QueryExplainError):
        results.get_explain_metrics()
    with pytest.raises(QueryExplainError, match="explain_options not set on query."):
        rows.stream().get_explain_metrics()


def test_an_empty_result_costs_one_read(rows):
    results = rows.where(filter=FieldFilter("a", ">", 100)).get(explain_options=ANALYZE)
    stats = check(results.get_explain_metrics(), 0, 1)
    assert stats["billing_details"]["min_query_cost"] == "1"


def test_skipped_documents_cost_as_returned_ones(rows):
    results = rows.order_by("a").offset(2).limit(3).get(explain_options=ANALYZE)
    check(results.get_explain_metrics(), 3, 5)


def test_a_descending_order_uses_the_descending_index(rows):
    results = rows.order_by("a", direction="DESCENDING").get(explain_options=PLAN)
    assert results.get_explain_metrics().plan_summary.indexes_used == [
        {"query_scope": "Collection", "properties": "(a DESC, __name__ DESC)"}]


def test_a_group_says_its_scope(client, rows):
    results = client.collection_group("explained").get(explain_options=PLAN)
    used = results.get_explain_metrics().plan_summary.indexes_used
    assert [each["query_scope"] for each in used] == ["Collection group"]


def test_an_aggregation_costs_one_read_a_thousand_entries(rows):
    results = rows.count(alias="n").get(explain_options=ANALYZE)
    assert results[0][0].value == 6
    check(results.get_explain_metrics(), 1, 1)
    stream = rows.sum("a").stream(explain_options=ANALYZE)
    assert [row[0].value for row in stream] == [15]
    check(stream.get_explain_metrics(), 1, 1)


def test_a_plan_of_an_aggregation_returns_nothing(rows):
    results = rows.where(filter=FieldFilter("a", ">", 2)).count().get(explain_options=PLAN)
    assert list(results) == []
    assert results.get_explain_metrics().plan_summary.indexes_used == [
        {"query_scope": "Collection", "properties": "(a ASC, __name__ ASC)"}]


def test_a_vector_query_uses_its_vector_index(rows):
    red = rows.where(filter=FieldFilter("color", "==", "red"))
    query = red.find_nearest("embedding", Vector([0.0, 0.0, 0.0]), 2, DistanceMeasure.EUCLIDEAN)
    results = query.get(explain_options=ANALYZE)
    assert [snapshot.get("a") for snapshot in results] == [1, 3]
    metrics = results.get_explain_metrics()
    assert metrics.plan_summary.indexes_used == [{
        "query_scope": "Collection",
        "properties": "(color ASC, __name__ ASC, embedding VECTOR<3>)"}]
    # The bill is one read for every 100 index entries, and one for each document.
    check(metrics, 2, 3)
    stream = query.stream(explain_options=PLAN)
    assert list(stream) == [] and stream.get_explain_metrics().plan_summary.indexes_used


def test_explain_inside_a_transaction(client, rows):
    transaction = client.transaction(read_only=True)
    transaction._begin()
    stream = transaction.get(rows.limit(2), explain_options=ANALYZE)
    assert len(list(stream)) == 2
    assert stream.get_explain_metrics().execution_stats.read_operations == 2
    transaction._rollback()


def test_the_query_of_a_retried_transaction(client, rows):
    @firestore.transactional
    def explain(transaction):
        result = rows.get(transaction=transaction, explain_options=ANALYZE)
        return len(result), result.get_explain_metrics()

    count, metrics = explain(client.transaction())
    assert count == 6
    check(metrics, 6, 6)


async def test_the_async_client_too(async_client, rows):
    query = async_client.collection(rows.id).order_by("a")
    result = await query.get(explain_options=ANALYZE)
    assert len(result) == 6
    check(result.get_explain_metrics(), 6, 6)
