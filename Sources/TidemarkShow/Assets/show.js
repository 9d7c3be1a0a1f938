// What the show's page does beyond being read: parts that change, orders, keys.
// Nothing here makes HTML out of text: parts come from the server, which escapes what they hold.

const status = document.getElementById("status");
const say = (text) => { status.textContent = text; };

/** What the person has typed and where they are, so that a new part does not take it away. */
function keep(part) {
  const active = document.activeElement;
  const kept = { texts: new Map(), open: new Set(), scroll: new Map(), focus: null, range: null };
  for (const input of part.querySelectorAll("input")) kept.texts.set(input.id, input.value);
  for (const details of part.querySelectorAll("details[open]")) kept.open.add(details.className);
  for (const box of part.querySelectorAll("[tabindex]")) {
    kept.scroll.set(box.getAttribute("aria-label"), box.scrollTop);
  }
  if (active && active !== document.body && part.contains(active)) {
    kept.focus = active.id || active.getAttribute("aria-label");
    if (active.matches("input[type=text], input[type=search]")) {
      kept.range = [active.selectionStart, active.selectionEnd];
    }
  }
  return kept;
}

function restore(part, kept) {
  for (const input of part.querySelectorAll("input")) {
    if (kept.texts.has(input.id)) input.value = kept.texts.get(input.id);
  }
  for (const details of part.querySelectorAll("details")) {
    if (kept.open.has(details.className)) details.open = true;
  }
  for (const box of part.querySelectorAll("[tabindex]")) {
    const top = kept.scroll.get(box.getAttribute("aria-label"));
    if (top) box.scrollTop = top;
  }
  if (!kept.focus) return;
  const field = document.getElementById(kept.focus)
    || [...part.querySelectorAll("[tabindex]")].find((e) => e.getAttribute("aria-label") === kept.focus);
  field?.focus({ preventScroll: true });
  if (kept.range && field?.setSelectionRange) field.setSelectionRange(...kept.range);
}

const shown = new Map();
function show(parts) {
  for (const [id, html] of Object.entries(parts)) {
    if (shown.get(id) === html) continue;
    shown.set(id, html);
    const old = document.getElementById(id);
    const fresh = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
    if (!old || !fresh) continue;
    const kept = keep(old);
    old.replaceWith(fresh);
    restore(fresh, kept);
  }
  // Which app is shown is said in the address line's title and at the button.
  const name = document.querySelector("#story h1")?.textContent;
  for (const button of document.querySelectorAll("header nav button")) {
    button.setAttribute("aria-pressed", String(button.textContent === name));
  }
  document.documentElement.dataset.ready = "yes";
}

const events = new EventSource("/events");
events.addEventListener("parts", (event) => { say(""); show(JSON.parse(event.data)); });
events.onerror = () => say("The show does not answer. Reconnecting.");

/** Sends an order, and says why it was not taken. */
async function order(form) {
  try {
    const response = await fetch("/do", {
      method: "POST", body: JSON.stringify(form), headers: { "content-type": "application/json" },
    });
    const answer = await response.json();
    say(response.ok ? "" : answer.error);
  } catch { say("The show does not answer."); }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-order]");
  if (button) order(JSON.parse(button.dataset.order));
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-order]");
  if (!form) return;
  event.preventDefault();
  const input = form.querySelector("input");
  const wanted = JSON.parse(form.dataset.order);
  if (form.dataset.key === "number") wanted.number = Number(input.value);
  else wanted.text = input.value;
  order(wanted);
});

// A search tells each change of its text.
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-key=search]");
  if (form) order({ ...JSON.parse(form.dataset.order), text: event.target.value });
});

// Keys: those that the buttons name. "n" waits for a digit.
let isChoosing = false;
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea") || event.metaKey || event.ctrlKey || event.altKey) return;
  const keys = isChoosing ? "n " + event.key : event.key;
  isChoosing = event.key === "n";
  const button = [...document.querySelectorAll("button[aria-keyshortcuts]")]
    .find((e) => e.getAttribute("aria-keyshortcuts") === keys);
  if (button && !button.disabled) { event.preventDefault(); button.click(); }
});
