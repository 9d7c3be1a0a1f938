"""Filters in special cases: null, NaN, missing fields, nested lists, disjunctions."""

import pytest
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or

from wire import field_filter, query, update, value

NAN = float("nan")

ROWS = {
    "null": {"v": None}, "nan": {"v": NAN}, "one": {"v": 1}, "text": {"v": "1"},
    "list": {"v": [1, None, NAN, "x"]}, "map": {"v": {"a": 1}}, "missing": {"other": 1},
}


@pytest.fixture(scope="module")
def rows(client):
    collection = client.collection("filter-edges")
    for name, fields in ROWS.items():
        collection.document(name).set(fields)
    return collection


def found(query):
    return {snapshot.id for snapshot in query.stream()}


def unary(wire, operator):
    return set(wire.found(query("filter-edges", where=types.StructuredQuery.Filter(
        unary_filter={"field": {"field_path": "v"}, "op": operator}))))


@pytest.mark.parametrize("operator, expected", [
    ("IS_NULL", {"null"}), ("IS_NAN", {"nan"}),
    ("IS_NOT_NULL", {"nan", "one", "text", "list", "map"}),
    ("IS_NOT_NAN", {"one", "text", "list", "map"}),
])
def test_unary_filters(rows, wire, operator, expected):
    assert unary(wire, operator) == expected


@pytest.mark.parametrize("operator, operand, expected", [
    ("EQUAL", None, set()), ("EQUAL", NAN, set()), ("NOT_EQUAL", None, set()),
    ("LESS_THAN", NAN, set()), ("LESS_THAN", None, set()), ("GREATER_THAN", None, set()),
    ("NOT_EQUAL", 1, {"nan", "text", "list", "map"}),
    ("NOT_IN", [None], set()), ("NOT_IN", [1, None], set()), ("NOT_IN", [1], {
        "nan", "text", "list", "map"}),
    ("IN", [None, 1], {"one"}), ("IN", [NAN, "1"], {"text"}),
    ("ARRAY_CONTAINS", None, set()), ("ARRAY_CONTAINS", NAN, set()),
    ("ARRAY_CONTAINS", [1], set()), ("ARRAY_CONTAINS", 1, {"list"}),
    ("ARRAY_CONTAINS_ANY", [2, "x"], {"list"}), ("ARRAY_CONTAINS_ANY", [None], set()),
    ("EQUAL", {"a": 1}, {"map"}), ("LESS_THAN", {"a": 2}, {"map"}),
], ids=lambda value: " ".join(sorted(value)) or "none" if isinstance(value, set) else str(value))
def test_field_filters_with_null_and_nan_match_nothing(rows, wire, operator, operand, expected):
    assert set(wire.found(query(
        "filter-edges", where=field_filter("v", operator, operand)))) == expected


def test_a_list_is_equal_to_itself_only(rows, client):
    collection = client.collection("filter-lists")
    for name, fields in {"a": [1, 2], "b": [1], "c": [2, 1], "d": [1.0, 2]}.items():
        collection.document(name).set({"v": fields})
    assert found(collection.where(filter=FieldFilter("v", "==", [1, 2]))) == {"a", "d"}
    assert found(collection.where(filter=FieldFilter("v", "in", [[1], [2, 1]]))) == {"b", "c"}
    assert found(collection.where(filter=FieldFilter("v", "<", [1, 2]))) == {"b"}


