"""The RPCs on one document that Google's high-level client never sends."""

import datetime
import re

import pytest
from google.api_core import exceptions

from wire import DATABASE, DOCUMENTS, document, fields, name, update

UTC = datetime.timezone.utc


def create(wire, collection, document_id, python, **options):
    return wire.create_document(
        parent=DOCUMENTS, collection_id=collection, document_id=document_id,
        document={"fields": fields(python)}, **options)


def test_a_created_document_is_returned_with_its_times(wire, group):
    made = create(wire, group, "a", {"n": 1})
    assert made.name == name(f"{group}/a") and made.create_time == made.update_time
    assert made == wire.get(f"{group}/a")


def test_the_server_chooses_an_id_of_20_letters_and_digits(wire, group):
    ids = {create(wire, group, "", {}).name.rsplit("/", 1)[1] for _ in range(5)}
    assert len(ids) == 5
    assert all(re.fullmatch("[A-Za-z0-9]{20}", made) for made in ids)


def test_a_document_that_exists_is_not_created_again(wire, group):
    create(wire, group, "a", {"n": 1})
    with pytest.raises(exceptions.AlreadyExists, match="Document already exists: projects/"):
        create(wire, group, "a", {"n": 2})
    assert wire.get(f"{group}/a").fields == fields({"n": 1})


def test_create_returns_only_what_the_mask_names(wire, group):
    made = create(wire, group, "a", {"n": 1, "m": 2}, mask={"field_paths": ["m"]})
    assert made.fields == fields({"m": 2})
    assert wire.get(f"{group}/a").fields == fields({"n": 1, "m": 2})


def test_create_below_a_document_that_does_not_exist(wire, group):
    made = wire.create_document(
        parent=name(f"{group}/ghost"), collection_id="below", document_id="x", document={})
    assert made.name == name(f"{group}/ghost/below/x")


@pytest.mark.parametrize("collection, document_id", [
    ("", "a"), ("c/d", "a"), ("__c__", "a"), ("c", "a/b"), ("c", "__a__"), ("c", "."), ("c", ".."),
    ("c", "x" * 1501)])
def test_create_refuses_ids_that_may_not_be(wire, collection, document_id):
    with pytest.raises(exceptions.InvalidArgument):
        create(wire, collection, document_id, {})


def test_a_missing_document_is_not_found(wire, group):
    with pytest.raises(exceptions.NotFound, match="not found"):
        wire.get(f"{group}/nowhere")


def test_get_with_a_mask(wire, group):
    create(wire, group, "a", {"n": 1, "m": {"x": 1, "y": 2}})
    assert wire.get(f"{group}/a", mask={"field_paths": ["m.y", "absent"]}).fields == fields(
        {"m": {"y": 2}})
    assert wire.get(f"{group}/a", mask={}).fields == {}, "an empty mask is no fields"


def test_get_at_a_past_time(wire, group):
    first = create(wire, group, "a", {"n": 1})
    wire.commit_writes(update(f"{group}/a", {"n": 2}))
    assert wire.get(f"{group}/a", read_time=first.update_time).fields == fields({"n": 1})
    before = first.update_time - datetime.timedelta(microseconds=1)
    with pytest.raises(exceptions.NotFound):
        wire.get(f"{group}/a", read_time=before)


def test_get_in_a_transaction(wire, group):
    create(wire, group, "a", {"n": 1})
    transaction = wire.begin(read_only={})
    wire.commit_writes(update(f"{group}/a", {"n": 2}))
    assert wire.get(f"{group}/a", transaction=transaction).fields == fields({"n": 1})


@pytest.mark.parametrize("bad", [
    DOCUMENTS + "/c", DOCUMENTS, DATABASE, "bad/path", "", DOCUMENTS + "/c//d",
    DOCUMENTS + "/c/d/", "projects/p/databases/d/c/d"])
def test_get_refuses_a_name_that_is_of_no_document(wire, bad):
    with pytest.raises(exceptions.InvalidArgument):
        wire.get_document(name=bad)


def test_update_without_a_mask_replaces_or_creates(wire, group):
    made = wire.update_document(document=document(f"{group}/a", {"n": 1, "m": 2}))
    assert made.create_time == made.update_time
    replaced = wire.update_document(document=document(f"{group}/a", {"n": 3}))
    assert replaced.fields == fields({"n": 3})
    assert replaced.create_time == made.create_time < replaced.update_time


