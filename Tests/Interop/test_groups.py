"""Collection groups, partitions, recursive queries and recursive deletes."""

import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.base_query import FieldFilter

from wire import DOCUMENTS, field_filter, name, query, update


@pytest.fixture
def tree(client, collection):
    """Documents on four levels. One of them is below a document that does not exist."""
    paths = ["a", "a/x/1", "a/x/1/x/2", "a/y/3", "b", "ghost/x/4"]
    batch = client.batch()
    for place, path in enumerate(paths):
        batch.set(client.document(f"{collection.id}/{path}"), {"n": place})
    batch.commit()
    return collection


def paths(query, top):
    return [s.reference.path.removeprefix(top.id + "/") for s in query.stream()]


def test_a_recursive_query_reads_everything_below(tree):
    assert paths(tree.recursive(), tree) == ["a", "a/x/1", "a/x/1/x/2", "a/y/3", "b", "ghost/x/4"]
    assert paths(tree.limit(3).recursive(), tree) == ["a", "a/x/1", "a/x/1/x/2"]
    assert paths(tree.document("a").collection("x").recursive(), tree) == ["a/x/1", "a/x/1/x/2"]


def test_recursive_delete_of_a_collection(client, tree):
    assert client.recursive_delete(tree) == 6
    assert paths(tree.recursive(), tree) == []


def test_recursive_delete_of_a_document(client, tree):
    assert client.recursive_delete(tree.document("a")) == 4
    assert paths(tree.recursive(), tree) == ["b", "ghost/x/4"]


def test_recursive_delete_in_chunks_and_by_a_writer_of_ones_own(client, tree):
    writer, told = client.bulk_writer(), []
    writer.on_write_result(lambda reference, result, writer: told.append(reference.id))
    assert client.recursive_delete(tree, bulk_writer=writer, chunk_size=2) == 6
    assert len(told) == 6 and paths(tree.recursive(), tree) == []


def test_recursive_delete_leaves_neighbours_alone(client, group):
    for each in (group, group + "a", group[:-1]):
        client.collection(each).document("d").set({})
    client.recursive_delete(client.collection(group))
    assert client.collection(group + "a").document("d").get().exists
    assert client.collection(group[:-1]).document("d").get().exists


@pytest.fixture
def shelf(client, group):
    """A group in three places, and a collection with a longer name."""
    for path, number in {f"{group}/1": 3, f"{group}-p/a/{group}/2": 2,
                         f"{group}-p/b/c/d/{group}/3": 1, f"{group}-p/a/{group}x/4": 9}.items():
        client.document(path).set({"n": number, "even": number % 2 == 0})
    return client.collection_group(group)


def ids(query):
    return [snapshot.id for snapshot in query.stream()]


def test_a_group_is_every_collection_of_its_id(shelf):
    assert ids(shelf) == ["1", "2", "3"], "in the order of their names"
    assert len(shelf.get()) == 3
    assert ids(shelf.recursive()) == ["1"], "recursive is of the one at the top and below it"


def test_filters_orders_and_projections_of_a_group(shelf):
    assert ids(shelf.order_by("n")) == ["3", "2", "1"]
    assert ids(shelf.where(filter=FieldFilter("n", ">", 1))) == ["2", "1"]
    assert [s.to_dict() for s in shelf.select(["even"]).stream()] == [
        {"even": False}, {"even": True}, {"even": False}]
    assert ids(shelf.order_by("n").limit(1)) == ["3"]
    assert [s.to_dict() for s in shelf.limit(1).select(["n"]).stream()] == [{"n": 3}]


def test_a_group_below_a_document_is_scanned_by_name(wire, group):
    wire.commit_writes(update(f"{group}/a/x/1", {"n": 1}), update(f"{group}/a/y/2/x/3", {"n": 2}),
                       update(f"{group}/b/x/4", {"n": 3}))
    below = types.StructuredQuery(from_=[{"collection_id": "x", "all_descendants": True}])
    assert wire.found(below, parent=name(f"{group}/a")) == ["1", "3"]


def partitions(query, count):
    return list(query.get_partitions(count))


def test_a_small_group_is_one_partition(shelf):
    parts = partitions(shelf, 3)
    assert len(parts) == 1
    assert [snapshot.id for snapshot in parts[0].query().stream()] == ["1", "2", "3"]


