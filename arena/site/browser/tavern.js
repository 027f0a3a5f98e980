// Cards, dice and captains of Shanghaien as drawings.
import { svg } from "./dom.js";

export const COLOURS = {
  american: "#c8352c", french: "#6db7e0", german: "#24448e", chinese: "#e9c832",
  dutch: "#e8862e", turkish: "#7d4a94", spanish: "#4a9a4a", italian: "#8b8f94",
};
const DARK_INK = new Set(["french", "chinese", "dutch", "italian"]);
const SIGNS = { adjust: "\u00b11", both: "2\u00d7", reroll: "\u21bb" };
const PIPS = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

export function card(text) {
  const [nation, strength] = text.split(" ");
  const badge = svg("text", { x: 55, y: 143, "text-anchor": "middle", "font-size": 20, "font-weight": 700 });
  const isSailor = nation in COLOURS;
  const inner = isSailor ? sailor(nation, strength) : trick(text);
  const node = svg(
    "g",
    { class: "card" },
    svg("title", {}, text),
    svg("rect", { width: 110, height: 156, rx: 11, fill: isSailor ? "#f8f0dd" : "#35302b", stroke: "#1c130b", "stroke-width": 1.5 }),
    inner,
    svg("g", { class: "down" }, svg("rect", { width: 110, height: 156, rx: 11, fill: "#7c2d1c", stroke: "#f1dfbd", "stroke-width": 4 }), svg("text", { x: 55, y: 80, "text-anchor": "middle", "font-size": 24, "font-weight": 700, class: "on-dark" }, "sharks")),
    svg("circle", { cx: 55, cy: 136, r: 16, fill: "#fffaf0", stroke: "#57240c", "stroke-width": 2 }),
    badge,
  );
  return { node, badge };
}

function sailor(nation, strength) {
  const colour = COLOURS[nation];
  const ink = DARK_INK.has(nation) ? "" : "on-dark";
  return [
    svg("path", { d: "M0 11a11 11 0 0 1 11-11h88a11 11 0 0 1 11 11v21H0z", fill: colour }),
    svg("text", { x: 55, y: 22, "text-anchor": "middle", "font-size": 20, "font-weight": 600, class: ink }, nation),
    svg("circle", { cx: 38, cy: 66, r: 14, fill: "#e3b78f" }),
    svg("path", { d: "M22 62q16-22 32 0z", fill: "#fff", stroke: "#33424f", "stroke-width": 1.5 }),
    svg("rect", { x: 21, y: 59, width: 34, height: 6, rx: 3, fill: colour, stroke: "#33424f", "stroke-width": 1 }),
    svg("path", { d: "M16 112q0-31 22-31t22 31z", fill: colour, stroke: "#33424f", "stroke-width": 1.5 }),
    svg("path", { d: "M28 84l10 12 10-12", fill: "none", stroke: "#fff", "stroke-width": 4 }),
    svg("text", { x: 85, y: 92, "text-anchor": "middle", "font-size": 44, "font-weight": 800 }, strength),
  ];
}

function trick(text) {
  const words = text.replaceAll("_", " ").split(" ");
  const sign = SIGNS[text] ?? "\u2620";
  return [
    svg("rect", { x: 6, y: 6, width: 98, height: 144, rx: 8, fill: "none", stroke: "#c9a25b", "stroke-width": 2 }),
    svg("text", { x: 55, y: 70, "text-anchor": "middle", "font-size": 40, "font-weight": 800, class: "on-dark" }, sign),
    words.slice(0, 2).map((word, at) => svg("text", { x: 55, y: 94 + 18 * at, "text-anchor": "middle", "font-size": 17, class: "on-dark" }, word)),
  ];
}

export function die(colour) {
  const pips = Array.from({ length: 9 }, (_, at) => svg("circle", { cx: -9 + 9 * (at % 3), cy: -9 + 9 * Math.floor(at / 3), r: 3.4, fill: "#fff" }));
  const cube = svg("g", { class: "cube" }, svg("rect", { x: -16, y: -16, width: 32, height: 32, rx: 7, fill: colour, stroke: "#fff", "stroke-width": 1.6 }), pips);
  return { node: svg("g", { class: "die" }, cube), pips };
}

export function setFace({ pips }, face) {
  pips.forEach((pip, at) => pip.setAttribute("opacity", (PIPS[face] ?? []).includes(at) ? 1 : 0));
}

export function captain(x, y, colour) {
  const node = svg(
    "g",
    { class: "captain", transform: `translate(${x} ${y})` },
    svg("circle", { r: 49, fill: "none", stroke: "#ffe08a", "stroke-width": 7, class: "glow" }),
    svg("circle", { r: 44, fill: "#0f2f27", stroke: "#c9a25b", "stroke-width": 3 }),
    svg("path", { d: "M-33 34q3-27 33-27t33 27q-33 22-66 0z", fill: colour }),
    svg("path", { d: "M-8 10l8 12 8-12", fill: "none", stroke: "#ffe08a", "stroke-width": 3 }),
    svg("circle", { cy: -6, r: 18, fill: "#e3b78f" }),
    svg("path", { d: "M-16-2q16 26 32 0q-4 23-16 23t-16-23z", fill: "#5a4a3c" }),
    svg("circle", { cx: -6, cy: -8, r: 2.4, fill: "#1c130b" }),
    svg("circle", { cx: 6, cy: -8, r: 2.4, fill: "#1c130b" }),
    svg("path", { d: "M-27-16q27-34 54 0q-27-9-54 0z", fill: colour, stroke: "#ffe08a", "stroke-width": 2 }),
    svg("circle", { cy: -24, r: 4, fill: "#ffe08a" }),
  );
  return { node };
}
