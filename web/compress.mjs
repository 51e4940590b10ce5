// Writes a gzip form beside each file of dist that becomes smaller by it, for servers to send.
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const dist = process.argv[2] ?? "dist";
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, String(name));
  if (!/\.(html|js|css|svg)$/.test(path) || statSync(path).size < 1024) continue;
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
}
