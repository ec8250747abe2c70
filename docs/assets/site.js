"use strict";
// Shared by the other scripts: data that files register, and buttons that copy commands.
const specgate = {
  root: document.body.dataset.root,
  held: {},
  waiting: {},
  take(name, value) {
    this.held[name] = value;
  },
  // Load data/NAME.js once. It is a script and not fetched, so that it also works from a folder without a server.
  load(file, name = file) {
    this.waiting[name] ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${this.root}data/${file}.js`;
      script.onload = () => done(this.held[name]);
      script.onerror = () => failed(new Error(`${script.src} cannot be loaded`));
      document.head.append(script);
    });
    return this.waiting[name];
  },
  make(element, text = "", attributes = {}) {
    const made = document.createElement(element);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  },
  // The address of a page by its path within the site.
  page(path) {
    const [place, ...anchor] = path.split("#");
    return [this.root + place.split("/").map(encodeURIComponent).join("/"), ...anchor].join("#");
  },
};

for (const block of document.querySelectorAll(".command")) {
  const button = specgate.make("button", "Copy", { type: "button" });
  button.addEventListener("click", async () => {
    const code = block.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}
// A link to a collapsed section opens it.
const unfold = () => {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = part; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", unfold);
unfold();
