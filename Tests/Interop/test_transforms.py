"""Field transforms and preconditions, case by case."""

import datetime
import math

import pytest
from google.api_core import exceptions
from google.cloud import firestore

NAN = float("nan")
MOST, LEAST = 2**63 - 1, -(2**63)


def transformed(collection, before, transform):
    """Returns the field after the transform; `...` for a document without it."""
    document = collection.document("a")
    document.set({} if before is ... else {"f": before})
    document.update({"f": transform})
    return document.get().get("f")


def same(one, other):
    return type(one) is type(other) and (
        one == other and math.copysign(1, one or 1) == math.copysign(1, other or 1)
        or one != one and other != other)


@pytest.mark.parametrize("before, by, after", [
    (1, 2, 3), (1, 2.5, 3.5), (1.5, 2, 3.5), (1, -3, -2), (MOST, 1, MOST), (LEAST, -1, LEAST),
    (MOST - 1, 1, MOST), (0.1, 0.2, 0.1 + 0.2), (..., 5, 5), (..., 0.5, 0.5), ("text", 5, 5),
    (None, 5, 5), (True, 5, 5), (NAN, 1, NAN), (float("inf"), 1, float("inf")), (1, NAN, NAN),
    (1, 0, 1), (2**53, 1.0, float(2**53) + 1.0)], ids=str)
def test_increment(collection, before, by, after):
    """Integers stop at the ends of their range. A value that is not a number is replaced."""
    assert same(transformed(collection, before, firestore.Increment(by)), after)


@pytest.mark.parametrize("before, other, after", [
    (1, 2, 2), (2, 1, 2), (1, 1.5, 1.5), (2, 1.5, 2), (1.0, 1, 1.0), (1, 1.0, 1), (0, -0.0, 0),
    (-0.0, 0, -0.0), (..., 5, 5), ("text", 5, 5), (None, -5, -5), (NAN, 1, NAN), (1, NAN, NAN),
    (MOST, float("inf"), float("inf"))], ids=str)
def test_maximum(collection, before, other, after):
    """If the numbers are equal, the stored one remains. NaN is always the result if it is one of
    them."""
    assert same(transformed(collection, before, firestore.Maximum(other)), after)


@pytest.mark.parametrize("before, other, after", [
    (1, 2, 1), (2, 1, 1), (1, 1.5, 1), (2, 1.5, 1.5), (1.0, 1, 1.0), (1, 1.0, 1), (0, -0.0, 0),
    (..., 5, 5), ("text", 5, 5), (None, 5, 5), (NAN, 1, NAN), (1, NAN, NAN),
    (LEAST, float("-inf"), float("-inf"))], ids=str)
def test_minimum(collection, before, other, after):
    assert same(transformed(collection, before, firestore.Minimum(other)), after)


@pytest.mark.parametrize("before, added, after", [
    ([1, 2], [2, 3], [1, 2, 3]), ([1], [1.0, 2.0], [1, 2.0]), (..., [1, 1, 2], [1, 2]),
    ("text", [1], [1]), (None, [1], [1]), ([1, 1], [1], [1, 1]),
    ([None], [None, 1], [None, 1]), ([{"a": 1}], [{"a": 1.0}, {"a": 2}], [{"a": 1}, {"a": 2}]),
    (["e\u0301"], ["é"], ["e\u0301", "é"]),
], ids=str)
def test_array_union(collection, before, added, after):
    """Adds the elements that are missing. 3 and 3.0 are equal elements."""
    assert transformed(collection, before, firestore.ArrayUnion(added)) == after


def test_nan_is_one_element_of_an_array(collection):
    assert len(transformed(collection, [NAN], firestore.ArrayUnion([NAN, 1]))) == 2
    assert transformed(collection, [NAN, 1, NAN], firestore.ArrayRemove([NAN])) == [1]


@pytest.mark.parametrize("before, removed, after", [
    ([1, 2, 1], [1], [2]), ([1.0, 2], [1], [2]), (..., [1], []), ("text", [1], []),
    ([1, 2], [3], [1, 2]), ([None, 1], [None], [1]), ([], [1], []),
], ids=str)
def test_array_remove(collection, before, removed, after):
    assert transformed(collection, before, firestore.ArrayRemove(removed)) == after


