import { expect, test } from "vitest";
import type { MediaDetails } from "../api/contract";
import { editPrompt, isGenerationFinished, repeatRequest, variationRequest } from "./generation-request";

const made: MediaDetails = {
  id: "m1", ref: "img-a", modality: "image", mime_type: "image/png", created_at: "", digest: "", size_bytes: 1, url: "/media/m1", parents: [], children: [], sub_actions: [],
  origin: { settings: [], request: { prompt: "a harbour", model: "Nano Banana", n: 4, seed: 7, size: "512x512", inputs: [{ media_id: "m0" }] } },
};
const uploaded: MediaDetails = { ...made, origin: { settings: [], direction: "input" } };

test("one more is the same request for one, without the seed that would give the same picture", () => {
  expect(repeatRequest(made)).toEqual({ prompt: "a harbour", model: "Nano Banana", n: 1, size: "512x512", inputs: [{ media_id: "m0" }] });
  expect(repeatRequest(uploaded)).toBeUndefined();
});

test("a variation is of the picture itself", () => {
  expect(variationRequest(made)).toEqual({ method: "variation", modality: "image", n: 1, inputs: [{ media_id: "m1" }], prompt: "a harbour", model: "Nano Banana" });
  expect(variationRequest(uploaded)).toEqual({ method: "variation", modality: "image", n: 1, inputs: [{ media_id: "m1" }] });
});

test("an edit begins with the words of the picture", () => {
  expect([editPrompt(made), editPrompt(uploaded)]).toEqual(["Edit this picture: a harbour", "Edit this picture: "]);
});

test("a generation ends once", () => {
  expect(["queued", "submitted", "running", "succeeded", "partial", "failed", "moderated", "cancelled"].filter(isGenerationFinished)).toEqual(["succeeded", "partial", "failed", "moderated", "cancelled"]);
});
