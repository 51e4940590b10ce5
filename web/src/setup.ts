// Stubs for what jsdom lacks, for tests of components.
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);
configure({ asyncUtilTimeout: 60_000 }); // lazy loading is slow on a busy machine

window.matchMedia = ((query: string) => ({
  matches: false, media: query, onchange: null, addEventListener() {}, removeEventListener() {}, addListener() {}, removeListener() {}, dispatchEvent: () => false,
})) as typeof window.matchMedia;

class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
  takeRecords() { return []; }
}
globalThis.ResizeObserver = Observer as unknown as typeof ResizeObserver;
globalThis.IntersectionObserver = Observer as unknown as typeof IntersectionObserver;
window.scrollTo = () => undefined;
URL.createObjectURL = () => "blob:test";
URL.revokeObjectURL = () => undefined;
Element.prototype.scrollIntoView = () => undefined;
