"""One listener with very many documents: each arrives once, and the server holds only a part of
them."""

import os
import pathlib

import pytest

import wire as w

DOCUMENTS = int(os.environ.get("TIDEMARK_LISTEN_DOCUMENTS", "100000"))
# The maximum growth of the server's memory, for any number of documents.
MOST_GROWTH = 150 << 20


def memory(pid, name):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith(name + ":")]
    return int(line.split()[1]) << 10


@pytest.mark.bound(600)
@pytest.mark.skipif(not pathlib.Path("/proc/self/clear_refs").exists(), reason="needs /proc")
def test_a_hundred_thousand_documents_come_once(server, wire):
    collection = "crowd"
    for start in range(0, DOCUMENTS, 500):
        wire.commit_writes(*[
            w.update(f"{collection}/{number:06}", {"number": number, "text": "x" * 100})
            for number in range(start, min(start + 500, DOCUMENTS))])
    pid = server.process.pid
    before = memory(pid, "VmRSS")
    # The peak is measured from here.
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
    names, is_current = [], False
    with wire.listen(seconds=500) as stream:
        stream.target(1, w.query(collection))
        while not is_current:
            message = stream.next()
            kind = message._pb.WhichOneof("response_type")
            if kind == "document_change":
                names.append(message.document_change.document.name.rsplit("/", 1)[1])
            elif kind == "target_change":
                is_current = message.target_change.target_change_type.name == "CURRENT"
    assert names == [f"{number:06}" for number in range(DOCUMENTS)]
    assert memory(pid, "VmHWM") - before < MOST_GROWTH
