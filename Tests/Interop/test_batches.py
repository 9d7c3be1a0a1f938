"""Many writes together: a batch that is one commit, and a writer of many independent writes."""

import threading

import pytest
from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.bulk_writer import BulkRetry, BulkWriterOptions, SendMode


def test_every_kind_of_write_in_a_batch(client, collection):
    collection.document("old").set({"n": 1, "m": {"x": 1}})
    collection.document("gone").set({})
    batch = client.batch()
    batch.create(collection.document("new"), {"n": firestore.Increment(1)})
    batch.set(collection.document("set"), {"at": firestore.SERVER_TIMESTAMP})
    batch.set(collection.document("old"), {"m": {"y": 2}}, merge=True)
    batch.update(collection.document("old"), {"m.x": firestore.DELETE_FIELD, "n": 2})
    batch.delete(collection.document("gone"))
    results = batch.commit()
    assert len(results) == 5 and not results[4].update_time
    stored = {snapshot.id: snapshot.to_dict() for snapshot in collection.stream()}
    assert stored.pop("set")["at"]
    assert stored == {"new": {"n": 1}, "old": {"n": 2, "m": {"y": 2}}}


@pytest.mark.parametrize("build", [
    lambda batch, rows: batch.create(rows.document("there"), {}),
    lambda batch, rows: batch.update(rows.document("nowhere"), {"n": 1}),
    lambda batch, rows: batch.set(rows.document("bad"), {"__x__": 1}),
    lambda batch, rows: batch.delete(
        rows.document("nowhere"), option=rows._client.write_option(exists=True)),
], ids=["create", "update", "bad field", "delete"])
def test_a_batch_that_fails_writes_nothing(client, collection, build):
    collection.document("there").set({})
    batch = client.batch()
    batch.set(collection.document("first"), {})
    build(batch, collection)
    batch.set(collection.document("last"), {})
    with pytest.raises(exceptions.GoogleAPICallError):
        batch.commit()
    assert [snapshot.id for snapshot in collection.stream()] == ["there"]


def test_a_batch_is_a_context(client, collection):
    with client.batch() as batch:
        batch.set(collection.document("a"), {"n": 1})
    assert batch.write_results[0].update_time == batch.commit_time
    with pytest.raises(LookupError):
        with client.batch() as batch:
            batch.set(collection.document("b"), {})
            raise LookupError
    assert [snapshot.id for snapshot in collection.stream()] == ["a"]


def test_the_same_document_often_in_a_batch(client, collection):
    batch = client.batch()
    for _ in range(5):
        batch.set(collection.document("a"), {"n": firestore.Increment(1)}, merge=True)
    batch.commit()
    assert collection.document("a").get().to_dict() == {"n": 5}


class Told:
    """Records the results that a bulk writer reports to its callbacks, which run in its threads."""

    def __init__(self, writer, retries=0):
        self.lock = threading.Lock()
        self.results, self.errors, self.batches, self.retries = {}, {}, [], retries
        writer.on_write_result(self.on_result)
        writer.on_write_error(self.on_error)
        writer.on_batch_result(self.on_batch)

    def on_result(self, reference, result, writer):
        with self.lock:
            self.results[reference.id] = result

    def on_error(self, failure, writer):
        with self.lock:
            self.errors.setdefault(failure.operation.reference.id, []).append(failure)
        return failure.attempts < self.retries

    def on_batch(self, batch, response, writer):
        with self.lock:
            self.batches.append(len(response.status))


@pytest.fixture(params=[SendMode.serial, SendMode.parallel], ids=["serial", "parallel"])
def writer(client, request):
    options = BulkWriterOptions(mode=request.param, retry=BulkRetry.immediate)
    return client.bulk_writer(options=options)


def test_a_bulk_writer_writes_everything_in_batches_of_20(writer, collection):
    told = Told(writer)
    assert writer.batch_size == 20
    for number in range(50):
        writer.create(collection.document(f"{number:02}"), {"n": number})
    writer.close()
    assert sorted(told.batches) == [10, 20, 20] and len(told.results) == 50
    stored = {s.id: s.update_time for s in collection.stream()}
    assert {each: result.update_time for each, result in told.results.items()} == stored


def test_every_kind_of_write_of_a_bulk_writer(writer, client, collection):
    for each in ("merged", "updated", "deleted", "kept"):
        collection.document(each).set({"n": 1, "m": {"x": 1}})
    told = Told(writer)
    writer.create(collection.document("created"), {"at": firestore.SERVER_TIMESTAMP})
    writer.set(collection.document("set"), {"n": firestore.Increment(3)})
    writer.set(collection.document("merged"), {"m": {"y": 2}}, merge=True)
    writer.update(collection.document("updated"), {"m.x": 2})
    writer.delete(collection.document("deleted"))
    writer.delete(collection.document("kept"), option=client.write_option(exists=False))
    writer.close()
    stored = {snapshot.id: snapshot.to_dict() for snapshot in collection.stream()}
    assert stored.pop("created")["at"]
    assert stored == {
        "set": {"n": 3}, "merged": {"n": 1, "m": {"x": 1, "y": 2}},
        "updated": {"n": 1, "m": {"x": 2}}, "kept": {"n": 1, "m": {"x": 1}}}
    assert set(told.errors) == {"kept"}


def test_one_failure_leaves_the_others_alone(writer, collection):
    collection.document("there").set({})
    told = Told(writer)
    for each in ("a", "there", "b"):
        writer.create(collection.document(each), {})
    writer.update(collection.document("nowhere"), {"n": 1})
    writer.close()
    assert set(told.results) == {"a", "b"}
    assert {each: failures[0].code for each, failures in told.errors.items()} == {
        "there": 6, "nowhere": 5}
    assert told.errors["there"][0].message.startswith("Document already exists: projects/")
    assert told.errors["nowhere"][0].message.startswith("No document to update: projects/")


def test_a_failure_is_tried_again_as_often_as_is_asked(writer, collection):
    told = Told(writer, retries=2)
    writer.update(collection.document("nowhere"), {"n": 1})
    writer.flush()
    assert len(told.errors["nowhere"]) == 3


def test_a_failure_is_mended_and_tried_again(writer, collection):
    told = Told(writer)

    def mend(failure, writer):
        collection.document("late").set({"n": 0})
        return True
    writer.on_write_error(mend)
    writer.update(collection.document("late"), {"n": 1})
    writer.flush()
    assert collection.document("late").get().to_dict() == {"n": 1}
    assert set(told.results) == {"late"}


def test_a_document_twice_goes_into_two_batches(writer, collection):
    """If the batches run in parallel, the second can arrive first. The writer then retries."""
    told = Told(writer, retries=50)
    writer.create(collection.document("a"), {"n": 1})
    writer.update(collection.document("a"), {"n": 2})
    writer.flush()
    assert set(told.batches) == {1} and len(told.batches) == 2 + len(told.errors.get("a", []))
    assert collection.document("a").get().to_dict() == {"n": 2}


def test_a_closed_writer_takes_no_more(writer, collection):
    writer.close()
    with pytest.raises(Exception, match="closed"):
        writer.create(collection.document("a"), {})
