// Package midjourney is the driver for Midjourney through midjourney-proxy, the
// protocol that proxies and resellers have in common; Midjourney has no API of its
// own. It is off until its address is set: driving an account through a proxy may
// be against Midjourney's terms, and that is the operator's decision.
//
// A job draws a grid of four pictures. The item is the whole grid with its tiles, or
// four items where the proxy gives single pictures. Their metadata has, under
// "midjourney", the job and its message hash; the buttons of it are the item's offers.
// An output with that metadata as the input of a later request can be followed up, by
// the option action: upscale, variation, reroll, zoom, pan, inpaint, or button with
// custom_id; the tile says which of the four, or the option index does. Without the
// option a variation of such an output is Midjourney's own, an edit with a mask is
// inpaint (Vary Region), an edit without one goes to the proxy's editor. Pictures
// that Midjourney did not make are image prompts; without words they are blended. Which
// act takes what, which buttons it is, and which settings are flags of the prompt, is data of
// the catalogue.
// While a job goes on, its picture is a preview.
//
// The model Midjourney Describe answers with a text of four prompts, a document.
//
// What is safe to repeat, so Retryable: a request that never left, 429, a full queue
// (code 23), and an internal failure (code 9) without a job: the proxy says in its
// own words that nothing was started. What is not: a connection lost after the request
// was sent, a page of something else. Polls cost nothing.
//
// The proxy signs no notification, so [Driver.Notification] believes none: it gives
// the task alone, which is then polled.
//
// Errors are media.Error values: missing_key (no address), unauthorized, forbidden,
// not_found (a job that the proxy no longer knows, an unknown version), moderated,
// rate_limited, quota_exceeded, invalid, unsupported, unavailable, bad_response. It
// may import generate, media, wire and midjourney/proxy, which speaks the protocol; no
// other driver.
package midjourney
