// The table of Shanghaien: two captains, the row of cards, dice that move, crews side by side.
import { adopt, svg } from "./dom.js";
import { card, captain, COLOURS, die, setFace } from "./tavern.js";
import style from "./shanghaien.css";

adopt(style);
const SEATS = ["var(--seat-0)", "var(--seat-1)"];
const NATIONS = Object.keys(COLOURS);
// A table that is wider than high, and one for a phone held upright: places in px of the drawing.
const WIDE = {
  box: [1200, 700], row: { left: 172, top: 268, step: 126, scale: 1 }, sides: [562, 30], captain: 76, text: 142, supply: 160,
  rolled: { x: 600, room: 340 }, tricks: { letters: 92, lines: 1 }, notes: { letters: 96, lines: 1 }, heading: [540, 178], shout: [540, 380],
  result: [540, 330], pile: [36, 282], counts: { x: 82, y: 428, step: 22 }, crews: [976, 56], crew: (at) => [976, 108 + 72 * at, 24], bars: 6, gap: 20, ends: 192, name: 24,
};
const TALL = {
  box: [620, 960], row: { left: 10, top: 338, step: 101, scale: 0.9 }, sides: [545, 20], captain: 62, text: 122, supply: 140,
  rolled: { x: 405, room: 200 }, tricks: { letters: 46, lines: 3 }, notes: { letters: 56, lines: 2 }, heading: [310, 208], shout: [310, 425],
  result: [310, 385], pile: null, counts: { x: 600, y: 752, step: 0 }, crews: [20, 752], crew: (at) => [20 + 305 * (at % 2), 776 + 46 * (at >> 1), 122], bars: 4.5, gap: 20, ends: 280, name: 16,
};
const LINE = 23;
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);
const place = (node, x, y, more = "") => (node.style.transform = `translate(${x}px, ${y}px) ${more}`);
const words = (name) => name.replaceAll("_", " ");

globalThis.arena_table("shanghaien", (host, match) => new Fitting(host, match));

/** The table that fits the place it has: a turned phone gets the other one. */
class Fitting {
  constructor(host, match) {
    [this.host, this.match, this.shown] = [host, match, null];
    this.fit();
    new ResizeObserver(() => this.fit()).observe(host);
  }

  fit() {
    const at = (this.host.clientWidth || innerWidth) < (this.host.clientHeight || innerHeight) ? TALL : WIDE;
    if (this.table?.at === at) return;
    this.host.replaceChildren();
    this.table = new Tavern(this.host, this.match, at);
    if (this.shown) this.table.show(this.shown[0], this.shown[1], { ...this.shown[2], seconds: 0 });
  }

  show(...what) {
    this.shown = what;
    this.table.show(...what);
  }
}

