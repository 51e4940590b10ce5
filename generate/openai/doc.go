// Package openai is the driver for OpenAI's images endpoints, generations and edits, of
// the GPT Image family, and for its speech endpoint; and for services that speak the same
// protocol ([generate.Endpoint]), whatever they call their models.
//
// It speaks plain net/http. The vendor's SDK would add nothing here: one POST, no
// polling; its retries have to be off, its error text quotes the answer's body,
// and the version that the chat library needs does not know the newer settings.
// The simulator that the tests run against is checked with the vendor's SDK instead.
//
// What is safe to repeat, so Retryable: a request that never left (name, dial,
// TLS), 429 unless the credit is used up, 408, 409 (once), and 500 or 503 in OpenAI's own
// error envelope, because an error envelope says that nothing was made. X-Should-Retry
// overrides that. The wait is Retry-After-Ms, else Retry-After, else the reset of the
// limit that is used up.
//
// What is not: a connection lost after the request was sent, an answer cut in
// the middle, a page of a proxy (502, 504), and anything else without an envelope.
// The endpoint answers synchronously, cannot be asked again for what it made, and
// takes no idempotency key: repeating those calls may pay twice. Pictures that
// arrived whole before a cut are returned beside the error.
//
// Errors are media.Error values: unauthorized, forbidden (organization not
// verified), not_found (a retired model), moderated (as items with their Safety),
// rate_limited, quota_exceeded, invalid, unavailable, bad_response. It may import
// generate, media and wire; no other driver.
package openai
