// The pipeline bar: a stage to begin with, and a key that runs the pipeline.
const bar = document.querySelector("[data-part=pipeline]");
if (bar) {
  const field = bar.querySelector("textarea"), stages = bar.querySelector("select");
  stages.hidden = false;
  stages.addEventListener("change", () => {
    const start = `${field.value.trimEnd() || "collection"}\n| `;
    field.value = start + stages.value;
    stages.value = "";
    field.rows = Math.min(12, Math.max(3, field.value.split("\n").length));
    field.focus();
    // What follows the stage's name is to be written over.
    const name = start.length + field.value.slice(start.length).indexOf(" ") + 1;
    field.setSelectionRange(name, field.value.length);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) bar.requestSubmit();
  });
}
