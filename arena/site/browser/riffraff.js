// Riff Raff in three dimensions: the ship to be turned, loads that settle along the frames of the simulation.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { adopt, el } from "./dom.js";
import { at as momentOf, poseOf, tilt } from "./motion.js";
import { material, piece, ring, ship } from "./pieces.js";
import style from "./riffraff.css";

adopt(style);
const RADIANS = Math.PI / 180;
const FATES = { removed: "caught, out of the game", returned: "caught alone, back to the supply", to_supply: "not caught" };
const VIEWS = { side: [60, -620, 240], bow: [620, -60, 230], above: [0.1, -40, 760] };
const DROP_MM = 70;
const GONE_MM = -300;

globalThis.arena_table("riffraff", (host, match) => {
  if (!document.createElement("canvas").getContext("webgl2")) throw new Error("no WebGL");
  return new Harbour(host, match);
});

class Harbour {
  constructor(host, match) {
    this.match = match;
    this.kinds = match.info.kinds;
    this.pieces = new Map();
    this.before = null;
    this.film = 0;
    this.renderer = new THREE.WebGLRenderer({ antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.canvas = this.renderer.domElement;
    this.canvas.setAttribute("role", "img");
    this.told = el("p", { class: "told" });
    this.hold = el("ul", { class: "hold" });
    host.append(el("div", { class: "harbour" }, this.told, el("div", { class: "water" }, this.canvas, this.buttons()), this.hold));
    this.build();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  buttons() {
    const button = (text, label, onclick) => el("button", { type: "button", "aria-label": label, title: label, onclick }, text);
    return el(
      "div",
      { class: "turns", role: "group", "aria-label": "View" },
      button("\u21ba", "Turn to the left", () => this.orbit(-25)),
      button("\u21bb", "Turn to the right", () => this.orbit(25)),
      Object.keys(VIEWS).map((name) => button(name, `View from ${name === "side" ? "the side" : name === "bow" ? "the bow" : name}`, () => this.look(name))),
    );
  }

  build() {
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(0x9cc3dc);
    this.world = new THREE.Group();
    this.scene.add(this.world);
    this.camera = new THREE.PerspectiveCamera(38, 1, 10, 4000);
    this.camera.up.set(0, 0, 1);
    this.orbits = new OrbitControls(this.camera, this.canvas);
    this.orbits.target.set(0, 0, 128);
    this.orbits.minDistance = 250;
    this.orbits.maxDistance = 1500;
    this.orbits.addEventListener("change", () => this.draw());
    const sun = new THREE.DirectionalLight(0xfff3dd, 2.4);
    sun.position.set(220, -320, 560);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    Object.assign(sun.shadow.camera, { left: -260, right: 260, top: 320, bottom: -260, near: 100, far: 1400 });
    this.scene.add(new THREE.HemisphereLight(0xe8f4ff, 0x5b6f80, 2.3), sun);
    const sea = new THREE.Mesh(new THREE.CircleGeometry(1800, 64), material(0x2a6f93, { roughness: 0.35, transparent: true, opacity: 0.86 }));
    sea.position.z = this.match.info.load.hands.plane_mm;
    sea.receiveShadow = true;
    this.marks = new THREE.Group();
    const { group, yards } = ship(this.match.info.ship);
    Object.assign(this, { ship: group, yards });
    this.world.add(this.ship, sea, this.marks);
    this.camera.position.set(340, -540, 305);
    this.orbits.update();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.fov = width < height ? 52 : 38;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  draw() {
    if (this.camera) this.renderer.render(this.scene, this.camera);
  }

  look(name) {
    this.camera.position.set(...VIEWS[name]);
    this.orbits.update();
    this.draw();
  }

  orbit(degrees) {
    this.camera.position.applyAxisAngle(new THREE.Vector3(0, 0, 1), degrees * RADIANS);
    this.orbits.update();
    this.draw();
  }

  show(view, step, { motion, seconds, number }) {
    cancelAnimationFrame(this.film);
    this.mark(view);
    this.tell(view, step, number);
    const before = this.before;
    this.before = view;
    if (seconds > 0 && motion) this.play(seconds, (share) => this.moment(momentOf(motion, share * motion.seconds)), view);
    else if (seconds > 0 && before && before.cargo.length !== view.cargo.length) this.play(seconds, (share) => this.between(before, view, share), view);
    else this.rest(view);
  }

  play(seconds, moment, view) {
    const begun = performance.now();
    const tick = (now) => {
      const share = (now - begun) / 1000 / seconds;
      if (share >= 1) return this.rest(view);
      moment(Math.max(0, share));
      this.draw();
      this.film = requestAnimationFrame(tick);
      return undefined;
    };
    this.film = requestAnimationFrame(tick);
  }

  rest(view) {
    const pieces = view.cargo.map((each) => ({ id: each.id, kind: each.kind, ...poseOf(each) }));
    this.moment({ ship: tiltOf(view), yards: tipsOf(view), pieces });
    this.draw();
  }

  /** Without frames: what lay moves straight to where it lies, what is new comes from above. */
  between(before, view, share) {
    const known = new Map(before.cargo.map((each) => [each.id, poseOf(each)]));
    const pieces = view.cargo.map((each) => {
      const end = poseOf(each);
      const from = known.get(each.id) ?? { place: end.place.clone().add(new THREE.Vector3(0, 0, DROP_MM)), turn: end.turn };
      return { id: each.id, kind: each.kind, place: from.place.clone().lerp(end.place, share), turn: from.turn.clone().slerp(end.turn, share) };
    });
    const ends = tipsOf(view);
    const yards = tipsOf(before).map((tip, at) => tip + share * (ends[at] - tip));
    this.moment({ ship: tiltOf(before).slerp(tiltOf(view), share), yards, pieces });
  }

  moment({ ship: turn, yards, pieces }) {
    this.ship.quaternion.copy(turn);
    this.yards.forEach((yard, at) => (yard.rotation.x = yards[at]));
    const shown = new Set(pieces.map(({ id }) => id));
    for (const [id, node] of this.pieces) if (!shown.has(id)) this.forget(id, node);
    for (const { id, kind, place, turn: own } of pieces) {
      const node = this.pieceOf(id, kind);
      node.visible = place.z > GONE_MM;
      node.position.copy(place);
      node.quaternion.copy(own);
    }
  }

  pieceOf(id, kind) {
    if (this.pieces.get(id)?.userData.kind !== kind) {
      if (this.pieces.has(id)) this.forget(id, this.pieces.get(id));
      const node = piece(kind, this.kinds[kind].parts);
      node.userData.kind = kind;
      this.world.add(node);
      this.pieces.set(id, node);
    }
    return this.pieces.get(id);
  }

  forget(id, node) {
    this.world.remove(node);
    node.traverse((each) => (each.geometry?.dispose(), each.material?.dispose()));
    this.pieces.delete(id);
  }

  /** Hands that waited for falling pieces, places where they fell, and light on the piece just loaded. */
  mark(view) {
    for (const node of [...this.marks.children]) {
      this.marks.remove(node);
      node.geometry.dispose();
      node.material.dispose();
    }
    const last = view.last.at(-1);
    this.newest = last?.id;
    if (!last) return;
    const hands = this.match.info.load.hands;
    for (const [x, y] of last.load.hands_mm ?? []) this.marks.add(ring(x, y, hands.plane_mm + 1, hands.radius_mm, this.match.players[last.seat].colours[1]));
    for (const fall of last.fallen) this.marks.add(ring(fall.x_mm, fall.y_mm, hands.plane_mm + 1.5, 14, fall.fate === "removed" ? 0xffe08a : 0xffffff, 0.9));
  }

  tell(view, step, number) {
    const { roll_deg: roll, pitch_deg: pitch } = view.ship;
    const heel = isLevel(roll) ? "no heel" : `heel ${heeled(roll)}`;
    const trim = isLevel(pitch) ? "no trim" : `trim ${Math.abs(pitch).toFixed(1)}\u00b0 by the ${pitch > 0 ? "bow" : "stern"}`;
    const tips = view.ship.yards_deg.map((tip) => (isLevel(tip) ? "level" : heeled(tip).replace("to ", "")));
    this.told.textContent = `round ${view.round} of ${view.rounds}, ${heel}, ${trim}, yards from the lowest: ${tips.join(", ")}`;
    const lines = view.seats.map((seat, at) => {
      const card = seat.card === null ? "" : `, card ${seat.card}`;
      return `${seat.pieces} pieces left, ${seat.removed} caught${card}${view.captain === at ? ", captain" : ""}`;
    });
    this.hold.replaceChildren(...lines.map((line, at) => el("li", {}, el("b", { class: `seat-text seat-${at}` }, this.match.players[at].name), ` ${line}`)));
    const fell = (view.last.at(-1)?.fallen ?? []).map((each) => `${each.kind} fell, ${FATES[each.fate]}`);
    const cargo = view.cargo.map((each) => `${each.kind} on ${each.on}`).join(", ") || "no cargo";
    this.canvas.setAttribute("aria-label", `Step ${number}. ${this.told.textContent}. Aboard: ${cargo}. ${fell.join(". ")}`);
  }
}

const isLevel = (degrees) => Math.abs(degrees) < 0.05;
const heeled = (degrees) => `${Math.abs(degrees).toFixed(1)}\u00b0 to ${degrees > 0 ? "starboard" : "port"}`;
const tipsOf = (view) => view.ship.yards_deg.map((tip) => tip * RADIANS);
const tiltOf = (view) => tilt(view.ship.roll_deg * RADIANS, view.ship.pitch_deg * RADIANS);
