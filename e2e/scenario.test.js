// Opens the reports of three scenarios, without sources and with fitting ones, one with everything
// that the offline models draw, and two about folders of the corpus.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { reportFixture, root } from "./inspect.js";

const b = reportFixture();

const energy = "Create a research report about renewable energy trends. Include an AI-generated illustration showing solar panels and wind turbines.";
const market = "Create a market analysis report with a bar chart of market share and an AI-generated infographic of the industry ecosystem.";
const architecture = "Create a report on sustainable architecture with 2-3 AI-generated illustrations of eco-friendly buildings.";
const drawings = "How many tickets are there by status? Which team has the highest total of hours? Include charts, an infographic and a picture of a lighthouse.";

const corpus = join(root, "cmd", "atelier", "testdata", "corpus");

const scenarios = [
  { name: "energy-bare", task: energy, figures: 1 },
  { name: "energy-sources", task: energy, folder: join(root, "examples", "energy"), figures: 1 },
  { name: "market-bare", task: market, figures: 0 },
  { name: "market-sources", task: market, files: { "market-share.csv": "company,share\nAster Motors,31.5\nBolt Drive,24.2\nCascade EV,18.9\nDynamo,12.4\nEvergreen Auto,8\nOthers,5\n" }, figures: 2 },
  { name: "architecture-bare", task: architecture, figures: 3 },
  { name: "architecture-sources", task: architecture, files: { "notes.md": "# Sustainable architecture\n\nGreen roofs hold back rain and cool the rooms below them in summer. Timber stores carbon for as long as the building stands.\n" }, figures: 3 },
  { name: "drawings", task: drawings, figures: 4, files: { "tickets.csv": "ticket,team,status,hours\nT-1,North,open,4.5\nT-2,North,closed,3\nT-3,South,closed,8.25\nT-4,West,closed,1\nT-5,South,open,2\n" } },
  { name: "german", task: "Welche Filiale hatte 2024 den höchsten Umsatz, und wie hoch war er? Mit einem Balkendiagramm.", folder: join(corpus, "baeckerei-beste-filiale", "files"), figures: 1 },
  { name: "penguins", task: "What is the mean body mass of the Gentoo penguins? How many penguins are there by island? Include charts.", folder: join(corpus, "penguins-gentoo-mass", "files"), figures: 1 },
];

describe("the scenario", async () => {
  for (const s of scenarios) {
    test(s.name, async () => {
      const args = ["run", "research-agent", s.task, "--out", join(b.folder, `${s.name}-report`)];
      if (s.folder) args.push("--files", s.folder);
      if (s.files) {
        const files = join(b.folder, s.name);
        mkdirSync(files);
        for (const [name, text] of Object.entries(s.files)) writeFileSync(join(files, name), text);
        args.push("--files", files);
      }
      const result = b.atelier(...args);
      assert.equal(result.status, "succeeded");
      assert.ok(result.outputs.length >= s.figures);
      await b.inspect(result.report, s.name, s.figures, { each: true });
    });
  }
});
