import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gridHeight } from "./picture";
import { Windowed } from "./windowed";

let see: (inSight: boolean) => void;
beforeEach(() => vi.stubGlobal("IntersectionObserver", class {
  constructor(tell: (all: { isIntersecting: boolean }[]) => void) { see = (isIntersecting) => act(() => tell([{ isIntersecting }])); }
  observe() {}
  disconnect() {}
}));
afterEach(() => vi.unstubAllGlobals());

test("draws what is near, and an empty element of its height where it is not", () => {
  const { container } = render(<Windowed estimatedHeight={320}>{() => <p>drawn</p>}</Windowed>);
  const box = container.firstElementChild as HTMLElement;
  expect([box.style.height, box.children.length]).toEqual(["320px", 0]);
  see(true);
  expect([box.style.height, box.textContent]).toEqual(["", "drawn"]);
  Object.defineProperty(box, "offsetHeight", { value: 411 });
  see(false);
  expect([box.style.height, box.children.length]).toEqual(["411px", 0]);
});

test("draws everything for print", () => {
  const { container } = render(<Windowed estimatedHeight={320}>{() => <p>drawn</p>}</Windowed>);
  const drawn = (event: string) => { act(() => void window.dispatchEvent(new Event(event))); return container.textContent; };
  expect([drawn("beforeprint"), drawn("afterprint")]).toEqual(["drawn", ""]);
});

test("keeps what a person is in the middle of", () => {
  const { rerender } = render(<Windowed estimatedHeight={320}>{() => <input aria-label="answer" />}</Windowed>);
  see(true);
  screen.getByRole("textbox").focus();
  see(false);
  expect(screen.getByRole("textbox")).toBe(document.activeElement);
  rerender(<Windowed estimatedHeight={320} keepMounted>{() => <input aria-label="answer" />}</Windowed>);
  screen.getByRole("textbox").blur();
  see(false);
  expect(screen.queryByRole("textbox")).not.toBeNull();
});

test("a grid is as high as style.css makes it", () => {
  expect([gridHeight(24, 760), gridHeight(24, 362), gridHeight(1, 760)]).toEqual([8 * 257, 12 * 186, 257].map((n) => expect.closeTo(n, -1)));
});
