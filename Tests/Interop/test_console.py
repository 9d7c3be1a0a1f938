"""The console in a real browser, by roles and names, as a screen reader presents it."""

import datetime
import urllib.error
import urllib.request

import pytest
from google.cloud import firestore
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from console_page import CONTRAST, browser, errors, forget_errors, needs_browser, page  # noqa: F401

pytestmark = needs_browser


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
        assert "A listener on console-large received 1\u202f000 documents." in note.text
        page.named("link", "Show").click()
        assert "Documents sent" in page.text and "console-large" in page.text
    finally:
        watch.unsubscribe()


def test_traffic_is_live(page, browser, client):
    forget_errors(browser)
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
    field = page.wait_for("textbox", "Value of at")
    shown = datetime.datetime.fromisoformat(field.get_attribute("value").replace("Z", "+00:00"))
    assert shown == document.get().get("at")
    page.type("textbox", "Value of at", "2001-02-03T04:05:06.000007Z")
    page.press("Save")
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
    page.press("Save")
    page.until(lambda: "has changed since you opened it" in page.text)
    assert document.get().to_dict() == {"n": 2}


def test_what_documents_hold_is_shown_as_text(page, browser, client):
    evil = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    forget_errors(browser)
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
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    field = page.wait_for("combobox", "Go to")
    field.send_keys("console-keys")
    page.wait_for("option", "console-keys")
    field.send_keys(Keys.ENTER)
    page.until(lambda: browser.current_url.endswith("/console-keys"))
    grid = page.wait_for("region", "Documents")
    page.until(lambda: page.find("textbox", "n of a") or grid.send_keys(Keys.RIGHT, Keys.F2))
    browser.switch_to.active_element.send_keys("7", Keys.ENTER)
    page.wait_for("button", "Review 1 staged edit").send_keys(Keys.ENTER)
    page.wait_for("button", "Write all").send_keys(Keys.ENTER)
    page.until(lambda: client.document("console-keys/a").get().get("n") == 7)
    # The page shows the new rows after it has the answer. Only then can the next edit be opened.
    page.until(lambda: not page.find("button", "Review 1 staged edit"))
    page.open("/query")
    page.until(lambda: page.find("searchbox", "Query"))
    browser.find_element(By.TAG_NAME, "h1").click()
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    field = browser.switch_to.active_element
    assert field.accessible_name == "Query"
    page.open(f"/query/{client.project}/(default)")
    field = browser.switch_to.active_element
    assert field.accessible_name == "Query", "the field has the focus"
    field.send_keys("console-keys where n == 7", Keys.ENTER)
    page.until(lambda: "Reads billed in production" in page.text)
    assert page.named("link", "a")


CONTROLS = {"link", "button", "textbox", "searchbox", "spinbutton", "slider", "combobox", "listbox",
            "checkbox", "radio", "switch", "tab", "menuitem"}


def controls(browser):
    """Returns the controls of a page as pairs of a role and an accessible name, by one call. A call
    for each element took a minute in all."""
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", "").strip()) for node in nodes
            if not node["ignored"] and node["role"]["value"] in CONTROLS]


def nameless(browser):
    found = controls(browser)
    assert found, "a page without a control"
    return [role for role, name in found if not name]


def test_every_control_has_a_name_and_every_text_its_contrast(page, browser, client):
    client.document("console-names/a").set({"n": 1, "m": {"x": [1]}})
    client.document("console-names/a").set({"n": 2, "m": {"x": [1]}})
    list(client.collection("console-names").stream())
    base = f"{client.project}/(default)"
    for path in ["/data", f"/data/{base}", f"/data/{base}/console-names",
                 f"/data/{base}/console-names/a", f"/query/{base}?q=console-names", "/traffic",
                 "/cost", "/indexes", "/faults", f"/history/{base}",
                 f"/history/{base}/console-names/a", f"/accounts?project={client.project}"]:
        page.open(path)
        page.until(lambda: browser.execute_script("return document.readyState") == "complete")
        # A live part can be replaced during the check.
        assert page.until(lambda: nameless(browser) or "none") == "none", path
        assert len(browser.find_elements(By.TAG_NAME, "h1")) == 1, path
        for scheme in ["light", "dark"]:
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            assert browser.execute_script(CONTRAST) == [], f"{path} {scheme}"


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
