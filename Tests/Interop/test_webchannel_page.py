"""Tabs of a real browser, each with a page that listens and writes over WebChannel."""

import base64
import functools
import hashlib
import http.server
import pathlib
import subprocess
import threading
import uuid

import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

from conftest import Server

PAGE = pathlib.Path(__file__).parent / "page"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    """The address of the page, on another origin of this machine."""
    handler = functools.partial(Quiet, directory=PAGE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()


@pytest.fixture
def start(tmp_path):
    """Starts a browser with command-line options."""
    started = []

    def start(*flags):
        options = webdriver.ChromeOptions()
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", *flags):
            options.add_argument(flag)
        # The driver is Debian's, because Selenium would download another one.
        service = webdriver.ChromeService("/usr/bin/chromedriver")
        driver = webdriver.Chrome(options=options, service=service)
        driver.set_script_timeout(30)
        started.append(driver)
        return driver

    yield start
    for driver in started:
        driver.quit()


@pytest.fixture
def browser(start):
    return start()


def rows(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#list li')].map((item) => item.textContent);")


def wait_for_rows(browser, tab, expected):
    browser.switch_to.window(tab)
    WebDriverWait(browser, 30, 0.05).until(lambda _: rows(browser) == expected,
                                           f"{rows(browser)} is not {expected}")


def write(browser, tab, id, text):
    """Returns the milliseconds until the write was acknowledged."""
    browser.switch_to.window(tab)
    done = browser.execute_async_script(
        "const [id, text, done] = arguments; const began = performance.now();"
        "write(id, text).then((id) => done([id, performance.now() - began]), (e) => done([String(e)]));",
        id, text)
    assert done[0] == id
    return done[1]


def open_tabs(browser, site, place, hosts, more=""):
    tabs = []
    for host in hosts:
        browser.switch_to.new_window("tab")
        browser.get(f"{site}?host={host}&collection={place}{more}")
        tabs.append(browser.current_window_handle)
    return tabs


def connections(server):
    """Returns the number of open connections to the server's port."""
    rows = [line.split() for name in ("tcp", "tcp6")
            for line in open(f"/proc/net/{name}").read().splitlines()[1:]]
    open_ones = [row for row in rows if row[3] == "01"]
    return len([row for row in open_ones if int(row[1].rsplit(":", 1)[1], 16) == server.port])


def write_in_each(browser, tabs, writes=2):
    """Each tab writes, all writes are acknowledged, and each tab shows all of them."""
    times = [write(browser, tab, f"{n}-{index}", "x")
             for n in range(writes) for index, tab in enumerate(tabs)]
    expected = [f"{n}-{index}: x" for n in range(writes) for index in range(len(tabs))]
    for tab in tabs:
        wait_for_rows(browser, tab, expected)
    print("\nms until acknowledged:", " ".join(f"{time:.0f}" for time in times))
    return times


@pytest.mark.bound(120)
def test_two_tabs_and_a_restart_between(tmp_path, site, browser):
    place = "t-" + uuid.uuid4().hex[:8]
    server = Server(tmp_path)
    try:
        tabs = open_tabs(browser, site, place, [server.host] * 2)
        write(browser, tabs[0], "a", "one")
        write(browser, tabs[1], "b", "zwei 😀")
        for tab in tabs:
            wait_for_rows(browser, tab, ["a: one", "b: zwei 😀"])
        port = server.port
        server.stop()
        server = Server(tmp_path, port)
        write(browser, tabs[1], "c", "after")
        server.client().collection(place).document("a").delete()
        for tab in tabs:
            wait_for_rows(browser, tab, ["b: zwei 😀", "c: after"])
    finally:
        server.stop()


def by_names_of_their_own(server, site, browser):
    """A browser opens six connections to a host. Each tab uses two, and has its own host name."""
    hosts = [f"tab{n}.localhost:{server.port}" for n in range(7)]
    return write_in_each(browser, open_tabs(browser, site, "t-" + uuid.uuid4().hex[:8], hosts))


@pytest.mark.bound(120)
def test_seven_tabs_by_names_of_their_own(server, site, browser):
    by_names_of_their_own(server, site, browser)


def on_one_connection(tmp_path, site, start):
    """Over TLS, a browser uses HTTP/2, and all tabs share a connection."""
    server = Server(tmp_path / "data", 0, "--tls")
    try:
        # The browser accepts only this certificate and refuses any other.
        key = subprocess.run(
            f"openssl x509 -in {server.data}/tidemark-tls.crt -pubkey -noout"
            " | openssl pkey -pubin -outform der", shell=True, capture_output=True).stdout
        digest = base64.b64encode(hashlib.sha256(key).digest()).decode()
        browser = start(f"--ignore-certificate-errors-spki-list={digest}",
                        f"--user-data-dir={tmp_path / 'profile'}")
        place = "t-" + uuid.uuid4().hex[:8]
        hosts = [f"localhost:{server.port}"] * 7
        tabs = open_tabs(browser, site, place, hosts, "&tls=1")
        times = write_in_each(browser, tabs)
        assert connections(server) <= 2, "the tabs share them"
        return times
    finally:
        server.stop()


@pytest.mark.bound(120)
def test_seven_tabs_on_one_connection(tmp_path, site, start):
    on_one_connection(tmp_path, site, start)


@pytest.mark.times
@pytest.mark.bound(240)
def test_each_write_of_seven_tabs_is_acknowledged_within_100_ms(tmp_path, server, site, start):
    assert max(by_names_of_their_own(server, site, start())) < 100
    assert max(on_one_connection(tmp_path, site, start)) < 100


@pytest.mark.bound(120)
def test_three_tabs_of_one_name(server, site, browser):
    """The tabs use all six connections, until the streams of writes become quiet."""
    hosts = [server.host] * 3
    write_in_each(browser, open_tabs(browser, site, "t-" + uuid.uuid4().hex[:8], hosts))


def test_a_page_of_another_site_cannot_call(server, site, browser):
    """A page of this machine can call, with the machine's other name. A page without an origin of
    its own cannot."""
    browser.get(site.replace("127.0.0.1", "localhost") + f"?host={server.host}&collection=x")
    WebDriverWait(browser, 30, 0.05).until(
        lambda _: browser.execute_script(
            "return document.getElementById('state').textContent;") == "live")
    browser.get("data:text/html,<p id=state>waiting</p>")
    answer = browser.execute_async_script(
        "const done = arguments[1]; fetch(arguments[0], {method: 'POST', body: '{}'})"
        ".then((a) => done(a.type + a.status), () => done('refused'));",
        f"http://{server.host}/v1/projects/p/databases/d/documents:commit")
    assert answer == "refused"
