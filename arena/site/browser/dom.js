// Elements without markup: whatever comes from data is text, never HTML.
const SVG = "http://www.w3.org/2000/svg";

const set = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};

export const el = (tag, attributes = {}, ...children) => set(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => set(document.createElementNS(SVG, tag), attributes, children);

/** Styles of a module, without an element that a policy could refuse. */
export function adopt(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** The colours of the players of a match, as variables by seat for all that is drawn in that element. */
export const paint = (node, match) =>
  match.players.forEach(({ colours: [light, dark] }, seat) => node.style.setProperty(`--seat-${seat}`, `light-dark(${light}, ${dark})`));

/** The shape of a player in its colour, which tells players apart without it. */
export const shape = (player, seat) =>
  svg("svg", { class: `shape seat-${seat}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: player.shape }));

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
