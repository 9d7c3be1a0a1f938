"""Lists of documents and of collections, page by page, and gets of many documents together."""

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from wire import DOCUMENTS, fields, name, update


def ids(references):
    return [reference.id for reference in references]


@pytest.fixture
def parent(client, collection):
    """A document with three documents and a missing document in one collection, and two more
    collections."""
    parent = collection.document("parent")
    batch = client.batch()
    for each in "cab":
        batch.set(parent.collection("letters").document(each), {"of": each, "n": 1})
    batch.set(parent.collection("letters").document("ghost").collection("x").document("y"), {})
    batch.set(parent.collection("deep").document("d").collection("deeper").document("e"), {})
    batch.set(parent.collection("zoo").document("z"), {})
    batch.commit()
    return parent


def test_list_documents_tells_names_in_order_with_those_that_only_have_descendants(parent):
    assert ids(parent.collection("letters").list_documents()) == ["a", "b", "c", "ghost"]
    assert ids(parent.collection("deep").list_documents()) == ["d"]
    assert ids(parent.collection("nothing").list_documents()) == []


def test_list_documents_page_by_page_has_no_gap_and_no_overlap(parent):
    pages = parent.collection("letters").list_documents(page_size=3)
    assert ids(pages) == ["a", "b", "c", "ghost"]


def test_collections_below_a_document_include_those_of_ghosts(parent):
    assert ids(parent.collections()) == ["deep", "letters", "zoo"]
    assert ids(parent.collections(page_size=2)) == ["deep", "letters", "zoo"]
    assert ids(parent.collection("letters").document("ghost").collections()) == ["x"]


def test_collections_of_the_database(client, collection):
    before = set(ids(client.collections()))
    collection.document("a").collection("below").document("b").set({})
    assert set(ids(client.collections())) - before == {collection.id}, "one more, by a descendant"


def test_get_all_tells_found_and_missing_ones_each_once(client, parent):
    letters = parent.collection("letters")
    asked = [letters.document(each) for each in ("missing", "a", "c", "a", "ghost")]
    snapshots = {snapshot.id: snapshot for snapshot in client.get_all(asked)}
    assert {each for each, snapshot in snapshots.items() if snapshot.exists} == {"a", "c"}
    assert len(snapshots) == 4
    assert snapshots["missing"].read_time == snapshots["a"].read_time


def test_get_all_across_collections_with_a_mask(client, parent):
    asked = [parent.collection("letters").document("a"), parent.collection("zoo").document("z")]
    snapshots = {s.id: s.to_dict() for s in client.get_all(asked, field_paths=["of"])}
    assert snapshots == {"a": {"of": "a"}, "z": {}}


def test_get_all_of_many(client, collection):
    references = [collection.document(f"{number:03}") for number in range(300)]
    batch = client.batch()
    for reference in references:
        batch.set(reference, {"id": reference.id})
    batch.commit()
    snapshots = list(client.get_all(references))
    assert {s.id for s in snapshots if s.get("id") == s.id} == set(ids(references))


def page(wire, parent, **options):
    pager = wire.list_documents(parent=parent, **options)
    return next(iter(pager.pages))


@pytest.fixture
def many(wire, group):
    wire.commit_writes(*(update(f"{group}/{number:03}", {"n": -number}) for number in range(310)))
    return group


def rows(page):
    return [row.name.rsplit("/", 1)[1] for row in page.documents]


def test_a_page_has_100_documents_by_default_and_300_at_most(wire, many):
    first = page(wire, DOCUMENTS, collection_id=many)
    assert rows(first) == [f"{number:03}" for number in range(100)] and first.next_page_token
    largest = page(wire, DOCUMENTS, collection_id=many, page_size=1_000)
    assert len(largest.documents) == 300 and largest.next_page_token
    rest = page(wire, DOCUMENTS, collection_id=many, page_size=1_000,
                page_token=largest.next_page_token)
    assert len(rest.documents) == 10 and not rest.next_page_token


def test_a_list_may_be_ordered(wire, many):
    first = page(wire, DOCUMENTS, collection_id=many, order_by="n", page_size=2)
    assert rows(first) == ["309", "308"]
    second = page(wire, DOCUMENTS, collection_id=many, order_by="n", page_size=2,
                  page_token=first.next_page_token)
    assert rows(second) == ["307", "306"]
    down = page(wire, DOCUMENTS, collection_id=many, order_by="n desc", page_size=2)
    assert rows(down) == ["000", "001"]


