// Package openrouter is the driver for image models behind OpenRouter, by one of two endpoints,
// as a model's row says (via): that of images, which has typed settings, and chat
// completions, where the request names the modalities image and text, and the answer's
// message carries pictures beside its words, as data or as links.
//
// It speaks plain net/http: one POST, no polling. One call makes one picture, unless a
// row of the images endpoint says otherwise; a model may give more, and every picture is kept. OpenRouter names the cost of each call in
// dollars, which is reported as it is.
//
// What is safe to repeat, so Retryable: a request that never left (name, dial, TLS), and
// 429, 500 and 503 in OpenRouter's own error envelope, because then no model was run. The
// wait is Retry-After, else X-RateLimit-Reset. What is not: a model that was run and
// failed (502, 408, errors inside of a success), a connection lost after the request was
// sent, an answer cut in the middle, anything without an envelope.
//
// Refusals are moderated items with their Safety: 403 with reasons, the finish reason
// content_filter, a refusal, or words in place of a picture. Errors are media.Error
// values: unauthorized, forbidden, not_found (no such model), rate_limited,
// quota_exceeded (402), invalid, too_large, unavailable, bad_response. It may import
// generate, media and wire; no other driver.
package openrouter
