"""Requests that production refuses, with production's texts (recorded in September 2026)."""

import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1 import types

from wire import DATABASE, DOCUMENTS, field_filter, name, query, update

Filter = types.StructuredQuery.Filter


def order(path):
    return [{"field": {"field_path": path}}]


def composite(operator, *filters):
    return Filter(composite_filter={"op": operator, "filters": list(filters)})


def refusal(kind, call, *arguments, **options):
    with pytest.raises(kind) as refused:
        call(*arguments, **options)
    return refused.value


@pytest.mark.parametrize("structured_query, text", [
    (query("a/b"), 'Collection id "a/b" is invalid because it contains "/".'),
    (query("__x__"), 'Collection id "__x__" is invalid because it is reserved.'),
    (query("."), 'Collection id "." is invalid because it is reserved.'),
    (query("x" * 1501), "The query kind is longer than 1500 bytes."),
    (query("c", order_by=order("")), "Invalid empty property path string."),
    (query("c", order_by=order("__x__")), "Invalid reserved name in field path __x__"),
    (query("c", order_by=order("x" * 1501)), "property path is longer than 1500 bytes."),
    (query("c", where=field_filter("a..b", "EQUAL", 1)), 'Invalid property path "a..b".'),
    (query("c", where=field_filter("a[0]", "EQUAL", 1)), "Invalid property path"),
    (query("c", where=composite(
        "AND", field_filter("a", "ARRAY_CONTAINS", 1), field_filter("b", "ARRAY_CONTAINS", 1))),
     "A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction."),
], ids=["slash", "reserved id", "dot", "long id", "empty path", "reserved path", "long path",
        "two dots", "brackets", "two array filters"])
def test_a_query_is_refused_with_productions_text(wire, structured_query, text):
    assert text in refusal(exceptions.InvalidArgument, wire.run, structured_query).message


@pytest.mark.parametrize("structured_query", [
    query("c", where=field_filter("a", "NOT_IN", list(range(11)))),
    query("c", where=field_filter("a", "NOT_IN", [])),
    query("c", where=field_filter("a", "IN", [])),
    query("c", where=field_filter("a", "IN", 1)),
    query("c", where=field_filter("a", "IN", list(range(31)))),
    query("c", where=field_filter("a", "ARRAY_CONTAINS_ANY", list(range(31)))),
    query("c", where=composite("AND", field_filter("a", "IN", list(range(6))),
                               field_filter("b", "IN", list(range(6))))),
    query("c", where=composite("AND", field_filter("a", "NOT_EQUAL", 1),
                               field_filter("b", "NOT_EQUAL", 1))),
    query("c", where=composite("AND", field_filter("a", "NOT_EQUAL", 1),
                               field_filter("a", "NOT_IN", [1]))),
    query("c", where=composite("OR", field_filter("a", "NOT_IN", [1]),
                               field_filter("b", "EQUAL", 1))),
    query("c", where=composite("AND", field_filter("a", "NOT_IN", [1]),
                               field_filter("b", "IN", [1]))),
    query("c", where=composite("AND", *(
        field_filter(f"f{n}", "GREATER_THAN", n) for n in range(11)))),
    query("c", limit=-1), query("c", offset=-1),
    query("c", order_by=order("n"), start_at={"values": [{"integer_value": 1}] * 3}),
    query("c", where=field_filter("__name__", "EQUAL", 1)),
    query("c", where=composite("OPERATOR_UNSPECIFIED", field_filter("a", "EQUAL", 1))),
    query("c", where=field_filter("a", "OPERATOR_UNSPECIFIED", 1)),
], ids=["11 of NOT_IN", "empty NOT_IN", "empty IN", "IN of no list", "31 of IN", "31 of any",
        "36 disjunctions", "two !=", "!= and NOT_IN", "NOT_IN in an OR", "NOT_IN and IN",
        "11 inequalities", "limit", "offset", "long cursor", "name by a number",
        "composite operator",
        "operator"])
def test_a_query_beyond_the_documented_limits_is_refused(wire, structured_query):
    assert refusal(exceptions.InvalidArgument, wire.run, structured_query).message


@pytest.mark.parametrize("structured_query", [
    query("c", where=field_filter("a", "IN", list(range(30)))),
    query("c", where=field_filter("a", "NOT_IN", list(range(10)))),
    query("c", where=composite("AND")),
    query("c", where=composite("AND", *(
        field_filter(f"f{n}", "GREATER_THAN", n) for n in range(10)))),
    query("c", where=composite("OR", *(
        field_filter(f"f{n}", "EQUAL", n) for n in range(30)))),
    query("c", limit=0), query("c", start_at={"values": []}),
    query("c", order_by=order("n"), end_at={"values": [{"string_value": "of another type"}]}),
], ids=["30 of IN", "10 of NOT_IN", "empty composite", "10 inequalities", "30 of OR", "limit 0",
        "empty cursor", "cursor of another type"])
def test_a_query_at_the_limits_is_served(wire, structured_query):
    answers = wire.run(structured_query)
    assert answers and answers[-1].read_time


def test_a_request_without_a_query_is_refused(wire):
    assert "only structured queries are supported" in refusal(
        exceptions.InvalidArgument, lambda: list(wire.run_query(parent=DOCUMENTS))).message
    assert "Only structured aggregation queries are supported." in refusal(
        exceptions.InvalidArgument,
        lambda: list(wire.run_aggregation_query(parent=DOCUMENTS))).message
    assert "Query is required." in refusal(
        exceptions.InvalidArgument, lambda: wire.partition_query(parent=DOCUMENTS)).message


