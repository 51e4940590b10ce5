// Package wire keeps media bytes out of everything that is not the blob store. It
// lifts base64 out of byte streams on their way in, and lowers it back into them on
// their way out.
//
// A provider's answer passes through [Codec.Transport] or [Codec.LiftReader]: media
// in JSON, NDJSON and server-sent events is decoded and hashed into the blob store
// while it is read, and a signed token of about 180 characters stands in its
// place. A request's tokens become base64 (or, in multipart bodies, bytes) streamed
// from the store. So SDKs and drivers handle text only, and memory per item is
// O(64 KiB) whatever its size.
//
// A token is base64 of a marker:
//
//	atelier-blob/1 <hex digest> <size> <mime> <variant> <kid> <mac>
//
// It is signed for one scope, the run tree in the request's context, and lowered
// only in value position: a whole JSON string, what follows ";base64,", or a whole
// multipart part. In prose it stays text. Drivers take media from the request's
// [Collector], never from a token that they did not see lifted.
//
// An item that cannot be taken (over a limit, full disk, cut off by a line end)
// fails alone: a tombstone stands in its place and its [Lifted] has the error.
//
// Errors are [media.Error] values: too_large, forbidden (a token of another scope
// or a forged one), not_found, disk_full, corrupt, bad_response; a source that ends inside
// media is io.ErrUnexpectedEOF. The package may import media, blob and probe.
package wire
