// Requests for more pictures like an existing one.
import type { MediaDetails, NewGeneration } from "../api/contract";

export type RequestKind = "again" | "vary";

/** The request that made a picture, for one more. It has no seed, which would give the same picture.
 * Undefined if the picture was not generated. */
export function repeatRequest(m: MediaDetails): NewGeneration | undefined {
  if (!m.origin.request) return undefined;
  const { seed: _seed, n: _n, ...same } = m.origin.request;
  return { ...same, n: 1 };
}

/** A request for a variation of a picture, by the model that made it or the default one. */
export function variationRequest(m: MediaDetails): NewGeneration {
  const { prompt, model, output_format } = m.origin.request ?? {};
  return {
    method: "variation", modality: "image", n: 1, inputs: [{ media_id: m.id }],
    ...(prompt && { prompt }), ...(model && { model }), ...(output_format && { output_format }),
  };
}

/** The start of a message that requests an edit of a picture: it quotes the picture's prompt. */
export function editPrompt(m: MediaDetails): string {
  return `Edit this picture: ${m.origin.request?.prompt ?? m.origin.prompt ?? ""}`;
}

/** Reports whether a generation has ended. */
export function isGenerationFinished(status: string): boolean {
  return !["queued", "submitted", "running"].includes(status);
}
