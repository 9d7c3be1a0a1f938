"""The console in a real browser, by roles and names as a screen reader has them."""

import datetime
import os
import re
import shutil
import time
import urllib.error
import urllib.request

import pytest
from google.cloud import firestore

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
# Scripts/interop fails where they cannot be installed, unless this says otherwise.
pytestmark = pytest.mark.skipif(
    os.environ.get("TIDEMARK_WITHOUT_BROWSER") == "1", reason="TIDEMARK_WITHOUT_BROWSER=1")


@pytest.fixture(scope="module")
def browser():
    os.environ["SE_OFFLINE"] = "true"
    options = Options()
    options.binary_location = CHROMIUM
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"]:
        options.add_argument(flag)
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    yield driver
    driver.quit()


class Page:
    """What a reader of the page finds, and does."""

    def __init__(self, browser, server):
        self.browser = browser
        self.base = f"http://127.0.0.1:{server.control_port}"

    def open(self, path):
        self.browser.get(self.base + path)

    def named(self, role, name):
        """The one element of that role whose accessible name has the text."""
        found = [e for e in self.browser.find_elements(By.CSS_SELECTOR, "body *")
                 if e.aria_role == role and name in e.accessible_name]
        assert found, f"no {role} is named {name!r}"
        return found[0]

    def until(self, check, seconds=10):
        deadline = time.monotonic() + seconds
        while True:
            try:
                found = check()
                if found:
                    return found
            except Exception:
                if time.monotonic() > deadline:
                    raise
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.05)

    @property
    def text(self):
        return self.browser.find_element(By.TAG_NAME, "main").text


@pytest.fixture
def page(browser, server):
    return Page(browser, server)


def errors(browser):
    """What the page's script or the content security policy complained of."""
    return [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]


def test_find_why_a_screen_is_expensive(page, server, client):
    batch = client.batch()
    rooms = client.collection("console-large")
    for number in range(500):
        batch.set(rooms.document(f"d{number:04}"), {"n": number})
    batch.commit()
    batch = client.batch()
    for number in range(500, 1_000):
        batch.set(rooms.document(f"d{number:04}"), {"n": number})
    batch.commit()
    seen = []
    watch = rooms.on_snapshot(lambda docs, *_: seen.append(len(docs)))
    try:
        page.until(lambda: seen and seen[-1] == 1_000)
        page.open("/traffic?filter=console-large")
        note = page.until(lambda: page.named("note", ""))
        assert "A listener on console-large was sent 1\u202f000 documents." in note.text
        page.named("link", "Show it").click()
        assert "Documents sent" in page.text and "console-large" in page.text
    finally:
        watch.unsubscribe()


def test_traffic_is_live(page, browser, client):
    errors(browser)  # What earlier pages complained of is read away.
    page.open("/traffic?filter=console-live")
    assert "console-live" not in page.browser.find_element(By.TAG_NAME, "tbody").text
    client.document("console-live/a").set({"n": 1})
    page.until(lambda: "console-live" in browser.find_element(By.TAG_NAME, "tbody").text)
    assert errors(browser) == []


def test_a_timestamp_is_edited_to_the_microsecond(page, browser, client):
    document = client.document("console-kinds/time")
    document.set({"at": firestore.SERVER_TIMESTAMP, "count": 2**63 - 1, "ratio": 5.0})
    project = client.project
    page.open(f"/data/{project}/(default)/console-kinds/time")
    field = page.named("textbox", "The document as JSON")
    text = field.get_attribute("value")
    before = re.search(r'"timestampValue" : "([^"]+)"', text)[1]
    shown = datetime.datetime.fromisoformat(before.replace("Z", "+00:00"))
    assert shown == document.get().get("at")
    field.clear()
    field.send_keys(text.replace(before, "2001-02-03T04:05:06.000007Z"))
    page.named("button", "Save").click()
    page.until(lambda: "2001-02-03T04:05:06.000007Z" in page.text)
    after = document.get().to_dict()
    assert after["at"].rfc3339() == "2001-02-03T04:05:06.000007Z"
    assert after["count"] == 2**63 - 1 and isinstance(after["count"], int)
    assert after["ratio"] == 5.0 and isinstance(after["ratio"], float)


