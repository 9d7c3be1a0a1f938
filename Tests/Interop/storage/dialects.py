"""The requests of Firebase's three clients, written from the facts about them and without a library.

Each has its own method for later requests, its own header names, and its own size of chunks.
"""

import json
import os
from urllib.parse import quote

import requests

BLOCK = 262_144


class Client:
    """What the three have in common."""

    METHOD = "POST"
    # True if later requests carry the caller's token.
    SENDS_TOKEN = True

    def __init__(self, server, bucket="interop.appspot.com", token=None):
        self.base = f"http://127.0.0.1:{server.storage_port}/v0/b/{bucket}/o"
        self.token = token
        self.session = requests.Session()

    def headers(self, **more):
        headers = {"X-Firebase-Storage-Version": "replay", "X-Firebase-GMPID": "1:1:web:1"}
        if self.token:
            headers["Authorization"] = f"Firebase {self.token}"
        headers.update(more)
        return headers

    def url(self, name):
        return f"{self.base}/{quote(name, safe='')}"

    def send(self, method, url, data=b"", **headers):
        headers = {key.replace("_", "-"): value for key, value in headers.items()}
        return self.session.request(
            method, url, data=data, headers=self.headers(**headers), timeout=60)

    # Uploads

    def begin(self, name, data, kind="image/png", metadata=None):
        raise NotImplementedError

    def later(self, url, command, data=b"", offset=None):
        """A request of an upload that has begun."""
        headers = {"X-Goog-Upload-Command": command}
        if offset is not None:
            headers["X-Goog-Upload-Offset"] = str(offset)
        if self.METHOD == "PUT":
            headers["X-Goog-Upload-Protocol"] = "resumable"
        if self.SENDS_TOKEN:
            headers = self.headers(**headers)
        return self.session.request(self.METHOD, url, data=data, headers=headers, timeout=60)

    def chunk_sizes(self):
        """Begins with a block and doubles it, as the clients for the web and Android do."""
        size = BLOCK
        while True:
            yield size
            size = min(size * 2, 16 << 20)

    def upload(self, name, data, **options):
        """Uploads in chunks, and checks each answer as the client would."""
        begun = self.begin(name, data, **options)
        assert begun.status_code == 200, begun.text
        assert begun.headers["X-Goog-Upload-Status"] == "active"
        assert begun.content == b""
        assert int(begun.headers["X-Goog-Upload-Chunk-Granularity"]) == BLOCK
        url = begun.headers["X-Goog-Upload-URL"]
        offset = 0
        for size in self.chunk_sizes():
            part = data[offset:offset + size]
            is_last = offset + len(part) == len(data)
            command = "upload, finalize" if is_last else "upload"
            answer = self.later(url, command, part, offset)
            assert answer.status_code == 200, answer.text
            offset += len(part)
            assert answer.headers["X-Goog-Upload-Size-Received"] == str(offset)
            assert answer.headers["X-Goog-Upload-Status"] == ("final" if is_last else "active")
            if is_last:
                return answer.json()

    # Other calls

    def metadata(self, name):
        return self.send("GET", self.url(name))

    def download(self, name, **headers):
        return self.send("GET", self.url(name) + "?alt=media", **headers)

    def delete(self, name):
        return self.send("DELETE", self.url(name))

    def list(self, **query):
        return self.session.get(self.base, params=query, headers=self.headers(), timeout=60)


class Web(Client):
    """The client for browsers."""

    def begin(self, name, data, kind="image/png", metadata=None):
        return self.session.post(
            self.base, params={"name": name}, timeout=60,
            data=json.dumps({"name": name, "fullPath": name, "contentType": kind, **(metadata or {})}),
            headers=self.headers(**{
                "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Length": str(len(data)),
                "X-Goog-Upload-Header-Content-Type": kind,
                "Content-Type": "application/json; charset=utf-8"}))

    def multipart(self, name, data, kind="image/png", metadata=None):
        boundary = os.urandom(8).hex()
        body = (
            f"--{boundary}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
            + json.dumps({"name": name, "contentType": kind, **(metadata or {})})
            + f"\r\n--{boundary}\r\nContent-Type: {kind}\r\n\r\n").encode()
        body += data + f"\r\n--{boundary}--".encode()
        return self.session.post(
            self.base, params={"name": name}, data=body, timeout=60,
            headers=self.headers(**{
                "X-Goog-Upload-Protocol": "multipart",
                "Content-Type": f"multipart/related; boundary={boundary}"}))


class Ios(Client):
    """The client for Apple's systems: PUT, other header names, no token after the start, and the
    whole file in one request."""

    METHOD = "PUT"
    SENDS_TOKEN = False

    def begin(self, name, data, kind="image/png", metadata=None):
        return self.session.post(
            self.url(name), params={"uploadType": "resumable", "name": name}, timeout=60,
            data=json.dumps({"contentType": kind, "metadata": None, **(metadata or {})}),
            headers=self.headers(**{
                "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Content-Length": str(len(data)),
                "X-Goog-Upload-Content-Type": kind, "Content-Type": "application/json"}))

    def chunk_sizes(self):
        while True:
            yield 1 << 40


class Android(Client):
    """The client for Android, which declares no size."""

    def begin(self, name, data, kind="image/png", metadata=None):
        return self.session.post(
            self.base, params={"name": name, "uploadType": "resumable"}, timeout=60,
            data=json.dumps({"contentType": kind, **metadata}) if metadata else b"",
            headers=self.headers(**{
                "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Type": kind, "Content-Type": "application/json"}))

    def patch(self, name, change):
        return self.send(
            "PUT", self.url(name), json.dumps(change).encode(),
            X_HTTP_Method_Override="PATCH", Content_Type="application/json")
