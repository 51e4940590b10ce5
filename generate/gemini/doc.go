// Package gemini is the driver for Google's Gemini image models, the Nano Banana
// family, and for its speech models, on the Gemini API's generateContent.
//
// It speaks plain net/http. The vendor's SDK would add nothing here: one POST, no
// polling, and its types decode inline data that has been lifted already. The
// simulator that the tests run against is checked with the vendor's SDK instead.
//
// One call makes one picture; a model may give more, and every picture that is
// not a thought is kept. Thought parts, texts and pictures, are passed over;
// thoughtSignature is never touched.
//
// What is safe to repeat, so Retryable: a request that never left (name, dial,
// TLS), 429 unless a daily or zero quota is used up (the wait is RetryInfo's
// retryDelay), and 500, 503 or 504 with Google's own error status, because only
// successful calls are billed. What is not: a connection lost after the request
// was sent, an answer cut in the middle, anything without an error status. A
// picture that arrived whole before a cut is returned beside the error.
//
// Speech comes as raw samples; the transport puts a WAV header before them.
//
// Refusals are successes without a picture, in four shapes; they come back as
// moderated items with their Safety. Errors are media.Error values: unauthorized
// (a bad key is status 400 here), forbidden, not_found (a retired model),
// rate_limited, quota_exceeded, invalid, unavailable, bad_response. It may import
// generate, media and wire; no other driver.
package gemini
