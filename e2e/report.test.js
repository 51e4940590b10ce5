// Opens in Chromium the reports that the binary writes about folders.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { reportFixture, root } from "./inspect.js";

const b = reportFixture();

/** The question that `make demo` asks. */
function demoQuestion() {
  const [, question] = /^\t\$\(BIN\) run research-agent "([^"]+)" --files examples\/energy/m.exec(readFileSync(join(root, "Makefile"), "utf8"));
  return question;
}

describe("the report of the example", async () => {
  test("is written, self-contained and complete", async () => {
    const result = b.atelier("run", "research-agent", demoQuestion(), "--files", join(root, "examples", "energy"), "--out", join(b.folder, "energy"));
    assert.equal(result.status, "succeeded");
    assert.ok(result.outputs.some((o) => o.mime_type === "image/svg+xml"));
    assert.ok(result.outputs.some((o) => o.mime_type === "image/png"));
    for (const o of result.outputs) assert.ok(readFileSync(o.path).length === o.size_bytes);
    await b.inspect(result.report, "energy", 3);
  });
});

describe("the report of any other folder", async () => {
  test("is as good", async () => {
    const files = join(b.folder, "shop");
    mkdirSync(files);
    writeFileSync(join(files, "orders.csv"), "month,region,revenue\n" + ["2026-01", "2026-02", "2026-03", "2026-04"]
      .flatMap((m, i) => ["North", "South", "<b>East & West</b>"].map((r, j) => `${m},${r},${1000 + 250 * i * (j + 1)}`)).join("\n") + "\n");
    writeFileSync(join(files, "customers.txt"), "The survey asked four hundred customers in spring. Most of them came back because delivery was quick. " +
      "Some customers complain about the packaging. Nobody asked for more emails. Prices were judged fair by most people.\n");
    const result = b.atelier("run", "research-agent", "What is the total revenue by region? What do customers complain about? Include a bar chart and two illustrations of a small city.",
      "--files", files, "--out", join(b.folder, "shop-report"));
    assert.equal(result.status, "succeeded");
    await b.inspect(result.report, "shop", 3);
  });
});
