"""A denied request is explained in the console, and the rule is corrected."""

import pytest

from selenium.webdriver.common.by import By
from console_page import Page, browser, errors, forget_errors, needs_browser  # noqa: F401
from test_rules import RULES, guarded, refused, someone, token  # noqa: F401

pytestmark = needs_browser


def test_a_denied_request_is_explained_and_the_rule_mended(guarded, browser):
    forget_errors(browser)
    page = Page(browser, guarded)
    someone(guarded, "owner").document("rooms/blue").set({"owner": "ann"})
    bob = someone(guarded, token("bob"))
    refused(bob.document("rooms/blue").get)

    # The list shows the request with the reason. A click asks the same question again.
    page.open("/rules")
    row = next(r for r in browser.find_elements(By.CSS_SELECTOR, "tr") if "bob" in r.text)
    assert "denied" in row.text and "False for 'get'" in row.text
    row.find_element(By.LINK_TEXT, "rooms/blue").click()
    verdict = page.until(lambda: page.named("region", "Verdict"))
    assert "Denied" in verdict.text and "data.owner is 'ann'" in verdict.text
    verdict.find_element(By.TAG_NAME, "summary").click()
    assert "request.auth.uid → 'bob'" in verdict.text

    # The same form asks for another account.
    field = page.named("textbox", "Account")
    field.clear()
    field.send_keys("ann")
    page.named("button", "Evaluate").click()
    page.until(lambda: "Allowed" in page.named("region", "Verdict").text)

    # The page reports an error in the rules, with its place.
    source = page.named("textbox", "Other rules")
    write = "const e = arguments[0]; e.value = arguments[1];"
    browser.execute_script(write, source, RULES.replace("allow delete: if", "allow delete if"))
    page.named("button", "Try").click()
    page.until(lambda: "L12:20 error: " in page.text)

    # The page lists the requests that the corrected rules would decide differently. Then the rules
    # are put in force.
    mended = RULES.replace("allow get, list: if mine(resource.data);",
                           "allow get: if signedIn(); allow list: if mine(resource.data);")
    browser.execute_script(write, source, mended)
    page.named("button", "Try").click()
    page.until(lambda: "1 of the last requests would be decided differently." in page.text)
    assert "bob get rooms/blue: allowed instead of denied" in page.text
    refused(bob.document("rooms/blue").get)
    page.named("button", "Apply").click()
    page.until(lambda: "allow get: if signedIn()" in page.named(
        "table", "The rules, line by line").text)
    assert bob.document("rooms/blue").get().exists
    page.open("/rules")
    lines = page.named("table", "The rules, line by line").text
    assert "1 allowed" in lines and "No request reached this allow." in lines
    assert errors(browser) == []


@pytest.mark.parametrize("width", [400, 800, 1400])
def test_the_page_fits_its_window(guarded, browser, width):
    page = Page(browser, guarded)
    size = browser.get_window_size()
    browser.set_window_size(width, 900)
    try:
        page.open("/rules")
        overflow = "return document.documentElement.scrollWidth - window.innerWidth"
        assert browser.execute_script(overflow) <= 0
    finally:
        browser.set_window_size(size["width"], size["height"])
