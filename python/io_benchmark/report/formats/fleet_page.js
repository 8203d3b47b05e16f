// SPDX-License-Identifier: MPL-2.0
// Filters the table of all pools by text, and writes the command that compares two of its rows.
// All of the page is there without it. What rows and addresses hold is only ever text.
"use strict";
(() => {
  const command = document.body.dataset.command;
  const rows = [...document.querySelectorAll("tr[data-address]")];
  if (!command || rows.length === 0) return;
  const box = rows[0].closest(".scroll");
  const made = (tag, properties) => Object.assign(document.createElement(tag), properties);

  // An address that begins with a hyphen would be an option.
  const isPlain = /^[A-Za-z0-9@%_+=:,./][A-Za-z0-9@%_+=:,./-]*$/;
  const quoted = (words) =>
    isPlain.test(words) ? words : "'" + words.replaceAll("'", "'\"'\"'") + "'";
  const canBePicked = (row) => row.dataset.address && !row.dataset.address.startsWith("-");

  const tools = made("div", { className: "tools" });
  const label = made("label", { textContent: "Filter pools: " });
  const filter = made("input", { type: "search", autocomplete: "off" });
  const count = made("span", { className: "quiet" });
  const result = made("p", { className: "picked" });
  count.setAttribute("role", "status");
  result.setAttribute("role", "status");
  label.append(filter);
  tools.append(label, " ", count, result);
  box.before(tools);

  const texts = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, number) => {
      row.hidden = !words.every((word) => texts[number].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = `${shown} of ${rows.length} pools`;
  };
  filter.addEventListener("input", show);
  show();

  let picked = [];
  const write = () => {
    result.replaceChildren();
    if (picked.length < 2) {
      result.textContent = "Pick two pools to get the command that compares them.";
      return;
    }
    const [candidate, baseline] = picked.map((row) => quoted(row.dataset.address));
    // A function, because a text to insert would have patterns of its own.
    const line = command.replace(/ADDRESS_[AB]/g, (slot) =>
      slot === "ADDRESS_A" ? candidate : baseline);
    result.append("Compare them: ", made("code", { textContent: line }));
  };
  for (const row of rows.filter(canBePicked)) {
    const head = row.querySelector("th");
    const box = made("input", { type: "checkbox" });
    box.setAttribute("aria-label", `Compare ${head.textContent}`);
    box.addEventListener("change", () => {
      picked = picked.filter((other) => other !== row);
      if (box.checked) picked.push(row);
      // The third one takes the place of the first.
      if (picked.length > 2) picked.shift().querySelector("input").checked = false;
      write();
    });
    head.prepend(box, " ");
  }
  write();
})();