def test_server_timestamps_of_a_commit_are_equal_and_in_milliseconds(client, collection):
    batch = client.batch()
    batch.set(collection.document("a"), {
        "at": firestore.SERVER_TIMESTAMP, "m": {"at": firestore.SERVER_TIMESTAMP}})
    batch.set(collection.document("b"), {"at": firestore.SERVER_TIMESTAMP})
    committed = batch.commit()[0].update_time
    first, second = collection.document("a").get(), collection.document("b").get()
    times = {first.get("at"), first.get("m.at"), second.get("at")}
    assert len(times) == 1
    time = times.pop()
    assert time.microsecond % 1000 == 0
    assert datetime.timedelta(seconds=-0.2) <= committed - time < datetime.timedelta(seconds=5)


def test_transforms_inside_maps_and_beside_fields(collection):
    document = collection.document("a")
    document.set({"m": {"n": 1, "keep": True}})
    document.update({
        "m.n": firestore.Increment(1), "m.list": firestore.ArrayUnion([1]), "other": 5})
    assert document.get().to_dict() == {"m": {"n": 2, "keep": True, "list": [1]}, "other": 5}


def test_a_set_without_merge_transforms_an_empty_field(collection):
    document = collection.document("a")
    document.set({"n": 10, "list": [1]})
    document.set({"n": firestore.Increment(1), "list": firestore.ArrayUnion([2])})
    assert document.get().to_dict() == {"n": 1, "list": [2]}


def test_a_set_with_merge_transforms_what_is_there(collection):
    document = collection.document("a")
    document.set({"n": 10, "list": [1], "keep": 1})
    document.set({"n": firestore.Increment(1), "list": firestore.ArrayUnion([2])}, merge=True)
    assert document.get().to_dict() == {"n": 11, "list": [1, 2], "keep": 1}


def test_a_create_and_a_merge_of_nothing_with_transforms_alone(collection):
    collection.document("a").create({"at": firestore.SERVER_TIMESTAMP})
    assert collection.document("a").get().get("at")
    collection.document("b").set({"n": firestore.Increment(2)}, merge=True)
    assert collection.document("b").get().to_dict() == {"n": 2}


def test_an_update_with_transforms_alone_needs_the_document(collection):
    with pytest.raises(exceptions.NotFound):
        collection.document("nowhere").update({"n": firestore.Increment(1)})


@pytest.mark.parametrize("before, transform", [
    ({"n": NAN}, {"n": firestore.Maximum(1)}), ({"n": 5}, {"n": firestore.Minimum(9)}),
    ({"list": [1]}, {"list": firestore.ArrayUnion([1])}),
    ({"list": [1]}, {"list": firestore.ArrayRemove([2])}),
    ({"n": 1}, {"n": firestore.Increment(0)}),
], ids=["maximum keeps NaN", "minimum", "union", "remove", "increment by 0"])
def test_a_transform_that_changes_nothing_is_no_new_version(collection, before, transform):
    document = collection.document("a")
    first = document.set(before).update_time
    assert document.update(transform).update_time == first
    assert document.get().update_time == first


def test_two_transforms_of_one_document_in_a_batch_come_after_each_other(client, collection):
    batch = client.batch()
    batch.set(collection.document("a"), {"n": 1})
    batch.update(collection.document("a"), {"n": firestore.Increment(5)})
    batch.update(collection.document("a"), {"n": firestore.Maximum(4)})
    batch.commit()
    assert collection.document("a").get().to_dict() == {"n": 6}


@pytest.mark.parametrize("write", [
    lambda document, option: document.update({"n": 2}, option=option),
    lambda document, option: document.delete(option=option),
], ids=["update", "delete"])
def test_an_update_time_holds_once(client, collection, write):
    document = collection.document("a")
    time = document.set({"n": 1}).update_time
    write(document, client.write_option(last_update_time=time))
    document.set({"n": 3})
    with pytest.raises(exceptions.FailedPrecondition, match="does not match the required base"):
        write(document, client.write_option(last_update_time=time))
    assert document.get().to_dict() == {"n": 3}


def test_an_update_time_of_a_document_that_is_gone(client, collection):
    document = collection.document("a")
    time = document.set({"n": 1}).update_time
    document.delete()
    with pytest.raises((exceptions.FailedPrecondition, exceptions.NotFound)):
        document.update({"n": 2}, option=client.write_option(last_update_time=time))
    assert not document.get().exists


def test_exists_as_an_option(client, collection):
    there, nowhere = collection.document("a"), collection.document("b")
    there.set({})
    there.delete(option=client.write_option(exists=True))
    with pytest.raises(exceptions.NotFound):
        nowhere.delete(option=client.write_option(exists=True))
    nowhere.delete(option=client.write_option(exists=False))
