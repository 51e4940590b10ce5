// Fails when dist is not what the sources give. Compressed files are compared by what is in
// them, because versions of zlib pack differently.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const fresh = mkdtempSync(join(tmpdir(), "atelier-web-"));
const run = (...args) => execFileSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
const files = (dir) => readdirSync(dir, { recursive: true }).map(String).filter((f) => statSync(join(dir, f)).isFile()).sort();
const read = (dir, f) => { const b = readFileSync(join(dir, f)); return f.endsWith(".gz") ? gunzipSync(b) : b; };
try {
  run("node_modules/vite/bin/vite.js", "build", "--outDir", fresh, "--emptyOutDir", "--logLevel", "error");
  run("compress.mjs", fresh);
  const want = files(fresh);
  const differ = [...new Set([...want, ...files("dist")])].filter((f) => !want.includes(f) || !files("dist").includes(f) || !read(fresh, f).equals(read("dist", f)));
  if (differ.length > 0) {
    console.error(`web/dist is not what web/src gives; run make web and commit it:\n  ${differ.join("\n  ")}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
