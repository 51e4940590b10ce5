import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// ATELIER_URL is the server to which `npm run dev` sends requests.
declare const process: { env: Record<string, string | undefined> };
const server = process.env["ATELIER_URL"] ?? "http://127.0.0.1:8484";

export default defineConfig({
  plugins: [react()],
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 1024 },
  server: { host: "127.0.0.1", proxy: { "/api": server, "/media": server } },
  test: { environment: "jsdom", setupFiles: ["src/setup.ts"], include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true, testTimeout: 120_000, server: { deps: { inline: [/@rjsf\//] } } },
});
