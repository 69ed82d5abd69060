"use strict";
// Columns are sorted by a click on their head, numbers as numbers; longer tables can be filtered.
const FILTERED_FROM = 8;
const number = text => {
  const found = text.replace(/,/g, "").match(/^[±~<>≤≥]?\s*([-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(ns|µs|ms|s)?/i);
  const scale = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1 };
  return found ? Number(found[1].replace("−", "-")) * (scale[found[2]] ?? 1) : NaN;
};
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.localeCompare(b);
  return x - y;
};
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (!body) continue;
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => row.cells[column]?.textContent ?? "";
      const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
  if (body.rows.length < FILTERED_FROM) continue;
  const label = document.createElement("label");
  label.className = "filter";
  const input = document.createElement("input");
  input.type = "search";
  label.append("Rows with ", input);
  table.before(label);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
// A link to a folded part opens it.
const open = () => {
  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = part; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  part?.scrollIntoView();
};
addEventListener("hashchange", open);
open();
