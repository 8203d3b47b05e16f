// SPDX-License-Identifier: MPL-2.0
// Measures pages in frames of a given width and scheme, and leaves the figures as this page's text.
// Each view is {html, width, scheme, is_open, has_axe}: `is_open` opens all folds, `has_axe` checks
// accessibility and measures nothing.
"use strict";

const HEIGHT = 900;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
// A longer name may have no other place to break than between two of its letters.
const LONGEST_WHOLE = 24;
const [NARROW_LINES, NARROW_WORDS_PER_LINE] = [4, 1.7];
const BLOCKS = "td, th, p, li, dd, dt, figcaption, summary";
const BOXES = "table, figure, svg, pre, ul, ol, p, section, nav, details";
const SECTIONS = { answer: ".answer", picture: ".answer figure" };

function remembered(answer) {
  const answers = new WeakMap();
  return (element) => {
    if (!answers.has(element)) {
      answers.set(element, answer(element));
    }
    return answers.get(element);
  };
}

const styleOf = remembered((element) => getComputedStyle(element));
const isDrawn = remembered((element) => element.checkVisibility({ visibilityProperty: true }));
// What is only for screen readers has no room.
const isClipped = remembered((element) => styleOf(element).clipPath !== "none"
  || (element.parentElement !== null && isClipped(element.parentElement)));
const isSeen = (element) => isDrawn(element) && !isClipped(element);
const scrollBoxOf = remembered((element) => {
  if (element === null || element.localName === "body") {
    return null;
  }
  const isBox = ["auto", "scroll"].includes(styleOf(element).overflowX);
  return isBox ? element : scrollBoxOf(element.parentElement);
});

function seenTexts(root) {
  const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const parent = text.parentElement;
    if (text.data.trim() && isSeen(parent) && !parent.closest("title, desc, style, script")) {
      texts.push(text);
    }
  }
  return texts;
}

function linesOf(text, start = 0, end = text.length) {
  const range = text.ownerDocument.createRange();
  range.setStart(text, start);
  range.setEnd(text, end);
  return [...range.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0);
}

function countOfLines(rects) {
  // Code in a line is a little lower than its other words.
  return new Set(rects.map((rect) => Math.round(rect.bottom / 6))).size;
}

const wordsOf = (text) => text.trim().split(/\s+/).filter(Boolean);
const shortened = (text) => text.trim().replace(/\s+/g, " ").slice(0, 60);

function brokenWords(texts) {
  const broken = [];
  for (const text of texts) {
    for (const { 0: word, index } of text.data.matchAll(WORD)) {
      if (word.length <= LONGEST_WHOLE) {
        const lines = linesOf(text, index, index + word.length);
        if (new Set(lines.map((line) => Math.round(line.top))).size > 1) {
          broken.push(`${word}: ${shortened(text.data)}`);
        }
      }
    }
  }
  return broken;
}

// Text that breaks after nearly every word: its column is too narrow.
function narrowTexts(body) {
  const blocks = [...body.querySelectorAll(BLOCKS)].filter(
    (block) => isSeen(block) && !block.querySelector("p, li"),
  );
  return blocks
    .filter((block) => {
      const texts = seenTexts(block);
      const lines = countOfLines(texts.flatMap((text) => linesOf(text)));
      const words = texts.flatMap((text) => wordsOf(text.data)).length;
      return lines >= NARROW_LINES && words < NARROW_WORDS_PER_LINE * lines;
    })
    .map((block) => shortened(block.textContent));
}

function overlappingLabels(body) {
  const overlapping = [];
  for (const picture of body.querySelectorAll("svg")) {
    const labels = [...picture.querySelectorAll("text")].filter(isSeen);
    const boxes = labels.map((label) => label.getBoundingClientRect());
    boxes.forEach((box, number) => {
      boxes.slice(number + 1).forEach((next, further) => {
        const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
        const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
        // The box of a label is higher than its letters, which have a border of paper.
        if (across > 2 && down > 5) {
          const names = [labels[number], labels[number + 1 + further]];
          overlapping.push(names.map((label) => label.textContent).join(" | "));
        }
      });
    });
  }
  return overlapping;
}

function wideParts(body, texts, width) {
  const isOutside = (rect) => rect.right > width + 0.5 || rect.left < -0.5;
  const wideTexts = texts.filter(
    (text) => !scrollBoxOf(text.parentElement) && linesOf(text).some(isOutside),
  );
  const wideBoxes = [...body.querySelectorAll(BOXES)].filter(
    (box) => isSeen(box) && !scrollBoxOf(box) && isOutside(box.getBoundingClientRect()),
  );
  return [
    ...wideTexts.map((text) => shortened(text.data)),
    ...wideBoxes.map((box) => `<${box.localName} class="${box.getAttribute("class") || ""}">`),
  ];
}

function scrollBoxes(body) {
  return [...body.querySelectorAll("*")]
    .filter((box) => scrollBoxOf(box) === box && isSeen(box))
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => ({
      name: box.getAttribute("aria-label") || "",
      has_keyboard: box.tabIndex === 0,
    }));
}

function endsOf(body) {
  const ends = {};
  for (const [name, selector] of Object.entries(SECTIONS)) {
    const section = body.querySelector(selector);
    if (section !== null) {
      ends[name] = Math.ceil(section.getBoundingClientRect().bottom);
    }
  }
  return ends;
}

function sizes(body, width) {
  const texts = seenTexts(body);
  return {
    height: Math.ceil(body.getBoundingClientRect().height),
    scroll_width: body.ownerDocument.documentElement.scrollWidth,
    words: texts.flatMap((text) => wordsOf(text.data)).length,
    ends: endsOf(body),
    broken: brokenWords(texts),
    narrow: narrowTexts(body),
    overlapping: overlappingLabels(body),
    wide: wideParts(body, texts, width),
    scroll_boxes: scrollBoxes(body),
  };
}

async function violations(frame, axe) {
  frame.contentWindow.eval(axe);
  const options = { resultTypes: ["violations"], iframes: false, preload: false };
  const checked = await frame.contentWindow.axe.run(frame.contentDocument, options);
  return checked.violations.flatMap((rule) => rule.nodes.map((node) => {
    const reasons = [...node.any, ...node.all, ...node.none].map((check) => check.message);
    return `${rule.id}: ${node.html.slice(0, 200)}: ${reasons.join("; ")}`;
  }));
}

async function frameOf(view) {
  const frame = document.createElement("iframe");
  // The page in a frame has the frame's width, and its scheme.
  frame.style.width = `${view.width}px`;
  frame.style.height = `${HEIGHT}px`;
  frame.style.border = "0";
  frame.style.colorScheme = view.scheme;
  frame.srcdoc = view.html;
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  document.body.append(frame);
  await loaded;
  return frame;
}

async function measured(view, axe) {
  const frame = await frameOf(view);
  const { body } = frame.contentDocument;
  if (view.is_open) {
    body.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  }
  const figures = view.has_axe
    ? { violations: await violations(frame, axe) }
    : sizes(body, view.width);
  figures.inner_width = frame.contentWindow.innerWidth;
  figures.is_dark = frame.contentWindow.matchMedia("(prefers-color-scheme: dark)").matches;
  frame.remove();
  return figures;
}

addEventListener("load", async () => {
  const { views, axe } = JSON.parse(document.getElementById("given").textContent);
  const figures = [];
  for (const view of views) {
    figures.push(await measured(view, axe));
  }
  document.body.textContent = JSON.stringify(figures);
});
