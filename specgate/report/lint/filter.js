"use strict";
{
  // Everything is on the page already; this only hides what the reader does not want to see.
  const form = document.getElementById("filters");
  const nodes = [...document.querySelectorAll(".node")].map((item) => ({
    item,
    operator: item.dataset.operator,
    name: item.querySelector("h3").textContent.toLowerCase(),
    findings: [...item.querySelectorAll(".finding")].map((entry) => ({ entry, text: entry.textContent.toLowerCase() })),
  }));
  const files = [...document.querySelectorAll(".file")];

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
    for (const file of files) file.hidden = !file.querySelector(".node:not([hidden])");
    form.querySelector("output").textContent = `entries: ${shown}`;
  };

  // A link to a node that the filters hide shows everything again.
  const show = () => {
    const item = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!item?.hidden) return;
    form.reset();
    apply();
    if (item.hidden) for (const part of [item, item.closest(".file"), ...item.querySelectorAll(".finding")]) part.hidden = false;
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
