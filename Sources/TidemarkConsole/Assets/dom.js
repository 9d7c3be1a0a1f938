// What all modules use: elements made of text alone, requests, and the line that says how things are.

const status = document.getElementById("status");

export function say(text) { status.textContent = text; }

/** Makes an element. Texts are texts: nothing here makes HTML of them. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A path's segments, escaped one by one. */
export function escapePath(path) { return path.split("/").map(encodeURIComponent).join("/"); }

/** Fetches a page of the console and returns its document. */
export async function fetchPage(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Fetches JSON; an error is thrown with the server's sentence. */
export async function fetchJSON(address) {
  const response = await fetch(address);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
  return answer;
}

/** Sends a change as JSON and says in `output` how it ended. Returns the answer, or nothing. */
export async function send(method, address, body, output) {
  output.textContent = "…";
  try {
    const response = await fetch(address, {
      method, body, headers: { "content-type": "application/json" },
    });
    const answer = await response.json();
    output.textContent = response.ok ? "" : answer.error;
    return response.ok ? answer : undefined;
  } catch { output.textContent = "The server does not answer. Your text is kept: try again."; }
}

/** Asks for one line of text, or for a yes. Resolves with the text, or nothing. */
export function ask(title, { label, value = "", action = "OK", danger = false, area = false } = {}) {
  return new Promise((resolve) => {
    const field = label && element(area ? "textarea" : "input",
      { id: "asked", spellcheck: "false", ...(area ? { rows: 12 } : { type: "text" }) });
    if (field) field.value = value;
    const form = element("form", { method: "dialog" },
      element("h2", { id: "asked-title" }, title),
      ...(field ? [element("label", { for: "asked" }, label), field] : []),
      element("p", {},
        element("button", { type: "submit", value: "yes", class: danger ? "danger" : "main" }, action),
        element("button", { type: "submit", value: "no", class: "plain", formnovalidate: true }, "Cancel")));
    const dialog = element("dialog", { "aria-labelledby": "asked-title" }, form);
    dialog.addEventListener("close", () => {
      const isYes = dialog.returnValue === "yes";
      dialog.remove();
      resolve(isYes ? (field ? field.value : "yes") : undefined);
    });
    document.body.append(dialog);
    dialog.showModal();
    field?.focus();
  });
}
