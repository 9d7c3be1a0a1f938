"""Documents: all ways to write and read a document, and the invalid requests."""

import datetime

import pytest
from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.vector import Vector

UTC = datetime.timezone.utc


def test_create_and_get(collection):
    document = collection.document("a")
    result = document.create({"n": 1})
    snapshot = document.get()
    assert snapshot.exists and snapshot.to_dict() == {"n": 1}
    assert snapshot.create_time == snapshot.update_time == result.update_time


def test_create_twice_is_refused(collection):
    document = collection.document("a")
    document.create({"n": 1})
    with pytest.raises(exceptions.AlreadyExists) as refusal:
        document.create({"n": 2})
    assert refusal.value.message.startswith("Document already exists: projects/")
    assert document.get().to_dict() == {"n": 1}


def test_missing_document(collection):
    snapshot = collection.document("nowhere").get()
    assert not snapshot.exists and snapshot.to_dict() is None and snapshot.read_time


def test_set_replaces_and_keeps_the_create_time(collection):
    document = collection.document("a")
    document.set({"a": 1, "b": 2})
    created = document.get().create_time
    document.set({"b": 3})
    snapshot = document.get()
    assert snapshot.to_dict() == {"b": 3}
    assert snapshot.create_time == created < snapshot.update_time


def test_set_with_merge(collection):
    document = collection.document("a")
    document.set({"a": 1, "m": {"x": 1, "y": 2}})
    document.set({"m": {"y": 3, "z": 4}}, merge=True)
    assert document.get().to_dict() == {"a": 1, "m": {"x": 1, "y": 3, "z": 4}}
    document.set({"a": 9, "m": {"x": 9}}, merge=["m.x"])
    assert document.get().to_dict() == {"a": 1, "m": {"x": 9, "y": 3, "z": 4}}


def test_update_fields_and_delete_one(collection):
    document = collection.document("a")
    document.set({"a": 1, "m": {"x": 1, "y": 2}})
    document.update({"m.x": firestore.DELETE_FIELD, "b": 2})
    assert document.get().to_dict() == {"a": 1, "m": {"y": 2}, "b": 2}


def test_update_of_nothing_is_refused(collection):
    document = collection.document("a")
    with pytest.raises(exceptions.NotFound) as refusal:
        document.update({"a": 1})
    assert refusal.value.message.startswith("No document to update: projects/")


def test_field_names_that_need_quoting(collection):
    document = collection.document("a")
    nasty = {"with.dot": 1, "with space": 2, "back`tick": 3, "back\\slash": 4, "ünï": 5}
    document.set(nasty)
    document.update({"`with.dot`": 6})
    assert document.get().to_dict() == {**nasty, "with.dot": 6}


def test_delete(collection):
    document = collection.document("a")
    document.set({"a": 1})
    first = document.delete()
    assert not document.get().exists
    assert document.delete() > first, "a second delete succeeds, at a later time"


def test_preconditions(client, collection):
    document = collection.document("a")
    old = document.set({"a": 1}).update_time
    document.set({"a": 2})
    stale = client.write_option(last_update_time=old)
    with pytest.raises(exceptions.FailedPrecondition):
        document.update({"a": 3}, option=stale)
    with pytest.raises(exceptions.FailedPrecondition):
        document.delete(option=stale)
    with pytest.raises(exceptions.NotFound):
        collection.document("b").delete(option=client.write_option(exists=True))
    fresh = client.write_option(last_update_time=document.get().update_time)
    document.update({"a": 4}, option=fresh)
    assert document.get().to_dict() == {"a": 4}


def test_a_batch_is_all_or_nothing(client, collection):
    batch = client.batch()
    batch.set(collection.document("a"), {"a": 1})
    batch.create(collection.document("b"), {"b": 1})
    results = batch.commit()
    assert len(results) == 2 and results[0].update_time == results[1].update_time
    batch = client.batch()
    batch.update(collection.document("a"), {"a": 2})
    batch.create(collection.document("b"), {"b": 2})
    with pytest.raises(exceptions.AlreadyExists):
        batch.commit()
    assert collection.document("a").get().to_dict() == {"a": 1}


