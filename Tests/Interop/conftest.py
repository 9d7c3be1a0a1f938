"""Runs Google's own Python client against `tidemark serve`, in a developer's configuration."""

import asyncio
import inspect
import json
import os
import pathlib
import select
import signal
import subprocess
import uuid

import pytest
from google.api_core.bidi import ResumableBidiRpc
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

import operations
from console_page import slow_down
from wire import Wire

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("TIDEMARK", ROOT / ".build/debug/tidemark"))
# The program with the demos and the processes that tests start, which is built beside the other one.
LAB = BINARY.with_name("tidemark-lab")
# True if tests judge times: with `make bench`, a release build, and a machine that does nothing
# else. Without it, tests judge only results, because a busy machine is slow without a fault.
JUDGES_TIMES = os.environ.get("TIDEMARK_TIMES") == "1"
# A suite for test_reads.py, and no tests of this folder.
collect_ignore = ["reads"]
# The folder for the names of the functions that each process of tests has used. Scripts/interop
# sets it when it runs all tests.
USED = os.environ.get("TIDEMARK_INTEROP_USED")
# The seed of slow pages: TIDEMARK_SLOW_PAGES=1 makes the browser of each test slow at random.
SLOW_PAGES = os.environ.get("TIDEMARK_SLOW_PAGES")
# The reason to skip a test that checks what all other tests have used.
PART = "only a part of the tests was asked for"


class Server:
    """A server process. It chooses free ports and reports when it is ready."""

    def __init__(self, data, port=0, *flags, stderr=subprocess.DEVNULL, environment=None,
                 limits=None):
        # A function for the child after the fork (`preexec_fn`) can hang, because this process has
        # threads. A shell sets the limits instead.
        shell = ["sh", "-c", f'{limits}; exec "$@"', "sh"] if limits else []
        self.data = pathlib.Path(data)
        ports = self.data / "ports.json"
        self.process = subprocess.Popen(
            [*shell, BINARY, "serve", "--port", str(port), "--control-port", "0",
             "--data", self.data, "--ports-file", ports, *map(str, flags)],
            stdout=subprocess.PIPE, stderr=stderr, text=True,
            env=dict(os.environ, **(environment or {})))
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline() if readable else ""
        assert line.startswith("ready "), f"the server said {line!r}"
        self.host = line.split()[1]
        self.port = int(self.host.rsplit(":", 1)[1])
        ports = json.loads(ports.read_text())
        self.control_port = ports["control"]
        self.accounts_port = ports.get("accounts")
        self.requests_port = ports["requests"]
        self.storage_port = ports.get("storage")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    def client(self, project="interop", database=None, kind=firestore.Client):
        os.environ["FIRESTORE_EMULATOR_HOST"] = self.host
        return kind(project=project, database=database, credentials=AnonymousCredentials())

    def async_client(self, project="interop", database=None):
        """The client's connection belongs to the event loop that first uses it."""
        return self.client(project, database, firestore.AsyncClient)

    def run(self, *arguments, **options):
        """Runs another `tidemark` command against this server."""
        environment = dict(os.environ, FIRESTORE_EMULATOR_HOST=self.host)
        return subprocess.run(
            [BINARY, *map(str, arguments)], env=environment, capture_output=True, text=True,
            timeout=60, **options)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()
    assert server.process.returncode == 0, "the server did not end cleanly"


@pytest.fixture
def own_server(tmp_path):
    """A server that no other test uses: its memory and its reads are those of one test."""
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def client(server):
    return server.client()


@pytest.fixture
def async_client(server):
    return server.async_client()


@pytest.fixture(scope="session")
def wire(server):
    """The protocol itself, for messages that the client never sends."""
    wire = Wire(server.host)
    yield wire
    wire.close()


@pytest.fixture
def collection(client):
    """A collection that no other test uses."""
    return client.collection("c-" + uuid.uuid4().hex[:12])


@pytest.fixture
def group():
    """An id of collections that no other test uses."""
    return "g-" + uuid.uuid4().hex[:12]


# The streams of listeners that the present test has opened.
streams = []
open_stream = ResumableBidiRpc.__init__


def open_and_note(stream, *arguments, **options):
    open_stream(stream, *arguments, **options)
    streams.append(stream)


ResumableBidiRpc.__init__ = open_and_note


def end_listeners():
    """Ends the listeners of the present test. After the server has ended, Google's client opens the
    stream of a listener again and again without a pause: it took a third of a processor."""
    for stream in streams:
        stream._should_recover = lambda _: False
        stream.close()
    streams.clear()


@pytest.fixture(autouse=True)
def no_listener_outlives_its_test():
    streams.clear()
    yield
    end_listeners()


@pytest.fixture(autouse=bool(SLOW_PAGES))
def slow_pages(request):
    if SLOW_PAGES and "browser" in request.fixturenames:
        browser = request.getfixturevalue("browser")
        slow_down(browser, SLOW_PAGES + request.node.name)


# The default limit of a test in seconds. The client's own retries could wait for longer.
BOUND = 60


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    mark = item.get_closest_marker("bound")
    seconds = mark.args[0] if mark else BOUND

    def end(*_):
        raise TimeoutError(f"the test took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs a coroutine test in its own event loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    async def run():
        await pyfuncitem.obj(**arguments)
        client = arguments.get("async_client")
        if client is not None and client._firestore_api_internal is not None:
            await client._firestore_api.transport.close()

    asyncio.run(run())
    return True


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): what the test may take, instead of 60 s")
    config.addinivalue_line("markers", "times: it measures, and is played with TIDEMARK_TIMES=1")
    operations.note_operations()


def pytest_sessionfinish():
    if USED:
        operations.write(pathlib.Path(USED) / f"{os.getpid()}.json")


def pytest_collection_modifyitems(config, items):
    measuring = [item for item in items if item.get_closest_marker("times")]
    if measuring and not JUDGES_TIMES:
        config.hook.pytest_deselected(items=measuring)
        items[:] = [item for item in items if item not in measuring]


def pytest_terminal_summary(terminalreporter):
    """Records the tests that were skipped because something is not installed. `make test` lists
    them at its end."""
    notes = set()
    for report in terminalreporter.stats.get("skipped", []):
        name, reason = report.nodeid.split("[")[0], report.longrepr[2].removeprefix("Skipped: ")
        if reason != PART:
            notes.add(f"{name} ({reason})")
    if notes and (ROOT / ".build").is_dir():
        with (ROOT / ".build/tests-not-run").open("a") as file:
            file.writelines(f"{note}\n" for note in sorted(notes))


@pytest.fixture
def used_by_all():
    """The functions that all tests have used, as pairs of a class or module name and a name."""
    if not USED:
        pytest.skip(PART)
    return operations.read(pathlib.Path(USED))
