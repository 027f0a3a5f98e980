// Poses of pieces over time: from recorded frames, or from one position to the next.
import { Quaternion, Vector3 } from "three";

const X = new Vector3(1, 0, 0);
const Y = new Vector3(0, 1, 0);
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
