// The chance of winning by step, a line a seat, with a bar at each costly decision.
import { el, shape, svg } from "./dom.js";

const WIDTH = 1000;
const HEIGHT = 160;
const SHOWN_COST = 0.05; // of a win

export function curve(match, go) {
  const last = match.steps.length - 1;
  if (!match.steps.every((step) => step.value?.length)) return null;
  const x = (step) => (last ? (step / last) * WIDTH : 0);
  const y = (value) => HEIGHT * (1 - Math.min(1, Math.max(0, value)));
  const lines = match.players.map((player, seat) =>
    svg("polyline", {
      class: `curve-line seat-${seat}`,
      points: match.steps.map((step, at) => `${x(at).toFixed(1)},${y(step.value[seat]).toFixed(1)}`).join(" "),
    }),
  );
  const rounds = match.steps.flatMap((step, at) => (at && step.round !== match.steps[at - 1].round ? [at] : []));
  const mistakes = match.steps.flatMap((step, at) =>
    step.cost >= SHOWN_COST
      ? [svg("line", { class: `curve-mistake seat-${step.seat}`, x1: x(at), x2: x(at), y1: y(step.value[step.seat]) - 9, y2: y(step.value[step.seat]) + 9 })]
      : [],
  );
  const now = svg("line", { class: "curve-now", y1: 0, y2: HEIGHT });
  const dots = match.players.map((player, seat) => svg("circle", { class: `curve-dot seat-${seat}`, r: 7 }));
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    rounds.map((at) => svg("line", { class: "curve-round", x1: x(at), x2: x(at), y1: 0, y2: HEIGHT })),
    svg("line", { class: "curve-half", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
    lines,
    mistakes,
    now,
    dots,
  );
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * last));
  });
  const told = el("span", { class: "curve-now-text" });
  const node = el("figure", { class: "curve" }, el("figcaption", {}, "Chance of winning ", told), drawing);
  const show = (step) => {
    const values = match.steps[step].value;
    now.setAttribute("x1", x(step));
    now.setAttribute("x2", x(step));
    dots.forEach((dot, seat) => {
      dot.setAttribute("cx", x(step));
      dot.setAttribute("cy", y(values[seat]));
    });
    told.replaceChildren(
      ...match.players.map((player, seat) =>
        el("span", { class: `seat-text seat-${seat}` }, shape(player, seat), `${player.name} ${Math.round(100 * Math.min(1, Math.max(0, values[seat])))} % `),
      ),
    );
  };
  return { node, show };
}
