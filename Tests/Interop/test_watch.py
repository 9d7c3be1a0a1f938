"""Listeners of Google's client: the snapshots they receive, and when."""

import queue

from google.cloud.firestore_v1.base_query import FieldFilter


class Listener:
    """Collects snapshots, and waits for facts instead of time."""

    def __init__(self, target):
        self.events = queue.Queue()
        self.watch = target.on_snapshot(
            lambda documents, changes, time: self.events.put((documents, changes, time)))

    def until(self, holds):
        """Returns the first snapshot for which `holds(ids → fields)` is true."""
        seen = []
        while True:
            documents, changes, time = self.events.get(timeout=15)
            state = {d.id: d.to_dict() for d in documents}
            seen.append(state)
            if holds(state):
                return state, changes, time, seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watch.unsubscribe()


def test_a_query_is_told_of_adds_edits_and_removals(collection):
    collection.document("a").set({"n": 1})
    with Listener(collection.where(filter=FieldFilter("n", ">", 0))) as listener:
        listener.until(lambda state: state == {"a": {"n": 1}})
        collection.document("b").set({"n": 2})
        listener.until(lambda state: state == {"a": {"n": 1}, "b": {"n": 2}})
        collection.document("a").update({"n": 3})
        _, changes, _, _ = listener.until(lambda state: state["a"] == {"n": 3})
        assert [c.type.name for c in changes] == ["MODIFIED"]
        collection.document("a").update({"n": -1})
        listener.until(lambda state: state == {"b": {"n": 2}})
        collection.document("b").delete()
        _, changes, _, _ = listener.until(lambda state: state == {})
        assert [c.type.name for c in changes] == ["REMOVED"]


def test_a_batch_is_one_snapshot(client, collection):
    with Listener(collection) as listener:
        listener.until(lambda state: state == {})
        batch = client.batch()
        for number in range(5):
            batch.set(collection.document(str(number)), {"n": number})
        batch.commit()
        _, _, _, seen = listener.until(lambda state: len(state) == 5)
        assert [len(state) for state in seen] == [5], "no snapshot showed a part of the batch"


def test_a_limited_query_moves_its_window(collection):
    for number in (1, 2, 3):
        collection.document(str(number)).set({"n": number})
    with Listener(collection.order_by("n").limit(2)) as listener:
        listener.until(lambda state: set(state) == {"1", "2"})
        collection.document("0").set({"n": 0})
        listener.until(lambda state: set(state) == {"0", "1"})
        collection.document("0").delete()
        listener.until(lambda state: set(state) == {"1", "2"})


def test_a_document_is_told_of_its_birth_and_death(collection):
    document = collection.document("a")
    events = queue.Queue()
    watch = document.on_snapshot(lambda documents, changes, time: events.put(documents))
    try:
        def until(holds):
            while True:
                documents = events.get(timeout=15)
                if holds(documents):
                    return
        until(lambda documents: not documents or not documents[0].exists)
        document.set({"n": 1})
        until(lambda documents: documents and documents[0].to_dict() == {"n": 1})
        document.delete()
        until(lambda documents: not documents or not documents[0].exists)
    finally:
        watch.unsubscribe()
