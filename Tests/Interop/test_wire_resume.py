"""Listening again from an earlier position: by token, by time, with and without a count."""

import datetime

import pytest
from google.cloud.firestore_v1 import types

from wire import (
    client_state,
    delete,
    field_filter,
    is_boundary,
    kind_of,
    kinds,
    name,
    query,
    resumed,
    snapshot,
    update,
)


@pytest.fixture
def seen(wire, group):
    """Three documents, and the boundary of a listener that has received them."""
    wire.commit_writes(*(update(f"{group}/{each}", {"n": 1}) for each in "abc"))
    return snapshot(wire, group)


def test_an_accepted_resume_begins_with_a_boundary(wire, group, seen):
    wire.commit_writes(update(f"{group}/d", {"n": 1}))
    told = kinds(resumed(wire, group, resume_token=seen.resume_token))
    assert told[:2] == [("ADD", [2]), ("boundary",)]
    assert told[-2:] == [("CURRENT", [2]), ("boundary",)]


def test_nothing_has_changed(wire, group, seen):
    told = kinds(resumed(wire, group, resume_token=seen.resume_token))
    assert [kind for kind in told if kind[0] != "filter"] == [
        ("ADD", [2]), ("boundary",), ("CURRENT", [2]), ("boundary",)]


def test_only_what_has_changed_is_sent(wire, group, seen):
    wire.commit_writes(update(f"{group}/b", {"n": 2}), update(f"{group}/d", {"n": 1}))
    told = kinds(resumed(wire, group, resume_token=seen.resume_token))
    assert sorted(kind[1] for kind in told if kind[0] == "change") == ["b", "d"]


@pytest.mark.parametrize("change", ["delete", "leave", "both", "recreate"])
def test_removals_are_told_or_counted(wire, group, change):
    """The client has the correct state at the end, or a filter shows that its state is wrong."""
    target = query(group, where=field_filter("n", "EQUAL", 1))
    wire.commit_writes(*(update(f"{group}/{each}", {"n": 1}) for each in "abc"))
    seen = snapshot(wire, target)
    gone = {"delete": "a", "leave": "b", "both": "ab", "recreate": ""}[change]
    if change in ("delete", "both", "recreate"):
        wire.commit_writes(delete(f"{group}/a"))
    if change in ("leave", "both"):
        wire.commit_writes(update(f"{group}/b", {"n": 2}))
    if change == "recreate":
        wire.commit_writes(update(f"{group}/a", {"n": 1}))
    state = client_state("abc", resumed(wire, target, resume_token=seen.resume_token))
    assert state in (None, set("abc") - set(gone))


def test_a_removal_is_told_by_name_while_the_log_reaches_back(wire, group, seen):
    """Of production's possible answers, this is the answer that saves the client a second query."""
    wire.commit_writes(delete(f"{group}/a"))
    messages = resumed(wire, group, resume_token=seen.resume_token)
    assert client_state("abc", messages) == {"b", "c"}


def test_the_state_after_many_changes_is_that_of_a_query(wire, group, seen):
    for number in range(30):
        letter = "abcdefgh"[number * 5 % 8]
        write = delete(f"{group}/{letter}") if number % 3 == 0 else update(
            f"{group}/{letter}", {"n": number})
        wire.commit_writes(write)
    state = client_state("abc", resumed(wire, group, resume_token=seen.resume_token))
    assert state == set(wire.found(query(group)))


def test_a_resume_by_time_sends_what_came_after(wire, group, seen):
    wire.commit_writes(update(f"{group}/d", {"n": 1}))
    told = kinds(resumed(wire, group, read_time=seen.read_time))
    assert told[:2] == [("ADD", [2]), ("boundary",)]
    assert [kind for kind in told if kind[0] == "change"] == [("change", "d")]
    assert not [kind for kind in told if kind[0] == "filter"]


def test_a_resume_by_a_time_after_the_change_sends_nothing(wire, group, seen):
    wire.commit_writes(update(f"{group}/d", {"n": 1}))
    latest = snapshot(wire, group).read_time
    told = kinds(resumed(wire, group, read_time=latest))
    assert told == [("ADD", [2]), ("boundary",), ("CURRENT", [2]), ("boundary",)]


def test_a_resume_by_a_time_long_ago_ends_in_the_right_state(wire, group, seen):
    messages = resumed(
        wire, group, read_time=seen.read_time - datetime.timedelta(days=2))
    assert client_state("", messages) in (None, set("abc"))


def test_a_malformed_token_is_refused_alone_without_an_add(wire, group):
    with wire.listen() as listen:
        listen.target(2, group, resume_token=b"garbage")
        refusal = listen.next().target_change
        assert refusal.target_change_type.name == "REMOVE" and list(refusal.target_ids) == [2]
        assert (refusal.cause.code, refusal.cause.message) == (3, "bad resume token")
        listen.target(2, group)
        assert kind_of(listen.next()) == ("ADD", [2]), "the stream stays open"


