"""The console's pipeline bar in a browser, and the code that it shows, run by Google's client."""

import json
import urllib.parse
import urllib.request

import pytest
from google.cloud import firestore
from google.cloud.firestore_v1 import pipeline_expressions
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.pipeline_source import PipelineSource
from google.cloud.firestore_v1.pipeline_types import (
    FindNearestOptions, SampleOptions, UnnestOptions)
from google.cloud.firestore_v1.vector import Vector
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from conftest import Server
from console_page import CONTRAST, Page, browser, errors, forget_errors, needs_browser  # noqa: F401
from test_console import nameless

pytestmark = needs_browser


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("shop"), 0, "--edition", "enterprise")
    batch = server.client("shop").batch()
    db = server.client("shop")
    for number in range(12):
        batch.set(db.document(f"items/i{number:02}"), {
            "n": number, "owner": "ab"[number % 2], "tags": ["x", "y"][:number % 3],
            "at": Vector([number * 1.1, 1.0]), "size": {"w": number, "h": 2}})
    for number in range(4):
        batch.set(db.document(f"items/i00/reviews/r{number}"), {"stars": number, "item": "i00"})
    batch.commit()
    yield server
    server.stop()


@pytest.fixture
def page(browser, shop):
    return Page(browser, shop)


def run(page, text):
    field = page.type("textbox", "Pipeline", text)
    field.send_keys(Keys.CONTROL, Keys.ENTER)
    return page.wait_for("region", "Stages")


def cells(region):
    return [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
            for row in region.find_elements(By.CSS_SELECTOR, "tbody tr")]


def test_a_pipeline_is_written_and_run(page, browser):
    forget_errors(browser)
    page.open("/query/shop/(default)")
    stages = cells(run(page, "items | where n >= 2 | aggregate count() as items by owner | sort owner"))
    assert [row[:2] for row in stages] == [
        ["collection", "10"], ["where", "10"], ["aggregate", "2"], ["sort", "2"]]
    assert all(row[2].endswith(" ms") for row in stages)
    rows = page.wait_for("region", "Rows")
    head = [cell.text for cell in rows.find_elements(By.CSS_SELECTOR, "thead th")]
    assert head == ["Row", "items", "owner"]
    assert cells(rows) == [["1", "5", '"a"'], ["2", "5", '"b"']]
    assert "Documents read\n10, " in page.text and "Read units\n1" in page.text
    for language in ["Swift", "JavaScript", "Python"]:
        assert f"In {language}" in page.text
    assert page.named("textbox", "Pipeline").get_attribute("value").startswith("items | where")
    run(page, "items | where n == 3")
    page.until(lambda: page.find("link", "i03"))
    page.named("link", "i03").click()
    page.until(lambda: browser.current_url.endswith("/items/i03"))
    assert errors(browser) == []


def test_stages_are_picked(page, browser):
    page.open("/query/shop/(default)")
    page.type("textbox", "Pipeline", "items")
    Select(page.wait_for("combobox", "Add a stage")).select_by_visible_text("where")
    field = page.named("textbox", "Pipeline")
    assert field.get_attribute("value") == "items\n| where field == 1"
    browser.switch_to.active_element.send_keys("n > 9")  # The proposal is selected.
    Select(page.wait_for("combobox", "Add a stage")).select_by_visible_text("sort")
    browser.switch_to.active_element.send_keys("n desc")
    assert field.get_attribute("value") == "items\n| where n > 9\n| sort n desc"
    page.press("Run the pipeline")
    rows = page.wait_for("region", "Rows")
    assert [row[0] for row in cells(rows)] == ["i11", "i10"]


def test_what_is_wrong_is_said_and_the_text_stays(page):
    page.open("/query/shop/(default)")
    page.type("textbox", "Pipeline", "items | where n ==")
    page.press("Run the pipeline")
    assert "A value is missing" in page.wait_for("alert", "").text
    assert page.named("textbox", "Pipeline").get_attribute("value") == "items | where n =="
    page.type("textbox", "Pipeline", "items | where nonsense(n)")
    page.press("Run the pipeline")
    page.until(lambda: "Unknown function" in page.wait_for("alert", "").text)


