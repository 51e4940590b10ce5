// Runs the browser tests: node run.js [FILE…]. With RERUN=1, as in CI, failed files run once more, by
// themselves. The files that pass only then are named at the end: each is a fault to investigate.
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { run } from "node:test";
import { tap } from "node:test/reporters";

const named = process.argv.slice(2);
const files = named.length > 0 ? named : readdirSync(".").filter((f) => f.endsWith(".test.js")).sort();

/** Runs test files and returns those with a failed test. */
async function failures(list) {
  const failed = new Set();
  const tests = run({ files: list, concurrency: false });
  tests.on("test:fail", (t) => failed.add(basename(t.file ?? t.name)));
  const report = tests.compose(tap);
  report.pipe(process.stdout, { end: false });
  await new Promise((done, fail) => report.on("end", done).on("error", fail));
  return [...failed];
}

let failed = await failures(files);
if (failed.length > 0 && process.env.RERUN === "1") {
  const first = failed;
  console.log(`# once more: ${first.join(", ")}`);
  failed = await failures(first);
  console.log(`# passed only when run again: ${first.filter((f) => !failed.includes(f)).join(", ") || "none"}`);
}
if (failed.length > 0) console.log(`# failed: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;