@pytest.fixture(scope="module")
def large(client):
    """1,000 documents in four collections of one group."""
    group, batch = "partitioned", client.batch()
    for number in range(1_000):
        batch.set(client.document(f"partitions/{number % 4}/{group}/{number:04}"), {})
    batch.commit()
    return client.collection_group(group)


def test_partitions_cover_a_large_group_in_order_and_once(large):
    parts = partitions(large, 8)
    assert len(parts) > 1
    found = [s.reference.path for part in parts for s in part.query().stream()]
    assert found == [s.reference.path for s in large.stream()] and len(found) == 1_000
    assert parts[0].start_at is None and parts[-1].end_at is None
    assert all(part.end_at == after.start_at for part, after in zip(parts, parts[1:]))


def test_a_count_of_partitions_is_one_of_the_points_between_them(large):
    assert [len(partitions(large, count)) for count in (1, 2)] == [2, 3]


def partition_query(wire, group="partitioned", **options):
    return wire.partition_query(
        parent=DOCUMENTS, structured_query={
            "from_": [{"collection_id": group, "all_descendants": True}],
            "order_by": [{"field": {"field_path": "__name__"}, "direction": "ASCENDING"}]},
        **options)


def test_split_points_as_production_chose_them_for_1000_documents(large, wire):
    counts = [len(list(partition_query(wire, partition_count=count, page_size=10)))
              for count in (1, 2, 10)]
    assert counts == [1, 2, 8]


def test_split_points_are_names_page_by_page(large, wire):
    pager = partition_query(wire, partition_count=5, page_size=2)
    pages = [[cursor.values[0].reference_value for cursor in page.partitions]
             for page in pager.pages]
    names = [each for page in pages for each in page]
    assert names == sorted(names) and len(names) == len(set(names))
    assert [len(page) for page in pages[:-1]] == [2] * (len(pages) - 1)
    assert all("/partitioned/" in each for each in names)


def test_partitions_at_a_past_time(client, wire, group):
    batch = client.batch()
    for number in range(600):
        batch.set(client.collection(group).document(f"{number:03}"), {})
    time = batch.commit()[0].update_time
    for number in range(0, 600, 300):
        deletes = client.batch()
        for each in range(number, number + 300):
            deletes.delete(client.collection(group).document(f"{each:03}"))
        deletes.commit()
    then = list(partition_query(wire, group, partition_count=3, read_time=time))
    assert then and not list(partition_query(wire, group, partition_count=3))


@pytest.mark.parametrize("change", [
    {"from_": [{"collection_id": "partitioned"}]}, {"limit": 5}, {"offset": 1},
    {"where": field_filter("n", "EQUAL", 1)},
    {"order_by": [{"field": {"field_path": "n"}, "direction": "ASCENDING"}]},
    {"order_by": [{"field": {"field_path": "__name__"}, "direction": "DESCENDING"}]},
    {"start_at": {"values": [{"reference_value": name("a/b")}]}},
], ids=["one collection", "limit", "offset", "filter", "order", "descending", "cursor"])
def test_only_a_plain_group_is_partitioned(wire, change):
    asked = query("partitioned", **{
        "from_": [{"collection_id": "partitioned", "all_descendants": True}],
        "order_by": [{"field": {"field_path": "__name__"}, "direction": "ASCENDING"}], **change})
    with pytest.raises(exceptions.InvalidArgument):
        list(wire.partition_query(
            parent=DOCUMENTS, structured_query=asked, partition_count=2))


@pytest.mark.parametrize("options", [
    {"partition_count": -1}, {"partition_count": 2, "page_size": -1},
    {"partition_count": 2, "page_token": "garbage"}], ids=str)
def test_bad_numbers_of_partitions_are_refused(wire, options):
    with pytest.raises(exceptions.InvalidArgument):
        list(partition_query(wire, **options))


def test_partitions_below_a_document_are_refused(wire):
    with pytest.raises(exceptions.InvalidArgument):
        list(wire.partition_query(
            parent=name("a/b"), partition_count=2, structured_query={
                "from_": [{"collection_id": "x", "all_descendants": True}],
                "order_by": [{"field": {"field_path": "__name__"}, "direction": "ASCENDING"}]}))
