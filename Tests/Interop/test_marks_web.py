"""`Clients/web/marks.js` in a real browser, against the vectors of marks and our server."""

import functools
import http.server
import json
import threading

import pytest

from conftest import ROOT
from test_webchannel_page import PAGE, Quiet, browser, start  # noqa: F401 (fixtures)

VECTORS = json.loads((ROOT / "Specs/marks/vectors.json").read_text())
RUN = """
    const done = arguments[arguments.length - 1];
    const deadline = Date.now() + 20000;
    const begin = () => {
        if (!window.ready && Date.now() < deadline) return setTimeout(begin, 20);
        (async () => { %s })().then(
            (value) => done({value}), (error) => done({error: String(error)}));
    };
    begin();
"""


class Site(Quiet):
    """Serves the page, and the module beside it."""

    def translate_path(self, path):
        if path == "/marks.js":
            return str(ROOT / "Clients/web/marks.js")
        return super().translate_path(path)


@pytest.fixture
def page(browser, server):  # noqa: F811
    """Runs JavaScript in the page, where `ready` is the module and its API."""
    handler = functools.partial(Site, directory=PAGE)
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    browser.get(f"http://127.0.0.1:{site.server_port}/marks.html?server=http://{server.host}")

    def run(code, *arguments):
        answer = browser.execute_async_script(RUN % code, *arguments)
        assert "error" not in answer, answer
        return answer.get("value")

    yield run
    site.shutdown()


def test_vectors_of_reading(page):
    marks = page("return arguments0.map((v) => ready.readMark(v));".replace(
        "arguments0", json.dumps([vector["value"] for vector in VECTORS["read"]])))
    for vector, mark in zip(VECTORS["read"], marks):
        wanted = vector["mark"]
        assert mark == (wanted if wanted is None else pytest.approx(wanted, abs=0.0005)), vector


def test_vectors_of_writing_on_the_server(page, server):
    client = server.client("marks")
    for number, vector in enumerate(VECTORS["write"]):
        document = client.document(f"vectors/w{number}")
        if "found" in vector:
            document.set({"mark": vector["found"], "other": "stays"})
        options = json.dumps({"encoding": vector["encoding"], "onClear": {"cleared": True}})
        result = page(
            f"return new ready.Marks(ready.api, null, 'vectors/w{number}', 'mark', {options})"
            f".clear({vector['mark']});")
        fields = document.get().to_dict()
        assert fields["mark"] == vector["becomes"] and fields["cleared"] is True, vector
        assert isinstance(fields["mark"], str) == isinstance(vector["becomes"], str), vector
        assert ("other" in fields) == ("found" in vector)
        assert result is not None and result >= vector["mark"] - 1


def test_two_devices_at_once_keep_the_greater(page, server):
    client = server.client("marks")
    for number, vector in enumerate(VECTORS["two"]):
        options = json.dumps({"encoding": vector["encoding"]})
        page(f"""
            const path = 'vectors/t{number}';
            await Promise.all({json.dumps(vector["marks"] * 4)}.map((mark) =>
                new ready.Marks(ready.api, null, path, 'mark', {options}).clear(mark)));""")
        assert client.document(f"vectors/t{number}").get().get("mark") == vector["becomes"], vector


def test_a_mark_is_watched_and_filters_a_query(page, server):
    server.client("marks").document("vectors/seen").set({"mark": "1700000000000"})
    mark, query, free = page("""
        const marks = new ready.Marks(ready.api, null, 'vectors/seen', 'mark');
        const mark = await new Promise((resolve) => marks.watch(resolve));
        return [mark, marks.above('q', 'sentAt', mark), marks.above('q', 'sentAt', null)];""")
    assert mark == pytest.approx(1700000000000.999, abs=0.0005) and free == "q"
    assert query == ["q", ["sentAt", ">", {"seconds": 1700000000, "nanoseconds": 999000}]]
    assert page("return ready.floorOf(5, null)") == 5
    assert page("return ready.floorOf(-5, 3)") == 3
    assert page("return ready.floorOf(-5, null)") is None


def test_a_time_that_is_none_is_refused(page):
    for time in ("-1", "NaN", "1e15", "undefined"):
        said = page(f"""
            try {{
                await new ready.Marks(ready.api, null, 'vectors/none', 'mark').clear({time});
            }} catch (error) {{ return error.name; }}""")
        assert said == "RangeError"
