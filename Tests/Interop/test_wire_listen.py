"""The Listen stream: targets, their acknowledgements, and the snapshots of commits."""

import grpc
import pytest
from google.cloud.firestore_v1 import types

from wire import delete, field_filter, kind_of, kinds, name, query, update


@pytest.fixture
def listen(wire):
    with wire.listen() as stream:
        yield stream


def test_a_fresh_target_is_acknowledged_filled_and_current(wire, group, listen):
    wire.commit_writes(update(f"{group}/b", {}), update(f"{group}/a", {}))
    listen.target(2, group)
    messages = listen.boundary()
    assert kinds(messages) == [
        ("ADD", [2]), ("change", "a"), ("change", "b"), ("CURRENT", [2]), ("boundary",)]
    add, change, _, current, boundary = messages
    assert not add.target_change.resume_token
    assert list(change.document_change.target_ids) == [2]
    assert change.document_change.document.update_time
    assert current.target_change.resume_token and boundary.target_change.resume_token
    assert current.target_change.read_time <= boundary.target_change.read_time


def test_an_empty_result_is_current_too(group, listen):
    listen.target(2, group)
    assert kinds(listen.boundary()) == [("ADD", [2]), ("CURRENT", [2]), ("boundary",)]


def test_a_document_that_is_missing_is_told_as_deleted(group, listen):
    listen.target(1, [name(f"{group}/nowhere")])
    messages = listen.boundary()
    assert kinds(messages) == [
        ("ADD", [1]), ("delete", "nowhere"), ("CURRENT", [1]), ("boundary",)]
    told = messages[1].document_delete
    assert list(told.removed_target_ids) == [1] and told.read_time


def test_adds_edits_leaves_and_deletes_are_each_one_snapshot(wire, group, listen):
    positive = query(group, where=field_filter("n", "GREATER_THAN", 0))
    listen.target(2, positive)
    listen.boundary()
    steps = [(update(f"{group}/a", {"n": 1}), ("change", "a")),
             (update(f"{group}/a", {"n": 2}), ("change", "a")),
             (update(f"{group}/a", {"n": -1}), ("leave", "a")),
             (update(f"{group}/a", {"n": 3}), ("change", "a")),
             (delete(f"{group}/a"), ("delete", "a"))]
    for write, expected in steps:
        committed = wire.commit_writes(write).commit_time
        messages = listen.boundary()
        told = [("leave", "a") if kind_of(m) == ("remove", "a") else kind_of(m) for m in messages]
        assert told == [expected, ("boundary",)]
        assert messages[-1].target_change.read_time >= committed


def test_a_document_that_leaves_names_the_target_it_left(wire, group, listen):
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    listen.target(2, query(group, where=field_filter("n", "EQUAL", 1)))
    listen.boundary()
    wire.commit_writes(update(f"{group}/a", {"n": 2}))
    message = listen.boundary()[0]
    told = message.document_change if "document_change" in message else message.document_remove
    assert list(told.removed_target_ids) == [2]


def test_one_commit_is_one_snapshot_over_all_targets(wire, group, listen):
    listen.target(2, group)
    listen.target(4, query(group, where=field_filter("n", "GREATER_THAN", 1)))
    listen.target(1, [name(f"{group}/2")])
    for _ in range(3):
        listen.boundary()
    wire.commit_writes(*(update(f"{group}/{n}", {"n": n}) for n in range(4)))
    messages = listen.boundary()
    told = {}
    for message in messages[:-1]:
        change = message.document_change
        told.setdefault(kind_of(message)[1], set()).update(change.target_ids)
    assert told == {"0": {2}, "1": {2}, "2": {1, 2, 4}, "3": {2, 4}}


def test_two_commits_are_two_snapshots_with_rising_times(wire, group, listen):
    listen.target(2, group)
    times = [listen.boundary()[-1].target_change.read_time]
    for number in range(3):
        wire.commit_writes(update(f"{group}/a", {"n": number}))
    times += [listen.boundary()[-1].target_change.read_time for _ in range(3)]
    assert times == sorted(set(times))


def test_identical_data_and_other_collections_say_nothing(wire, group, listen):
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    listen.target(2, group)
    listen.boundary()
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    wire.commit_writes(update(f"{group}-other/a", {"n": 1}))
    wire.commit_writes(update(f"{group}/b", {"n": 2}))
    changes = listen.until(lambda message: kind_of(message) == ("change", "b"))
    assert {kind for kind in kinds(changes[:-1])} <= {("boundary",)}


def test_a_removed_target_is_acknowledged_once_and_then_silent(wire, group, listen):
    listen.target(2, group)
    listen.boundary()
    listen.send(remove_target=2)
    assert kind_of(listen.next()) == ("REMOVE", [2])
    wire.commit_writes(update(f"{group}/a", {}))
    listen.target(4, group)
    assert kinds(listen.boundary()) == [
        ("ADD", [4]), ("change", "a"), ("CURRENT", [4]), ("boundary",)]


def test_a_window_takes_one_in_for_the_one_it_puts_out(wire, group, listen):
    wire.commit_writes(*(update(f"{group}/{n}", {"n": n}) for n in (1, 2, 3)))
    listen.target(2, query(group, order_by=[{"field": {"field_path": "n"}}], limit=2))
    assert kinds(listen.boundary())[1:3] == [("change", "1"), ("change", "2")]
    wire.commit_writes(update(f"{group}/0", {"n": 0}))
    assert sorted(word(m) for m in listen.boundary()[:-1]) == ["in 0", "out 2"]
    wire.commit_writes(delete(f"{group}/1"))
    assert sorted(word(m) for m in listen.boundary()[:-1]) == ["in 2", "out 1"]


