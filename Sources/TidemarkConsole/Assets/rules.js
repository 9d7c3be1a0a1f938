// The rules' editor: what is wrong with a text, and which of the last requests it decides otherwise.
import { element, send } from "./dom.js";

const rules = document.querySelector("[data-part=rules]");
if (rules) {
  const output = rules.querySelector("output");
  const found = rules.querySelector("[data-part=found]");
  const source = rules.querySelector("textarea");
  // The rules are those of one database if its name is here.
  const database = rules.dataset.database;
  const ofDatabase = database ? `?database=${encodeURIComponent(database)}` : "";
  const list = (lines) => found.replaceChildren(...lines.map((line) => element("li", {}, line)));
  rules.addEventListener("submit", async (event) => {
    event.preventDefault();
    list([]);
    const body = JSON.stringify({ source: source.value });
    const answer = await send("POST", `/tidemark/v1/rules/try${ofDatabase}`, body, output);
    if (!answer) return;
    const errors = answer.issues.filter((issue) => issue.severity === "error").length;
    output.textContent = errors
      ? "These rules cannot be used."
      : `${answer.flips.length} of the last requests would be decided differently.`;
    list([
      ...answer.issues.map((i) => `L${i.line}:${i.column} ${i.severity}: ${i.message}`),
      ...answer.flips.map((f) => `${f.request.uid ?? "nobody"} ${f.request.method} `
        + `${f.request.path}: ${f.allowed ? "allowed instead of denied" : "denied instead of allowed"}`
        + (f.reason ? `. ${f.reason}` : "")),
    ]);
  });
  rules.querySelector("[data-part=put]").addEventListener("click", () => {
    const body = { rules: { files: [{ name: "security.rules", content: source.value }] } };
    output.textContent = "…";
    fetch(`/tidemark/v1/rules${ofDatabase}`, {
      method: "PUT", body: JSON.stringify(body), headers: { "content-type": "application/json" },
    })
      .then(async (response) => {
        if (response.ok) { location.reload(); return; }
        output.textContent = (await response.json()).error.message;
      }, () => { output.textContent = "The server does not answer. Your text is kept: try again."; });
  });
}
