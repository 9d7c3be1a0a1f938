"""The order of all values, and the values that each comparison includes: only those of the same
type."""

import datetime

import pytest
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter
from google.cloud.firestore_v1.vector import Vector

UTC = datetime.timezone.utc


def ordered(client):
    """The rows in ascending order. The values in one row are equal in the order."""
    time = datetime.datetime(2020, 1, 1, tzinfo=UTC)
    document = client.document
    return [
        [None], [False], [True], [float("nan")], [float("-inf")], [-(2**63)], [-1.5], [-1],
        [0, -0.0, 0.0], [0.5], [1, 1.0], [2**53], [2**53 + 1], [2**63 - 1], [float("inf")],
        [datetime.datetime(1, 1, 1, tzinfo=UTC)], [time],
        [time + datetime.timedelta(microseconds=1)],
        [""], ["\u0000"], ["A"], ["B"], ["a"], ["aa"], ["b"], ["e\u0301"], ["é"], ["\uffff"],
        ["\U0001f600"],
        [b""], [b"\x00"], [b"\x01"], [b"\x01\x00"], [b"\xff"],
        [document("a/__id-5__")], [document("a/__id7__")], [document("a/b")],
        [document("a/b/c/d")], [document("a/c")], [document("b/a")],
        [firestore.GeoPoint(-90, 0)], [firestore.GeoPoint(1, -2)], [firestore.GeoPoint(1, 2)],
        [[]], [[None]], [[1]], [[1, 1]], [[2]], [["a"]],
        [Vector([5.0])], [Vector([6.0])], [Vector([1.0, 1.0])], [Vector([1.0, 2.0])],
        [{}], [{"a": 1}], [{"a": 1, "b": 0}], [{"a": 2}], [{"b": 0}],
    ]


@pytest.fixture(scope="module")
def values(client):
    """The documents. Their names contain the position of their value in the order."""
    collection = client.collection("all-values")
    batch = client.batch()
    for place, row in enumerate(ordered(client)):
        for number, value in enumerate(row):
            batch.set(collection.document(f"{place:02}-{number}"), {"v": value})
    batch.commit()
    return collection


def places(query):
    return [snapshot.id for snapshot in query.stream()]


def test_all_values_are_in_order_and_equal_ones_by_name(values):
    forward = places(values.order_by("v"))
    assert forward == sorted(forward) and len(forward) > 50


def test_the_order_turns_around_with_its_direction(values):
    backward = places(values.order_by("v", direction="DESCENDING"))
    assert backward == sorted(backward, reverse=True)


def test_a_cursor_cuts_the_order_at_every_value(client, values):
    """Also between types: a cursor is a position in the order of all values."""
    everything = places(values.order_by("v"))
    for place, row in enumerate(ordered(client)):
        if place % 3:
            continue
        expected = [each for each in everything if int(each[:2]) >= place]
        assert places(values.order_by("v").start_at({"v": row[0]})) == expected, row


@pytest.mark.parametrize("operand, kind", [
    (False, lambda place: place in (1, 2)), (0, lambda place: 4 <= place <= 14),
    (datetime.datetime(2020, 1, 1, tzinfo=UTC), lambda place: 15 <= place <= 17),
    ("a", lambda place: 18 <= place <= 28), (b"\x01", lambda place: 29 <= place <= 33),
    (firestore.GeoPoint(1, -2), lambda place: 40 <= place <= 42),
], ids=["boolean", "number", "timestamp", "string", "bytes", "geo point"])
def test_a_range_reaches_values_of_its_own_kind_only(values, operand, kind):
    both = {each for operator in ("<=", ">")
            for each in places(values.where(filter=FieldFilter("v", operator, operand)))}
    expected = {each for each in places(values.order_by("v")) if kind(int(each[:2]))}
    assert both == expected


def test_every_value_is_found_by_equality(client, values):
    for place, row in enumerate(ordered(client)):
        if row == [None] or row[0] != row[0]:
            continue
        found = places(values.where(filter=FieldFilter("v", "==", row[0])))
        assert found == [f"{place:02}-{number}" for number in range(len(row))], row


def test_names_are_compared_segment_by_segment(client):
    """A document's descendants follow it, and precede the next document of its collection."""
    group = client.collection_group("name-order")
    paths = ["name-order/a", "name-order/a/name-order/b", "name-order/a b", "name-order/a!c"]
    for path in reversed(paths):
        client.document(path).set({})
    found = [snapshot.reference.path for snapshot in group.stream()]
    assert found == sorted(paths, key=lambda path: path.split("/"))


def test_numeric_ids_come_first_in_the_order_of_their_numbers(client):
    collection = client.collection("numeric-ids")
    ids = ["__id-9__", "__id-1__", "__id2__", "__id10__", "!", "a"]
    for each in reversed(ids):
        collection.document(each).set({})
    assert [snapshot.id for snapshot in collection.stream()] == ids
