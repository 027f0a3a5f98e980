// Ship and cargo of Riff Raff as solids, from the tables of the game. Lengths in mm, x to the bow, y to port, z up.
import * as THREE from "three";

// The colours of parts; those of null, and crates and planks, have that of the player who loaded the piece.
const COLOURS = {
  chest: [null, 0xd2a23c], bottle: [null, 0x9ad3ae], barrel: [0x55371b, null], lifeboat: [null, 0xe9e3d5, 0xe9e3d5],
  rat: [null, 0xc08b86], sailor: [null, 0xe3b78f, null, 0xf1ede2],
};
const SEA_MM = 2300;
const WOOD = 0xa9713c;
const BRASS = 0xd2a23c;
const BAR_MM = 2.5;

export const material = (color, more = {}) => new THREE.MeshStandardMaterial({ color, roughness: 0.72, ...more });

function geometry({ form, half_mm: half }) {
  if (form === "box") return new THREE.BoxGeometry(2 * half[0], 2 * half[1], 2 * half[2]);
  if (form === "sphere") return new THREE.SphereGeometry(half[0], 14, 10);
  const made = form === "capsule" ? new THREE.CapsuleGeometry(half[0], 2 * half[1], 4, 12) : new THREE.CylinderGeometry(half[0], half[0], 2 * half[1], 24);
  return made.rotateX(Math.PI / 2); // three's axis is y, the game's is z
}

function solid(made, color, place) {
  const mesh = new THREE.Mesh(made, material(color));
  mesh.position.set(...place);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

/** The colour of a player with its shape on it, for pieces, hands and areas. */
export function marked(colour, shape, isDark) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 64 });
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 64, 64);
  pen.fillStyle = isDark ? "#000" : "#fff";
  pen.translate(14, 14);
  pen.scale(1.5, 1.5);
  pen.fill(new Path2D(shape));
  const map = new THREE.CanvasTexture(canvas);
  map.colorSpace = THREE.SRGBColorSpace;
  return map;
}

/** A piece of cargo in the look of the player who loaded it. */
export function piece(kind, parts, look) {
  const group = new THREE.Group();
  parts.forEach((part, at) => {
    const color = COLOURS[kind]?.[at];
    const mesh = solid(geometry(part), color ?? 0xffffff, part.at_mm);
    Object.assign(mesh.material, { map: color ? null : look, polygonOffset: true, polygonOffsetFactor: at, polygonOffsetUnits: 2 * at });
    if (part.across) mesh.rotation.y = Math.PI / 2;
    group.add(mesh, edges(mesh));
  });
  return group;
}

/** Water with waves as high as `swell.x` mm at the time `swell.y`; its squares are small near the ship. */
export function sea(swell, height) {
  const made = new THREE.PlaneGeometry(2, 2, 24, 24);
  const places = made.getAttribute("position");
  const far = (share) => SEA_MM * share * Math.abs(share) ** 0.8;
  for (let at = 0; at < places.count; at += 1) places.setXY(at, far(places.getX(at)), far(places.getY(at)));
  const water = material(0x2a7aa3, { flatShading: true, roughness: 0.5 });
  water.onBeforeCompile = (shader) => {
    shader.uniforms.swell = swell;
    const shared = "uniform vec2 swell; varying float crest;\n";
    shader.vertexShader = shared + shader.vertexShader.replace("#include <begin_vertex>", `vec3 transformed = position;
      vec2 p = position.xy; float t = swell.y;
      crest = sin(p.x * .021 + p.y * .014 + t) + .7 * sin(p.y * .037 - p.x * .012 + t * 1.3);
      transformed.z += swell.x * crest;`);
    shader.fragmentShader = shared + shader.fragmentShader.replace("#include <color_fragment>", `diffuseColor.rgb += smoothstep(.5, 2., crest) * swell.x * vec3(.025);`);
  };
  const mesh = new THREE.Mesh(made, water);
  mesh.position.z = height;
  mesh.renderOrder = -2;
  mesh.receiveShadow = true;
  return mesh;
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
  group.add(solid(new THREE.CylinderGeometry(mast.radius_mm, mast.radius_mm, mast.top_mm - deck, 16).rotateX(Math.PI / 2), 0x7b5330, [0, 0, (mast.top_mm + deck) / 2]));
  group.add(solid(new THREE.SphereGeometry(mast.radius_mm * 1.5, 10, 8), BRASS, [0, 0, mast.top_mm]));
  const yards = info.yards.map((each) => yard(info, each));
  const bars = yards.map(({ position }) => solid(new THREE.CylinderGeometry(BAR_MM, BAR_MM, 2 * info.yard_half_width_mm + BAR_MM, 10).rotateZ(Math.PI / 2), BRASS, position));
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
  const deep = 2 * height + 22;
  const made = new THREE.ExtrudeGeometry(outline, { depth: deep, bevelEnabled: false });
  const places = made.getAttribute("position");
  for (let at = 0; at < places.count; at += 1) {
    const depth = places.getZ(at);
    const share = depth / deep;
    places.setXYZ(at, places.getX(at) * (0.86 + 0.14 * share), places.getY(at) * (0.62 + 0.38 * share), depth - deep + deck - 4.2);
  }
  made.computeVertexNormals();
  const mesh = new THREE.Mesh(made, material(0x85532f, { flatShading: true }));
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

/** A hand on the water in the look of its player, or foam; no wave hides it: it is drawn after the sea, before all else. */
export function disc(radius, map, ...place) {
  const mesh = flat(new THREE.CircleGeometry(radius, 32), { map, transparent: false, blending: THREE.CustomBlending, depthTest: false }, ...place);
  mesh.renderOrder = -1;
  return mesh;
}

/** An area of the player who is to load there. */
export const areaOf = ({ u_mm: [left, right], v_mm: [low, high] }, z, map) =>
  flat(new THREE.PlaneGeometry(right - left, high - low), { map }, (left + right) / 2, (low + high) / 2, z);

function flat(made, look, ...place) {
  const mesh = new THREE.Mesh(made, new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.6, ...look }));
  mesh.position.set(...place);
  return mesh;
}
