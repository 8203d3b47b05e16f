// SPDX-License-Identifier: MPL-2.0
// Uses the page of all pools as a reader does, and writes what it then shows as JSON.
"use strict";
addEventListener("load", () => {
  const given = JSON.parse(document.getElementById("given").textContent);
  const frame = document.createElement("iframe");
  frame.srcdoc = given.html;
  frame.onload = () => {
    const page = frame.contentDocument;
    const boxes = () => [...page.querySelectorAll("tr input")];
    const picked = () => page.querySelector(".picked").textContent;
    const shown = () => [...page.querySelectorAll("tr[data-address]")]
      .filter((row) => !row.hidden).map((row) => row.querySelector("th").textContent.trim());
    const seen = { boxes: boxes().map((box) => box.getAttribute("aria-label")), start: picked() };
    seen.commands = given.picks.map((number) => (boxes()[number].click(), picked()));
    seen.checked = boxes().map((box) => box.checked);
    const filter = page.querySelector(".tools input");
    filter.value = given.filter;
    filter.dispatchEvent(new Event("input"));
    seen.rows = shown();
    seen.count = page.querySelector(".tools .quiet").textContent;
    seen.elements = page.querySelectorAll(".picked *").length;
    document.body.textContent = JSON.stringify(seen);
  };
  document.body.append(frame);
});
