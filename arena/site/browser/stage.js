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
  return { host, isDrawn: Boolean(drawn), ...(drawn ? moving(match, drawn) : { show: stills(match, host) }) };
}

/** `seconds`: how long the movement to a step is watched at speed 1, for the few that have one. */
function moving(match, drawn) {
  const viewOf = (number) => match.views[match.steps[number].view ?? 0];
  const motionOf = (number) => match.motions[match.steps[number]?.motion ?? -1];
  return {
    show: (number, seconds) =>
      drawn.show(viewOf(number), match.steps[number], { motion: motionOf(number), seconds: isStill() ? 0 : seconds, number }),
    seconds: (number) => (!isStill() && motionOf(number) ? drawn.seconds(viewOf(number), motionOf(number)) : undefined),
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
  const height = Math.max(...sizes.map((size) => Number(size[2])));
  image.style.aspectRatio = `${width} / ${height}`; // no step moves the page
  image.style.minWidth = `${0.65 * width}px`; // on a phone a wide one scrolls, so that its words can be read
  image.style.minHeight = `${0.65 * height}px`;
  image.style.maxHeight = `${3 * height}px`;
  return (number) => {
    const step = match.steps[number];
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(match.stills[step.still ?? 0])}`;
    const at = match.pictured.findLast((each) => each <= number) ?? number;
    image.alt = `The position after step ${at}: ${match.steps[at].text}`;
    note.textContent = at === number ? "" : `The picture is that of step ${at}.`;
  };
}
