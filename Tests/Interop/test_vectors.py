"""find_nearest: distances, thresholds, limits, excluded documents, and errors."""

import math

import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.base_query import FieldFilter
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.vector import Vector

from wire import field_filter, query

EUCLIDEAN, COSINE = DistanceMeasure.EUCLIDEAN, DistanceMeasure.COSINE
DOT_PRODUCT = DistanceMeasure.DOT_PRODUCT


@pytest.fixture(scope="module")
def rows(client):
    """Three points, and documents without a vector of three numbers."""
    collection = client.collection("vectors")
    for name, fields in {
            "near": {"v": Vector([1.0, 2.0, 3.0]), "color": "red", "m": {"v": Vector([1.0])}},
            "far": {"v": Vector([9.0, -9.0, 9.0]), "color": "red"},
            "middle": {"v": Vector([2.0, 2.0, 3.0]), "color": "blue"},
            "two numbers": {"v": Vector([1.0, 2.0]), "color": "red"},
            "a list": {"v": [1.0, 2.0, 3.0], "color": "red"}, "nothing": {"color": "red"}}.items():
        collection.document(name).set(fields)
    return collection


def nearest(query, vector=(1.0, 2.0, 3.0), limit=10, measure=EUCLIDEAN, **options):
    return query.find_nearest("v", Vector(vector), limit, measure, **options)


def ids(query):
    return [snapshot.id for snapshot in query.stream()]


@pytest.mark.parametrize("measure, expected", [
    (EUCLIDEAN, ["near", "middle", "far"]), (COSINE, ["near", "middle", "far"]),
    (DOT_PRODUCT, ["far", "middle", "near"]),
])
def test_the_nearest_come_first(rows, measure, expected):
    """For a dot product, the greatest result is the nearest."""
    assert ids(nearest(rows, measure=measure)) == expected


@pytest.mark.parametrize("measure, expected", [
    (EUCLIDEAN, {"near": 0.0, "middle": 1.0, "far": math.sqrt(64 + 121 + 36)}),
    (DOT_PRODUCT, {"near": 14.0, "middle": 15.0, "far": 18.0}),
    (COSINE, {"near": 0.0, "middle": 1 - 15 / math.sqrt(14 * 17),
              "far": 1 - 18 / math.sqrt(14 * 243)}),
])
def test_the_distance_is_put_into_a_field(rows, measure, expected):
    found = nearest(rows, measure=measure, distance_result_field="distance").get()
    assert {s.id: s.get("distance") for s in found} == pytest.approx(expected, abs=1e-12)
    assert found[0].get("color"), "beside the document's own fields"


def test_a_limit(rows):
    assert ids(nearest(rows, limit=1)) == ["near"]
    assert [s.id for s in nearest(rows, limit=2).get()] == ["near", "middle"]


@pytest.mark.parametrize("measure, threshold, expected", [
    (EUCLIDEAN, 1.0, ["near", "middle"]), (EUCLIDEAN, 0.5, ["near"]), (EUCLIDEAN, 0.0, ["near"]),
    (DOT_PRODUCT, 15.0, ["far", "middle"]), (DOT_PRODUCT, 19.0, []), (COSINE, 0.1, [
        "near", "middle"]),
])
def test_a_threshold_keeps_what_is_at_least_as_near(rows, measure, threshold, expected):
    assert ids(nearest(rows, measure=measure, distance_threshold=threshold)) == expected


def test_a_filter_comes_first(rows):
    red = rows.where(filter=FieldFilter("color", "==", "red"))
    assert ids(nearest(red)) == ["near", "far"]


def test_a_projection_and_a_distance(rows):
    found = nearest(rows.select(["color", "distance"]), distance_result_field="distance")
    assert found.get()[0].to_dict() == {"color": "red", "distance": 0.0}


def test_a_field_inside_a_map(rows):
    found = rows.find_nearest("m.v", Vector([0.0]), 5, EUCLIDEAN)
    assert ids(found) == ["near"]


def test_equal_distances_are_in_the_order_of_names(client, group):
    collection = client.collection(group)
    for name in ("b", "a", "c"):
        collection.document(name).set({"v": Vector([1.0, 1.0])})
    assert ids(nearest(collection, [0.0, 0.0])) == ["a", "b", "c"]


def test_a_group(client, group):
    for parent in "ab":
        client.document(f"{group}-top/{parent}/{group}/x").set(
            {"v": Vector([1.0 if parent == "a" else 0.0])})
    found = nearest(client.collection_group(group), [0.0])
    assert [s.reference.parent.parent.id for s in found.stream()] == ["b", "a"]


