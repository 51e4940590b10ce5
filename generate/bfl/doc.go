// Package bfl is the driver for the FLUX models of Black Forest Labs: generation,
// edits by words, edits with a mask (Fill) and variations of a picture (Redux).
//
// Every call makes a task of one picture: POST /v1/<model>, then GET of the polling
// URL that the answer names, then a link that lives for ten minutes. The polling URL
// is on another host of the cluster; the key goes there only if that host is of
// bfl.ai (over https) or the configured base. A task without a usable polling URL,
// as with webhooks, is asked for at the base. Tasks cannot be cancelled.
//
// What is safe to repeat, so Retryable: a request that never left, 429, and 500 or
// 503 with the API's own error, because no task was made. What is not: a connection
// lost after the request was sent, an answer cut in the middle, a page of a proxy.
// The price of a task is named when it is made, in cents with the noise of floating
// point, which is rounded away.
//
// Webhooks are signed: X-BFL-Signature is the HMAC-SHA256 of the body with the secret
// that went out with the task. A driver without that secret believes no call.
//
// Errors are media.Error values: unauthorized (a bad key is status 403 here),
// quota_exceeded, not_found (model or task), rate_limited, invalid, unavailable,
// bad_response. It may import generate, media and wire; no other driver.
package bfl
