// Forms that change the server: faults, accounts, tokens, versions put back; and the slider of moments.
import { ask, element, fetchJSON, send } from "./dom.js";

const faults = document.querySelector("[data-part=faults]");
faults?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const rules = faults.querySelector("textarea").value.split("\n").map((line) => line.trim());
  const order = { network: faults.querySelector("select").value, rules: rules.filter(Boolean) };
  const output = faults.querySelector("output");
  if (await send("PUT", "/tidemark/v1/faults", JSON.stringify(order), output)) location.reload();
});

for (const form of document.querySelectorAll("[data-part=restore]")) {
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const output = form.querySelector("output");
    if (await send("POST", form.dataset.path, "{}", output)) output.textContent = "Restored.";
  });
}

for (const form of document.querySelectorAll("[data-part=account]")) {
  form.hidden = false;
  const output = form.querySelector("output"), { path, key } = form.dataset;
  const act = async (action, fields = {}) => {
    const answer = await send("POST", path, JSON.stringify({ action, ...fields }), output);
    if (answer && action === "delete") location.href = "/accounts?project=" + path.split("/")[2];
    else if (answer) location.reload();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(key, Object.fromEntries(new FormData(form)));
  });
  form.addEventListener("click", async (event) => {
    const action = event.target.dataset.update;
    if (!action) return;
    if (action === "delete" && !await ask("Delete this account?", { action: "Delete", danger: true })) return;
    act(action);
  });
}

const token = document.querySelector("[data-part=token]");
if (token) {
  token.hidden = false;
  token.addEventListener("submit", async (event) => {
    event.preventDefault();
    const output = token.querySelector("output");
    const order = { action: "token", token: token.querySelector("textarea").value.trim() };
    const answer = await send("POST", location.pathname, JSON.stringify(order), output);
    if (!answer) return;
    output.replaceChildren(element("p", {}, answer.verdict), element("pre", {}, JSON.stringify(answer.claims, null, 2)));
  });
}

const slider = document.querySelector("[data-part=slider]");
if (slider) {
  const input = slider.querySelector("input"), output = slider.querySelector("output");
  fetchJSON(slider.dataset.source).then(({ times }) => {
    if (!times.length) return;
    // From the oldest commit that is kept, a step each, to now.
    const moments = [...times].reverse();
    const at = new URLSearchParams(location.search).get("at");
    Object.assign(input, { min: 0, max: moments.length, step: 1 });
    const found = moments.findLastIndex((time) => at && time <= at);
    input.value = at ? Math.max(0, found) : moments.length;
    const name = () => moments[Number(input.value)] ?? "now";
    output.textContent = name();
    input.addEventListener("input", () => { output.textContent = name(); });
    input.addEventListener("change", () => {
      const time = moments[Number(input.value)];
      location.search = time ? `?at=${encodeURIComponent(time)}` : "";
    });
    slider.hidden = false;
  }).catch(() => {});
}