class Tavern {
  constructor(host, match, at) {
    this.match = match;
    this.at = at;
    this.before = null;
    this.cards = [];
    this.dice = SEATS.map(() => []);
    const [width, height] = at.box;
    this.heading = svg("text", { x: at.heading[0], y: at.heading[1], "text-anchor": "middle", class: "small" });
    this.notes = svg("g");
    this.shout = svg("text", { x: at.shout[0], y: at.shout[1], class: "shout" }, "Shanghai!");
    this.result = svg("g");
    this.counts = svg("text", { "text-anchor": at.pile ? "middle" : "end", class: "small" });
    this.layer = { cards: svg("g"), dice: svg("g") };
    this.captains = SEATS.map((colour, seat) => captain(at.captain, at.sides[seat] + 62, colour));
    this.sides = SEATS.map((colour, seat) => this.side(seat));
    this.account = this.accountRows();
    const back = (x, y) => svg("rect", { x, y, width: 84, height: 118, rx: 9, fill: "#7c2d1c", stroke: "#f1dfbd", "stroke-width": 4 });
    this.pileCards = svg("g", {}, at.pile && [back(at.pile[0] + 4, at.pile[1] + 4), back(...at.pile)]);
    this.root = svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, class: at === TALL ? "tavern is-tall" : "tavern", role: "img" },
      at === WIDE && svg("rect", { x: 8, y: 8, width: width - 16, height: height - 16, rx: 22, fill: "none", stroke: "#7a5230", "stroke-width": 16 }),
      this.pileCards, this.counts, this.heading, this.notes,
      this.captains.map(({ node }) => node),
      this.sides.map(({ node }) => node),
      this.account.node, this.layer.cards, this.layer.dice, this.shout, this.result,
    );
    host.append(this.root);
  }

  side(seat) {
    const y = this.at.sides[seat];
    const name = svg("text", { x: this.at.text, y: y + 30, class: "name" }, cut(this.match.players[seat].name, this.at === TALL ? 28 : 34));
    name.append(svg("title", {}, this.match.players[seat].name));
    const tricks = svg("g");
    return { node: svg("g", {}, name, tricks), tricks };
  }

  accountRows() {
    const rows = NATIONS.map((nation, number) => {
      const [x, y, aside] = this.at.crew(number);
      const bars = SEATS.map((colour, seat) => svg("rect", { x: x + aside, y: y + 4 + this.at.gap * seat, width: 0, height: 12, rx: 3, fill: colour }));
      const sums = SEATS.map((_, seat) => svg("text", { x: x + this.at.ends, y: y + 15 + this.at.gap * seat, class: "sum", "text-anchor": "end" }));
      const isBeside = this.at === TALL;
      const label = svg("text", { x: isBeside ? x + 22 : x, y: isBeside ? y + 26 : y - 4, class: "small" }, nation);
      const chip = svg("rect", { x, y: y + 4, width: 14, height: 12 + this.at.gap, rx: 3, fill: COLOURS[nation], stroke: "#f5efe0" });
      return { node: svg("g", {}, label, chip, bars, sums), bars, sums, nation };
    });
    const title = svg("text", { x: this.at.crews[0], y: this.at.crews[1], class: "name" }, "Crews");
    return { node: svg("g", {}, title, rows.map(({ node }) => node)), rows };
  }

  show(view, step, { seconds, number }) {
    const time = Math.min(seconds, 0.9);
    this.root.style.setProperty("--t", `${time}s`);
    const isNewRound = !this.before || view.round !== this.before.round || view.tavern.join() !== this.before.tavern.join();
    if (isNewRound) this.deal(view, time > 0);
    this.number(view);
    SEATS.forEach((_, seat) => this.throwDice(view, seat));
    this.tell(view, step);
    this.account.rows.forEach(({ bars, sums, nation }) => {
      const strengths = view.players.map((player) => player.strength[nation] ?? 0);
      const points = view.phase === "over" ? scored(...strengths) : [0, 0];
      SEATS.forEach((_, seat) => {
        bars[seat].setAttribute("width", Math.min(15, strengths[seat]) * this.at.bars);
        sums[seat].textContent = `${strengths[seat] || ""}${points[seat] ? ` (+${points[seat]})` : ""}`;
      });
    });
    this.before = view;
    this.root.setAttribute("aria-label", described(this.match, view, number));
  }

  /** Old cards go to the captains that won them, new ones come from the pile. */
  deal(view, isAnimated) {
    const old = this.cards;
    if (this.before && isAnimated && view.round !== this.before.round + 0) {
      const winners = won(this.before, view);
      old.forEach(({ node }, at) => {
        const seat = winners[at];
        if (seat === null) place(node, 480, this.at.box[1] + 60, "rotate(40deg)");
        else place(node, 40, this.at.sides[seat] + 20, "scale(0.3)");
        node.classList.add("is-gone");
        setTimeout(() => node.remove(), 1000);
      });
      this.shout.classList.remove("is-loud");
      this.root.getBoundingClientRect();
      this.shout.classList.add("is-loud");
    } else {
      old.forEach(({ node }) => node.remove());
    }
    const isOver = view.phase === "over";
    this.cards = (isOver ? [] : view.tavern).map((text, at) => {
      const made = card(text);
      place(made.node, 40, 246, "scale(0.7)");
      this.layer.cards.append(made.node);
      made.node.getBoundingClientRect();
      const { left, top, step, scale } = this.at.row;
      place(made.node, left + step * at, top, `scale(${scale})`);
      return made;
    });
    this.pileCards.classList.toggle("is-gone", view.pile === 0);
    const { x, y, step } = this.at.counts;
    const counts = [`${view.pile} in the pile`, `${view.gone.length} gone`];
    const lines = step ? counts : [counts.join(", ")];
    this.counts.replaceChildren(...lines.map((text, at) => svg("tspan", { x, y: y + step * at }, text)));
  }

  number(view) {
    const down = view.expansions?.sharks?.face_down ?? [];
    this.cards.forEach(({ node, badge }, at) => {
      const number = numberAt(view, at);
      badge.textContent = number || "?";
      node.classList.toggle("is-down", down.includes(number));
    });
  }

  throwDice(view, seat) {
    const wanted = targets(view, seat);
    const mine = this.dice[seat];
    while (mine.length < wanted.length) {
      const made = { ...die(SEATS[seat]), zone: "supply", face: 0 };
      this.layer.dice.append(made.node);
      mine.push(made);
    }
    const given = assign(mine, wanted);
    const onCard = new Map();
    mine.forEach((each, at) => {
      const target = given[at];
      each.node.classList.toggle("is-gone", !target);
      if (!target) return;
      const isRolled = target.zone === "rolled";
      each.node.classList.toggle("is-rolled", isRolled && (each.zone !== "rolled" || each.face !== target.face));
      Object.assign(each, target);
      setFace(each, target.face);
      place(each.node, ...this.spot(view, seat, target, onCard));
    });
  }

  spot(view, seat, { zone, face, order }, onCard) {
    const y = this.at.sides[seat];
    const { left, top, step, scale } = this.at.row;
    if (zone === "supply") return [this.at.supply + 40 * order, y + 62];
    if (zone === "rolled") return [this.at.rolled.x + Math.min(62, this.at.rolled.room / view.dice.length) * order, y + 62, "scale(1.45)"];
    const nth = onCard.get(face) ?? 0;
    onCard.set(face, nth + 1);
    const x = left + step * positionOf(view, face) + scale * (20 + 36 * (nth % 3));
    const away = 20 + 34 * Math.floor(nth / 3);
    return [x, seat ? top - away : top + 156 * scale + away, `scale(${scale})`];
  }

  tell(view, step) {
    const names = this.match.players.map(({ name }) => cut(name, this.at.name));
    const points = view.phase === "over" ? this.match.players.map(({ score }, seat) => `${names[seat]} ${score}`) : [];
    const line = (text, at) => svg("text", { x: this.at.result[0], y: this.at.result[1] + 52 * at, class: "points", "text-anchor": "middle" }, text);
    this.result.replaceChildren(...points.reverse().map(line));
    this.heading.textContent = view.phase === "over" ? "the game is over" : `round ${view.round} of 8, ${task(view, step, names)}`;
    const [x, y] = this.at.heading;
    this.notes.replaceChildren(...lines(notes(view, names).join("; "), x, y + LINE, this.at.notes, "middle"));
    view.players.forEach((player, seat) => {
      const used = player.trick_used ? " (one used this round)" : "";
      const jokers = player.jokers.length ? `, jokers: ${player.jokers.join(", ")}` : "";
      const text = `tricks: ${words(counted(player.tricks)) || "none"}${used}${jokers}`;
      this.sides[seat].tricks.replaceChildren(...lines(text, this.at.text, this.at.sides[seat] + 106, this.at.tricks));
      this.captains[seat].node.classList.toggle("is-next", (step.next ?? []).includes(seat));
    });
  }
}

