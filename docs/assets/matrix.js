"use strict";
// The matrix. The query is in the fragment of the address (after #), so that a result can be linked.
{
  const form = document.getElementById("ask");
  const body = document.querySelector("#answers tbody");
  const count = document.getElementById("count");
  const { support } = specgate;
  const FIELDS = ["dialect", "operator", "type", "rank", "level"];

  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1) || location.search);
    return Object.fromEntries(FIELDS.map((name) => [name, given.get(name) ?? ""]));
  };
  const write = (wanted) => {
    const said = new URLSearchParams(FIELDS.filter((name) => wanted[name]).map((name) => [name, wanted[name]]));
    if (location.hash.slice(1) !== said.toString()) history.replaceState(null, "", `#${said}`);
  };
  const options = (select, names, chosen) => {
    select.replaceChildren(specgate.make("option", "any", { value: "" }), ...names.map((name) => specgate.make("option", name, { value: name })));
    select.value = names.includes(chosen) ? chosen : "";
  };
  const strip = (states, at, data) => {
    const made = specgate.make("div", "", { class: "strip", role: "img", "aria-label": `supported at ${support.ranges(states, ["page", "builds"], data) || "no level"}` });
    states.forEach((state, index) => {
      made.append(specgate.make("span", "", { class: `is-${state || "absent"}${index === at ? " here" : ""}`, title: `${data.levels[index]}: ${support.words[state]}` }));
    });
    return made;
  };
  const line = (dialect, name, row, wanted, data) => {
    const states = support.states(row, wanted, data);
    const at = data.levels.indexOf(wanted.level);
    const here = at < 0 ? states.some((state) => /page|refused|builds/.test(state)) : /page|refused|builds/.test(states[at]);
    const asked = wanted.type || wanted.rank || wanted.level;
    if (asked && !here && !wanted.operator) return null;
    const made = specgate.make("tr");
    const head = specgate.make("th", "", { scope: "row" });
    head.append(specgate.make("a", name, { href: specgate.page(`${dialect}/${name}.html`) }));
    const first = support.ranges(states, ["page", "refused"], data);
    const extra = support.ranges(states, ["builds"], data);
    const taken = specgate.make("td", (first || "no level") + (extra ? `; undocumented, but works at ${extra}` : ""));
    const says = at < 0 ? "" : support.words[states[at]];
    const cells = [row[0].join(", ") + (row[1] ? ` (where ${row[1]})` : ""), says].map((text) => specgate.make("td", text));
    const drawn = specgate.make("td");
    drawn.append(strip(states, at, data));
    made.append(head, ...cells, taken, drawn);
    return made;
  };
  const answer = async () => {
    const wanted = read();
    wanted.dialect = ["directml", "onnx", "openvino"].includes(wanted.dialect) ? wanted.dialect : "directml";
    const data = await specgate.load(wanted.dialect, `matrix-${wanted.dialect}`);
    form.elements.dialect.value = wanted.dialect;
    options(form.elements.type, data.types, wanted.type);
    options(form.elements.level, data.levels, wanted.level);
    if (document.activeElement !== form.elements.operator) form.elements.operator.value = wanted.operator;
    if (document.activeElement !== form.elements.rank) form.elements.rank.value = wanted.rank;
    const asked = { ...wanted, type: form.elements.type.value, level: form.elements.level.value, rank: Number(wanted.rank) || 0 };
    const part = support.key(wanted.operator);
    const rows = [];
    let operators = 0;
    for (const [name, of] of Object.entries(data.operators)) {
      if (!support.key(name).includes(part)) continue;
      const made = of.map((row) => line(wanted.dialect, name, row, asked, data)).filter(Boolean);
      operators += made.length > 0;
      rows.push(...made);
    }
    body.replaceChildren(...rows);
    count.textContent = `${operators} of ${Object.keys(data.operators).length} ${data.title} operators`;
  };
  const change = () => {
    const wanted = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value.trim()]));
    write(wanted);
    answer();
  };
  form.addEventListener("input", change);
  form.addEventListener("submit", (event) => { event.preventDefault(); change(); });
  form.hidden = false;
  addEventListener("hashchange", answer);
  answer();
}