def test_transforms(collection):
    document = collection.document("a")
    document.set({"n": 1, "big": 2**63 - 1, "list": [1, 2], "low": 5, "high": 5})
    document.update({
        "n": firestore.Increment(2), "big": firestore.Increment(5),
        "list": firestore.ArrayUnion([2.0, 3]), "low": firestore.Minimum(2),
        "high": firestore.Maximum(7.5), "at": firestore.SERVER_TIMESTAMP})
    result = document.get()
    fields = result.to_dict()
    assert abs((result.update_time - fields.pop("at")).total_seconds()) < 5
    assert fields == {"n": 3, "big": 2**63 - 1, "list": [1, 2, 3], "low": 2, "high": 7.5}
    document.update({"list": firestore.ArrayRemove([1, 3]), "n": firestore.Increment(0.5)})
    assert document.get().to_dict()["list"] == [2]
    assert document.get().to_dict()["n"] == 3.5


def test_writing_the_same_again_is_no_new_version(collection):
    document = collection.document("a")
    first = document.set({"a": 1}).update_time
    assert document.set({"a": 1}).update_time == first
    assert document.update({"a": 1}).update_time == first


def all_values(client, collection):
    return {
        "null": None, "true": True, "false": False, "integer": -(2**63), "double": 1.5,
        "minus zero": -0.0, "infinity": float("inf"),
        "timestamp": datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
        "string": "grüße \U0001f30a \u0000 e\u0301", "bytes": bytes(range(256)),
        "reference": collection.document("other"),
        "geo": firestore.GeoPoint(-12.5, 179.25), "array": [1, "a", None, {"deep": [2]}],
        "vector": Vector([1.0, -2.5, 0.0]), "map": {"a": {"b": {"c": 1}}}, "empty map": {},
        "empty array": [], "empty string": "", "é": "precomposed", "e\u0301": "decomposed",
    }


def test_every_kind_of_value(client, collection):
    document = collection.document("a")
    values = all_values(client, collection)
    document.set(values)
    assert document.get().to_dict() == values
    document.set({"nan": float("nan")})
    read = document.get().to_dict()["nan"]
    assert read != read


def test_get_all_and_masks(client, collection):
    collection.document("a").set({"x": 1, "y": 2})
    names = [collection.document("missing"), collection.document("a"), collection.document("a")]
    snapshots = list(client.get_all(names, field_paths=["x"]))
    assert sorted((s.id, s.to_dict()) for s in snapshots if s.exists) == [("a", {"x": 1})]
    assert [s.id for s in snapshots if not s.exists] == ["missing"]


def test_lists(client, collection):
    collection.document("a").set({})
    collection.document("ghost").collection("sub").document("x").set({})
    assert [d.id for d in collection.list_documents()] == ["a", "ghost"]
    assert [c.id for c in collection.document("ghost").collections()] == ["sub"]
    assert collection.id in [c.id for c in client.collections()]


@pytest.mark.parametrize("fields", [
    {"__name__": 1}, {"a": {"__x__": 1}}, {"a": [[1]]}, {"a": "x" * 1_048_600},
    {"v": b"x" * 600_000, "w": b"x" * 600_000},
], ids=["reserved", "reserved inside", "array in array", "long value", "long document"])
def test_what_is_refused(collection, fields):
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("a").set(fields)
    assert not collection.document("a").get().exists


def test_transaction(client, collection):
    counter = collection.document("counter")
    counter.set({"n": 0})

    @firestore.transactional
    def increment(transaction):
        n = counter.get(transaction=transaction).get("n")
        transaction.update(counter, {"n": n + 1})

    for _ in range(3):
        increment(client.transaction())
    assert counter.get().to_dict() == {"n": 3}


def test_bulk_writer(client, collection):
    writer = client.bulk_writer()
    for number in range(50):
        writer.create(collection.document(f"d{number:02}"), {"n": number})
    writer.close()
    assert [d.to_dict()["n"] for d in collection.order_by("n").stream()] == list(range(50))
