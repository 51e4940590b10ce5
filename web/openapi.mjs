// Writes src/api/types.gen.ts of the schemas of docs/openapi.json. With --check it writes nothing, and
// fails if the file is not what the document gives.
import { readFileSync, writeFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";

const target = new URL("src/api/types.gen.ts", import.meta.url);
const head = "// Generated from docs/openapi.json by npm run types. Do not edit.\n";
const { paths: _paths, ...schemas } = JSON.parse(readFileSync(new URL("../docs/openapi.json", import.meta.url), "utf8"));
const fresh = head + astToString(await openapi({ ...schemas, paths: {} }, { alphabetize: true }));
if (!process.argv.includes("--check")) writeFileSync(target, fresh);
else if (readFileSync(target, "utf8") !== fresh) {
  console.error("web/src/api/types.gen.ts is not what docs/openapi.json gives; run npm run types in web and commit it");
  process.exitCode = 1;
}