def test_a_token_of_another_query_is_accepted(wire, group, seen):
    told = kinds(resumed(wire, group + "-other", resume_token=seen.resume_token))
    assert [kind for kind in told if kind[0] != "filter"] == [
        ("ADD", [2]), ("boundary",), ("CURRENT", [2]), ("boundary",)]
    assert [kind[1] for kind in told if kind[0] == "filter"] in ([], [0])


@pytest.mark.parametrize("count", [3, 2, 4, 0])
def test_a_filter_asked_for_by_a_count_has_a_bloom_filter(wire, group, seen, count):
    messages = resumed(
        wire, group, resume_token=seen.resume_token, expected_count=count)
    filters = [message.filter for message in messages if "filter" in message]
    if count != 3:
        assert filters, "a client that holds the wrong number must learn of it"
    for told in filters:
        assert told.count == 3 and told.target_id == 2
        assert told.unchanged_names.hash_count > 0
        names = {name(f"{group}/{each}") for each in "abc"}
        assert all(may_contain(told.unchanged_names, each) for each in names)


def may_contain(bloom, text):
    """Tests a filter as clients do: MD5 in two halves, little-endian, with the bitmap's lowest bit
    first."""
    import hashlib
    digest = hashlib.md5(text.encode()).digest()
    first, second = (int.from_bytes(digest[at:at + 8], "little") for at in (0, 8))
    bits = len(bloom.bits.bitmap) * 8 - bloom.bits.padding
    places = [(first + n * second) % 2**64 % bits for n in range(bloom.hash_count)]
    return all(bloom.bits.bitmap[place // 8] >> place % 8 & 1 for place in places)


def test_a_bloom_filter_tells_most_absent_names_apart(wire, group):
    wire.commit_writes(*(update(f"{group}/{n}", {}) for n in range(50)))
    seen = snapshot(wire, group)
    messages = resumed(wire, group, resume_token=seen.resume_token, expected_count=60)
    bloom = next(m.filter for m in messages if "filter" in m).unchanged_names
    absent = [name(f"{group}/absent-{n}") for n in range(200)]
    assert sum(may_contain(bloom, each) for each in absent) < 20
    assert 0 <= bloom.bits.padding <= 7


def test_a_document_target_resumes_too(wire, group, seen):
    one = [name(f"{group}/a")]
    token = snapshot(wire, one).resume_token
    assert "change" not in {kind[0] for kind in kinds(resumed(wire, one, resume_token=token))}
    wire.commit_writes(delete(f"{group}/a"))
    messages = resumed(wire, one, resume_token=token)
    assert client_state("a", messages) in (None, set())


def test_every_boundary_of_a_stream_can_be_resumed_from(wire, group):
    """The client has all writes at the end, regardless of the boundary at which its stream was
    cut."""
    with wire.listen() as listen:
        listen.target(2, group)
        points = [(set(), listen.boundary()[-1].target_change.resume_token)]
        for number in range(5):
            wire.commit_writes(update(f"{group}/{number}", {}))
            known = points[-1][0] | {str(number)}
            points.append((known, listen.boundary()[-1].target_change.resume_token))
    everything = {str(number) for number in range(5)}
    for known, token in points:
        assert client_state(known, resumed(wire, group, resume_token=token)) == everything


def test_a_resume_is_cut_before_it_is_current_and_resumed_again(wire, group, seen):
    """A resume from the first boundary of an accepted resume loses no change."""
    wire.commit_writes(update(f"{group}/d", {}))
    with wire.listen() as listen:
        listen.target(2, group, resume_token=seen.resume_token)
        first = listen.until(lambda message: is_boundary(message.target_change)
                             and "target_change" in message)[-1].target_change
    messages = resumed(wire, group, resume_token=first.resume_token)
    assert client_state("abc", messages) == set("abcd")


def test_a_deleted_and_a_kept_document_in_one_resume(wire, group, seen):
    wire.commit_writes(delete(f"{group}/a"), update(f"{group}/b", {"n": 9}))
    messages = resumed(wire, group, resume_token=seen.resume_token, expected_count=3)
    deletes = [m.document_delete for m in messages if "document_delete" in m]
    for told in deletes:
        assert list(told.removed_target_ids) == [2]
    assert client_state("abc", messages) in (None, {"b", "c"})


def test_types_of_resume_exclude_each_other(seen):
    """The protocol has one field for both types. The one that is set last counts."""
    target = types.Target(resume_token=seen.resume_token)
    target.read_time = seen.read_time
    assert not target.resume_token
