// The camera of Riff Raff: a side of the ship, as near as all of it allows, and nearer to what falls. Lengths in mm.
import { PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export const VIEWS = { ship: [340, -540, 177], bow: [620, -60, 102], above: [0.1, -40, 632] };
const UP = new Vector3(0, 0, 1);
const MIDDLE = new Vector3(0, 0, 137);
const ENDS = [[135, 0, -20], [-100, 46, -20], [-100, -46, -20], [0, 110, 115], [0, -110, 115], [0, 0, 300]];
const STEEP = Math.tan((15 * Math.PI) / 180);

export function viewpoint(canvas, draw) {
  const camera = new PerspectiveCamera(30, 1, 10, 4000);
  camera.up.copy(UP);
  const orbits = new OrbitControls(camera, canvas);
  orbits.maxDistance = 1900;
  let side = new Vector3(...VIEWS.ship);
  let isFree = false; // moved by hand: nothing else moves it
  orbits.addEventListener("change", draw);
  orbits.addEventListener("start", () => (isFree = true));

  const aim = (at, away) => {
    orbits.target.copy(at);
    camera.position.copy(at).add(away);
    camera.lookAt(at);
  };
  /** From the middle of the ship to the camera, so that the ship and these places on the water are seen. */
  const away = (places) => {
    const back = side.clone().normalize();
    const right = UP.clone().cross(back).normalize();
    const up = back.clone().cross(right);
    const distances = [...ENDS, ...places.map(({ x_mm: x, y_mm: y }) => [x, y, -20])].map((end) => {
      const way = new Vector3(...end).sub(MIDDLE);
      return way.dot(back) + Math.max(Math.abs(way.dot(up)), Math.abs(way.dot(right)) / camera.aspect) / STEEP;
    });
    return back.multiplyScalar(1.06 * Math.max(...distances));
  };
  const turn = (to) => {
    side = new Vector3(...to);
    isFree = false;
  };
  return {
    camera,
    /** Look at the ship and these places, or by `near` of 1 at the focus instead. */
    show: (places, focus = MIDDLE, near = 0) => {
      if (!isFree) aim(MIDDLE.clone().lerp(focus, 0.7 * near), away(places).multiplyScalar(1 - 0.45 * near));
    },
    turn,
    around: (degrees) => turn(camera.position.clone().sub(orbits.target).applyAxisAngle(UP, (degrees * Math.PI) / 180)),
  };
}
