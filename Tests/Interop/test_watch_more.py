"""Long-lived listeners: the snapshots that each receives, and the effect of a restart."""

import queue
import threading

import pytest
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter, Or

from conftest import Server, end_listeners
from test_watch import Listener


def n_of(state):
    return {each: fields["n"] for each, fields in state.items()}


def kinds(changes):
    return [(change.type.name, change.document.id, change.old_index, change.new_index)
            for change in changes]


def test_the_places_of_what_has_changed(collection):
    for number in (1, 3):
        collection.document(str(number)).set({"n": number})
    with Listener(collection.order_by("n")) as listener:
        _, changes, _, _ = listener.until(lambda state: len(state) == 2)
        assert kinds(changes) == [("ADDED", "1", -1, 0), ("ADDED", "3", -1, 1)]
        collection.document("2").set({"n": 2})
        _, changes, _, _ = listener.until(lambda state: len(state) == 3)
        assert [change.type.name for change in changes] == ["ADDED"]
        collection.document("1").delete()
        _, changes, _, _ = listener.until(lambda state: len(state) == 2)
        assert [(c.type.name, c.document.id) for c in changes] == [("REMOVED", "1")]


def test_the_documents_come_in_the_order_of_the_query(collection):
    snapshots = queue.Queue()
    watch = collection.order_by("n").on_snapshot(
        lambda documents, changes, time: snapshots.put([d.id for d in documents]))
    try:
        assert snapshots.get(timeout=15) == []
        for each, n in (("a", 3), ("b", 1), ("c", 2)):
            collection.document(each).set({"n": n})
        while (order := snapshots.get(timeout=15)) != ["b", "c", "a"]:
            assert order in (["a"], ["b", "a"])
        assert watch.is_active
    finally:
        watch.unsubscribe()
    assert not watch.is_active


def test_a_closed_watch_hears_nothing_more(client, collection):
    told = []
    first = collection.on_snapshot(lambda documents, *_: told.append(len(documents)))
    with Listener(collection) as second:
        second.until(lambda state: state == {})
        first.close()
        first.close()
        before = len(told)
        collection.document("a").set({"n": 1})
        second.until(lambda state: state)
    assert len(told) == before and not first.is_active


@pytest.mark.parametrize("build, inside, outside", [
    (lambda c: c.where(filter=FieldFilter("n", "in", [1, 2])), 2, 3),
    (lambda c: c.where(filter=FieldFilter("n", "!=", 3)), 2, 3),
    (lambda c: c.where(filter=FieldFilter("n", "not-in", [3, 4])), 2, 3),
    (lambda c: c.where(filter=Or([FieldFilter("n", "<", 2), FieldFilter("n", "==", 9)])), 9, 3),
    (lambda c: c.where(filter=FieldFilter("list", "array_contains", 1)), [1], [2]),
    (lambda c: c.order_by("n").start_at({"n": 1}).end_before({"n": 3}), 2, 3),
    (lambda c: c.order_by("n", direction="DESCENDING").end_at({"n": 2}), 2, 1),
], ids=["in", "!=", "not-in", "or", "array", "cursors", "descending cursor"])
def test_every_kind_of_query_tells_who_comes_and_goes(collection, build, inside, outside):
    field = "list" if isinstance(inside, list) else "n"
    document = collection.document("a")
    with Listener(build(collection)) as listener:
        listener.until(lambda state: state == {})
        document.set({field: inside})
        listener.until(lambda state: state == {"a": {field: inside}})
        document.set({field: outside})
        listener.until(lambda state: state == {})
        document.set({field: inside, "again": True})
        listener.until(lambda state: state == {"a": {field: inside, "again": True}})


def test_a_group_is_watched_in_all_its_places(client, group):
    with Listener(client.collection_group(group)) as listener:
        listener.until(lambda state: state == {})
        client.document(f"{group}-p/a/{group}/one").set({"n": 1})
        client.document(f"{group}/two").set({"n": 2})
        client.document(f"{group}x/three").set({"n": 3})
        client.document(f"{group}-p/b/c/d/{group}/four").set({"n": 4})
        state, *_ = listener.until(lambda state: "four" in state)
        assert n_of(state) == {"one": 1, "two": 2, "four": 4}


def test_limit_to_last_watches_the_end(collection):
    for number in range(4):
        collection.document(str(number)).set({"n": number})
    with Listener(collection.order_by("n").limit_to_last(2)) as listener:
        listener.until(lambda state: len(state) == 2)