def test_update_with_a_mask_merges_and_deletes_what_is_absent(wire, group):
    create(wire, group, "a", {"n": 1, "m": {"x": 1, "y": 2}, "gone": True})
    updated = wire.update_document(
        document=document(f"{group}/a", {"m": {"x": 9, "ignored": 1}}),
        update_mask={"field_paths": ["m.x", "gone"]})
    assert updated.fields == fields({"n": 1, "m": {"x": 9, "y": 2}})


def test_update_returns_only_what_the_mask_names(wire, group):
    updated = wire.update_document(
        document=document(f"{group}/a", {"n": 1, "m": 2}), mask={"field_paths": ["n"]})
    assert updated.fields == fields({"n": 1})


def test_update_holds_to_its_precondition(wire, group):
    with pytest.raises(exceptions.NotFound, match="No document to update: projects/"):
        wire.update_document(
            document=document(f"{group}/a", {}), current_document={"exists": True})
    create(wire, group, "a", {"n": 1})
    with pytest.raises(exceptions.AlreadyExists):
        wire.update_document(
            document=document(f"{group}/a", {}), current_document={"exists": False})
    assert wire.get(f"{group}/a").fields == fields({"n": 1})


def test_of_masks_that_overlap_the_shorter_path_wins(wire, group):
    create(wire, group, "a", {"m": {"x": 1, "y": 2}, "n": 1})
    for mask in [["m.x", "m"], ["m", "m.x"], ["m", "m"]]:
        updated = wire.update_document(
            document=document(f"{group}/a", {"m": {"x": 9}}), update_mask={"field_paths": mask})
        assert updated.fields == fields({"m": {"x": 9}, "n": 1})


@pytest.mark.parametrize("mask", [["__name__"], ["a..b"], [""], ["a[0]"]])
def test_update_refuses_a_mask_that_is_no_path(wire, group, mask):
    with pytest.raises(exceptions.InvalidArgument):
        wire.update_document(
            document=document(f"{group}/a", {}), update_mask={"field_paths": mask})


def test_delete_succeeds_twice_unless_it_must_exist(wire, group):
    create(wire, group, "a", {})
    wire.delete_document(name=name(f"{group}/a"))
    wire.delete_document(name=name(f"{group}/a"))
    with pytest.raises(exceptions.NotFound):
        wire.delete_document(name=name(f"{group}/a"), current_document={"exists": True})


def test_delete_holds_to_the_time_it_is_told(wire, group):
    made = create(wire, group, "a", {"n": 1})
    changed = wire.update_document(document=document(f"{group}/a", {"n": 2}))
    with pytest.raises(exceptions.FailedPrecondition) as refusal:
        wire.delete_document(
            name=name(f"{group}/a"), current_document={"update_time": made.update_time})
    stored, asked = (microseconds(time.update_time) for time in (changed, made))
    assert (f"the stored version ({stored}) does not match the required base version ({asked})"
            in refusal.value.message)
    wire.delete_document(
        name=name(f"{group}/a"), current_document={"update_time": changed.update_time})


def microseconds(time):
    return (time - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(microseconds=1)


def test_a_deleted_document_comes_back_with_a_later_creation(wire, group):
    first = create(wire, group, "a", {})
    wire.delete_document(name=name(f"{group}/a"))
    second = create(wire, group, "a", {})
    assert second.create_time > first.create_time


def test_batch_get_tells_each_name_once_with_what_is_missing(wire, group):
    create(wire, group, "a", {"n": 1})
    names = [name(f"{group}/{each}") for each in ("missing", "a", "a", "missing")]
    answers = list(wire.batch_get_documents(database=DATABASE, documents=names))
    found = [answer.found.name for answer in answers if "found" in answer]
    missing = [answer.missing for answer in answers if "missing" in answer]
    assert (found, missing) == ([names[1]], [names[0]])
    assert len({answer.read_time for answer in answers}) == 1


def test_batch_get_of_nothing_is_answered(wire):
    assert not [answer for answer in wire.batch_get_documents(database=DATABASE, documents=[])
                if "found" in answer or "missing" in answer]


def test_batch_get_refuses_a_name_of_another_database(wire, group):
    other = name(f"{group}/a", "projects/other/databases/(default)")
    with pytest.raises(exceptions.InvalidArgument):
        list(wire.batch_get_documents(database=DATABASE, documents=[other]))
