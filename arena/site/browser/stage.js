// The picture of a position: by the drawing module of the game, or a still.
import { el, isStill } from "./dom.js";
import { table } from "./data.js";

export async function stage(match) {
  const host = el("div", { class: "stage" });
  const draw = match.module && match.views.length ? await table(match.module) : undefined;
  let drawn = null;
  try {
    drawn = draw ? draw(host, match) : null;
  } catch (error) {
    console.info(`stills instead of a drawing: ${error.message}`);
    host.replaceChildren();
  }
  return { host, show: drawn ? moving(match, drawn) : stills(match, host), isDrawn: Boolean(drawn) };
}

function moving(match, drawn) {
  return (number, seconds) => {
    const step = match.steps[number];
    const motion = step.motion === undefined || step.motion === null ? null : match.motions[step.motion];
    drawn.show(match.views[step.view ?? 0], step, { motion, seconds: isStill() ? 0 : seconds, number });
  };
}

function stills(match, host) {
  if (!match.stills.length) {
    host.append(el("p", { class: "notice" }, match.notice || "This match has no pictures."));
    return () => {};
  }
  const image = el("img", { class: "still" });
  const note = el("p", { class: "still-note" });
  host.append(el("div", { class: "frame", role: "group", "aria-label": "Picture", tabindex: 0 }, image), note);
  const sizes = match.stills.map((still) => /<svg[^>]* width="([\d.]+)[^>]* height="([\d.]+)/.exec(still)).filter(Boolean);
  const width = Math.max(...sizes.map((size) => Number(size[1])));
  image.style.aspectRatio = `${width} / ${Math.max(...sizes.map((size) => Number(size[2])))}`; // no step moves the page
  image.style.minWidth = `${0.65 * width}px`; // on a phone a wide one scrolls, so that its words can be read
  return (number) => {
    const step = match.steps[number];
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(match.stills[step.still ?? 0])}`;
    const at = match.pictured.findLast((each) => each <= number) ?? number;
    image.alt = `The position after step ${at}: ${match.steps[at].text}`;
    note.textContent = at === number ? "" : `The picture is that of step ${at}.`;
  };
}