def test_a_database_of_the_standard_edition_says_so(browser, server):
    page = Page(browser, server)
    server.client("bar").document("items/a").set({"n": 1})
    page.open("/query/bar/(default)")
    page.type("textbox", "Pipeline", "items | limit 1")
    page.press("Run the pipeline")
    assert "only available for Firestore databases in Enterprise edition" in page.wait_for("alert", "").text
    assert "In Swift" in page.text


def test_a_call_leads_to_its_pipeline(page, shop):
    db = shop.client("shop")
    field = pipeline_expressions.Field
    found = db.pipeline().collection("items").where(field.of("n").greater_than(8)).limit(2).execute()
    assert len(list(found)) == 2
    page.open("/traffic?filter=ExecutePipeline")
    page.wait_for("link", "ExecutePipeline").click()
    page.wait_for("link", "Show its pipeline").click()
    field = page.wait_for("textbox", "Pipeline")
    assert field.get_attribute("value") == "items | where n > 8 | limit 2"
    assert len(cells(page.wait_for("region", "Rows"))) == 2


def test_every_control_has_a_name_and_every_text_its_contrast(page, browser):
    text = urllib.parse.quote("items | where n == 3 | limit 2")
    for scheme in ["light", "dark"]:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        page.open(f"/query/shop/(default)?pipeline={text}")
        page.wait_for("region", "Stages")
        assert nameless(browser) == []
        assert browser.execute_script(CONTRAST) == [], scheme
        for summary in browser.find_elements(By.CSS_SELECTOR, "summary"):
            summary.click()
        assert browser.execute_script(CONTRAST) == [], scheme


@pytest.mark.parametrize("text", [
    "items | where n >= 3 and (owner == \"a\" or not n < 8) | sort n desc | limit 4",
    "items | aggregate count() as items, sum(n) as sum, count_if(n > 3) as many by owner | sort owner",
    "items | unnest tags as tag index i | select n, tag, i, n * 2 as double | sort n, tag | limit 5",
    "items | where owner in [\"a\", null] | select to_upper(owner) as owner, size.w | sort size.w",
    "items | find_nearest at to vector[7.0, 1.0] by euclidean limit 3 distance far",
    "**/reviews | where exists(stars) | distinct item",
    "items | where n == 0 | select array(from subcollection reviews | sort stars | select stars) as stars",
    "items | let document_id(__name__) as id | where n < 2 | select n, "
    "scalar(from **/reviews | where item == $id | aggregate count() as n) as reviews | sort n",
    "items | where n < 2 | union (from items | where n > 10) | sort n",
    "documents items/i01, items/i02 | replace_with size | sort w",
    "items | where conditional(n > 3, owner == \"a\", false) | remove_fields tags, size.w | sort n"])
def test_the_code_in_python_asks_the_same(shop, text):
    db = shop.client("shop")
    address = (f"http://127.0.0.1:{shop.control_port}/query.json/shop/(default)"
               f"?pipeline={urllib.parse.quote(text)}")
    answer = json.load(urllib.request.urlopen(address))
    code = next(c["text"] for c in answer["code"] if c["language"] == "Python")
    names = {name: getattr(pipeline_expressions, name) for name in dir(pipeline_expressions)}
    names |= {"db": db, "firestore": firestore, "Vector": Vector, "UnnestOptions": UnnestOptions,
              "DistanceMeasure": DistanceMeasure, "FindNearestOptions": FindNearestOptions,
              "SampleOptions": SampleOptions, "PipelineSource": PipelineSource}
    exec(code, names)
    found = list(names["pipeline"].execute())
    assert found and len(found) == answer["result"]["rows"]
    for row, shown in zip(found, answer["result"]["table"]["rows"]):
        assert (row.ref.path if row.ref else "") == shown["path"]
        assert set(row.data()) == set(shown["fields"])
        for name, value in row.data().items():
            if isinstance(value, (str, int)):
                assert str(value) in json.dumps(shown["fields"][name])
