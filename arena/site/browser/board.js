// The player of one match: stage, controls, curve and list of steps around one number, the step.
import { match as read } from "./data.js";
import { curve, SHOWN_COST } from "./curve.js";
import { el, isStill, paint, shape, svg } from "./dom.js";
import { icon } from "./icons.js";
import { beside } from "./beside.js";
import { stage } from "./stage.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const WALL_PAUSE_MS = 6000;
const WALL_SPEED = 2;
const SWIPE_PX = 40;

export async function start(root, match, { isWall = false } = {}) {
  const last = match.steps.length - 1;
  const picture = await stage(match);
  const state = { now: 0, speed: isWall ? WALL_SPEED : 1, timer: 0 };
  let tellEnd;
  const ended = new Promise((resolve) => (tellEnd = resolve));

  const go = (step, seconds = 0) => {
    const number = Math.max(0, Math.min(last, Number.isFinite(step) ? Math.round(step) : 0));
    const isNext = number === state.now + 1;
    state.now = number;
    parts.forEach((part) => part.show(number, isNext ? seconds || (picture.seconds?.(number) ?? 0.4) / state.speed : 0));
    if (!isWall) remember(number);
    if (number === last && state.timer) stop();
  };
  const stop = () => {
    clearTimeout(state.timer);
    state.timer = 0;
    parts.forEach((part) => part.playing?.(false));
    if (isWall && state.now === last) setTimeout(tellEnd, WALL_PAUSE_MS);
  };
  const tick = () => {
    const pace = ((picture.seconds?.(state.now + 1) ?? 0) + paceOf(match.steps[state.now + 1])) / state.speed;
    go(state.now + 1, pace * 0.9);
    if (state.timer) state.timer = setTimeout(tick, pace * 1000);
  };
  const play = () => {
    if (state.now >= last) go(0);
    parts.forEach((part) => part.playing?.(true));
    state.timer = setTimeout(tick, 300 / state.speed);
  };
  const actions = {
    go,
    toggle: () => (state.timer ? stop() : play()),
    by: (steps) => go(state.now + steps),
    round: (way) => go(roundFrom(match, state.now, way)),
    last: () => go(last),
    speed: (value) => (state.speed = value),
    faster: (way) => {
      const at = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(state.speed) + way));
      state.speed = SPEEDS[at];
      parts.forEach((part) => part.speed?.(state.speed));
    },
  };
  const more = isWall ? [curve(match, go)] : [curve(match, go), jumps(match), steps(match)];
  const parts = [seats(match), picture, caption(match), controls(match, actions), ...more].filter(Boolean);
  const stages = el("div", { class: "stages" }, picture.host);
  const column = el("div", { class: "more" });
  root.replaceChildren(...parts.slice(0, 4).map((part) => (part === picture ? stages : part.node)), column);
  column.append(...parts.slice(4).map(({ node }) => node));
  paint(root, match);
  root.classList.add("arena-player");
  root.classList.toggle("is-wall", isWall);
  if (!isWall && match.others.length) column.append(await beside(match, stages, parts, () => state.now, read));
  if (!isWall) column.append(about(match));
  if (!isWall) keyboard(actions);
  if (!isWall) swipe(stages, actions.by);
  root.onclick = (event) => {
    const link = event.target.closest?.('a[href^="#step="]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault(); // in a frame without an address the link would leave the page
    go(Number(link.getAttribute("href").slice("#step=".length)));
  };
  go(isWall ? 0 : stepInAddress());
  if (!isWall) addEventListener("hashchange", () => stepInAddress() !== state.now && go(stepInAddress()));
  if (isWall && !isStill()) play();
  return { go, ended };
}

/** Seconds that a step stays at speed 1, after its movement: luck briefly. */
const paceOf = (step) => (step?.kind ? 0.7 : 1);

