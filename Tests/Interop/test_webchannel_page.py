"""Two tabs of a real browser, each with a page that listens and writes over WebChannel."""

import functools
import http.server
import pathlib
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
    """Where the page is: another origin of this machine."""
    handler = functools.partial(Quiet, directory=PAGE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()


@pytest.fixture
def browser():
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    # Debian's, not one that selenium would fetch.
    service = webdriver.ChromeService("/usr/bin/chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(30)
    yield driver
    driver.quit()


def rows(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#list li')].map((item) => item.textContent);")


def wait_for_rows(browser, tab, expected):
    browser.switch_to.window(tab)
    WebDriverWait(browser, 30, 0.05).until(lambda _: rows(browser) == expected,
                                           f"{rows(browser)} is not {expected}")


def write(browser, tab, id, text):
    browser.switch_to.window(tab)
    done = browser.execute_async_script(
        "const [id, text, done] = arguments; write(id, text).then(done, (e) => done(String(e)));",
        id, text)
    assert done == id


@pytest.mark.bound(120)
def test_two_tabs_and_a_restart_between(tmp_path, site, browser):
    place = "t-" + uuid.uuid4().hex[:8]
    server = Server(tmp_path)
    try:
        tabs = []
        for _ in range(2):
            browser.switch_to.new_window("tab")
            browser.get(f"{site}?host={server.host}&collection={place}")
            tabs.append(browser.current_window_handle)
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


def test_a_page_of_another_site_cannot_call(server, site, browser):
    """One of this machine can, by its other name; one without a site of its own cannot."""
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
