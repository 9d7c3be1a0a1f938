"""What explain says of costs, counter by counter."""

import pytest
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.query_profile import ExplainOptions, QueryExplainError
from google.cloud.firestore_v1.vector import Vector


@pytest.fixture
def rows(collection):
    for number in range(5):
        collection.document(f"d{number}").set({
            "a": number % 2, "b": number, "v": Vector([float(number), 0.0, 1.0])})
    return collection


def check(metrics, results, reads):
    stats = metrics.execution_stats
    assert stats.results_returned == results
    assert stats.read_operations == reads
    assert stats.execution_duration.total_seconds() > 0
    assert set(stats.debug_stats) == {
        "billing_details", "documents_scanned", "index_entries_scanned"}
    assert set(stats.debug_stats["billing_details"]) == {
        "documents_billable", "index_entries_billable", "small_ops", "min_query_cost"}
    return stats.debug_stats


def test_a_plan_alone_has_no_documents_and_no_stats(rows):
    query = rows.where(filter=FieldFilter("a", "==", 1))
    result = query.get(explain_options=ExplainOptions())
    assert list(result) == []
    metrics = result.get_explain_metrics()
    assert metrics.plan_summary.indexes_used == [
        {"query_scope": "Collection", "properties": "(a ASC, __name__ ASC)"}]
    with pytest.raises(QueryExplainError):
        metrics.execution_stats


def test_an_analysis_has_the_documents_and_the_counters(rows):
    query = rows.where(filter=FieldFilter("a", "==", 1))
    result = query.get(explain_options=ExplainOptions(analyze=True))
    assert [document.id for document in result] == ["d1", "d3"]
    stats = check(result.get_explain_metrics(), 2, 2)
    assert stats["billing_details"]["documents_billable"] == "2"


def test_a_stream_tells_when_it_is_read_to_its_end(rows):
    stream = rows.order_by("b").stream(explain_options=ExplainOptions(analyze=True))
    with pytest.raises(QueryExplainError):
        stream.get_explain_metrics()
    assert len(list(stream)) == 5
    check(stream.get_explain_metrics(), 5, 5)
    plain = rows.stream()
    with pytest.raises(QueryExplainError, match="explain_options not set on query."):
        plain.get_explain_metrics()


def test_a_result_of_nothing_is_billed_as_one(collection):
    result = collection.get(explain_options=ExplainOptions(analyze=True))
    assert list(result) == []
    stats = check(result.get_explain_metrics(), 0, 1)
    assert stats["billing_details"]["min_query_cost"] == "1"


def test_aggregations(rows):
    count = rows.where(filter=FieldFilter("a", "==", 1)).count(alias="n")
    plan = count.get(explain_options=ExplainOptions())
    assert plan.get_explain_metrics().plan_summary.indexes_used == [
        {"query_scope": "Collection", "properties": "(a ASC, __name__ ASC)"}]
    result = count.get(explain_options=ExplainOptions(analyze=True))
    assert result[0][0].value == 2
    check(result.get_explain_metrics(), 1, 1)
    total = rows.sum("b", alias="s").get(explain_options=ExplainOptions(analyze=True))
    assert total[0][0].value == 10
    check(total.get_explain_metrics(), 1, 1)


def test_nearest_neighbours(rows):
    nearest = rows.where(filter=FieldFilter("a", "==", 1)).find_nearest(
        "v", Vector([1.0, 0.0, 1.0]), distance_measure=DistanceMeasure.EUCLIDEAN, limit=1)
    plan = nearest.get(explain_options=ExplainOptions())
    assert plan.get_explain_metrics().plan_summary.indexes_used == [
        {"query_scope": "Collection", "properties": "(a ASC, __name__ ASC, v VECTOR<3>)"}]
    result = nearest.get(explain_options=ExplainOptions(analyze=True))
    assert [document.id for document in result] == ["d1"]
    # A read for up to 100 entries of the vector index, and one for the document.
    check(result.get_explain_metrics(), 1, 2)


def test_inside_a_transaction(client, rows):
    @firestore.transactional
    def explain(transaction):
        result = rows.get(transaction=transaction, explain_options=ExplainOptions(analyze=True))
        return len(result), result.get_explain_metrics()

    count, metrics = explain(client.transaction())
    assert count == 5
    check(metrics, 5, 5)


async def test_the_async_client_too(async_client, rows):
    query = async_client.collection(rows.id).order_by("b")
    result = await query.get(explain_options=ExplainOptions(analyze=True))
    assert len(result) == 5
    check(result.get_explain_metrics(), 5, 5)
