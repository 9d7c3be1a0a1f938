// Keys for everything: ⌘K or Ctrl K opens a list of places, "/" goes to the page's field, g and a letter to
// a section, arrows through lists, "?" says which keys there are.
import { element, escapePath, fetchJSON } from "./dom.js";

const help = [["⌘K, Ctrl K", "go to any place, or to a path"], ["/", "the page's field"],
  ["g and a letter", "a section: g t for Traffic"], ["↑ ↓", "through links of a list, rows of a table"],
  ["Enter, F2", "open a document, edit a cell"], ["Esc", "close"], ["?", "these keys"]];

function dialogOf(name, ...content) {
  const dialog = element("dialog", { "aria-label": name }, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

async function openPalette() {
  if (document.querySelector("dialog[open]")) return;
  const list = element("ul", { role: "listbox", id: "places", "aria-label": "Places" });
  const field = element("input", { type: "search", role: "combobox", "aria-label": "Go to", "aria-controls": "places",
    "aria-expanded": "true", placeholder: "a section, a collection, or a path as in rooms/blue", spellcheck: "false" });
  const dialog = dialogOf("Go to", field, list);
  field.focus();
  let places = [], shown = [], chosen = 0;
  const draw = () => {
    const text = field.value.trim().toLowerCase();
    shown = places.filter(({ name }) => name.toLowerCase().includes(text));
    const base = places.find(({ address }) => address.startsWith("/data/"))?.address;
    const current = location.pathname.match(/^\/(data|query|history)(\/[^/]+\/[^/]+)/);
    const root = current ? `/data${current[2]}` : base;
    if (text.includes("/") && root) shown.push({ name: `Open ${field.value.trim()}`, address: `${root}/${escapePath(field.value.trim())}` });
    shown = shown.slice(0, 12);
    chosen = Math.min(chosen, Math.max(0, shown.length - 1));
    list.replaceChildren(...shown.map(({ name, address }, index) => element("li", { role: "option", id: `place${index}`,
      "aria-selected": String(index === chosen), click: () => { location.href = address; } }, element("bdi", {}, name))));
    field.setAttribute("aria-activedescendant", `place${chosen}`);
  };
  field.addEventListener("input", () => { chosen = 0; draw(); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") chosen = Math.min(chosen + 1, shown.length - 1);
    else if (event.key === "ArrowUp") chosen = Math.max(chosen - 1, 0);
    else if (event.key === "Enter") { if (shown[chosen]) location.href = shown[chosen].address; } else return;
    event.preventDefault();
    draw();
  });
  places = await fetchJSON("/places").catch(() => []);
  if (dialog.open) draw();
}

function openHelp() {
  dialogOf("Keys", element("h2", {}, "Keys"), element("dl", {}, ...help.flatMap(([key, text]) => [
    element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)])));
}

/** Arrows move through the links of a list or of a table's first column. */
function moveInList(event) {
  const list = event.target.closest?.("nav, ul, tbody");
  if (!list || event.target.closest(".gridview")) return;
  const links = [...list.querySelectorAll("a")], at = links.indexOf(event.target);
  const next = links[at + (["ArrowDown", "ArrowRight"].includes(event.key) ? 1 : -1)];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

let isGoing = false;
document.addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.target.matches("input, textarea, select") || event.metaKey || event.ctrlKey) return;
  if (event.key.startsWith("Arrow")) { moveInList(event); return; }
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "/") {
    const field = document.querySelector("main input[type=search], main input[type=text], main input");
    if (field) { event.preventDefault(); field.focus(); }
  } else if (event.key === "?") {
    openHelp();
  } else if (isGoing) {
    const link = [...document.querySelectorAll("header nav a")]
      .find((a) => a.textContent.toLowerCase().startsWith(event.key));
    link?.click();
  }
  isGoing = event.key === "g";
});