const stepInAddress = () => Number(/(?:^#|&)(?:step=)?(\d+)/.exec(location.hash)?.[1] ?? 0);

function remember(number) {
  try {
    history.replaceState(null, "", `#step=${number}`);
  } catch {
    // a page inside a page has no address of its own
  }
}

/** The first step of the round before or after; ten steps where a game has no rounds. */
function roundFrom(match, now, way) {
  const begins = roundStarts(match);
  if (begins.length < 2) return now + 10 * way;
  return way > 0 ? (begins.find((at) => at > now) ?? match.steps.length - 1) : (begins.findLast((at) => at < now) ?? 0);
}

const roundStarts = (match) =>
  match.steps.flatMap((step, at) => (step.round && (at === 0 || step.round !== match.steps[at - 1].round) ? [at] : []));

function seats(match) {
  const entries = match.players.map((player, seat) => {
    const [turn, points, stake, chance, clock] = ["turn", "points", "stake", "chance", "clock"].map((name) => el("span", { class: `seat-${name}` }));
    const bank = player.banks_ms ? bankOf(player.banks_ms[0]) : null;
    const who = el("span", { class: "seat-who" }, shape(player, seat), el("span", { class: "seat-name" }, player.name), turn);
    const node = el("li", { class: `seat seat-${seat}` }, who, el("span", { class: "seat-score" }, points, stake, chance), clock, bank?.node);
    return { node, turn, points, stake, chance, clock, bank, times: timesOf(match, seat) };
  });
  const show = (number) => {
    const step = match.steps[number];
    const isEnd = number === match.steps.length - 1;
    entries.forEach(({ node, turn, points, stake, chance, clock, bank, times }, seat) => {
      const isNext = (step.next ?? []).includes(seat);
      node.classList.toggle("is-next", isNext);
      const [used, left] = times[number];
      const { score, rank = 0 } = match.players[seat];
      const now = (isEnd && score) || step.points?.[seat];
      const leads = entries.length < 5 && step.points?.every((other, at) => at === seat || other < step.points[seat]);
      const lead = leads ? [el("span", { class: "leads" }, isNext ? "leads, " : "leads")] : [];
      turn.replaceChildren(...(isEnd ? [el("span", { class: "unit" }, "place "), `${rank + 1}`] : [...lead, isNext ? "to move" : ""]));
      points.replaceChildren(...(now === undefined ? [] : [`${now}`, el("span", { class: "unit" }, ` ${`${now}` === "1" ? match.unit.replace("s", "") : match.unit}`)]));
      const added = step.stake?.[seat];
      stake.replaceChildren(...(added === undefined ? [] : [whole(added), el("span", { class: "unit" }, " at stake")]));
      chance.replaceChildren(...(step.value?.length ? [percent(step.value[seat]), el("span", { class: "unit" }, " to win")] : []));
      clock.textContent = left !== null ? `bank ${duration(left)}` : used !== null ? `${duration(used)} used` : "";
      bank?.show(left);
    });
  };
  const many = entries.length > 4 ? " is-many" : "";
  return { node: el("ul", { class: `seats${many}`, "aria-label": "Players" }, entries.map((entry) => entry.node)), show };
}

const percent = (value) => `${Math.round(100 * Math.min(1, Math.max(0, value)))} %`;
const whole = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value)}`;

/** By step: the time that a seat has used by then, and what its bank holds; null where the record does not tell. */
function timesOf(match, seat) {
  const { banks_ms: banks, total_ms: total = 0 } = match.players[seat];
  const isTimed = match.steps.some((step) => step.seat === seat && step.total_ms != null);
  let [used, left] = [isTimed ? 0 : null, banks ? banks[0] : null];
  const times = match.steps.map((step) => {
    if (step.seat === seat && step.total_ms != null) [used, left] = [step.total_ms, step.bank_ms ?? left];
    return [used, left];
  });
  if (banks) times[times.length - 1] = [total, banks[1]]; // the last answer may be one of a forfeit, and no step
  return times;
}

/** What is left of a bank, as a bar. */
function bankOf(full) {
  const bar = svg("rect", { class: "bank-left", height: 4 });
  const node = svg("svg", { class: "bank", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, bar);
  const show = (left) => {
    bar.setAttribute("width", full > 0 ? (100 * left) / full : 0);
    node.style.visibility = left < full ? "" : "hidden"; // full bars look like a score
  };
  return { node, show };
}

const duration = (ms) => (ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`);

