// Bundles the player and each drawing module into one classic script each. Run `npm ci && npm run build` here.
import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { copyFile, readdir, readFile } from "node:fs/promises";

const out = process.argv[2] ?? "../assets";

// A bundle names the sources it was made of, so that a test without node tells whether it is theirs.
const sources = (await readdir(".")).filter((name) => /\.(m?js|css)$|^package-lock\.json$/.test(name)).sort();
const digest = createHash("sha256");
for (const name of sources) digest.update(await readFile(name));

/** A stylesheet is a text in its bundle, without what only people read. */
const styles = {
  name: "styles",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true, target: "es2022" });
      return { contents: code, loader: "text" };
    }),
};

await build({
  entryPoints: ["player.js", "shanghaien.js", "riffraff.js"],
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  plugins: [styles],
  legalComments: "eof",
  banner: { js: `/* sources sha256:${digest.digest("hex")} */` },
});
await copyFile("node_modules/three/LICENSE", `${out}/three.LICENSE.txt`);
