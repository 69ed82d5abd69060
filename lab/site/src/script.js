"use strict";
{
  // A sweep that goes on.
  const going = document.querySelector("[data-reload]");
  if (going) setTimeout(() => location.reload(), 1000 * Number(going.dataset.reload));

  // Columns are sorted by a click on their head, numbers as numbers; longer tables can be filtered.
  const FILTERED_FROM = 8;
  const NUMBER = /^[±~<>≤≥]?\s*([-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(ns|µs|ms|s)?/i;
  const SCALE = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1 };

  const number = text => {
    const found = text.replace(/,/g, "").match(NUMBER);
    return found ? Number(found[1].replace("−", "-")) * (SCALE[found[2]] ?? 1) : NaN;
  };

  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) {
      return Number.isNaN(x) - Number.isNaN(y) || a.localeCompare(b);
    }
    return x - y;
  };

  const sort = (table, head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[column]?.textContent ?? "";
    const rows = [...table.tBodies[0].rows].sort((a, b) => compare(key(a), key(b)));
    table.tBodies[0].append(...(down ? rows.reverse() : rows));
  };

  const sortable = table => {
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      // The corner of many a table is empty.
      if (!button.textContent.trim()) button.setAttribute("aria-label", "first column");
      head.append(button);
      button.addEventListener("click", () => sort(table, head, column));
    });
  };

  const filtered = table => {
    const label = document.createElement("label");
    label.className = "filter";
    const input = document.createElement("input");
    input.type = "search";
    label.append("Rows with ", input);
    table.parentElement.before(label);
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
      }
    });
  };

  for (const table of document.querySelectorAll("table")) {
    if (!table.tBodies[0]) continue;
    sortable(table);
    if (table.tBodies[0].rows.length >= FILTERED_FROM) filtered(table);
  }

  // A link to a folded part opens it.
  const unfold = () => {
    const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!part) return;
    for (let one = part; one; one = one.parentElement) {
      if (one.tagName === "DETAILS") one.open = true;
    }
    part.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // Paper shows what is folded, and the screen after it what was folded before.
  const folded = [];
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open], .data)")) {
      one.open = true;
      folded.push(one);
    }
  });
  addEventListener("afterprint", () => folded.splice(0).forEach(one => { one.open = false; }));
}
