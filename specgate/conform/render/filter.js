
"use strict";
{
  // The page is complete without this script, which only hides rows and folded items.
  const form = document.getElementById("filters");
  const said = form.querySelector("output");
  const search = form.elements.namedItem("operator");
  const boxes = [...form.querySelectorAll("input[name=kind]")];
  const rows = [...document.querySelectorAll("[data-operator]")];
  const groups = [...document.querySelectorAll(".group")];

  const apply = () => {
    const wanted = search.value.trim().toLowerCase();
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
    const operators = new Set();
    for (const row of rows) {
      const { operator, kind } = row.dataset;
      const named = operator.toLowerCase().includes(wanted);
      const inGroup = row.closest(".group[data-kind]") !== null;
      row.hidden = !named || (inGroup && off.has(kind));
      if (named) operators.add(operator);
    }
    for (const group of groups) {
      group.hidden = ![...group.querySelectorAll(".difference")].some((item) => !item.hidden);
    }
    said.textContent = operators.size === 1 ? "1 operator" : `${operators.size} operators`;
  };

  const show = () => {
    const item = document.getElementById(location.hash.slice(1));
    if (item === null || item.tagName !== "DETAILS") return;
    if (item.hidden) {
      form.reset();
      apply();
    }
    item.open = true;
    item.scrollIntoView();
  };

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", show);
  form.hidden = false;
  apply();
  show();
}
