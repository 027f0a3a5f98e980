// Bundles the player and each drawing module into one classic script each. Run `npm ci && npm run build` here.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFile, readdir, readFile } from "node:fs/promises";

const out = process.argv[2] ?? "../assets";

// A bundle names the sources it was made of, so that a test without node tells whether it is theirs.
const sources = (await readdir(".")).filter((name) => /\.(m?js|css)$|^package-lock\.json$/.test(name)).sort();
const digest = createHash("sha256");
for (const name of sources) digest.update(await readFile(name));

await build({
  entryPoints: ["player.js", "shanghaien.js", "riffraff.js"],
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  loader: { ".css": "text" },
  legalComments: "eof",
  banner: { js: `/* sources sha256:${digest.digest("hex")} */` },
});
await copyFile("node_modules/three/LICENSE", `${out}/three.LICENSE.txt`);
