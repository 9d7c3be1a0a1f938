"""Google's generated asynchronous client: every RPC once, and several streams at the same time."""

import asyncio

import grpc
import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcAsyncIOTransport

from wire import DATABASE, DOCUMENTS, document, fields, is_boundary, name, query, update


async def with_client(server, use):
    async with grpc.aio.insecure_channel(server.host) as channel:
        await use(FirestoreAsyncClient(transport=FirestoreGrpcAsyncIOTransport(channel=channel)))


async def test_the_rpcs_on_one_document(server, group):
    async def use(client):
        made = await client.create_document(request={
            "parent": DOCUMENTS, "collection_id": group, "document_id": "a",
            "document": {"fields": fields({"n": 1})}})
        assert made == await client.get_document(request={"name": made.name})
        changed = await client.update_document(request={"document": document(
            f"{group}/a", {"n": 2})})
        assert changed.create_time == made.create_time < changed.update_time
        listed = await client.list_documents(request={
            "parent": DOCUMENTS, "collection_id": group})
        assert [row.name async for row in listed] == [made.name]
        ids = await client.list_collection_ids(request={"parent": DOCUMENTS})
        assert group in [each async for each in ids]
        await client.delete_document(request={"name": made.name})
        with pytest.raises(exceptions.NotFound):
            await client.get_document(request={"name": made.name})
    await with_client(server, use)


async def test_the_rpcs_on_many_documents(server, group):
    async def use(client):
        begun = await client.begin_transaction(request={"database": DATABASE})
        await client.commit(request={
            "database": DATABASE, "transaction": begun.transaction,
            "writes": [update(f"{group}/a", {"n": 1})]})
        written = await client.batch_write(request={
            "database": DATABASE,
            "writes": [update(f"{group}/b", {"n": 2}), update(f"{group}/c", {"__x__": 1})]})
        assert [status.code for status in written.status] == [0, 3]
        answers = await client.run_query(request={
            "parent": DOCUMENTS, "structured_query": query(group)})
        assert [a.document.fields async for a in answers if "document" in a] == [
            fields({"n": 1}), fields({"n": 2})]
        counted = await client.run_aggregation_query(request={
            "parent": DOCUMENTS, "structured_aggregation_query": {
                "structured_query": query(group), "aggregations": [{"alias": "n", "count": {}}]}})
        assert [a.result.aggregate_fields["n"].integer_value async for a in counted] == [2]
        got = await client.batch_get_documents(request={
            "database": DATABASE, "documents": [name(f"{group}/a"), name(f"{group}/x")]})
        assert sorted(["found" in answer async for answer in got]) == [False, True]
        again = await client.begin_transaction(request={"database": DATABASE})
        await client.rollback(request={
            "database": DATABASE, "transaction": again.transaction})
    await with_client(server, use)


async def test_listeners_and_writers_side_by_side(server, group):
    """Ten listen streams receive each write of three write streams."""
    writers, batches = 3, 4

    async def use(client):
        async def listen(ready):
            async def ask():
                yield types.ListenRequest(database=DATABASE, add_target={
                    "target_id": 2,
                    "query": {"parent": DOCUMENTS, "structured_query": query(group)}})
                await done.wait()
            heard = set()
            async for message in await client.listen(requests=ask()):
                if "document_change" in message:
                    heard.add(message.document_change.document.name)
                if "target_change" in message and is_boundary(message.target_change):
                    ready.set()
                    if len(heard) == writers * batches:
                        return

        async def write(writer):
            requests = asyncio.Queue()

            async def ask():
                while (request := await requests.get()) is not None:
                    yield request
            requests.put_nowait(types.WriteRequest(database=DATABASE))
            answers = await client.write(requests=ask())
            token = (await anext(aiter(answers))).stream_token
            for batch in range(batches):
                requests.put_nowait(types.WriteRequest(stream_token=token, writes=[
                    update(f"{group}/{writer}-{batch}", {"n": batch})]))
                token = (await anext(aiter(answers))).stream_token
            requests.put_nowait(None)

        done = asyncio.Event()
        ready = [asyncio.Event() for _ in range(10)]
        listeners = [asyncio.create_task(listen(each)) for each in ready]
        await asyncio.gather(*(each.wait() for each in ready))
        await asyncio.gather(*(write(writer) for writer in range(writers)))
        await asyncio.gather(*listeners)
        done.set()
    await asyncio.wait_for(with_client(server, use), 30)


async def test_a_call_that_its_client_gives_up_harms_nobody(server, group):
    async def use(client):
        async def ask():
            yield types.ListenRequest(database=DATABASE, add_target={
                "target_id": 2, "query": {"parent": DOCUMENTS, "structured_query": query(group)}})
            await asyncio.Event().wait()
        call = await client.listen(requests=ask())
        assert (await anext(aiter(call))).target_change.target_ids == [2]
        call.cancel()
        await client.commit(request={
            "database": DATABASE, "writes": [update(f"{group}/a", {"n": 1})]})
        assert (await client.get_document(request={"name": name(f"{group}/a")})).fields
    await with_client(server, use)
