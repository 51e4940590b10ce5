import { describe, expect, test } from "vitest";
import type { Media } from "../api/contract";
import { altText, formatCost, formatDuration, formatTokens, mediaURL, plainText, toMarkdown } from "./format";

const m = (more: Partial<Media> = {}): Media => ({ id: "1", ref: "img-a", modality: "image", mime_type: "image/png", ...more });

describe("markdown", () => {
  test.each([
    ["A. ${media:img-a} B.", "A.\n\n![img-a](media:img-a)\n\nB."],
    ["${media:img-a} ${media:img-b}", "![img-a](media:img-a) ![img-b](media:img-b)"],
    ["- one ${media:img-a}", "- one ![img-a](media:img-a)"],
    ["| ${media:img-a} | x |", "| ![img-a](media:img-a) | x |"],
    ["```\n${media:img-a}\n```", "```\n${media:img-a}\n```"],
    ["It is ${media:im", "It is"],
    ["It costs 5$", "It costs 5$"],
    ["${media:bad ref}", "${media:bad ref}"],
  ])("of %j", (from, to) => expect(toMarkdown(from, false)).toBe(to));

  test.each(["It is $", "It is ${", "It is ${media:im"])("of the beginning %j", (from) => expect(toMarkdown(from, true)).toBe("It is"));
});

test("plain text names its pictures", () => {
  expect(plainText("See ${media:img-a} and ${media:img-b}", { "img-a": m({ label: "a harbour" }) })).toBe("See [a harbour] and [picture]");
});

test("the alternative text is the label, else the description", () => {
  expect(altText(m({ label: "a harbour", description: "d" }))).toBe("a harbour");
  expect(altText(m({ description: "a harbour at dawn" }))).toBe("a harbour at dawn");
  expect(altText(m())).toBe("Picture");
});

test("only pixels have thumbnails", () => {
  expect(mediaURL(m(), 320)).toBe("/media/1?w=320");
  expect(mediaURL(m({ mime_type: "image/svg+xml" }), 320)).toBe("/media/1");
  expect(mediaURL(m({ modality: "audio" }), 320)).toBe("/media/1");
});

describe("facts in words", () => {
  test.each([
    [undefined, undefined], [{}, undefined], [{ estimated_usd: null }, undefined],
    [{ estimated_usd: "0", reported_usd: "0", complete: true }, "free"], [{ estimated_usd: "0", complete: false }, undefined],
    [{ estimated_usd: "0.0391" }, "$0.039"], [{ estimated_usd: "0.0001" }, "< $0.001"],
    [{ estimated_usd: "1.5", reported_usd: "1.234", complete: false }, "at least $1.50"],
  ])("money of %j", (c, want) => expect(formatCost(c)).toBe(want));
  test("tokens and time", () => {
    expect([formatTokens({}), formatTokens({ input_tokens: 900 }), formatTokens({ input_tokens: 6771, output_tokens: 98 }), formatTokens({ input_tokens: 42890 })]).toEqual([undefined, "900 tokens", "6.9k tokens", "43k tokens"]);
    expect([formatDuration(7), formatDuration(420), formatDuration(12_300), formatDuration(83_000), formatDuration(3_700_000)]).toEqual(["< 0.1 s", "0.4 s", "12 s", "1 min 23 s", "1 h 1 min"]);
  });
});