/** A step as words: player and action, luck of a draw, time. */
export function sentence(match, number) {
  const step = match.steps[number];
  const who = step.seat === undefined || step.seat === null ? "" : `${match.players[step.seat].name} `;
  return `${who}${step.text}`;
}

function details(match, number) {
  const step = match.steps[number];
  const said = number === match.steps.length - 1 ? [match.result] : [];
  if (step.detail) said.push(step.detail);
  if (step.round) said.push(`round ${step.round}`);
  if (step.used_ms != null) said.push(`took ${duration(step.used_ms)}`);
  if (step.luck?.length) said.push(`luck ${match.players.map(({ name }, seat) => `${name} ${signed(step.luck[seat])}`).join(", ")}`);
  if (step.cost) said.push(step.better);
  return said.join(" · ");
}

const signed = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(3)}`;

function caption(match) {
  const line = el("p", { class: "line", role: "status" });
  const more = el("p", { class: "details" });
  const news = el("p", { class: "news" });
  const fault = el("p", { class: "fault" });
  const own = el("div", { class: "own" });
  const show = (number) => {
    const step = match.steps[number];
    line.textContent = sentence(match, number);
    line.className = step.seat == null ? "line" : `line seat-${step.seat}`;
    more.textContent = details(match, number);
    news.textContent = (step.news ?? []).join("\n");
    fault.textContent = step.fault ? `Fault: ${step.fault}` : "";
    own.replaceChildren(...privately(match, number).map(([of, text]) => el("div", {}, el("span", { class: "own-of" }, of), el("pre", { class: "note", tabindex: 0, "aria-label": of }, text))));
  };
  const node = el("div", { class: "caption", role: "group", "aria-label": "This step", tabindex: 0 }, el("div", {}, line, more, fault, own), news);
  return { node, show };
}

/** What only the author of a bot may read, where the page has it: note, stderr before the answer, hint of a forfeit. */
function privately(match, number) {
  const step = match.steps[number];
  const isEnd = number === match.steps.length - 1;
  const around = match.players.flatMap(({ name, hint, stderr, stderr_before: before }) => [
    [`stderr of ${name} until its first answer`, number === 0 && before],
    [`stderr of ${name} after its last answer`, isEnd && stderr],
    [`Hint to ${name}`, isEnd && hint],
  ]);
  return [["Note", step.note], ["stderr", step.stderr], ...around].filter(([, text]) => text);
}

function controls(match, { go, by, toggle, round, last, speed }) {
  const end = match.steps.length - 1;
  const button = (sign, label, key, onclick) =>
    el("button", { type: "button", "aria-label": label, title: `${label} (${key})`, onclick }, icon(sign));
  const playing = button("play", "Play", "Space", toggle);
  const slider = el("input", { type: "range", min: 0, max: end, value: 0, "aria-label": "Step", oninput: () => go(Number(slider.value)) });
  const count = el("span", { class: "count" });
  const pace = el(
    "select",
    { "aria-label": "Speed", onchange: () => speed(Number(pace.value)) },
    SPEEDS.map((value) => el("option", { value, selected: value === 1 }, `${value}\u00d7`)),
  );
  const node = el(
    "div",
    { class: "controls", role: "group", "aria-label": "Playback" },
    button("first", "First step", "Home", () => go(0)),
    button("roundBefore", "Round before", "Page up", () => round(-1)),
    button("back", "Step back", "Left arrow", () => by(-1)),
    playing,
    button("on", "Step", "Right arrow", () => by(1)),
    button("nextRound", "Next round", "Page down", () => round(1)),
    button("last", "Last step", "End", last),
    slider,
    count,
    pace,
  );
  return {
    node,
    show: (number) => {
      slider.value = number;
      slider.setAttribute("aria-valuetext", `step ${number} of ${end}: ${sentence(match, number)}`);
      count.textContent = `${number} / ${end}`;
    },
    playing: (isOn) => {
      playing.replaceChildren(icon(isOn ? "pause" : "play"));
      playing.setAttribute("aria-label", isOn ? "Pause" : "Play");
    },
    speed: (value) => (pace.value = String(value)),
  };
}

function jumps(match) {
  const link = (step, text, kind) => el("a", { class: `jump jump-${kind}`, href: `#step=${step}` }, text);
  const rounds = roundStarts(match).map((at) => link(at, `${match.steps[at].round}`, "round"));
  const marks = match.marks.map((mark) => link(mark.step, `${mark.kind}: ${mark.text}`, mark.kind.split(" ").at(-1)));
  if (rounds.length < 2 && !marks.length) return null;
  const node = el(
    "nav",
    { class: "jumps", "aria-label": "Moments of this match" },
    rounds.length > 1 && el("p", {}, "Rounds ", rounds),
    marks.length > 0 && el("p", {}, marks),
  );
  return { node, show: () => {} };
}

