// Package wire keeps media bytes in the blob store and out of everything else. It lifts base64 out of incoming byte
// streams and lowers it into outgoing ones.
//
// The answer of a provider passes through [Codec.Transport] or [Codec.LiftReader]. Media in JSON, NDJSON and
// server-sent events is decoded, hashed and written to the blob store while it is read. A signed token of about 180
// characters replaces it in the stream. The tokens of a request are replaced by base64 (in multipart bodies: by bytes),
// which is streamed from the store. SDKs and drivers therefore handle text only, and the memory per item is O(64 KiB),
// whatever its size.
//
// A token is the base64 of a marker:
//
//	atelier-blob/1 <hex digest> <size> <mime> <variant> <kid> <mac>
//
// It is signed for one scope, which is the run tree in the context of the request. It is lowered only in value
// position: as a whole JSON string, after ";base64,", or as a whole multipart part. Anywhere else it remains text.
// Drivers take media from the [Collector] of the request, and never from a token that was not lifted there.
//
// An item that cannot be stored (it exceeds a limit, the disk is full, or a line break cuts it off) does not affect
// other items: a tombstone replaces it, and its [Lifted] contains the error.
//
// Errors are [media.Error] values: invalid (a wrong configuration, an empty item), too_large, forbidden (a token that
// is forged or of another scope), not_found, disk_full, corrupt, bad_response, unsupported. Errors of a source are
// returned unchanged. If a source ends inside media, the error is io.ErrUnexpectedEOF. The package may import media,
// blob, probe and github.com/emmansun/base64.
package wire
