"""A plugin of pytest that counts the reads of each of Google's tests under its name, and can plant a
regression: PLANT=listeners opens each query's listener twice, PLANT=twice reads each document
twice.
"""

import json
import os
import urllib.request

import pytest
from google.cloud.firestore_v1 import document, query

ADDRESS = f"http://{os.environ['TIDEMARK_CONTROL_HOST']}/tidemark/v1/label"


def send(method, name=None):
    body = None if name is None else json.dumps({"label": name}).encode()
    request = urllib.request.Request(
        ADDRESS, body, {"Content-Type": "application/json"}, method=method)
    urllib.request.urlopen(request).close()


@pytest.fixture(autouse=True)
def label_reads(request):
    send("PUT", request.node.nodeid)
    yield
    send("DELETE")


PLANTED = os.environ.get("PLANT")
if PLANTED == "listeners":
    listen = query.Query.on_snapshot

    def listen_twice(self, callback):
        listen(self, lambda *_: None)
        return listen(self, callback)

    query.Query.on_snapshot = listen_twice
elif PLANTED == "twice":
    get = document.DocumentReference.get

    def get_twice(self, *arguments, **named):
        get(self, *arguments, **named)
        return get(self, *arguments, **named)

    document.DocumentReference.get = get_twice
else:
    assert PLANTED is None, PLANTED
