"""The index rules that `--indexes` enforces: automatic indexes, declared indexes, and the text of
errors."""

import base64
import json
import re

import pytest
from google.api_core import exceptions
from google.cloud import firestore_admin_v1
from google.cloud.firestore_v1.base_query import FieldFilter, Or
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.query_profile import ExplainOptions
from google.cloud.firestore_v1.vector import Vector

from conftest import Server
from wire import Wire, field_filter, kind_of, query

DECLARED = {
    "indexes": [
        {"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
            {"fieldPath": "color", "order": "ASCENDING"},
            {"fieldPath": "n", "order": "DESCENDING"}]},
        {"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
            {"fieldPath": "size", "order": "ASCENDING"},
            {"fieldPath": "n", "order": "DESCENDING"}]},
        {"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
            {"fieldPath": "v", "vectorConfig": {"dimension": 2, "flat": {}}}]},
    ],
    "fieldOverrides": [
        {"collectionGroup": "c", "fieldPath": "exempt", "indexes": []},
        {"collectionGroup": "c", "fieldPath": "grouped", "indexes": [
            {"queryScope": "COLLECTION", "order": "ASCENDING"},
            {"queryScope": "COLLECTION_GROUP", "order": "ASCENDING"}]},
    ],
}


def write_indexes(path):
    path.write_text(json.dumps(DECLARED))
    return path


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strict")
    indexes = write_indexes(folder / "firestore.indexes.json")
    server = Server(folder, 0, "--indexes", indexes)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def rows(strict):
    client = strict.client("indexed")
    rows = client.collection("c")
    for number in range(3):
        rows.document(str(number)).set({
            "n": number, "m": {"x": number}, "color": "red", "size": "s", "tags": ["t"],
            "exempt": number, "grouped": number, "v": Vector([float(number), 0.0])})
    return rows


def where(query, *filters):
    for path, operator, operand in filters:
        query = query.where(filter=FieldFilter(path, operator, operand))
    return query


def ids(query):
    return [snapshot.id for snapshot in query.stream()]


def refusal(query):
    with pytest.raises(exceptions.FailedPrecondition) as refused:
        ids(query)
    return refused.value


AUTOMATIC = [
    lambda c: c, lambda c: c.order_by("n"), lambda c: c.order_by("n", direction="DESCENDING"),
    lambda c: where(c, ("n", ">", -1)), lambda c: where(c, ("m.x", ">=", 0)).order_by("m.x"),
    lambda c: where(c, ("color", "==", "red"), ("size", "==", "s")),
    lambda c: where(c, ("n", "in", [0, 1, 2]), ("color", "==", "red")),
    lambda c: where(c, ("tags", "array_contains", "t"), ("color", "==", "red")),
    lambda c: c.order_by("__name__"), lambda c: where(c, ("n", "!=", 9)),
    lambda c: c.where(filter=Or([FieldFilter("size", "==", "s"), FieldFilter("color", "==", "x")])),
]


@pytest.mark.parametrize("build", AUTOMATIC, ids=range(len(AUTOMATIC)))
def test_what_is_automatic_is_served(rows, build):
    assert sorted(ids(build(rows))) == ["0", "1", "2"]


DECLARED_QUERIES = [
    lambda c: where(c, ("color", "==", "red")).order_by("n", direction="DESCENDING"),
    lambda c: where(c, ("color", "==", "red"), ("n", "<", 9)).order_by(
        "n", direction="DESCENDING"),
    lambda c: where(c, ("color", "==", "red"), ("size", "==", "s")).order_by(
        "n", direction="DESCENDING"),
]


@pytest.mark.parametrize("build", DECLARED_QUERIES, ids=["order", "range", "two merged"])
def test_what_is_declared_is_served(rows, build):
    assert ids(build(rows)) == ["2", "1", "0"]


MISSING = [
    (lambda c: where(c, ("tags", "array_contains", "t")).order_by("n"),
     [("tags", "CONTAINS"), ("n", "ASCENDING"), ("__name__", "ASCENDING")]),
    (lambda c: where(c, ("color", "==", "red")).order_by("n"),
     [("color", "ASCENDING"), ("n", "ASCENDING"), ("__name__", "ASCENDING")]),
    (lambda c: c.order_by("color").order_by("n", direction="DESCENDING").order_by("size"),
     [("color", "ASCENDING"), ("n", "DESCENDING"), ("size", "ASCENDING"),
      ("__name__", "ASCENDING")]),
    (lambda c: c.order_by("__name__", direction="DESCENDING"), [("__name__", "DESCENDING")]),
    (lambda c: c.order_by("n").order_by("__name__", direction="DESCENDING"),
     [("n", "ASCENDING"), ("__name__", "DESCENDING")]),
]


@pytest.mark.parametrize("build, fields", MISSING, ids=range(len(MISSING)))
def test_a_missing_composite_is_named_by_a_link(rows, build, fields):
    text = refusal(build(rows)).message
    match = re.fullmatch(
        r"The query requires an index\. You can create it here: https://console\.firebase\.google"
        r"\.com/v1/r/project/indexed/firestore/indexes\?create_composite=([A-Za-z0-9_-]+)", text)
    assert match, text
    index = decoded(match[1])
    assert index.name == "projects/indexed/databases/(default)/collectionGroups/c/indexes/_"
    assert index.query_scope.name == "COLLECTION"
    assert [(f.field_path, "CONTAINS" if f.array_config else f.order.name)
            for f in index.fields] == fields