@pytest.fixture(scope="module")
def cars(client):
    collection = client.collection("filter-cars")
    for number in range(12):
        collection.document(f"{number:02}").set({
            "n": number, "odd": number % 2 == 1, "third": number % 3, "m": {"n": number // 4},
            "with.dot": number})
    return collection


@pytest.mark.parametrize("where, expected", [
    (Or([FieldFilter("n", "==", 1), FieldFilter("n", "==", 5)]), [1, 5]),
    (Or([FieldFilter("n", "<", 2), FieldFilter("n", ">", 9)]), [0, 1, 10, 11]),
    (And([FieldFilter("odd", "==", True), Or([
        FieldFilter("third", "==", 0), FieldFilter("n", ">=", 11)])]), [3, 9, 11]),
    (Or([And([FieldFilter("odd", "==", False), FieldFilter("third", "==", 0)]), And([
        FieldFilter("odd", "==", True), FieldFilter("third", "==", 1)])]), [0, 1, 6, 7]),
    (And([FieldFilter("third", "in", [0, 1]), FieldFilter("odd", "==", True)]), [1, 3, 7, 9]),
    (Or([FieldFilter("third", "in", [0]), FieldFilter("n", "in", [1, 0])]), [0, 1, 3, 6, 9]),
    (Or([]), list(range(12))),
], ids=["or", "two ranges", "and of or", "or of ands", "and of in", "or of ins", "empty or"])
def test_disjunctions_tell_each_document_once(cars, where, expected):
    numbers = [snapshot.get("n") for snapshot in cars.where(filter=where).order_by("n").stream()]
    assert numbers == expected


def test_a_disjunction_is_in_the_order_of_names_by_default(cars):
    where = Or([FieldFilter("n", "==", 7), FieldFilter("n", "==", 2)])
    assert [snapshot.id for snapshot in cars.where(filter=where).stream()] == ["02", "07"]


def test_fields_inside_maps_and_names_with_dots(cars):
    assert found(cars.where(filter=FieldFilter("m.n", "==", 2))) == {"08", "09", "10", "11"}
    assert found(cars.where(filter=FieldFilter("`with.dot`", "==", 3))) == {"03"}


def test_inequalities_order_by_their_fields_in_the_order_of_their_names(cars, wire):
    """A query without an explicit order is ordered by the fields of its inequalities, by name."""
    where = types.StructuredQuery.Filter(composite_filter={"op": "AND", "filters": [
        field_filter("third", "GREATER_THAN_OR_EQUAL", 1), field_filter("n", "LESS_THAN", 6)]})
    assert wire.found(query("filter-cars", where=where)) == ["01", "02", "04", "05"]
    where = types.StructuredQuery.Filter(composite_filter={"op": "AND", "filters": [
        field_filter("m.n", "LESS_THAN", 1), field_filter("third", "GREATER_THAN", 0)]})
    assert wire.found(query("filter-cars", where=where)) == ["01", "02"]


def test_an_ordered_field_must_exist(rows):
    assert found(rows.order_by("other")) == {"missing"}
    assert found(rows.order_by("v")) == set(ROWS) - {"missing"}
    assert found(rows.order_by("v").order_by("other")) == set()


def test_a_query_of_nothing_tells_its_time_alone(wire, group):
    answers = wire.run(query(group))
    assert len(answers) == 1 and answers[0].read_time and "document" not in answers[0]


def test_skipped_documents_are_told_first(rows, wire, group):
    wire.commit_writes(*(update(f"{group}/{n}", {}) for n in range(5)))
    first, *rest = wire.run(query(group, offset=2))
    assert first.skipped_results == 2 and "document" not in first
    assert len([answer for answer in rest if "document" in answer]) == 3
    past = wire.run(query(group, offset=9))
    assert sum(answer.skipped_results for answer in past) == 5
    assert not [answer for answer in past if "document" in answer]


def test_a_query_without_from_reads_all_below_its_parent(wire, group):
    wire.commit_writes(update(f"{group}/a/x/1", {}), update(f"{group}/a/y/2", {}))
    parent = f"projects/interop/databases/(default)/documents/{group}/a"
    assert wire.found(types.StructuredQuery(), parent=parent) == ["1", "2"]


def test_an_order_without_a_direction_is_ascending(cars, wire):
    assert wire.found(query("filter-cars", order_by=[{"field": {"field_path": "n"}}], limit=2)
                      ) == ["00", "01"]


def test_values_of_a_cursor_are_in_the_orders_of_the_query(cars, wire):
    """The values may be a prefix of the orders. `before` decides on which side of equal rows the
    cursor is."""
    orders = [{"field": {"field_path": "third"}}, {"field": {"field_path": "n"}}]
    at = {"values": [value(1)], "before": True}
    assert wire.found(query("filter-cars", order_by=orders, start_at=at))[:2] == ["01", "04"]
    after = {"values": [value(1)], "before": False}
    assert wire.found(query("filter-cars", order_by=orders, start_at=after))[0] == "02"
    exactly = {"values": [value(1), value(4)], "before": False}
    assert wire.found(query("filter-cars", order_by=orders, start_at=exactly))[0] == "07"