/** The text on lines of so many letters; the last one is cut. */
function lines(text, x, y, { letters, lines: most }, anchor = "start") {
  const found = [""];
  for (const word of text.split(" ")) {
    const last = found.length - 1;
    if (found[last] && found[last].length + word.length >= letters && found.length < most) found.push(word);
    else found[last] += found[last] ? ` ${word}` : word;
  }
  return found.map((each, at) => svg("text", { x, y: y + LINE * at, class: "small", "text-anchor": anchor }, cut(each, letters)));
}

/** What comes next, by whom. */
function task(view, step, names) {
  const mover = names[view.to_move];
  const plain = {
    shuffle: "the deck is shuffled", turn: `${mover} to move`, rolling: `${mover} rolls`,
    rolled: `${mover} ${view.to_place < 2 ? "must place a die" : view.must_place < 2 ? "may place both dice" : "must place both dice"}`,
  };
  const asked = step.next?.length ? `${names[step.next[0]]} must choose` : `${mover} rolls again`;
  return plain[view.phase] ?? `${asked} (${words(view.phase)})`;
}

/** What is in force beside the rules: a line for each expansion that has something to say. */
function notes(view, names) {
  const { crazy_captain: captain, no_shanghai: ban } = view.expansions ?? {};
  const asked = captain?.announced ? `, asked about ${words(captain.announced.do)}` : "";
  const spent = captain?.vetoed ? ", a veto is spent" : "";
  return [
    captain && captain.in_force !== null && `Crazy Captain of ${names[captain.in_force]}${spent}${asked}`,
    ban?.ban && "no shanghai in this round",
    view.table?.includes("doubles") && "the doubles card lies in the middle",
  ].filter(Boolean);
}