def test_a_token_goes_on_after_the_values_its_page_ended_on(wire, many):
    first = page(wire, DOCUMENTS, collection_id=many, page_size=5)
    wire.commit_writes(update(f"{many}/0035", {}))
    wire.delete_document(name=name(f"{many}/004"))
    second = page(wire, DOCUMENTS, collection_id=many, page_size=2,
                  page_token=first.next_page_token)
    assert rows(second) == ["005", "006"]


@pytest.mark.parametrize("change", [
    {"collection_id": "other"}, {"order_by": "n"}, {"mask": {"field_paths": ["n"]}},
    {"show_missing": True}, {"parent": name("other/document")}], ids=str)
def test_a_token_is_bound_to_its_list(wire, many, change):
    token = page(wire, DOCUMENTS, collection_id=many, page_size=1).next_page_token
    options = {"parent": DOCUMENTS, "collection_id": many, **change}
    with pytest.raises(exceptions.InvalidArgument, match="Invalid page token."):
        page(wire, options.pop("parent"), page_token=token, **options)


@pytest.mark.parametrize("options, text", [
    ({"page_token": "garbage"}, "invalid page token"),
    ({"page_size": -1}, "Page size must be nonnegative."),
    ({"show_missing": True, "order_by": "n"},
     "cannot specify an order when show_missing is true"),
    ({"order_by": "a..b"}, 'Invalid order by clause "a..b".'),
    ({"mask": {"field_paths": ["a..b"]}}, "Invalid property path"),
], ids=["token", "size", "order and missing", "order", "mask"])
def test_a_list_is_refused_with_productions_text(wire, options, text):
    with pytest.raises(exceptions.InvalidArgument) as refusal:
        page(wire, DOCUMENTS, collection_id="c", **options)
    assert text in refusal.value.message


def test_a_list_with_a_mask_and_missing_ones(wire, group):
    wire.commit_writes(update(f"{group}/a", {"n": 1, "m": 2}), update(f"{group}/b/x/y", {}))
    listed = page(wire, DOCUMENTS, collection_id=group, show_missing=True,
                  mask={"field_paths": ["m"]}).documents
    assert [row.fields for row in listed] == [fields({"m": 2}), {}]
    assert "update_time" in listed[0] and "update_time" not in listed[1]
    assert rows(page(wire, DOCUMENTS, collection_id=group)) == ["a"]


def test_a_list_without_a_collection_is_of_all_below_its_parent(wire, group):
    wire.commit_writes(update(f"{group}/a/x/1", {}), update(f"{group}/a/y/2", {}))
    assert rows(page(wire, name(f"{group}/a"))) == ["1", "2"]


def test_a_page_that_holds_the_only_collection_has_no_token(wire, group):
    wire.commit_writes(update(f"{group}/a/x/1", {}))
    answer = next(iter(wire.list_collection_ids(parent=name(f"{group}/a"), page_size=1).pages))
    assert list(answer.collection_ids) == ["x"] and not answer.next_page_token


def test_pages_of_collections(wire, group):
    wire.commit_writes(*(update(f"{group}/a/{each}/1", {}) for each in "cab"))
    pages = list(wire.list_collection_ids(parent=name(f"{group}/a"), page_size=2).pages)
    assert [list(each.collection_ids) for each in pages] == [["a", "b"], ["c"]]
    with pytest.raises(exceptions.InvalidArgument,
                       match="page_size must be greater than or equal to zero."):
        list(wire.list_collection_ids(parent=name(f"{group}/a"), page_size=-1))


def test_a_generated_id_is_written_under(collection):
    time, reference = collection.add({"n": 1})
    assert len(reference.id) == 20 and reference.get().update_time == time
    assert collection.add({"n": 2}, "chosen")[1].id == "chosen"
    with pytest.raises(exceptions.AlreadyExists):
        collection.add({"n": 3}, "chosen")


def test_references_know_where_they_are(client, collection):
    document = collection.document("a").collection("below").document("b")
    assert document.path == f"{collection.id}/a/below/b" and document.id == "b"
    assert document.parent.id == "below" and document.parent.parent.id == "a"
    assert client.document(document.path) == document
    assert client.field_path("a", "b.c") == "a.`b.c`"
    assert isinstance(client.collection(collection.id), firestore.CollectionReference)
