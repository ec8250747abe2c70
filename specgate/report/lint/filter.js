"use strict";
{
  // The page is complete without this script, which only hides parts.
  const form = document.getElementById("filters");
  const nodes = [...document.querySelectorAll(".node")].map((item) => ({
    item,
    operator: item.dataset.operator,
    name: item.querySelector("h3").textContent.toLowerCase(),
    findings: [...item.querySelectorAll(".finding")].map((entry) => ({ entry, text: entry.textContent.toLowerCase() })),
  }));
  const files = [...document.querySelectorAll(".file")];
  const folds = [...document.querySelectorAll(".lesser")];

  let wasAsked = false;

  const apply = () => {
    const { text, kind, target, operator } = form.elements;
    const wanted = text.value.trim().toLowerCase();
    const boxes = kind instanceof RadioNodeList ? [...kind] : [kind];
    const kinds = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let shown = 0;
    for (const node of nodes) {
      const here = !operator.value || node.operator === operator.value;
      let some = false;
      for (const { entry, text: said } of node.findings) {
        const fits = here
          && kinds.has(entry.dataset.kind)
          && (!target.value || entry.dataset.target === target.value)
          && (node.name.includes(wanted) || said.includes(wanted));
        entry.hidden = !fits;
        some ||= fits;
        shown += fits ? 1 : 0;
      }
      node.item.hidden = !some;
    }
    // Matching parts are unfolded, others are folded.
    const asked = Boolean(wanted || target.value || operator.value);
    for (const fold of folds) {
      fold.hidden = !fold.querySelector(".finding:not([hidden])");
      if (asked !== wasAsked) fold.open = asked;
    }
    wasAsked = asked;
    for (const file of files) file.hidden = !file.querySelector(".node:not([hidden])");
    form.querySelector("output").textContent = `entries: ${shown}`;
  };

  // A link to a node that the filters hide resets the filters.
  const show = () => {
    const item = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!item) return;
    const fold = item.closest(".lesser");
    if (!item.hidden && !item.closest("[hidden]") && (!fold || fold.open)) return;
    if (item.hidden || item.closest("[hidden]")) {
      form.reset();
      apply();
    }
    if (item.hidden) for (const part of [item, fold, item.closest(".file"), ...item.querySelectorAll(".finding")]) if (part) part.hidden = false;
    if (fold) fold.open = true;
    item.scrollIntoView();
  };

  if (form) {
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", show);
    form.hidden = false;
    apply();
    show();
  }
}
