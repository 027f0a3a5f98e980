// Poses of pieces over time: from recorded frames, or from one position to the next.
import { Quaternion, Vector3 } from "three";

const X = new Vector3(1, 0, 0);
const Y = new Vector3(0, 1, 0);
const DROP_MM = 70;
const NEAR_S = 0.35;
const SLOWER = 3;
const HINGES = 5;
const POSE = 7;

/** The rotation of the ship: roll about x, then pitch about the turned y; in radians. */
export const tilt = (roll, pitch) => new Quaternion().setFromAxisAngle(X, roll).multiply(new Quaternion().setFromAxisAngle(Y, pitch));

export const poseOf = (piece) => {
  const [w, x, y, z] = piece.quat;
  return { place: new Vector3(...piece.pos_mm), turn: new Quaternion(x, y, z, w) };
};

/** The numbers of all frames, from the differences; each list goes on with its last number. */
export function frames(motion) {
  return motion.channels.map((differences) => {
    let sum = 0;
    return differences.map((each) => (sum += each));
  });
}

/** Ship, yards and pieces at that second of a movement. */
export function at(motion, second) {
  motion.numbers ??= frames(motion);
  const frame = Math.max(0, second / motion.every_s);
  const first = Math.floor(frame);
  const share = frame - first;
  const value = (channel) => {
    const numbers = motion.numbers[channel];
    const one = numbers[Math.min(first, numbers.length - 1)];
    const other = numbers[Math.min(first + 1, numbers.length - 1)];
    return one + share * (other - one);
  };
  const [roll, pitch, ...yards] = Array.from({ length: HINGES }, (_, hinge) => value(hinge) / 10_000);
  const ship = tilt(roll, pitch);
  const pieces = motion.ids.map((id, index) => {
    const [x, y, z, w, i, j, k] = Array.from({ length: POSE }, (_, each) => value(HINGES + POSE * index + each));
    const turn = ship.clone().multiply(new Quaternion(i, j, k, w).normalize());
    return { id, kind: motion.kinds[index], place: new Vector3(x, y, z).divideScalar(10).applyQuaternion(ship), turn };
  });
  return { ship, yards, pieces };
}

/** A moment between two, on straight lines; what is new comes from above. */
export function between(one, other, share) {
  const pieces = other.pieces.map((piece) => {
    const { place, turn } = one.pieces.find(({ id }) => id === piece.id) ?? { place: piece.place.clone().setZ(piece.place.z + DROP_MM), turn: piece.turn };
    return { ...piece, place: place.clone().lerp(piece.place, share), turn: turn.clone().slerp(piece.turn, share) };
  });
  const yards = one.yards.map((tip, at) => tip + share * (other.yards[at] - tip));
  return { ship: one.ship.clone().slerp(other.ship, share), yards, pieces };
}

/** A movement in which time goes slower around each fall: `length` in seconds of a watcher. */
export function slowly(motion, fallen, plane) {
  const { every_s: every, seconds } = motion;
  const isBelow = ({ id }, frame) => at(motion, frame * every).pieces.find((piece) => piece.id === id).place.z < plane;
  const falls = fallen.map((fall) => {
    let frame = 0;
    while (frame * every < seconds && !isBelow(fall, frame)) frame += 1;
    return { ...fall, second: frame * every };
  });
  const near = (fall, now) => Math.max(0, 1 - Math.abs(now - fall.second) / NEAR_S);
  const begin = Math.min(0, (falls[0]?.second ?? NEAR_S) - NEAR_S);
  const end = Math.max(seconds, (falls.at(-1)?.second ?? 0) + NEAR_S);
  const sums = [0];
  for (let now = begin; now < end; now += every)
    sums.push(sums.at(-1) + every * (1 + SLOWER * Math.min(1, falls.reduce((sum, fall) => sum + near(fall, now), 0))));
  const length = sums.at(-1);
  /** The second of the movement at a share of the film. */
  const second = (share) => {
    const wanted = share * length;
    const next = Math.max(1, sums.findIndex((sum) => sum >= wanted));
    return begin + every * (next - (sums[next] - wanted) / (sums[next] - sums[next - 1]));
  };
  return { falls, near, length, second };
}
