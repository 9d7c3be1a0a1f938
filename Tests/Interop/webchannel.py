"""A client of WebChannel, version 8, written from the protocol: a browser's streams, over
sockets."""

import http.client
import json
import threading
import urllib.parse

SERVICE = "/google.firestore.v1.Firestore"


class Frames:
    """Reads frames from bytes that can be cut anywhere: a length in UTF-16 code units, then
    JSON."""

    def __init__(self):
        self.buffer = b""

    def feed(self, data):
        self.buffer += data
        while True:
            head, mark, rest = self.buffer.partition(b"\n")
            if not mark:
                return
            units, index = int(head), 0
            while units > 0 and index < len(rest):
                first = rest[index]
                size = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
                index += size
                units -= 2 if size == 4 else 1
            if units > 0 or index > len(rest):
                return
            self.buffer = rest[index:]
            yield json.loads(rest[:index])


class Channel:
    """One session. `messages` contains the payloads in order, without noops."""

    def __init__(self, host, rpc, database, first, headers=None, origin=None, polls=False):
        self.host, self.rpc, self.database = host, rpc, database
        self.origin, self.polls = origin, polls
        self.rid, self.aid, self.ofs = 17, 0, 0
        self.arrays, self.noops, self.backs = [], 0, 0
        self.lock, self.changed = threading.Lock(), None
        self.changed = threading.Condition(self.lock)
        self.is_open, self.back, self.error = True, None, None
        text = "".join(f"{name}:{value}\r\n" for name, value in (headers or {}).items())
        status, body = self.post(
            {"CVER": 22, "X-HTTP-Session-Id": "gsessionid"}, [first], {"headers": text})
        assert status == 200, body
        (frame,) = Frames().feed(body)
        assert frame[0][0] == 0 and frame[0][1][0] == "c", frame
        self.sid = frame[0][1][1]
        assert frame[0][1][3] == 8

    # Requests.

    def url(self, **parameters):
        query = {"VER": 8, "database": self.database, "zx": "z", "t": 1, **parameters}
        return f"{SERVICE}/{self.rpc}/channel?{urllib.parse.urlencode(query)}"

    def request(self, method, url, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"content-type": "application/x-www-form-urlencoded"} if body is not None else {}
        if self.origin:
            headers["origin"] = self.origin
        connection.request(method, url, body, headers)
        return connection, connection.getresponse()

    def post(self, parameters, maps, extra=None, ofs=None):
        form = dict(extra or {}, count=len(maps), ofs=self.ofs if ofs is None else ofs)
        for index, item in enumerate(maps):
            form[f"req{index}___data__"] = item if isinstance(item, str) else json.dumps(item)
        self.rid += 1
        connection, answer = self.request(
            "POST", self.url(RID=self.rid, **parameters), urllib.parse.urlencode(form))
        body = answer.read()
        connection.close()
        if ofs is None and answer.status == 200:
            self.ofs += len(maps)
        return answer.status, body

    def send(self, *maps, ofs=None):
        status, body = self.post({"SID": self.sid, "AID": self.aid}, maps, ofs=ofs)
        assert status == 200, (status, body)
        (answer,) = Frames().feed(body)
        return answer

    def terminate(self):
        connection, answer = self.request(
            "POST", self.url(SID=self.sid, RID=self.rid + 1, TYPE="terminate"), "")
        assert (answer.status, answer.read()) == (200, b"")
        connection.close()

    # The back channel.

    def open_back(self, **parameters):
        self.backs += 1
        return self.request("GET", self.url(
            RID="rpc", SID=self.sid, AID=self.aid, CI=1 if self.polls else 0, TYPE="xmlhttp",
            **parameters))

    def read_back(self, drop_after=None):
        """Reads one back channel to its end or until this many arrays have arrived, and then leaves
        it."""
        connection, answer = self.open_back()
        try:
            if answer.status != 200:
                return answer.status
            frames, count = Frames(), 0
            while True:
                data = answer.read1(65_536)
                if not data:
                    return 200
                for frame in frames.feed(data):
                    self.take(frame)
                    count += len(frame)
                if drop_after is not None and count >= drop_after:
                    return 200
        finally:
            connection.close()

    def take(self, frame):
        with self.changed:
            for number, payload in frame:
                if number <= self.aid:
                    raise AssertionError(f"array {number} came again after {self.aid}")
                assert number == self.aid + 1, f"array {number} came after {self.aid}"
                self.aid = number
                if payload == ["noop"]:
                    self.noops += 1
                else:
                    self.arrays += payload
            self.changed.notify_all()

    def listen(self, drops=lambda: None):
        """Reads back channels one after the other, in a separate thread."""
        def run():
            try:
                while self.is_open and self.read_back(drops()) == 200:
                    pass
            except Exception as error:
                if self.is_open:
                    self.error = error
            with self.changed:
                self.changed.notify_all()

        self.back = threading.Thread(target=run, daemon=True)
        self.back.start()
        return self

    def wait(self, condition, seconds=30):
        """Waits until the received arrays meet the condition."""
        with self.changed:
            done = self.changed.wait_for(
                lambda: self.error is not None or condition(self.arrays), seconds)
        assert self.error is None, self.error
        assert done, self.arrays[-3:]
        return self.arrays

    def close(self):
        self.is_open = False
        self.terminate()
