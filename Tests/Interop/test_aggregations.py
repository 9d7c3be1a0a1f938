"""Aggregations: counts and sums, the types of numbers, their bounds, and their names."""

import pytest
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.base_aggregation import (
    AvgAggregation,
    CountAggregation,
    SumAggregation,
)
from google.cloud.firestore_v1.base_query import FieldFilter

from wire import DOCUMENTS, query, update, value


@pytest.fixture(scope="module")
def rows(client):
    """Six documents: four numbers, one text, and one document without the field."""
    collection = client.collection("aggregated")
    for name, fields in {
            "a": {"n": 1}, "b": {"n": 2}, "c": {"n": 3.5}, "d": {"n": 4}, "e": {"n": "text"},
            "f": {"other": 1}}.items():
        collection.document(name).set(fields)
    return collection


def values(aggregation):
    return {result.alias: result.value for result in aggregation.get()[0]}


def test_count_sum_and_average(rows):
    assert values(rows.count()) == {"field_1": 6}
    assert values(rows.sum("n")) == {"field_1": 10.5}
    assert values(rows.avg("n")) == {"field_1": 2.625}


def test_unnamed_ones_are_numbered_by_themselves(rows):
    query = rows.count(alias="named").sum("n").avg("n")
    assert set(values(query)) == {"named", "field_1", "field_2"}


def test_beside_a_sum_a_count_leaves_out_what_lacks_the_field(rows):
    """A document whose field is not a number still counts."""
    assert values(rows.count(alias="all").sum("n", alias="sum"))["all"] == 5
    assert values(rows.count(alias="all").sum("n", alias="s").sum("other", alias="o"))["all"] == 0


def test_aggregations_may_be_added_one_by_one_or_as_a_list(rows):
    query = rows.count(alias="all")
    query.add_aggregation(SumAggregation("n", alias="sum"))
    query.add_aggregations([AvgAggregation("n", alias="mean"), CountAggregation(alias="again")])
    assert values(query) == {"all": 5, "sum": 10.5, "mean": 2.625, "again": 5}


def test_an_aggregation_of_every_kind_of_query(client, rows):
    ordered = rows.order_by("n")
    assert values(ordered.count())["field_1"] == 5
    assert values(ordered.limit(2).sum("n"))["field_1"] == 3
    assert values(ordered.offset(1).limit(2).avg("n"))["field_1"] == 2.75
    assert values(ordered.start_at({"n": 3}).count())["field_1"] == 3
    assert values(ordered.end_before({"n": 3}).count())["field_1"] == 2
    assert values(rows.where(filter=FieldFilter("n", ">", 1)).count())["field_1"] == 3
    assert values(client.collection_group("aggregated").count())["field_1"] == 6
    assert values(client.collection_group("aggregated").sum("n"))["field_1"] == 10.5
    assert values(client.collection_group("aggregated").avg("n"))["field_1"] == 2.625
    assert values(rows.select(["n"]).count())["field_1"] == 6


def test_a_stream_of_one_result(rows):
    results = list(rows.count(alias="all").stream())
    assert [[(each.alias, each.value) for each in row] for row in results] == [[("all", 6)]]
    assert results[0][0].read_time


def test_the_chain_of_an_aggregation_query(rows):
    query = rows.order_by("n").count(alias="c").count(alias="d").sum("n", alias="s").avg(
        "n", alias="a")
    assert values(query) == {"c": 5, "d": 5, "s": 10.5, "a": 2.625}


def aggregate(wire, group, *aggregations, **options):
    answer = list(wire.run_aggregation_query(
        parent=DOCUMENTS, structured_aggregation_query={
            "structured_query": query(group, **options), "aggregations": list(aggregations)}))[-1]
    return dict(answer.result.aggregate_fields)


SUM = {"alias": "x", "sum": {"field": {"field_path": "n"}}}
AVG = {"alias": "x", "avg": {"field": {"field_path": "n"}}}


