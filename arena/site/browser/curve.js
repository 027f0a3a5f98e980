// The chance of winning by step, a line a seat, with a bar at each costly decision.
import { el, svg } from "./dom.js";

const WIDTH = 1000;
const HEIGHT = 160;
export const SHOWN_COST = 0.05; // of a win

/** Lines and bars end at the latest step that was shown. */
export function curve(match, go) {
  const last = match.steps.length - 1;
  if (!match.steps.every((step) => step.value?.length)) return null;
  const x = (step) => (last ? (step / last) * WIDTH : 0);
  const y = (value) => HEIGHT * (1 - Math.min(1, Math.max(0, value)));
  const points = match.players.map((_, seat) => match.steps.map((step, at) => `${x(at).toFixed(1)},${y(step.value[seat]).toFixed(1)}`));
  const lines = points.map((all, seat) => svg("polyline", { class: `curve-line seat-${seat}`, points: all.join(" ") }));
  const rounds = match.steps.flatMap((step, at) => (at && step.round !== match.steps[at - 1].round ? [at] : []));
  const mistakes = match.steps.flatMap((step, at) =>
    step.cost >= SHOWN_COST
      ? [svg("line", { class: `curve-mistake seat-${step.seat}`, x1: x(at), x2: x(at), y1: y(step.value[step.seat]) - 9, y2: y(step.value[step.seat]) + 9 })]
      : [],
  );
  const seen = svg("rect", { x: -9, y: -HEIGHT, width: 9, height: 3 * HEIGHT });
  const now = svg("line", { class: "curve-now", y1: 0, y2: HEIGHT });
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    rounds.map((at) => svg("line", { class: "curve-round", x1: x(at), x2: x(at), y1: 0, y2: HEIGHT })),
    svg("line", { class: "curve-half", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
    svg("clipPath", { id: "seen" }, seen),
    svg("g", { "clip-path": "url(#seen)" }, lines, mistakes),
    now,
  );
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * last));
  });
  const node = el("figure", { class: "curve" }, el("figcaption", {}, "Chance of winning"), drawing);
  const show = (step) => {
    now.setAttribute("x1", x(step));
    now.setAttribute("x2", x(step));
    seen.setAttribute("width", Math.max(seen.getAttribute("width"), x(step) + 9));
  };
  return { node, show };
}