def test_on_every_kind_of_query_object(client, rows):
    ordered = nearest(rows.where(filter=FieldFilter("color", "==", "blue")))
    again = ordered.find_nearest("v", Vector([0.0, 0.0, 0.0]), 1, EUCLIDEAN)
    assert ids(again) == ["middle"]


def test_a_vector_query_in_a_transaction(client, rows):
    transaction = client.transaction(read_only=True)
    transaction._begin()
    assert [s.id for s in nearest(rows, limit=1).get(transaction=transaction)] == ["near"]
    transaction._rollback()


def test_vectors_of_2048_numbers_are_the_largest(collection):
    collection.document("a").set({"v": Vector([0.5] * 2048)})
    assert ids(nearest(collection, [0.5] * 2048)) == ["a"]
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("b").set({"v": Vector([0.5] * 2049)})
    with pytest.raises(exceptions.InvalidArgument):
        ids(nearest(collection, [0.5] * 2049))


@pytest.mark.parametrize("numbers", [[], [1.0, float("nan")]], ids=["none", "NaN"])
def test_a_vector_that_is_none_is_refused(collection, numbers):
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("a").set({"v": Vector(numbers)})


def test_infinities_are_stored(collection):
    collection.document("a").set({"v": Vector([float("inf"), 1.0])})
    assert collection.document("a").get().get("v") == Vector([float("inf"), 1.0])


def find_nearest(limit=5, vector=(1.0, 2.0, 3.0), measure="EUCLIDEAN", field="v"):
    return {"vector_field": {"field_path": field}, "query_vector": Vector(vector).to_map_value(),
            "distance_measure": measure, "limit": limit}


@pytest.mark.parametrize("limit", [0, -1, 1001, None])
def test_a_limit_is_from_1_to_1000(wire, rows, limit):
    with pytest.raises(exceptions.InvalidArgument):
        wire.run(vector_query(find_nearest(limit)))


def vector_query(nearest, **options):
    message = types.StructuredQuery.pb(query("vectors", **options))
    message.find_nearest.vector_field.field_path = nearest["vector_field"]["field_path"]
    vector = message.find_nearest.query_vector.map_value.fields
    vector["__type__"].string_value = "__vector__"
    vector["value"].array_value.SetInParent()
    for number in nearest["query_vector"]["value"]:
        vector["value"].array_value.values.add().double_value = number
    message.find_nearest.distance_measure = types.StructuredQuery.FindNearest.DistanceMeasure[
        nearest["distance_measure"]]
    if nearest["limit"] is not None:
        message.find_nearest.limit.value = nearest["limit"]
    return types.StructuredQuery.wrap(message)


def test_the_largest_limit(wire, rows):
    assert wire.found(vector_query(find_nearest(1000))) == ["near", "middle", "far"]


@pytest.mark.parametrize("nearest, options, text", [
    (find_nearest(), {"limit": 1}, "A query limit cannot be used with FindNearest"),
    (find_nearest(), {"offset": 1}, "A query offset cannot be used with FindNearest"),
    (find_nearest(), {"start_at": {"values": [{"integer_value": 1}]},
                      "order_by": [{"field": {"field_path": "color"}}]},
     "A cursor cannot be used with FindNearest"),
    (find_nearest(measure="DISTANCE_MEASURE_UNSPECIFIED"), {}, ""),
    (find_nearest(vector=[]), {}, ""), (find_nearest(field=""), {}, ""),
    (find_nearest(vector=[float("nan")] * 3), {}, ""),
], ids=["limit", "offset", "cursor", "no measure", "no numbers", "no field", "NaN"])
def test_what_is_refused(wire, rows, nearest, options, text):
    with pytest.raises(exceptions.InvalidArgument) as refusal:
        wire.run(vector_query(nearest, **options))
    assert text in refusal.value.message


def test_cosine_of_nothing_is_refused(wire, rows):
    with pytest.raises(exceptions.FailedPrecondition) as refusal:
        wire.run(vector_query(find_nearest(vector=[0.0, 0.0, 0.0], measure="COSINE")))
    assert ("Cannot compute cosine distance against a vector with a magnitude of zero."
            in refusal.value.message)
    assert [detail.reason for detail in refusal.value.details if hasattr(detail, "reason")] == [
        "COSINE_DISTANCE_ON_ZERO_VECTOR"]


def test_a_filter_on_the_wire(wire, rows):
    found = wire.found(vector_query(
        find_nearest(), where=field_filter("color", "EQUAL", "blue")))
    assert found == ["middle"]
