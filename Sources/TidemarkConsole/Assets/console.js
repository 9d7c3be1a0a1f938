// What the console's pages do beyond being read: live parts, more rows, editing, keys.
// Every page works without this module; nothing here makes HTML out of text.

const status = document.getElementById("status");

function say(text) { status.textContent = text; }

/** Fetches a page of the console and returns its document. */
async function fetchPage(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// Live parts: when the server says that their subject has changed, the page is fetched again and the
// part is put in the place of the old one. At most one fetch is under way.
const live = document.querySelector("[data-part=live]");
if (live) {
  let current = live, isFetching = false, isStale = false;
  const refresh = async () => {
    if (isFetching) { isStale = true; return; }
    isFetching = true;
    try {
      do {
        isStale = false;
        const fresh = (await fetchPage(location.href)).querySelector("[data-part=live]");
        // A part that holds the focus is left alone, so that a reader keeps the place.
        if (fresh && !current.contains(document.activeElement)) {
          current.replaceWith(fresh);
          current = fresh;
        }
      } while (isStale);
      say("");
    } catch { say("The server does not answer."); }
    isFetching = false;
  };
  let isFirst = true;
  const events = new EventSource("/events");
  events.addEventListener(live.dataset.key, () => { if (!isFirst) refresh(); isFirst = false; });
  events.onerror = () => say("The connection is lost; trying again.");
  events.onopen = () => { if (status.textContent) refresh(); };
}

// More rows: the next page's rows are appended when the end of the table is near.
let more = document.querySelector("a[data-part=more]");
if (more) {
  const rows = document.querySelector("[data-part=rows]");
  const observer = new IntersectionObserver(async (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    const page = await fetchPage(more.href);
    rows.append(...page.querySelectorAll("[data-part=rows] > tr"));
    const next = page.querySelector("a[data-part=more]");
    if (!next) { more.remove(); return; }
    more.href = next.href;
    observer.observe(more);
  }, { rootMargin: "600px" });
  observer.observe(more);
}

/** Sends a change as JSON and says in `output` how it ended. */
async function send(method, address, body, output, done) {
  output.textContent = "…";
  try {
    const response = await fetch(address, {
      method, body, headers: { "content-type": "application/json" },
    });
    const answer = await response.json();
    if (response.ok) { done(answer); } else { output.textContent = answer.error; }
  } catch { output.textContent = "The server does not answer. Nothing is lost: try again."; }
}

const editor = document.querySelector("[data-part=editor]");
if (editor) {
  const output = editor.querySelector("output");
  const address = () => {
    const update = editor.dataset.update;
    return editor.dataset.path + (update ? "?update=" + encodeURIComponent(update) : "");
  };
  editor.addEventListener("submit", (event) => {
    event.preventDefault();
    send("PUT", address(), editor.querySelector("textarea").value, output, () => location.reload());
  });
  editor.querySelector("[data-part=delete]")?.addEventListener("click", () => {
    if (confirm("Delete this document?")) {
      send("DELETE", address(), undefined, output, () => location.reload());
    }
  });
}

const faults = document.querySelector("[data-part=faults]");
faults?.addEventListener("submit", (event) => {
  event.preventDefault();
  const rules = faults.querySelector("textarea").value.split("\n").map((line) => line.trim());
  const order = { network: faults.querySelector("select").value, rules: rules.filter(Boolean) };
  const output = faults.querySelector("output");
  send("PUT", "/tidemark/v1/faults", JSON.stringify(order), output, () => location.reload());
});

// The rules' editor: what is wrong with a text, and which of the last requests it decides otherwise.
const rules = document.querySelector("[data-part=rules]");
if (rules) {
  const output = rules.querySelector("output");
  const found = rules.querySelector("[data-part=found]");
  const source = rules.querySelector("textarea");
  const list = (lines) => {
    found.replaceChildren(...lines.map((line) => {
      const item = document.createElement("li");
      item.textContent = line;
      return item;
    }));
  };
  rules.addEventListener("submit", (event) => {
    event.preventDefault();
    list([]);
    send("POST", "/tidemark/v1/rules/try", JSON.stringify({ source: source.value }), output,
      (answer) => {
        const errors = answer.issues.filter((issue) => issue.severity === "error").length;
        output.textContent = errors
          ? "These rules cannot be used."
          : `${answer.flips.length} of the last requests would come out otherwise.`;
        list([
          ...answer.issues.map((i) => `L${i.line}:${i.column} ${i.severity}: ${i.message}`),
          ...answer.flips.map((f) => `${f.request.uid ?? "nobody"} ${f.request.method} `
            + `${f.request.path}: ${f.allowed ? "allowed instead of denied" : "denied instead of allowed"}`
            + (f.reason ? `. ${f.reason}` : "")),
        ]);
      });
  });
  rules.querySelector("[data-part=put]").addEventListener("click", () => {
    const body = { rules: { files: [{ name: "security.rules", content: source.value }] } };
    output.textContent = "…";
    fetch("/emulator/v1/projects/console:securityRules", { method: "PUT", body: JSON.stringify(body) })
      .then(async (response) => {
        if (response.ok) { location.reload(); return; }
        output.textContent = (await response.json()).error.message;
      }, () => { output.textContent = "The server does not answer. Nothing is lost: try again."; });
  });
}

// Keys: "/" goes to the page's field, g and a letter to a section.
let isGoing = false;
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.metaKey || event.ctrlKey) return;
  if (event.key === "/") {
    const field = document.querySelector("main input[type=search], main input");
    if (field) { event.preventDefault(); field.focus(); }
  } else if (isGoing) {
    const link = [...document.querySelectorAll("header nav a")]
      .find((a) => a.textContent.toLowerCase().startsWith(event.key));
    link?.click();
  }
  isGoing = event.key === "g";
});
