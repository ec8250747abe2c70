"use strict";
// The search box of every page: lists operators, rules and pages while typing; on the home page it also shows support.
{
  const form = document.querySelector("form.find");
  const box = form.querySelector("input");
  const list = form.querySelector("[role=listbox]");
  const answer = document.getElementById("answer");
  const { support } = specgate;
  const NOISE = new Set("a an and at can do does for from i in index indices is it level may of on opset rule take takes tensor the to want wants what which who with feature".split(" "));
  const DIALECTS = ["directml", "onnx", "openvino"];
  let entries = null;
  let chosen = -1;

  const gather = async () => {
    const [index, other, ...rules] = await Promise.all([
      specgate.load("search", "index"), specgate.load("rules-other"), ...DIALECTS.map((name) => specgate.load(`rules-${name}`)),
    ]);
    const found = [];
    for (const [path, title, words] of index.pages) found.push({ path, title, kind: "page", name: support.key(title), text: `${title.toLowerCase()} ${words}` });
    const addRules = (owner, [said, plain]) => {
      const first = new Map(); // if names differ only in case, the second one has another address: see address.py
      for (const name of [...said.map(([own]) => own), ...plain].sort().reverse()) first.set(name.toLowerCase(), name);
      const page = (name) => `rules/${owner}/${name}${first.get(name.toLowerCase()) === name ? "" : "~2"}.html`;
      for (const [name, says] of said) found.push({ path: page(name), title: `${owner}/${name}`, says, kind: "rule" });
      for (const name of plain) found.push({ path: page(name), title: `${owner}/${name}`, says: "", kind: "id" });
    };
    DIALECTS.forEach((dialect, at) => {
      const { title, operators } = index.operators[dialect];
      for (const [name, says] of operators) {
        found.push({ path: `${dialect}/${name}.html`, title: name, says: `${title}. ${says}`, kind: "operator", dialect });
      }
      for (const [operator, both] of Object.entries(rules[at])) addRules(`${dialect}/${operator}`, both);
    });
    for (const [group, both] of Object.entries(other)) addRules(group, both);
    for (const entry of found) {
      entry.name ??= support.key(entry.title);
      entry.parts = entry.kind === "rule" || entry.kind === "id" ? entry.name.split("/") : [entry.name];
      entry.text ??= (entry.says ?? "").toLowerCase();
    }
    return found;
  };
  const WEIGHTS = { operator: 30, page: 22, rule: 12, id: 0 };
  const score = (entry, tokens) => {
    let sum = 0;
    let hits = 0;
    for (const token of tokens) {
      const named = entry.name === token || entry.parts.includes(token) ? 100
        : entry.parts.some((part) => part.startsWith(token)) ? 40
        : entry.name.includes(token) ? 20
        : entry.kind !== "id" && entry.text.includes(token) ? 6 : 0;
      if (named) { sum += named; hits += 1; }
    }
    return hits ? sum + 60 * (hits - tokens.length) + WEIGHTS[entry.kind] - entry.name.length / 100 : 0;
  };
  const tokensOf = (query) => {
    const all = query.toLowerCase().split(/[\s,?]+/).filter(Boolean).map((token) => support.key(token));
    const telling = all.filter((token) => !NOISE.has(token));
    return telling.length ? telling : all;
  };
  const show = (found) => {
    list.replaceChildren(...found.map((entry, at) => {
      const option = specgate.make("a", "", { role: "option", id: `found-${at}`, href: specgate.page(entry.path), tabindex: "-1", "aria-selected": "false" });
      option.append(specgate.make("b", entry.title), specgate.make("span", entry.kind === "id" ? "rule" : entry.kind), specgate.make("small", entry.says ?? ""));
      return option;
    }));
    if (!found.length) list.append(specgate.make("p", "no results", { role: "option", "aria-disabled": "true" }));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    choose(-1);
  };
  const hide = () => {
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
    choose(-1);
  };
  const choose = (at) => {
    const options = list.querySelectorAll("a");
    chosen = options.length ? (at + options.length + (at < -1 ? 1 : 0)) % options.length : -1;
    if (at === -1) chosen = -1;
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === chosen)));
    if (chosen >= 0) {
      box.setAttribute("aria-activedescendant", options[chosen].id);
      options[chosen].scrollIntoView({ block: "nearest" });
    } else box.removeAttribute("aria-activedescendant");
  };
  const search = async () => {
    const query = box.value.trim();
    if (!query) { hide(); answer?.replaceChildren(); return; }
    entries ??= await gather();
    if (query !== box.value.trim()) return;
    const tokens = tokensOf(query);
    const found = entries.map((entry) => [score(entry, tokens), entry]).filter(([sum]) => sum > 0);
    found.sort((a, b) => b[0] - a[0]);
    show(found.slice(0, 12).map(([, entry]) => entry));
    if (answer) await reply(query);
  };

  // Answers questions with an operator, a type and a level, in any order: "does ONE_HOT support INT64 indices at 2.1?"
  const reply = async (query) => {
    const words = query.split(/[\s,?]+/).filter(Boolean);
    const keys = words.map((word) => support.key(word));
    const meant = entries.filter((entry) => entry.kind === "operator" && keys.includes(entry.name));
    const cards = [];
    for (const entry of meant.slice(0, 3)) {
      const data = await specgate.load(entry.dialect, `matrix-${entry.dialect}`);
      const lower = words.map((word) => word.toLowerCase());
      const type = data.types.find((name) => lower.includes(name.toLowerCase()));
      const level = data.levels.find((name) => lower.includes(name.toLowerCase()) || lower.includes(name.replace("opset", "")));
      if (type) cards.push(card(entry, data, type, level));
    }
    if (query === box.value.trim()) answer.replaceChildren(...cards);
  };
  const card = (entry, data, type, level) => {
    const made = specgate.make("div", "", { class: "card" });
    const where = level ? ` at ${data.word === "feature level" ? "" : `${data.word} `}${level.replace("opset", "")}` : "";
    made.append(specgate.make("h2", `${entry.title} (${data.title}): ${type}${where}`));
    const items = specgate.make("ul");
    for (const row of data.operators[entry.title]) {
      const states = support.states(row, { type }, data);
      const item = specgate.make("li");
      item.append(specgate.make("b", row[0].join(", ")), row[1] ? ` (where ${row[1]})` : "", ": ");
      if (level) item.append(specgate.make("strong", support.words[states[data.levels.indexOf(level)]]), "; ");
      const page = support.ranges(states, ["page", "refused"], data);
      const builds = support.ranges(states, ["builds"], data);
      item.append(page ? `documented at ${page}` : "documented at no level", builds ? `; undocumented, but works at ${builds}` : "");
      items.append(item);
    }
    const more = specgate.make("p");
    more.append(specgate.make("a", "The operator's page", { href: specgate.page(entry.path) }));
    made.append(items, more);
    return made;
  };

  box.addEventListener("input", search);
  box.addEventListener("focus", () => { if (box.value.trim()) search(); });
  box.addEventListener("keydown", (event) => {
    const options = list.querySelectorAll("a");
    if (event.key === "ArrowDown" && options.length) choose(chosen + 1);
    else if (event.key === "ArrowUp" && options.length) choose(chosen <= 0 ? options.length - 1 : chosen - 1);
    else if (event.key === "Escape") hide();
    else return;
    event.preventDefault();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const option = list.querySelectorAll("a")[Math.max(chosen, 0)];
    if (option) location.href = option.href;
    else search();
  });
  form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) hide(); });
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); box.focus(); }
  });
}
