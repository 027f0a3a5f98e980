// Riff Raff in three dimensions: the ship to be turned, loads that settle along the frames of the simulation.
import * as THREE from "three";
import { adopt, el } from "./dom.js";
import { at as momentOf, between, poseOf, slowly, tilt } from "./motion.js";
import { areaOf, disc, marked, piece, sea, ship } from "./pieces.js";
import { VIEWS, viewpoint } from "./viewpoint.js";
import style from "./riffraff.css";

adopt(style);
const RADIANS = Math.PI / 180;
const FIRST_YARD_AREA = 5;
const STORM_RAD_S = 0.25; // the push of the sea in the last round of a storm
const SEAS = ["no waves", "calm sea", "low waves", "waves", "high waves", "storm"];
const darkness = matchMedia("(prefers-color-scheme: dark)");

globalThis.arena_table("riffraff", (host, match) => {
  if (!document.createElement("canvas").getContext("webgl2")) throw new Error("no WebGL");
  return harbour(host, match);
});

function harbour(host, match) {
  const { info, players, steps, views } = match;
  const { plane_mm: plane, radius_mm: reach } = info.load.hands;
  const owners = new Map(views.flatMap(({ cargo, last }) => [...cargo.map(({ id, by }) => [id, by]), ...last.map(({ id, seat }) => [id, seat])]));
  const pieces = new Map();
  const swell = { value: new THREE.Vector2() };
  const marks = new THREE.Group();
  const { group, yards } = ship(info.ship);
  const scene = new THREE.Scene();
  scene.fog = new THREE.Fog(0, 700, 2300);
  const [light, sun] = lights();
  scene.add(light, sun, group, sea(swell, plane), marks);

  const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
  renderer.debug.checkShaderErrors = false; // it would wait for the compiler
  renderer.shadowMap.enabled = true;
  renderer.setPixelRatio(Math.min(2, devicePixelRatio));
  const canvas = renderer.domElement;
  canvas.setAttribute("role", "img");
  const draw = () => renderer.render(scene, viewer.camera);
  const viewer = viewpoint(canvas, draw);

  const headline = el("b");
  const told = el("span");
  const water = el("div", { class: "water" }, canvas);
  let [now, film, number, looks, target] = [null, 0];

  const button = (text, label, move) => {
    const onclick = () => (move(), viewer.show(fallen(now)), draw());
    return el("button", { type: "button", "aria-label": label, title: label, onclick }, text);
  };
  const turns = el(
    "div",
    { class: "turns", role: "group", "aria-label": "View" },
    button("\u21ba", "Turn to the left", () => viewer.around(-25)),
    button("\u21bb", "Turn to the right", () => viewer.around(25)),
    Object.keys(VIEWS).map((name) => button(name, `View: ${name}`, () => viewer.turn(VIEWS[name]))),
  );
  water.append(turns);
  host.append(el("div", { class: "harbour" }, el("p", {}, headline, told), water));

  /** The colours of players and the light, as the page has them now. */
  const paint = () => {
    const isDark = darkness.matches;
    looks = players.map(({ colours, shape }) => marked(colours[Number(isDark)], shape, isDark));
    for (const id of pieces.keys()) forget(id);
    light.intensity = isDark ? 1.2 : 2.3;
    sun.intensity = isDark ? 1.7 : 2.4;
    if (now) show(now, {}, { seconds: 0, number });
  };

  const resize = () => {
    const { clientWidth: width, clientHeight: height } = water;
    if (!width || !height) return;
    renderer.setSize(width, height, false);
    viewer.camera.aspect = width / height;
    viewer.camera.updateProjectionMatrix();
    viewer.show(fallen(now));
    draw();
  };

  const show = (view, step, { motion, seconds, number: at }) => {
    cancelAnimationFrame(film);
    const before = now;
    [now, number] = [view, at];
    mark();
    tell();
    if (seconds > 0 && motion) play(seconds, settling(motion));
    else if (seconds > 0 && before && before.cargo.length !== view.cargo.length) {
      const [one, other] = [resting(before), resting(view)];
      play(seconds, (share) => move(between(one, other, share)));
    } else rest();
  };

  const rest = () => {
    viewer.show(fallen(now));
    move(resting(now));
    for (const { x_mm: x, y_mm: y, hand } of fallen(now)) if (hand === null) marks.add(disc(22, null, x, y, plane));
    draw();
  };

  const play = (seconds, moment) => {
    const begun = performance.now();
    const phase = swell.value.y;
    const tick = (time) => {
      const share = (time - begun) / 1000 / seconds;
      if (share >= 1) return rest();
      swell.value.y = phase + (time - begun) / 400;
      moment(Math.max(0, share));
      draw();
      film = requestAnimationFrame(tick);
      return undefined;
    };
    film = requestAnimationFrame(tick);
  };

  /** The frames of a simulation; at a fall time goes slower, and the camera goes there. */
  const settling = (motion) => {
    const film = slowly(motion, fallen(now), plane);
    return (share) => {
      const second = film.second(share);
      const moment = momentOf(motion, second);
      const focus = new THREE.Vector3();
      let near = 0;
      for (const fall of film.falls) {
        const one = moment.pieces.find(({ id }) => id === fall.id);
        if (second > fall.second) Object.assign(one, afloat(fall));
        const weight = film.near(fall, second);
        near += weight;
        focus.addScaledVector(one.place, weight);
      }
      viewer.show(fallen(now), focus.divideScalar(near || 1), Math.min(1, near));
      move(moment);
    };
  };

  const resting = (view) => ({
    ship: tilt(view.ship.roll_deg * RADIANS, view.ship.pitch_deg * RADIANS),
    yards: view.ship.yards_deg.map((tip) => tip * RADIANS),
    pieces: [...view.cargo.map((each) => ({ ...each, ...poseOf(each) })), ...fallen(view).map((fall) => ({ ...fall, ...afloat(fall) }))],
  });

  /** A fallen piece in the hand that caught it, or in the sea. */
  const afloat = ({ x_mm: x, y_mm: y, hand }) => ({
    place: new THREE.Vector3(x, y, plane + (hand === null ? -3 : 14)),
    turn: tilt(hand === null ? 0.5 : 0, 0.2),
  });

  const move = ({ ship: turn, yards: tips, pieces: lying }) => {
    group.quaternion.copy(turn);
    yards.forEach((yard, at) => (yard.rotation.x = tips[at]));
    for (const id of pieces.keys()) if (!lying.some((each) => each.id === id)) forget(id);
    for (const { id, kind, place, turn: own } of lying) {
      const node = pieces.get(id) ?? piece(kind, info.kinds[kind].parts, looks[owners.get(id)]);
      pieces.set(id, node);
      scene.add(node);
      node.position.copy(place);
      node.quaternion.copy(own);
    }
  };

  const forget = (id) => {
    drop(pieces.get(id));
    pieces.delete(id);
  };

  /** The area in play, and hands that wait for falling pieces. */
  const mark = () => {
    for (const node of [...marks.children, target]) if (node) drop(node);
    const yard = yards[(now.area - FIRST_YARD_AREA) >> 1]; // it begins at its lower side
    const height = yard ? info.ship.yard_thickness_mm : info.ship.deck_top_mm;
    target = now.area && areaOf(info.areas[now.area], height + 1, looks[now.order[now.turn]]);
    if (target) (yard ?? group).add(target);
    const last = now.last.at(-1);
    for (const [x, y] of last?.load.hands_mm ?? []) marks.add(disc(reach, looks[last.seat], x, y, plane));
  };

  const tell = () => {
    const { kind, text, news = [] } = steps.findLast((step, at) => at <= number && (step.kind === "simulation" || step.news || !at));
    headline.textContent = [...(kind === "simulation" ? [text] : []), ...news].join("\n") || "The first without pieces wins";
    const left = now.seats.map((seat, at) => `${players[at].name} ${seat.pieces}`).join(", ");
    const mover = now.area ? ` Next: ${players[now.order[now.turn]].name}.` : "";
    const last = now.last.at(-1);
    const hands = last?.load.hands_mm?.length ? ` Discs on the water: hands of ${players[last.seat].name}.` : "";
    told.textContent = `Round ${now.round} of ${now.rounds}, ${weather()}.${mover}${hands} Pieces left: ${left}`;
    const cargo = now.cargo.map((each) => `${each.kind} on ${each.on}`).join(", ") || "no cargo";
    canvas.setAttribute("aria-label", `Step ${number}. ${headline.textContent}. ${told.textContent}. Aboard: ${cargo}`);
  };

  /** The waves and the sky behind them; return the word for it. */
  const weather = () => {
    const strength = Math.min(1, now.noise.kick_rad_s / STORM_RAD_S);
    const [fair, foul] = darkness.matches ? [0x27405c, 0x20262d] : [0xb5d8ee, 0x8b98a3];
    swell.value.x = 20 * strength;
    scene.fog.color.set(fair).lerp(new THREE.Color(foul), strength);
    water.style.background = scene.fog.color.getStyle();
    return SEAS[Math.ceil(strength * (SEAS.length - 1))];
  };

  paint();
  darkness.addEventListener("change", paint);
  new ResizeObserver(resize).observe(water);
  resize();
  return { show, seconds: (view, motion) => slowly(motion, fallen(view), plane).length };
}

const fallen = (view) => view?.last.at(-1)?.fallen ?? [];

/** Remove a node; its materials stay, for without any user their programs would be compiled again at the next step. */
function drop(node) {
  node.removeFromParent();
  node.traverse((each) => each.geometry?.dispose());
}

function lights() {
  const sun = new THREE.DirectionalLight(0xfff3dd);
  sun.position.set(220, -320, 560);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  Object.assign(sun.shadow.camera, { left: -260, right: 260, top: 320, bottom: -260, near: 100, far: 1400 });
  return [new THREE.HemisphereLight(0xe8f4ff, 0x5b6f80), sun];
}