def word(message):
    kind, document = kind_of(message)
    return ("in " if kind == "change" else "out ") + document


def test_a_duplicate_id_is_refused_alone(wire, group, listen):
    listen.target(1, group)
    listen.boundary()
    listen.target(1, group + "-other")
    refusal = listen.next().target_change
    assert refusal.target_change_type.name == "REMOVE" and list(refusal.target_ids) == [1]
    assert (refusal.cause.code, refusal.cause.message) == (6, "Target ID already exists: 1")
    wire.commit_writes(update(f"{group}/a", {}))
    assert kind_of(listen.boundary()[0]) == ("change", "a"), "the first of that id lives on"


def test_the_server_chooses_an_id_for_0(group, listen):
    listen.target(0, group)
    assert kind_of(listen.boundary()[0]) == ("ADD", [1])
    listen.target(0, group + "-other")
    assert kind_of(listen.boundary()[0]) == ("ADD", [2])


def test_an_explicit_id_after_a_chosen_one_ends_the_stream(group, listen):
    listen.target(0, group)
    listen.boundary()
    listen.target(7, group)
    assert listen.error()[0].code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_negative_id_ends_the_stream(group, listen):
    listen.target(-1, group)
    assert listen.error()[0].code() == grpc.StatusCode.INVALID_ARGUMENT


def test_once_is_removed_after_its_snapshot(wire, group, listen):
    wire.commit_writes(update(f"{group}/a", {}))
    listen.target(2, group, once=True)
    messages = listen.until(lambda message: kind_of(message)[0] == "REMOVE")
    assert kinds(messages) == [
        ("ADD", [2]), ("change", "a"), ("CURRENT", [2]), ("boundary",), ("REMOVE", [2])]
    assert not messages[-1].target_change.cause.code
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    listen.target(4, group)
    assert kind_of(listen.next()) == ("ADD", [4]), "a target of once hears of nothing more"


@pytest.mark.parametrize("bad", [
    query("c", where=field_filter("n", "IN", list(range(31)))),
    query("c", where=field_filter("a..b", "EQUAL", 1)),
    query("c", limit=-1), query("c/d"), query("__c__"),
], ids=["31 disjunctions", "bad path", "negative limit", "slash", "reserved"])
def test_a_bad_query_is_refused_alone(group, listen, bad):
    listen.target(2, bad)
    messages = listen.until(lambda message: kind_of(message)[0] == "REMOVE")
    refusal = messages[-1].target_change
    assert list(refusal.target_ids) == [2] and refusal.cause.code == 3 and refusal.cause.message
    assert {kind_of(m)[0] for m in messages[:-1]} <= {"ADD"}
    listen.target(4, group)
    assert kinds(listen.boundary()) == [("ADD", [4]), ("CURRENT", [4]), ("boundary",)]


def test_removing_what_was_never_added_harms_nobody(group, listen):
    listen.target(2, group)
    listen.boundary()
    listen.send(remove_target=99)
    listen.target(4, group)
    messages = listen.until(lambda message: kind_of(message) == ("CURRENT", [4]))
    assert ("ADD", [4]) in kinds(messages)


def test_many_targets_each_get_their_own(wire, group, listen):
    """Each target has one document, and receives only changes of that document."""
    count = 40
    wire.commit_writes(*(update(f"{group}/{n}", {"n": 0}) for n in range(count)))
    for number in range(count):
        listen.target(2 * number + 1, [name(f"{group}/{number}")])
    for _ in range(count):
        listen.boundary()
    wire.commit_writes(update(f"{group}/17", {"n": 1}))
    change = listen.boundary()[0].document_change
    assert list(change.target_ids) == [35]


def test_an_equal_query_on_two_targets_is_told_to_both(wire, group, listen):
    listen.target(2, group)
    listen.target(4, group)
    listen.boundary()
    listen.boundary()
    wire.commit_writes(update(f"{group}/a", {}))
    messages = listen.boundary()
    told = [target for m in messages[:-1] for target in m.document_change.target_ids]
    assert sorted(told) == [2, 4]


def test_a_stream_without_a_database_is_refused(wire, group):
    with wire.listen(database="") as stream:
        stream.send(add_target=types.Target(
            target_id=2, documents={"documents": [name(f"{group}/a")]}))
        assert stream.error()[0].code() == grpc.StatusCode.INVALID_ARGUMENT


def test_the_stream_ends_well_when_its_client_has_finished(group, listen):
    listen.target(2, group)
    listen.boundary()
    listen.finish()
    assert list(listen.call) == [] and listen.call.code() == grpc.StatusCode.OK


def test_a_projection_is_listened_to_as_it_is_queried(wire, group, listen):
    """The documents contain only the selected fields. A change of another field is no event."""
    wire.commit_writes(update(f"{group}/a", {"n": 1, "other": 1}))
    listen.target(2, query(group, select={"fields": [{"field_path": "n"}]}))
    messages = listen.boundary()
    assert list(messages[1].document_change.document.fields) == ["n"]