def test_a_parent_that_is_a_collection_is_refused(wire):
    parent = name("c")
    text = f'Document parent name "{parent}" lacks "/" at index {len(parent)}.'
    assert text in refusal(
        exceptions.InvalidArgument, wire.run, query("d"), parent=parent).message
    assert text in refusal(
        exceptions.InvalidArgument, lambda: list(wire.list_collection_ids(parent=parent))).message


def test_a_group_with_a_filter_or_an_order_is_of_the_root_alone(wire):
    below = {"from_": [{"collection_id": "x", "all_descendants": True}]}
    for options in ({"where": field_filter("n", "EQUAL", 1)}, {"order_by": order("n")}):
        refused = refusal(exceptions.InvalidArgument, wire.run,
                          types.StructuredQuery({**below, **options}), parent=name("a/b"))
        assert "collection group queries are only allowed at the root parent" in refused.message


def test_a_query_of_every_collection_is_in_the_order_of_names(wire):
    all_below = {"from_": [{"all_descendants": True}]}
    refused = refusal(exceptions.InvalidArgument, wire.run,
                      types.StructuredQuery({**all_below, "order_by": order("n")}))
    assert "kind is required for all orders except __key__ ascending" in refused.message


def test_a_sum_after_the_name_has_no_index(wire):
    """A limit cuts in the order of the summed field, which must precede the name."""
    query_by_name = query("c", order_by=order("__name__"), limit=5)
    refused = refusal(exceptions.InvalidArgument, lambda: list(wire.run_aggregation_query(
        parent=DOCUMENTS, structured_aggregation_query={
            "structured_query": query_by_name,
            "aggregations": [{"alias": "s", "sum": {"field": {"field_path": "value"}}}]})))
    assert refused.message.startswith(
        "This query requires an index with fields [value] after __name__ and Firestore does not "
        "currently support such an index.")


def test_a_name_of_another_shape_is_refused(wire):
    assert 'Document name "bad/path" lacks "projects" at index 0.' in refusal(
        exceptions.InvalidArgument, wire.get_document, name="bad/path").message


@pytest.mark.parametrize("aggregations, text", [
    ([], "Aggregations can not be empty"),
    ([{}], "Operator field in Aggregation is not set."),
    ([{"alias": "x", "count": {}}] * 2, "Aggregation aliases contain duplicate alias: x."),
    ([{"alias": f"a{n}", "count": {}} for n in range(6)],
     "The maximum number of aggregations allowed in an aggregation query is 5. Received: 6"),
    ([{"count": {"up_to": {"value": -1}}}],
     "The `up_to` value in a COUNT aggregation must be greater than or equal to zero."),
    ([{"sum": {"field": {"field_path": "__x__"}}}], "__x__"),
], ids=["none", "no operator", "duplicate", "six", "negative", "reserved"])
def test_an_aggregation_is_refused_with_productions_text(wire, aggregations, text):
    request = types.RunAggregationQueryRequest.pb(types.RunAggregationQueryRequest(
        parent=DOCUMENTS, structured_aggregation_query={"structured_query": query("c")}))
    for aggregation in aggregations:
        add = request.structured_aggregation_query.aggregations.add()
        add.CopyFrom(aggregation_message(aggregation))
    with pytest.raises(exceptions.InvalidArgument) as refused:
        list(wire.client.run_aggregation_query(
            request=types.RunAggregationQueryRequest.wrap(request), retry=None, timeout=20))
    assert text in refused.value.message


def aggregation_message(python):
    aggregation = types.StructuredAggregationQuery.Aggregation
    up_to = python.get("count", {}).get("up_to")
    message = aggregation.pb(aggregation(
        {key: each for key, each in python.items() if key != "count"}))
    if "count" in python:
        message.count.SetInParent()
        if up_to:
            message.count.up_to.value = up_to["value"]
    return message


def test_a_long_value_is_refused_with_its_field(wire, group):
    """A text or bytes may have at most 1,048,487 bytes."""
    wire.commit_writes(update(f"{group}/a", {"v": "x" * 1_048_487}))
    for too_long in ("x" * 1_048_488, b"x" * 1_048_488):
        refused = refusal(exceptions.InvalidArgument, wire.commit_writes,
                          update(f"{group}/a", {"v": too_long}))
        assert 'The value of property "v" is longer than 1048487 bytes.' in refused.message


def refused_pipeline(wire):
    stages = [{"name": "database"}]
    return refusal(exceptions.FailedPrecondition, lambda: list(wire.execute_pipeline(
        database=DATABASE, structured_pipeline={"pipeline": {"stages": stages}})))


def test_pipelines_are_refused_in_words_that_clients_look_for(wire):
    refused = refused_pipeline(wire)
    assert refused.message.endswith("only allowed on ENTERPRISE mode")


def test_a_pipeline_of_the_client_is_refused(client):
    for pipeline in (client.pipeline().collection("c"), client.pipeline().database()):
        refused = refusal(exceptions.FailedPrecondition, pipeline.execute)
        assert refused.message.startswith("Pipeline Operations are only available for")


def error_info(refused):
    return [detail for detail in refused.details if detail.DESCRIPTOR.name == "ErrorInfo"]


def test_a_refusal_carries_its_reason_as_a_detail(wire):
    """The details are in grpc-status-details-bin, in which Google's clients read them."""
    info = error_info(refused_pipeline(wire))
    assert [(each.reason, each.domain) for each in info] == [
        ("PIPELINE_REQUIRES_ENTERPRISE_EDITION", "firestore.googleapis.com")]
