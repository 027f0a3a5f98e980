// The table of Shanghaien: two captains, the row of cards, dice that move, crews side by side.
import { adopt, svg } from "./dom.js";
import { card, captain, COLOURS, die, setFace } from "./tavern.js";
import style from "./shanghaien.css";

adopt(style);
const SEATS = ["#2f62d9", "#c23b2e"];
const ROW = { left: 172, top: 232, step: 126 };
const SIDE = [{ y: 500 }, { y: 30 }];
const NATIONS = Object.keys(COLOURS);
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);
const place = (node, x, y, more = "") => (node.style.transform = `translate(${x}px, ${y}px) ${more}`);

globalThis.arena_table("shanghaien", (host, match) => new Tavern(host, match));

class Tavern {
  constructor(host, match) {
    this.match = match;
    this.before = null;
    this.cards = [];
    this.dice = SEATS.map(() => []);
    this.heading = svg("text", { x: 540, y: 168, "text-anchor": "middle", class: "small" });
    this.shout = svg("text", { x: 540, y: 345, class: "shout" }, "Shanghai!");
    this.result = svg("g");
    this.pile = svg("text", { x: 82, y: 392, "text-anchor": "middle", class: "small" });
    this.gone = svg("text", { x: 82, y: 414, "text-anchor": "middle", class: "small" });
    this.layer = { cards: svg("g"), dice: svg("g") };
    this.captains = SEATS.map((colour, seat) => captain(76, SIDE[seat].y + 62, colour));
    this.sides = SEATS.map((colour, seat) => this.side(seat));
    this.account = this.accountRows();
    const back = (x, y) => svg("rect", { x, y, width: 84, height: 118, rx: 9, fill: "#7c2d1c", stroke: "#f1dfbd", "stroke-width": 4 });
    this.pileCards = svg("g", {}, back(40, 250), back(36, 246));
    this.root = svg(
      "svg",
      { viewBox: "0 0 1200 640", class: "tavern", role: "img" },
      svg("rect", { x: 8, y: 8, width: 1184, height: 624, rx: 22, fill: "none", stroke: "#7a5230", "stroke-width": 16 }),
      this.pileCards, this.pile, this.gone, this.heading,
      this.captains.map(({ node }) => node),
      this.sides.map(({ node }) => node),
      this.account.node, this.layer.cards, this.layer.dice, this.shout, this.result,
    );
    host.append(this.root);
  }

  side(seat) {
    const y = SIDE[seat].y;
    const name = svg("text", { x: 142, y: y + 30, class: "name" }, cut(this.match.players[seat].name, 34));
    name.append(svg("title", {}, this.match.players[seat].name));
    const tricks = svg("text", { x: 142, y: y + 106, class: "small" });
    return { node: svg("g", {}, name, tricks), tricks };
  }

  accountRows() {
    const rows = NATIONS.map((nation, at) => {
      const y = 104 + 58 * at;
      const bars = SEATS.map((colour, seat) => svg("rect", { x: 1000, y: y + 4 + 15 * seat, width: 0, height: 12, rx: 3, fill: seat ? "#f0968c" : "#9dbcff" }));
      const sums = SEATS.map((_, seat) => svg("text", { x: 1168, y: y + 15 + 15 * seat, class: "small", "text-anchor": "end" }));
      const label = svg("text", { x: 976, y: y - 4, class: "small" }, nation);
      const chip = svg("rect", { x: 976, y: y + 4, width: 14, height: 27, rx: 3, fill: COLOURS[nation], stroke: "#f5efe0" });
      return { node: svg("g", {}, label, chip, bars, sums), bars, sums, nation };
    });
    const title = svg("text", { x: 976, y: 56, class: "name" }, "Crews");
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
      SEATS.forEach((_, seat) => {
        const strength = view.players[seat].strength[nation] ?? 0;
        bars[seat].setAttribute("width", Math.min(132, strength * 9));
        sums[seat].textContent = strength || "";
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
        if (seat === null) place(node, 480, 700, "rotate(40deg)");
        else place(node, 40, SIDE[seat].y + 20, "scale(0.3)");
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
      place(made.node, ROW.left + ROW.step * at, ROW.top);
      return made;
    });
    this.pileCards.classList.toggle("is-gone", view.pile === 0);
    this.pile.textContent = `${view.pile} in the pile`;
    this.gone.textContent = `${view.gone.length} gone`;
  }

  number(view) {
    this.cards.forEach(({ badge }, at) => (badge.textContent = numberAt(view, at) || "?"));
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
    const y = SIDE[seat].y;
    if (zone === "supply") return [160 + 40 * order, y + 62];
    if (zone === "rolled") return [600 + 62 * order, y + 62, "scale(1.45)"];
    const nth = onCard.get(face) ?? 0;
    onCard.set(face, nth + 1);
    const x = ROW.left + ROW.step * positionOf(view, face);
    return [x + 20 + 36 * (nth % 3), seat ? ROW.top - 20 - 34 * Math.floor(nth / 3) : ROW.top + 176 + 34 * Math.floor(nth / 3)];
  }

  tell(view, step) {
    const extra = view.table?.length ? `, beside the row: ${view.table.join(", ")}` : "";
    const points = view.phase === "over" ? this.match.players.map(({ name, score }) => `${cut(name, 24)} ${score}`) : [];
    const line = (text, at) => svg("text", { x: 540, y: 312 + 52 * at, class: "points", "text-anchor": "middle" }, text);
    this.result.replaceChildren(...points.reverse().map(line));
    this.heading.textContent = cut(view.phase === "over" ? "the game is over" : `round ${view.round} of 8, ${view.phase}${extra}`, 90);
    view.players.forEach((player, seat) => {
      const used = player.trick_used ? " (one used this round)" : "";
      const jokers = player.jokers.length ? `, jokers: ${player.jokers.join(", ")}` : "";
      this.sides[seat].tricks.textContent = cut(`tricks: ${counted(player.tricks) || "none"}${used}${jokers}`, 92);
      this.captains[seat].node.classList.toggle("is-next", (step.next ?? []).includes(seat));
    });
  }
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
    return `${name}: dice ${on}, ${supply} in supply, tricks ${counted(tricks) || "none"}. `;
  });
  const dice = view.dice.length ? `Rolled: ${view.dice.join(" and ")}. ` : "";
  return `Round ${view.round}. ${row}${dice}${sides.join("")}`;
}
