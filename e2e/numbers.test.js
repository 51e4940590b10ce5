// The numbers of a report: each links to its query, and a number that neither a query nor a text
// supports is marked.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { reportFixture } from "./inspect.js";
import { scriptedModel } from "./scripted-model.js";

const b = reportFixture();
const sql = 'SELECT "year", "north" FROM "sales" ORDER BY "north" DESC';

/** A language model that runs one query and then states 4,711, which no source contains. */
const lines = {
  "research-agent": [
    { reasoning: "ask", agents: [{ name: "file-research-agent", task: "Ask the table." }] },
    { reasoning: "write", agents: [{ name: "research-report-writer", task: "Write it." }] },
    { reasoning: "end", done: true, message: "The report is ready." },
  ],
  "file-research-agent": [
    { reasoning: "ask", actions: [{ name: "Query Tables", params: { SQL: sql } }] },
    { reasoning: "end", done: true, message: "Asked.", payload: { findings: ["The north sold 4,242 in 2024."] } },
  ],
  "research-report-writer": [
    { reasoning: "draw", actions: [{ name: "Create SVG Chart", params: { ChartType: "bar", Title: "The north", Labels: ["2023", "2024"], Series: [{ name: "north", values: [3030, 4242] }] } }] },
    { reasoning: "end", done: true, message: "Written.", payload: { title: "The north", report_html: "<h1>The north</h1><p>The north sold 4,242 in 2024.</p><p>The west sold 4,711.</p>" } },
  ],
};

describe("the numbers of a report", async () => {
  let model;
  after(() => model?.stop()); // even if the test fails: an open server keeps the process alive
  test("lead to their query, and what nothing supports is marked", async () => {
    model = await scriptedModel(lines);
    const files = join(b.folder, "sales");
    mkdirSync(files);
    writeFileSync(join(files, "sales.csv"), "year,north\n2022,1515\n2023,3030\n2024,4242\n");
    const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${model.url}/v1`, ATELIER_CHAT_MODEL: "openai/gpt-4o", ATELIER_IMAGE_MODEL: "offline" };
    const result = await b.atelierWith(env, "run", "research-agent", "How much did the north sell?", "--files", files, "--out", join(b.folder, "numbers-report"));
    assert.equal(result.status, "succeeded");
    await b.inspect(result.report, "numbers", 0);
    for (const colorScheme of ["light", "dark"]) {
      await test(`links and marks, ${colorScheme}`, () => check(result.report, colorScheme));
    }
  });
});

async function check(file, colorScheme) {
  const context = await b.browser.newContext({ viewport: { width: 1000, height: 300 }, colorScheme });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  const link = page.locator("a.atelier-number", { hasText: "4,242" }).first();
  await link.click();
  const query = page.locator("#atelier-query-1");
  assert.match(page.url(), /#atelier-query-1$/);
  assert.ok((await query.textContent()).includes(sql), "the query is not shown");
  const box = await query.boundingBox();
  assert.ok(box.y > -1 && box.y < 300, `the query is at ${box.y}, out of sight`);

  const marked = page.locator("mark.atelier-unsupported");
  assert.deepEqual(await marked.allTextContents(), ["4,711"]);
  const look = await marked.evaluate((m) => {
    const own = getComputedStyle(m);
    const around = getComputedStyle(m.parentElement);
    return { own: [own.backgroundColor, own.textDecorationLine, own.borderBottomStyle].join(), around: [around.backgroundColor, around.textDecorationLine, around.borderBottomStyle].join() };
  });
  assert.notEqual(look.own, look.around, "the mark is not visible");
  assert.ok((await page.locator(".atelier-unsupported-list").textContent()).includes("4,711"));
  await context.close();
}
