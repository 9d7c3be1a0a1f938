"""Queries: every operator, orders, cursors, groups, aggregations."""

import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or
from google.cloud.firestore_v1.field_path import FieldPath

ROWS = {
    "a": {"n": 1, "tags": ["x"], "s": "b"},
    "b": {"n": 2, "tags": ["x", "y"], "s": "B"},
    "c": {"n": 2.5, "tags": [], "s": "é"},
    "d": {"n": 3, "tags": ["y", "z"], "s": "aa"},
    "e": {"n": None, "s": "\U0001f600"},
    "f": {"n": float("nan"), "s": "\uffff"},
    "g": {"s": ""},
    "h": {"n": "3", "s": "日"},
}


@pytest.fixture(scope="module")
def rows(client):
    collection = client.collection("queries-rows")
    batch = client.batch()
    for name, fields in ROWS.items():
        batch.set(collection.document(name), fields)
    batch.commit()
    return collection


def ids(query):
    return [snapshot.id for snapshot in query.stream()]


@pytest.mark.parametrize("operator, operand, expected", [
    ("==", 2, "b"), ("==", 2.5, "c"), ("==", "3", "h"),
    ("!=", 2, "facdh"), ("<", 2.5, "ab"), ("<=", 2.5, "abc"), (">", 2, "cd"), (">=", 2, "bcd"),
    ("in", [1, 3, "3"], "adh"), ("not-in", [1, 2], "fcdh"),
    ("==", None, "e"), ("!=", None, "fabcdh"), ("==", float("nan"), "f"),
    ("!=", float("nan"), "abcdh"), (">", "2", "h"),
])
def test_operators(rows, operator, operand, expected):
    query = rows.where(filter=FieldFilter("n", operator, operand))
    assert sorted(ids(query)) == sorted(expected)


@pytest.mark.parametrize("operator, operand, expected", [
    ("array_contains", "x", "ab"), ("array_contains_any", ["x", "z"], "abd"),
    ("array_contains", "nothing", ""),
])
def test_array_operators(rows, operator, operand, expected):
    assert sorted(ids(rows.where(filter=FieldFilter("tags", operator, operand)))) == list(expected)


def test_and_or(rows):
    either = Or([FieldFilter("n", "==", 1), And([
        FieldFilter("n", ">", 2), FieldFilter("tags", "array_contains", "y")])])
    assert ids(rows.where(filter=either).order_by("n")) == ["a", "d"]


def test_order_is_by_kind_then_value(rows):
    assert ids(rows.order_by("n")) == ["e", "f", "a", "b", "c", "d", "h"]
    assert ids(rows.order_by("n", direction="DESCENDING")) == ["h", "d", "c", "b", "a", "f", "e"]


def test_strings_are_ordered_by_their_bytes(rows):
    assert ids(rows.order_by("s")) == ["g", "b", "d", "a", "c", "h", "f", "e"]


def test_limits_and_offset(rows):
    query = rows.order_by("n")
    assert ids(query.limit(2)) == ["e", "f"]
    assert ids(query.offset(2).limit(2)) == ["a", "b"]
    assert [s.id for s in query.limit_to_last(2).get()] == ["d", "h"]


def test_cursors_by_value(rows):
    query = rows.order_by("n")
    assert ids(query.start_at({"n": 2})) == ["b", "c", "d", "h"]
    assert ids(query.start_after({"n": 2})) == ["c", "d", "h"]
    assert ids(query.end_at({"n": 2})) == ["e", "f", "a", "b"]
    assert ids(query.end_before({"n": 2})) == ["e", "f", "a"]
    assert ids(query.start_at({"n": 1}).end_before({"n": 3})) == ["a", "b", "c"]


def test_cursor_by_snapshot(rows):
    middle = rows.document("b").get()
    assert ids(rows.order_by("n").start_after(middle)) == ["c", "d", "h"]


def test_pages_have_no_gap_and_no_overlap(rows):
    seen, last = [], None
    while True:
        query = rows.order_by("s").limit(3)
        page = list((query.start_after(last) if last else query).stream())
        if not page:
            break
        seen += [s.id for s in page]
        last = page[-1]
    assert seen == ["g", "b", "d", "a", "c", "h", "f", "e"]


def test_order_by_name_and_name_filters(rows):
    name = FieldPath.document_id()
    assert ids(rows.order_by(name).start_after({name: rows.document("f")})) == ["g", "h"]
    assert ids(rows.where(filter=FieldFilter(name, "in", [rows.document("c"), rows.document("a")]))
               ) == ["a", "c"]


def test_two_inequalities(rows):
    query = rows.where(filter=FieldFilter("n", ">=", 2)).where(filter=FieldFilter("s", "<", "b"))
    assert sorted(ids(query)) == ["b", "d"]


def test_projection(rows):
    fields = [s.to_dict() for s in rows.select(["s"]).where(filter=FieldFilter("n", "==", 1)).stream()]
    assert fields == [{"s": "b"}]


def test_collection_group(client):
    for parent in ("one", "two"):
        client.document(f"groups/{parent}/things/x").set({"of": parent})
    found = [s.to_dict()["of"] for s in client.collection_group("things").order_by("of").stream()]
    assert found == ["one", "two"]


def test_aggregations(rows):
    query = rows.where(filter=FieldFilter("n", ">", 0))
    result = query.count(alias="all").sum("n", alias="sum").avg("n", alias="mean").get()
    assert {r.alias: r.value for r in result[0]} == {"all": 4, "sum": 8.5, "mean": 2.125}
    assert rows.count().get()[0][0].value == 8
    assert rows.limit(3).count().get()[0][0].value == 3
    nothing = rows.where(filter=FieldFilter("n", ">", 100))
    assert nothing.sum("n").get()[0][0].value == 0


def test_recursive_delete(client):
    top = client.collection("to-delete")
    for number in range(5):
        top.document(f"d{number}").set({})
        top.document(f"d{number}").collection("deleted-below").document("x").set({})
    assert client.recursive_delete(top) == 10
    assert ids(top) == [] and ids(client.collection_group("deleted-below")) == []


def test_too_many_values_are_refused(rows):
    with pytest.raises(exceptions.InvalidArgument):
        ids(rows.where(filter=FieldFilter("n", "not-in", list(range(11)))))
    with pytest.raises(exceptions.InvalidArgument):
        ids(rows.where(filter=FieldFilter("tags", "array_contains", "x"))
            .where(filter=FieldFilter("tags", "array_contains", "y")))
