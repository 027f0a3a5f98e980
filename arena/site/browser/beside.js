// Another match of the block beside this one: the same luck, other seats. It follows by the draws they share.
import { el, paint, shape } from "./dom.js";
import { sentence } from "./board.js";
import { stage } from "./stage.js";

export async function beside(match, stages, parts, now, read) {
  const status = el("span", { role: "status" });
  const buttons = match.others.map((id) =>
    el("button", { type: "button", title: id, "aria-pressed": "false", onclick: (event) => toggle(event.currentTarget, id) }, `Beside match ${id.split("-").at(-1)}`),
  );
  let shown = null;

  async function toggle(button, id) {
    if (shown) {
      shown.node.remove();
      parts.splice(parts.indexOf(shown), 1);
      shown.button.setAttribute("aria-pressed", "false");
      stages.classList.remove("has-two");
      const isSame = shown.button === button;
      shown = null;
      if (isSame) return;
    }
    try {
      const other = await read(`match-${id}`);
      shown = await second(match, other);
      shown.button = button;
      button.setAttribute("aria-pressed", "true");
      stages.classList.add("has-two");
      stages.append(shown.node);
      parts.push(shown);
      shown.show(now(), 0);
      status.textContent = "";
    } catch {
      status.textContent = `Match ${id} is not among these pages, or not yet.`;
    }
  }
  return el("p", { class: "beside" }, "Same luck, other seats: ", buttons, " ", status);
}

async function second(match, other) {
  const picture = await stage(other);
  const line = el("p", { class: "line" });
  const players = other.players.map((player, seat) => el("span", { class: `seat-text seat-${seat}` }, shape(player, seat), player.name, " "));
  const node = el("div", { class: "second" }, picture.host, el("p", { class: "second-players" }, players), line);
  paint(node, other);
  const partner = follow(match, other);
  const show = (number, seconds) => {
    picture.show(partner[number], seconds);
    line.textContent = `step ${partner[number]}: ${sentence(other, partner[number])}`;
  };
  return { node, show };
}

/** For each step of a match the one of the other that shares its luck: the last common draw, and as far behind it. */
export function follow(match, other) {
  const at = new Map(other.steps.flatMap((step, number) => (step.key ? [[step.key, number]] : [])));
  const end = other.steps.length - 1;
  let drawn = 0;
  let there = 0;
  return match.steps.map((step, number) => {
    if (step.key && at.has(step.key)) [drawn, there] = [number, at.get(step.key)];
    const next = other.steps.findIndex((each, place) => place > there && each.key);
    const limit = next < 0 ? end : next - 1;
    return number === match.steps.length - 1 ? end : Math.min(limit, there + number - drawn);
  });
}