def test_a_save_over_a_change_of_somebody_else_is_refused(page, client):
    document = client.document("console-kinds/conflict")
    document.set({"n": 1})
    page.open(f"/data/{client.project}/(default)/console-kinds/conflict")
    document.set({"n": 2})
    page.named("button", "Save").click()
    page.until(lambda: "has changed since it was shown" in page.text)
    assert document.get().to_dict() == {"n": 2}


def test_what_documents_hold_is_shown_as_text(page, browser, client):
    evil = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    errors(browser)  # What earlier pages complained of is read away.
    client.document("console-evil/<b>x").set({"html": evil, "rtl": "\u05e9\u05dc \u202e abc"})
    for path in ["", "/console-evil", "/console-evil/%3Cb%3Ex"]:
        page.open(f"/data/{client.project}/(default){path}")
        assert browser.title != "run" and errors(browser) == []
    assert evil in page.text


def test_only_keys(page, browser, client):
    client.document("console-keys/a").set({"n": 1})
    page.open("/data")
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys("g", "q")
    page.until(lambda: browser.current_url.endswith("/query"))
    browser.find_element(By.TAG_NAME, "h1").click()
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    field = browser.switch_to.active_element
    assert field.accessible_name == "Query"
    page.open(f"/query/{client.project}/(default)")
    field = browser.switch_to.active_element
    assert field.accessible_name == "Query", "the field has the focus"
    field.send_keys("console-keys where n == 1", Keys.ENTER)
    page.until(lambda: "Reads billed in production" in page.text)
    assert page.named("link", "a")


def test_rows_go_on_while_one_scrolls(page, browser, client):
    rows = client.collection("console-rows")
    batch = client.batch()
    for number in range(350):
        batch.set(rows.document(f"d{number:04}"), {"n": number})
    batch.commit()
    page.open(f"/data/{client.project}/(default)/console-rows")

    def all_rows():
        browser.execute_script("window.scrollTo(0, document.body.scrollHeight)")
        return len(browser.find_elements(By.CSS_SELECTOR, "tbody tr")) == 350

    page.until(all_rows)
    names = [e.text for e in browser.find_elements(By.CSS_SELECTOR, "tbody th")]
    assert names == [f"d{number:04}" for number in range(350)]


def test_every_control_has_a_name_and_every_text_its_contrast(page, browser, client):
    client.document("console-names/a").set({"n": 1})
    base = f"{client.project}/(default)"
    for path in ["/data", f"/data/{base}", f"/data/{base}/console-names",
                 f"/data/{base}/console-names/a", f"/query/{base}?q=console-names", "/traffic",
                 "/cost", "/indexes", "/faults"]:
        for scheme in ["light", "dark"]:
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            page.open(path)
            nameless = [e.tag_name for e in browser.find_elements(
                By.CSS_SELECTOR, "a, button, input:not([type=hidden]), select, textarea")
                if not e.accessible_name]
            assert nameless == [], path
            assert browser.execute_script(CONTRAST) == [], f"{path} {scheme}"
            assert len(browser.find_elements(By.TAG_NAME, "h1")) == 1, path


# Texts whose contrast with what lies behind them is under 4.5.
CONTRAST = """
function parts(color) { return color.match(/[\\d.]+/g).map(Number); }
function light([r, g, b]) {
  const [x, y, z] = [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}
function ground(e) {
  for (; e; e = e.parentElement) {
    const color = parts(getComputedStyle(e).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
}
const bad = [];
for (const e of document.querySelectorAll("body *")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  if (!e.offsetParent) continue;
  const [a, b] = [light(parts(getComputedStyle(e).color)), light(ground(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) bad.push(e.tagName + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30));
}
return bad;
"""


@pytest.mark.parametrize("headers, status", [
    ({"Host": "evil.example"}, 403), ({"Origin": "http://evil.example"}, 403), ({}, 200)])
def test_a_page_of_another_site_has_no_effect(server, client, headers, status):
    document = client.document("console-foreign/a")
    document.set({"n": 1})
    update = document.get().update_time.rfc3339()
    address = (f"http://127.0.0.1:{server.control_port}/data/{client.project}/(default)"
               f"/console-foreign/a?update={update}")
    request = urllib.request.Request(address, method="DELETE", headers=headers)
    try:
        code = urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        code = error.code
    assert code == status
    assert document.get().exists == (status == 403)
