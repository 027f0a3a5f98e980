// Signs of the buttons as drawings, since not every system has a font with them.
import { svg } from "./dom.js";

const PATHS = {
  play: "M7 4v16l13-8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  on: "M5 4v16l10-8zM17 4h3v16h-3z",
  back: "M19 4v16L9 12zM4 4h3v16H4z",
  nextRound: "M3 5v14l9-7zM12 5v14l9-7z",
  roundBefore: "M21 5v14l-9-7zM12 5v14l-9-7z",
  last: "M2 5v14l8-7zM10 5v14l8-7zM19 5h3v14h-3z",
  first: "M22 5v14l-8-7zM14 5v14l-8-7zM2 5h3v14H2z",
};

export const icon = (name) =>
  svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: PATHS[name], fill: "currentColor" }));
