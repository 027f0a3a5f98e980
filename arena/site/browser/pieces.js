// Ship and cargo of Riff Raff as solids, from the tables of the game. Lengths in mm, x to the bow, y to port, z up.
import * as THREE from "three";

const COLOURS = {
  chest: [0x7a4a21, 0xd2a23c], bottle: [0x2f7d4f, 0x9ad3ae], barrel: [0x8a5a2b, 0x55371b], crate: [0xc79a5b],
  plank: [0xd9b982], lifeboat: [0xe9e3d5, 0xc23b2e, 0xc23b2e], rat: [0x6f6a66, 0xc08b86], sailor: [0x24448e, 0xe3b78f, 0x24448e, 0xf1ede2],
};
const WOOD = 0xa9713c;
const BRASS = 0xd2a23c;
const BAR_MM = 2.5;

export const material = (color, more = {}) => new THREE.MeshStandardMaterial({ color, roughness: 0.72, metalness: 0.02, ...more });

function geometry({ form, half_mm: half }) {
  if (form === "box") return new THREE.BoxGeometry(2 * half[0], 2 * half[1], 2 * half[2]);
  if (form === "sphere") return new THREE.SphereGeometry(half[0], 24, 16);
  const made = form === "capsule" ? new THREE.CapsuleGeometry(half[0], 2 * half[1], 6, 16) : new THREE.CylinderGeometry(half[0], half[0], 2 * half[1], 32);
  return made.rotateX(Math.PI / 2); // three's axis is y, the game's is z
}

function solid(made, color, place) {
  const mesh = new THREE.Mesh(made, material(color));
  mesh.position.set(...place);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

/** A piece of cargo; its parts share nothing with other pieces, so that each can be lit alone. */
export function piece(kind, parts) {
  const group = new THREE.Group();
  parts.forEach((part, at) => {
    const colours = COLOURS[kind] ?? [0xbbbbbb];
    const mesh = new THREE.Mesh(geometry(part), material(colours[at % colours.length], { polygonOffset: true, polygonOffsetFactor: at, polygonOffsetUnits: 2 * at }));
    mesh.position.set(...part.at_mm);
    if (part.across) mesh.rotation.y = Math.PI / 2;
    mesh.castShadow = mesh.receiveShadow = true;
    group.add(mesh);
    group.add(edges(mesh));
  });
  return group;
}

function edges(mesh) {
  const lines = new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry, 35), new THREE.LineBasicMaterial({ color: 0x1c130b, transparent: true, opacity: 0.45 }));
  lines.position.copy(mesh.position);
  lines.rotation.copy(mesh.rotation);
  return lines;
}

/** The ship and its yards, the lowest first, each to be turned about its bar by `rotation.x`. */
export function ship(info) {
  const group = new THREE.Group();
  const [length, width, height] = info.hull_half_mm;
  const deck = info.deck_top_mm;
  const top = new THREE.Mesh(new THREE.BoxGeometry(2 * length, 2 * width, 4), material(0xc89b63));
  top.position.z = deck - 2;
  top.receiveShadow = top.castShadow = true;
  group.add(top, planks(length, width, deck));
  group.add(hull(length, width, height, deck));
  const mast = info.mast;
  group.add(solid(new THREE.CylinderGeometry(mast.radius_mm, mast.radius_mm, mast.top_mm - deck, 24).rotateX(Math.PI / 2), 0x7b5330, [0, 0, (mast.top_mm + deck) / 2]));
  group.add(solid(new THREE.SphereGeometry(mast.radius_mm * 1.5, 16, 12), BRASS, [0, 0, mast.top_mm]));
  const yards = info.yards.map((each) => yard(info, each));
  const bars = yards.map(({ position }) => solid(new THREE.CylinderGeometry(BAR_MM, BAR_MM, 2 * info.yard_half_width_mm + BAR_MM, 16).rotateZ(Math.PI / 2), BRASS, position));
  group.add(...yards, ...bars);
  return { group, yards };
}

function yard(info, { top_mm: top, half_length_mm: half }) {
  const thick = info.yard_thickness_mm;
  const group = new THREE.Group();
  group.position.z = top - thick;
  const mesh = solid(new THREE.BoxGeometry(2 * info.yard_half_width_mm, 2 * half, thick), WOOD, [0, 0, thick / 2]);
  group.add(mesh, edges(mesh));
  return group;
}

/** A hull under the deck, pointed at the bow below it; it is only looked at. */
function hull(length, width, height, deck) {
  const outline = new THREE.Shape();
  outline.moveTo(-length, -width);
  outline.lineTo(length * 0.72, -width);
  outline.quadraticCurveTo(length * 1.02, -width * 0.75, length * 1.3, 0);
  outline.quadraticCurveTo(length * 1.02, width * 0.75, length * 0.72, width);
  outline.lineTo(-length, width);
  outline.closePath();
  const made = new THREE.ExtrudeGeometry(outline, { depth: 2 * height + 22, bevelEnabled: false });
  const places = made.getAttribute("position");
  const low = -(2 * height + 22);
  for (let at = 0; at < places.count; at += 1) {
    const depth = places.getZ(at);
    const share = 0.62 + 0.38 * (depth / (2 * height + 22));
    places.setXYZ(at, places.getX(at) * (0.86 + 0.14 * (share - 0.62) / 0.38), places.getY(at) * share, depth + low + deck - 4.2);
  }
  made.computeVertexNormals();
  const mesh = new THREE.Mesh(made, material(0x6d4424, { flatShading: true }));
  mesh.castShadow = true;
  return mesh;
}

function planks(length, width, deck) {
  const points = [];
  for (let y = -width + 9; y < width; y += 9) points.push(-length, y, deck + 0.15, length, y, deck + 0.15);
  points.push(0, -width, deck + 0.2, 0, width, deck + 0.2);
  const made = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(made, new THREE.LineBasicMaterial({ color: 0x8a6236 }));
}

export function ring(x, y, z, radius, color, opacity = 0.8) {
  const mesh = new THREE.Mesh(new THREE.RingGeometry(radius - 4, radius, 48), new THREE.MeshBasicMaterial({ color, side: THREE.DoubleSide, transparent: true, opacity }));
  mesh.position.set(x, y, z);
  return mesh;
}