@pytest.mark.parametrize("numbers, total, mean", [
    ([], 0, None), (["text"], 0, None), ([1, 2], 3, 1.5), ([1, 2.0], 3.0, 1.5),
    ([2**63 - 1, 1, -101], 2**63 - 101, None), ([2**63 - 1, 1], float(2**63), None),
    ([-(2**63), -1], float(-(2**63)), None), ([float("inf"), 1], float("inf"), float("inf")),
    ([0.1, 0.2], 0.1 + 0.2, (0.1 + 0.2) / 2),
], ids=["nothing", "no number", "integers", "mixed", "sum passes the bound and returns", "overflow",
        "underflow", "infinity", "doubles"])
def test_kinds_of_sums_and_averages(wire, group, numbers, total, mean):
    if numbers:
        wire.commit_writes(*(update(f"{group}/{place}", {"n": number})
                             for place, number in enumerate(numbers)))
    assert aggregate(wire, group, SUM) == {"x": value(total)}
    if mean is not None or not numbers:
        assert aggregate(wire, group, AVG) == {"x": value(mean)}


def test_nan_spreads(wire, group):
    wire.commit_writes(update(f"{group}/a", {"n": 1}), update(f"{group}/b", {"n": float("nan")}))
    total, mean = (aggregate(wire, group, each)["x"].double_value for each in (SUM, AVG))
    assert total != total and mean != mean


def test_an_average_is_always_a_double(wire, group):
    wire.commit_writes(update(f"{group}/a", {"n": 2}))
    assert aggregate(wire, group, AVG) == {"x": value(2.0)}


def test_a_count_stops_at_its_bound(wire, group):
    wire.commit_writes(*(update(f"{group}/{n}", {}) for n in range(5)))
    assert [count(wire, group, bound)[1] for bound in (3, 5, 9)] == [3, 5, 5]


def test_a_count_of_at_most_0_reads_nothing(wire, group):
    """Such a count also reads no clock: its read time is a microsecond before 1970."""
    nothing, number = count(wire, group, 0)
    assert number == 0
    time = types.RunAggregationQueryResponse.pb(nothing).read_time
    assert (time.seconds, time.nanos) == (-1, 999_999_000)


def count(wire, group, up_to):
    request = types.RunAggregationQueryRequest.pb(types.RunAggregationQueryRequest(
        parent=DOCUMENTS, structured_aggregation_query={"structured_query": query(group)}))
    added = request.structured_aggregation_query.aggregations.add(alias="n")
    added.count.up_to.value = up_to
    answer = list(wire.client.run_aggregation_query(
        request=types.RunAggregationQueryRequest.wrap(request), retry=None, timeout=20))[0]
    return answer, answer.result.aggregate_fields["n"].integer_value


def test_a_limit_sums_the_smallest(wire, group):
    """A sum adds its field to the order of its query."""
    wire.commit_writes(*(update(f"{group}/{9 - n}", {"n": n}) for n in range(10)))
    assert aggregate(wire, group, SUM, limit=3) == {"x": value(0 + 1 + 2)}
    assert aggregate(wire, group, AVG, limit=3) == {"x": value(1.0)}


def test_a_count_without_a_query_is_of_all_below_its_parent(wire, group):
    wire.commit_writes(update(f"{group}/a/x/1", {}), update(f"{group}/a/y/2/z/3", {}))
    answer = list(wire.run_aggregation_query(
        parent=f"{DOCUMENTS}/{group}/a",
        structured_aggregation_query={"aggregations": [{"alias": "n", "count": {}}]}))[-1]
    assert answer.result.aggregate_fields["n"] == value(2)


def test_five_aggregations_are_answered_together(wire, group):
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    five = [{"alias": f"a{n}", "count": {}} for n in range(5)]
    assert aggregate(wire, group, *five) == {f"a{n}": value(1) for n in range(5)}
