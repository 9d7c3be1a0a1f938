"""The asynchronous client: documents, batches, lists, and concurrent calls."""

import asyncio

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from test_documents import all_values


@pytest.fixture
def rows(async_client, group):
    return async_client.collection(group)


async def ids(stream):
    return [each.id async for each in stream]


async def test_create_get_set_update_delete(rows):
    document = rows.document("a")
    made = await document.create({"n": 1})
    snapshot = await document.get()
    assert snapshot.exists and snapshot.to_dict() == {"n": 1} and snapshot.get("n") == 1
    assert snapshot.create_time == snapshot.update_time == made.update_time
    assert snapshot.reference.path == document.path and snapshot.id == document.id == "a"
    with pytest.raises(exceptions.AlreadyExists):
        await document.create({})
    await document.set({"m": {"x": 1}}, merge=True)
    await document.update({"m.y": 2, "n": firestore.DELETE_FIELD})
    assert (await document.get(["m.y"])).to_dict() == {"m": {"y": 2}}
    assert (await document.get()).to_dict() == {"m": {"x": 1, "y": 2}}
    assert await document.delete() > made.update_time
    assert not (await document.get()).exists
    with pytest.raises(exceptions.NotFound):
        await document.update({"n": 1})


async def test_every_kind_of_value(client, collection, rows):
    document = rows.document("a")
    values = all_values(client, collection)
    reference = values.pop("reference")
    await document.set(values)
    assert (await document.get()).to_dict() == values
    await document.set({"reference": rows.document(reference.id)})
    assert (await document.get()).get("reference") == rows.document(reference.id)


async def test_preconditions(async_client, rows):
    document = rows.document("a")
    old = (await document.set({"n": 1})).update_time
    await document.set({"n": 2})
    with pytest.raises(exceptions.FailedPrecondition):
        await document.update({"n": 3}, option=async_client.write_option(last_update_time=old))
    with pytest.raises(exceptions.NotFound):
        await rows.document("b").delete(option=async_client.write_option(exists=True))


async def test_a_batch(async_client, rows):
    batch = async_client.batch()
    batch.create(rows.document("a"), {"n": 1})
    batch.set(rows.document("b"), {"n": 2})
    batch.delete(rows.document("c"))
    assert len(await batch.commit()) == 3
    batch = async_client.batch()
    batch.update(rows.document("a"), {"n": 3})
    batch.update(rows.document("nowhere"), {"n": 3})
    with pytest.raises(exceptions.NotFound):
        await batch.commit()
    async with async_client.batch() as batch:
        batch.set(rows.document("b"), {"n": firestore.Increment(1)}, merge=True)
    assert [s.to_dict() async for s in rows.stream()] == [{"n": 1}, {"n": 3}]


async def test_get_all(async_client, rows):
    await rows.document("a").set({"x": 1, "y": 2})
    asked = [rows.document(each) for each in ("b", "a", "a")]
    found = {s.id: s.to_dict() async for s in async_client.get_all(asked, field_paths=["x"])}
    assert found == {"a": {"x": 1}, "b": None}


async def test_lists(async_client, rows):
    time, made = await rows.add({"n": 1}, "a")
    assert (await made.get()).update_time == time
    await rows.document("ghost").collection("below").document("x").set({})
    assert await ids(rows.list_documents()) == ["a", "ghost"]
    assert await ids(rows.list_documents(page_size=1)) == ["a", "ghost"]
    assert await ids(rows.document("ghost").collections()) == ["below"]
    assert rows.id in await ids(async_client.collections())
    below = rows.document("ghost").collection("below")
    assert below.parent.id == "ghost" and rows.document("a").parent.id == rows.id


async def test_reads_at_a_past_time(async_client, rows):
    document = rows.document("a")
    past = (await document.set({"n": 1})).update_time
    await document.set({"n": 2})
    await rows.document("b").set({"n": 3})
    assert (await document.get(read_time=past)).to_dict() == {"n": 1}
    assert [s.get("n") async for s in rows.stream(read_time=past)] == [1]
    assert [s.get("n") for s in await rows.get(read_time=past)] == [1]
    assert (await rows.count().get(read_time=past))[0][0].value == 1
    assert await ids(rows.list_documents(read_time=past)) == ["a"]
    found = [s.to_dict() async for s in async_client.get_all([document], read_time=past)]
    assert found == [{"n": 1}]


async def test_a_hundred_calls_at_once(rows):
    results = await asyncio.gather(*(
        rows.document(f"{n:02}").set({"n": n}) for n in range(100)))
    assert len({result.update_time for result in results}) == 100, "each at a time of its own"
    snapshots = await asyncio.gather(*(rows.document(f"{n:02}").get() for n in range(100)))
    assert [snapshot.get("n") for snapshot in snapshots] == list(range(100))


async def test_increments_at_once_are_each_counted(rows):
    await asyncio.gather(*(
        rows.document("a").set({"n": firestore.Increment(1)}, merge=True) for _ in range(50)))
    assert (await rows.document("a").get()).get("n") == 50


async def test_a_bulk_writer_of_an_asynchronous_client(async_client, rows):
    writer = async_client.bulk_writer()
    for number in range(30):
        writer.create(rows.document(f"{number:02}"), {"n": number})
    await asyncio.to_thread(writer.close)
    assert (await rows.count().get())[0][0].value == 30


async def test_recursive_delete(async_client, rows):
    await rows.document("a").set({})
    await rows.document("a").collection("below").document("x").set({})
    await rows.document("b").set({})
    assert await async_client.recursive_delete(rows.document("a")) == 2
    assert await async_client.recursive_delete(rows) == 1
    assert await ids(rows.recursive().stream()) == []


async def test_closing_leaves_what_was_written(server, client, group):
    other = server.async_client()
    await other.collection(group).document("a").set({"n": 1})
    other.close()
    await other._firestore_api.transport.close()
    assert client.collection(group).document("a").get().to_dict() == {"n": 1}


async def test_references(async_client, rows):
    document = async_client.document(rows.id, "a", "below", "b")
    assert document.path == f"{rows.id}/a/below/b" and document.parent.id == "below"
    assert document.collection("c").document("d").parent.parent == document
    assert async_client.field_path("a", "b.c") == "a.`b.c`"


@pytest.mark.parametrize("of", ["document", "collection", "query", "group"])
async def test_watching_is_not_offered_by_the_asynchronous_client(async_client, rows, of):
    target = {"document": rows.document("a"), "collection": rows, "query": rows.limit(1),
              "group": async_client.collection_group(rows.id)}[of]
    with pytest.raises((NotImplementedError, AttributeError, TypeError)):
        watch = target.on_snapshot(lambda *_: None)
        watch.unsubscribe()
        raise NotImplementedError


async def test_pipelines_are_refused(async_client, rows):
    with pytest.raises(exceptions.FailedPrecondition, match="Enterprise edition"):
        await async_client.pipeline().collection(rows.id).execute()
