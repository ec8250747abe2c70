"use strict";
{
  // The page is complete without this script, which only hides operators and opens a chosen one.
  const form = document.getElementById("filters");
  const said = form.querySelector("output");
  const { operator, level, changed, limited } = form.elements;
  const rows = [...document.querySelectorAll("tr[data-operator]")];
  const details = new Map([...document.querySelectorAll("details[data-operator]")].map((item) => [item.dataset.operator, item]));

  const has = (words, word) => words.split(" ").includes(word);

  const apply = () => {
    const wanted = operator.value.trim().toLowerCase().replace(/^dml_operator_/, "");
    let shown = 0;
    for (const row of rows) {
      const { operator: name, changed: steps, limited: at } = row.dataset;
      const fits = name.toLowerCase().includes(wanted)
        && (!changed.checked || has(steps, level.value))
        && (!limited.checked || has(at, level.value));
      row.hidden = !fits;
      details.get(name).hidden = !fits;
      shown += fits ? 1 : 0;
    }
    said.textContent = shown === 1 ? "1 operator" : `${shown} operators`;
  };

  // A finding's id may name an aspect of a field (…/InputTensor.type), which is not a rule: show its operator.
  // #GEMM and #dml_operator_gemm select that operator too.
  const named = (id) => {
    const wanted = id.toLowerCase().replace(/^dml_operator_/, "");
    return details.get([...details.keys()].find((name) => name.toLowerCase() === wanted));
  };
  const find = (id) => named(id) ?? document.getElementById(id) ?? document.getElementById(id.split("/").slice(0, 2).join("/"));

  const show = () => {
    const item = find(decodeURIComponent(location.hash.slice(1)));
    const outer = item?.closest("details.operator");
    if (!outer) return;
    if (outer.hidden) {
      form.reset();
      apply();
    }
    outer.open = true;
    item.scrollIntoView();
  };

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", show);
  document.addEventListener("click", (event) => {
    if (event.target.closest("a")?.getAttribute("href") === location.hash) show();  // a second click keeps the hash
  });
  form.hidden = false;
  apply();
  show();
}
