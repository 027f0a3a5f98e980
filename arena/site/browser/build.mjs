// Bundles the player and each drawing module into one classic script each. Run `npm ci && npm run build` here.
import { build } from "esbuild";
import { copyFile, readdir } from "node:fs/promises";

const out = process.argv[2] ?? "../assets";
await build({
  entryPoints: (await readdir(".")).filter((name) => ["player.js", "shanghaien.js", "riffraff.js"].includes(name)),
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  loader: { ".css": "text" },
  legalComments: "eof",
});
await copyFile("node_modules/three/LICENSE", `${out}/three.LICENSE.txt`);
