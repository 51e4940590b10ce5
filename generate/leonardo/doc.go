// Package leonardo is the driver for Leonardo.Ai's own image models: Phoenix, Lucid,
// Anime XL, Kino XL and their family, on version 1 of the production API.
//
// A call makes a generation of up to four pictures: POST /generations, then GET of
// the generation, then links that everybody can open and that last. A picture to start
// from is uploaded first: the API names a storage host and a form that is good for two
// minutes, and the picture goes there as a file, without the key. Generations cannot
// be cancelled.
//
// What is safe to repeat, so Retryable: a request that never left, everything before
// the generation is asked for, 429, and 500 or 503 with the API's own error, because
// no generation was made. What is not: a connection lost after the generation was asked
// for, an answer cut in the middle, a page of a proxy. A bad key can come as status
// 500; the words tell.
//
// The account's generations are listed, for the Gateway to find one whose name was lost. The
// API takes no key of ours, so they are told apart by their seeds and all else that is told.
//
// The webhook belongs to the key, not to the request: its address and its bearer are
// set where the key is made. Only good ends are told, and the calls carry the API key
// and the bearer in their body, of which nothing is kept.
//
// Errors are media.Error values: unauthorized, forbidden, quota_exceeded, not_found
// (model or generation), rate_limited, invalid, unavailable, bad_response. It may
// import generate, generate/internal/post, media and wire; no other driver.
package leonardo
