// Heads of sortable tables become buttons: a click sorts by that column, another turns the order round.
"use strict";

// Numbers by size, all else as text; what has no value comes last either way.
function compare(a, b, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const difference = Number(a) - Number(b);
  return sign * (Number.isNaN(difference) ? a.localeCompare(b) : difference);
}

function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const now = heads[column].getAttribute("aria-sort");
  const first = heads[column].dataset.first || "descending";
  const order = now === null ? first : now === "ascending" ? "descending" : "ascending";
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", order);
  const value = (row) => row.cells[column].dataset.value;
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => compare(value(a), value(b), order === "ascending" ? 1 : -1));
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column));
    head.append(button);
  });
}