def decoded(text):
    return firestore_admin_v1.Index.deserialize(
        base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def test_each_side_of_an_or_needs_its_index(rows):
    """The range on one side orders both sides."""
    either = Or([FieldFilter("n", ">", 0), FieldFilter("size", "==", "s")])
    assert "create_composite=" in refusal(rows.where(filter=either)).message
    served = Or([FieldFilter("color", "==", "red"), FieldFilter("size", "==", "x")])
    assert ids(rows.where(filter=served).order_by("n", direction="DESCENDING")) == ["2", "1", "0"]


def test_ranges_on_several_fields_are_told_where_to_read_on(rows):
    text = refusal(where(rows, ("n", ">", 0), ("size", ">", "a"))).message
    assert "The query contains range and inequality filters on multiple fields" in text
    assert text.endswith(
        "https://cloud.google.com/firestore/docs/query-data/multiple-range-fields.")


def test_the_refusal_of_a_missing_index_has_no_details(rows):
    assert not refusal(where(rows, ("color", "==", "red")).order_by("n")).details


def test_groups_are_not_indexed_unless_it_is_declared(rows):
    group = rows._client.collection_group("c")
    assert ids(group) == ids(group.order_by("grouped")) == ["0", "1", "2"]
    text = refusal(group.order_by("n")).message
    assert text.startswith(
        "The query requires a COLLECTION_GROUP_ASC index for collection c and field n. "
        "You can create it here: https://console.firebase.google.com/v1/r/project/indexed/")
    assert "create_exemption=" in text
    assert "COLLECTION_GROUP_DESC" in refusal(
        group.order_by("n", direction="DESCENDING")).message
    assert "COLLECTION_GROUP_CONTAINS" in refusal(
        where(group, ("tags", "array_contains", "t"))).message


def test_an_exempt_field_is_not_indexed(rows):
    text = refusal(where(rows, ("exempt", ">", 0))).message
    assert text.startswith(
        "The query requires a COLLECTION_ASC index for collection c and field exempt.")
    # A field with that name in another collection is indexed.
    assert ids(where(rows._client.collection("other"), ("exempt", ">", 0))) == []


def test_a_sum_needs_its_field_in_the_index(rows):
    assert rows.sum("n").get()[0][0].value == 3
    red = where(rows, ("color", "==", "red"))
    assert red.count().get()[0][0].value == 3
    with pytest.raises(exceptions.FailedPrecondition, match="create_composite"):
        where(rows, ("tags", "array_contains", "t")).sum("n").get()


def test_vectors_need_a_vector_index(rows):
    def nearest(query, vector):
        return query.find_nearest("v", Vector(vector), 2, DistanceMeasure.EUCLIDEAN)
    assert ids(nearest(rows, [0.0, 0.0])) == ["0", "1"]
    text = refusal(nearest(rows, [0.0, 0.0, 0.0])).message
    assert text.startswith(
        "Missing vector index configuration. Please create the required index with the following "
        "gcloud command: gcloud firestore indexes composite create --project=indexed")
    assert '"dimension":"3"' in text and "field-path=v" in text
    assert "order=ASCENDING,field-path=color" in refusal(
        nearest(where(rows, ("color", "==", "red")), [0.0, 0.0])).message


def test_a_plan_of_a_query_without_an_index(rows):
    with pytest.raises(exceptions.FailedPrecondition, match="no matching index found."):
        where(rows, ("color", "==", "red")).order_by("n").get(
            explain_options=ExplainOptions(analyze=False))


def test_a_plan_names_the_declared_index(rows):
    results = DECLARED_QUERIES[0](rows).get(explain_options=ExplainOptions(analyze=False))
    assert results.get_explain_metrics().plan_summary.indexes_used == [{
        "query_scope": "Collection", "properties": "(color ASC, n DESC, __name__ DESC)"}]


def test_a_listener_is_told_and_its_stream_lives(strict, rows):
    wire = Wire(strict.host)
    with wire.listen(database="projects/indexed/databases/(default)") as listen:
        missing = query("c", where=field_filter("color", "EQUAL", "red"),
                        order_by=[{"field": {"field_path": "n"}}])
        listen.target(2, missing)
        assert kind_of(listen.next()) == ("ADD", [2])
        refused = listen.next().target_change
        assert refused.target_change_type.name == "REMOVE" and refused.cause.code == 9
        assert re.search(r"index.*https://console\.firebase\.google\.com", refused.cause.message)
        listen.target(4, "c")
        assert kind_of(listen.boundary()[-2]) == ("CURRENT", [4])
    wire.close()


def test_without_a_file_every_query_runs(collection):
    collection.document("a").set({"n": 1, "color": "red"})
    assert ids(where(collection, ("color", "==", "red")).order_by("n")) == ["a"]