def test_twenty_listeners_all_hear_of_every_commit(client, collection):
    listeners = [Listener(collection) for _ in range(20)]
    try:
        for listener in listeners:
            listener.until(lambda state: state == {})
        for number in range(5):
            collection.document("a").set({"n": number})
        for listener in listeners:
            listener.until(lambda state: state == {"a": {"n": 4}})
    finally:
        for listener in listeners:
            listener.watch.unsubscribe()


def test_a_transaction_and_a_bulk_writer_are_heard(client, collection):
    with Listener(collection) as listener:
        listener.until(lambda state: state == {})

        @firestore.transactional
        def run(transaction):
            transaction.set(collection.document("a"), {"n": 1})
            transaction.set(collection.document("b"), {"n": 2})
        run(client.transaction())
        *_, seen = listener.until(lambda state: state)
        assert [n_of(state) for state in seen] == [{"a": 1, "b": 2}], "in one snapshot"
        writer = client.bulk_writer()
        for number in range(25):
            writer.set(collection.document(f"w{number}"), {"n": number})
        writer.close()
        listener.until(lambda state: len(state) == 27)
        client.recursive_delete(collection)
        listener.until(lambda state: state == {})


def test_a_thousand_documents_come_in_one_snapshot(client, collection):
    batch = client.batch()
    for number in range(1_000):
        batch.set(collection.document(f"{number:04}"), {"n": number})
    batch.commit()
    with Listener(collection) as listener:
        *_, seen = listener.until(lambda state: state)
        assert [len(state) for state in seen] == [1_000]


def test_the_last_state_is_right_under_many_writers(server, collection):
    """Three clients write at the same time. The listener's last state equals the result of a
    query."""
    def write(number):
        client = server.client()
        for turn in range(20):
            document = client.document(f"{collection.id}/{(turn * 7 + number) % 10}")
            document.delete() if turn % 4 == 3 else document.set({"n": turn * 10 + number})
        client.document(f"{collection.id}/done {number}").set({})
        client.close()

    with Listener(collection) as listener:
        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = {s.id: s.to_dict() for s in collection.stream()}
        listener.until(lambda state: state == expected)


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_listener_lives_through_a_restart_of_the_server(tmp_path, end):
    """The listener receives the writes before, during and after the restart, without a new
    request."""
    server = Server(tmp_path)
    client = server.client("restart")
    rows = client.collection("rows")
    rows.document("before").set({"n": 1})
    rows.document("deleted later").set({"n": 1})
    query = rows.where(filter=FieldFilter("n", ">", 0))
    with Listener(query) as listener, Listener(rows.document("before")) as one:
        listener.until(lambda state: len(state) == 2)
        one.until(lambda state: state)
        for turn in range(2):
            getattr(server, end)()
            server = Server(tmp_path, server.port)
            other = server.client("restart")
            other.document(f"rows/after {turn}").set({"n": 2})
            other.document("rows/before").set({"n": 10 + turn})
            if turn == 0:
                other.document("rows/deleted later").delete()
            other.close()
            expected = {"before": 10 + turn, **{f"after {each}": 2 for each in range(turn + 1)}}
            listener.until(lambda state: n_of(state) == expected)
            one.until(lambda state: n_of(state) == {"before": 10 + turn})
        rows.document("before").update({"n": 20})
        listener.until(lambda state: state["before"]["n"] == 20)
        assert listener.watch.is_active and one.watch.is_active
    server.stop()


def test_a_refused_query_ends_its_watch(client, collection):
    bad = collection.where(filter=FieldFilter("n", "not-in", list(range(11))))
    ended = threading.Event()
    watch = bad.on_snapshot(lambda *_: None)
    consumer = watch._consumer
    threading.Thread(target=lambda: (consumer._thread.join(), ended.set()), daemon=True).start()
    assert ended.wait(15), "the stream must end, not be opened for ever"
    watch.close()


def test_a_listener_that_a_test_leaves_ends(own_server):
    """Without `end_listeners`, the thread of the listener opens its stream until the process ends."""
    before = set(threading.enumerate())
    listener = Listener(own_server.client().collection("left"))
    listener.until(lambda state: state == {})
    consumers = [
        thread for thread in threading.enumerate()
        if thread not in before and "ConsumeBidirectionalStream" in thread.name]
    assert len(consumers) == 1
    own_server.kill()
    end_listeners()
    consumers[0].join(30)
    assert not consumers[0].is_alive()