function steps(match) {
  const items = match.steps.map((step, at) =>
    el(
      "li",
      { class: `step ${step.seat == null ? "" : `seat-${step.seat}`} ${step.fault ? "has-fault" : ""}` },
      el("a", { href: `#step=${at}` }, el("span", { class: "number" }, `${at}`), " ", sentence(match, at), step.cost >= SHOWN_COST && el("b", { class: "cost" }, ` \u2212${percent(step.cost)}`)),
    ),
  );
  const list = el("ol", { class: "steps", start: 0 }, items);
  let marked = null;
  const show = (number) => {
    marked?.removeAttribute("aria-current");
    marked = items[number];
    marked.setAttribute("aria-current", "step");
    list.scrollTop = marked.offsetTop - list.clientHeight / 2;
  };
  const node = el("details", { class: "all-steps", open: true }, el("summary", {}, "All steps"), list);
  return { node, show };
}

function keyboard({ by, go, last, toggle, round, faster }) {
  const keys = {
    ArrowLeft: () => by(-1),
    ArrowRight: () => by(1),
    PageUp: () => round(-1),
    PageDown: () => round(1),
    Home: () => go(0),
    End: last,
    " ": toggle,
    "+": () => faster(1),
    "-": () => faster(-1),
  };
  document.addEventListener("keydown", (event) => {
    const isOwn = event.target.matches?.("select, textarea, input:not([type=range])") || event.defaultPrevented;
    const isPress = event.key === " " && event.target.matches?.("button, a, summary");
    if (!(event.key in keys) || isOwn || isPress || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}

/** A finger that moves to the left takes a step on, to the right one back; a canvas has gestures of its own. */
function swipe(node, by) {
  let begin = null;
  node.addEventListener("touchstart", ({ target, touches }) => (begin = touches.length > 1 || target.matches("canvas") ? null : touches[0]), { passive: true });
  node.addEventListener("touchend", ({ changedTouches: [end] }) => {
    const [x, y] = begin ? [end.clientX - begin.clientX, end.clientY - begin.clientY] : [0, 0];
    if (Math.abs(x) > SWIPE_PX && Math.abs(x) > 2 * Math.abs(y)) by(x < 0 ? 1 : -1);
  });
}

/** What nobody needs while they watch: ids, hashes, keys. */
function about(match) {
  const bots = match.players.map(({ name, bot }, seat) => el("li", {}, `seat ${seat}: ${name}, bot ${bot}`));
  const lines = [`Match ${match.id}`, match.origin, match.notice, "Keys: arrows a step, Page up and down a round, Home, End, Space plays, + and \u2212 change the speed."];
  return el("details", { class: "about" }, el("summary", {}, "About this match"), lines.filter(Boolean).map((text) => el("p", {}, text)), el("ul", {}, bots));
}