/** The points of both seats for a nation, at the end: the stronger crew scores the strength of the weaker one. */
function scored(own, other) {
  if (!own || !other) return [own, other];
  return own === other ? [0, 0] : own > other ? [other, 0] : [0, own];
}

const numberAt = (view, at) => (view.one_at === null ? 0 : view.one_at === "left" ? at + 1 : 6 - at);
const positionOf = (view, number) => (view.one_at === "right" ? 6 - number : number - 1);

function counted(words) {
  const sums = new Map();
  for (const word of words) sums.set(word, (sums.get(word) ?? 0) + 1);
  return [...sums].map(([word, count]) => (count > 1 ? `${word} \u00d7${count}` : word)).join(", ");
}

/** By position: the seat that holds the card now and did not before; null for a card that left the game. */
function won(before, view) {
  const gained = view.players.map((player, seat) => {
    const rest = [...player.sailors, ...player.tricks];
    const old = before.players[seat];
    for (const each of [...old.sailors, ...old.tricks]) if (rest.includes(each)) rest.splice(rest.indexOf(each), 1);
    return rest;
  });
  return before.tavern.map((text) => {
    const seat = gained.findIndex((cards) => cards.includes(text));
    if (seat < 0) return null;
    gained[seat].splice(gained[seat].indexOf(text), 1);
    return seat;
  });
}

/** Each die of a seat: its zone and face. */
function targets(view, seat) {
  const player = view.players[seat];
  const placed = player.placed.flatMap((count, at) => Array.from({ length: count }, () => ({ zone: "placed", face: at + 1 })));
  const rolled = seat === view.to_move ? view.dice.map((face, order) => ({ zone: "rolled", face, order })) : [];
  const rest = Math.max(0, player.supply - rolled.length);
  return [...placed, ...rolled, ...Array.from({ length: rest }, (_, order) => ({ zone: "supply", face: 0, order }))];
}

/** Dice stay where they are if they may; a die that is placed comes from those that were rolled. */
function assign(dice, wanted) {
  const given = dice.map(() => null);
  const left = [...wanted];
  const take = (fits) => {
    dice.forEach((each, at) => {
      const found = given[at] ? -1 : left.findIndex((target) => fits(each, target));
      if (found >= 0) [given[at]] = left.splice(found, 1);
    });
  };
  take((each, target) => each.zone === target.zone && each.face === target.face && (each.zone !== "rolled" || each.order === target.order));
  take((each, target) => target.zone === "placed" && each.zone === "rolled" && each.face === target.face);
  take((each, target) => target.zone === "rolled" && each.zone === "rolled");
  take((each, target) => target.zone === "supply" && each.zone === "rolled");
  take(() => true);
  return given;
}

function described(match, view) {
  const row = view.phase === "over" ? "" : `Row: ${view.tavern.map((text, at) => `${numberAt(view, at) || "unnumbered"} ${text}`).join(", ")}. `;
  const sides = match.players.map(({ name }, seat) => {
    const { placed, supply, tricks } = view.players[seat];
    const on = placed.flatMap((count, at) => (count ? [`${count} on ${at + 1}`] : [])).join(", ") || "none placed";
    return `${name}: dice ${on}, ${supply} in supply, tricks ${words(counted(tricks)) || "none"}. `;
  });
  const dice = view.dice.length ? `Rolled: ${view.dice.join(" and ")}. ` : "";
  return `Round ${view.round}. ${row}${dice}${sides.join("")}`;
}
