package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"atelier/media"
	"atelier/media/probe"
)

// Transport returns a round tripper that lowers requests and lifts answers. Tokens belong to the run tree in the
// context of the request; without a run tree, tokens cannot be lowered.
//
// JSON and multipart requests are planned before anything is sent: an invalid token or a missing blob is an error, and
// no request is made. Such requests have a length and can be sent again (GetBody).
//
// Answers in JSON, NDJSON, event streams and plain text are lifted. An answer that is media, by its type or its first
// bytes, is stored as a whole, and its body becomes its token. An answer that begins like JSON is lifted whatever its
// type is. All items are reported to the [Collector] of the context. Gzip is decoded although identity is requested. If
// the status is 400 or above, nothing is lifted, and the client reads the decoded body; before it is shown or stored,
// it must pass through [media.ErrorText].
//
// Retries by the client itself must be off, because this package does not know what is billed.
func (c *Codec) Transport(base http.RoundTripper, f Fields) http.RoundTripper {
	return &transport{codec: c, base: base, fields: f, lower: true}
}

// LiftTransport is like [Codec.Transport], but does not change request bodies. It is for clients that sign the body
// before they send it.
func (c *Codec) LiftTransport(base http.RoundTripper, f Fields) http.RoundTripper {
	return &transport{codec: c, base: base, fields: f}
}

type transport struct {
	codec  *Codec
	base   http.RoundTripper
	fields Fields
	lower  bool
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	out := req.Clone(ctx)
	out.Header.Set("Accept-Encoding", "identity")
	if t.lower && req.Body != nil && req.Body != http.NoBody {
		if err := t.lowerRequest(ctx, req, out); err != nil {
			return nil, errors.Join(err, req.Body.Close())
		}
	}
	res, err := t.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if err := t.liftResponse(ctx, res); err != nil {
		return nil, errors.Join(err, res.Body.Close())
	}
	return res, nil
}

// lowerRequest replaces the body of out, if its type is one that can contain tokens.
func (t *transport) lowerRequest(ctx context.Context, req, out *http.Request) error {
	kind, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	multipart := strings.HasPrefix(kind, "multipart/") && params["boundary"] != ""
	if err != nil || !multipart && !isJSON(kind) {
		return nil //nolint:nilerr // a body of an unknown type is not lowered
	}
	if req.Header.Get("Content-Encoding") != "" {
		return nil
	}
	limit := t.codec.cfg.MaxBodyBytes
	body, err := io.ReadAll(io.LimitReader(req.Body, limit+1))
	if err != nil {
		return err
	}
	if int64(len(body)) > limit {
		return media.Errorf(media.CodeTooLarge, "the request body is over %d bytes: pass media by ref, or raise wire Config.MaxBodyBytes", limit)
	}
	if err := req.Body.Close(); err != nil {
		return err
	}
	scope := media.ScopeOf(ctx).Tree
	var plan *Lowered
	if multipart {
		plan, err = t.codec.LowerMultipart(ctx, scope, body, params["boundary"])
	} else {
		plan, err = t.codec.Lower(ctx, scope, body)
	}
	if err != nil {
		return err
	}
	out.ContentLength = plan.Size()
	out.Header.Del("Content-Length")
	out.TransferEncoding = nil
	out.Body = plan.Open()
	out.GetBody = func() (io.ReadCloser, error) { return plan.Open(), nil }
	return nil
}

// liftResponse replaces the body of an answer by the reader for its type.
func (t *transport) liftResponse(ctx context.Context, res *http.Response) error {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(res.Header.Get("Content-Type")), ";")
		kind = strings.TrimSpace(kind)
	}
	failed := res.StatusCode >= http.StatusBadRequest
	if res.Body == nil || res.Body == http.NoBody || res.Request != nil && res.Request.Method == http.MethodHead {
		return nil
	}
	known := isJSON(kind) || isMedia(kind) || kind == "" || kind == "text/plain"
	if err := inflate(res); err != nil || failed {
		if failed || !known {
			return nil // the body of a failure, or of an unknown type, is not read here
		}
		return err
	}
	if streams(kind) {
		res.Body = t.codec.LiftReader(ctx, res.Body, LiftOptions{Fields: t.fields})
	} else {
		res.Body = &sniffedBody{src: res.Body, choose: func(head []byte, body io.ReadCloser) io.ReadCloser {
			switch {
			case isMedia(kind) || looksLikeMedia(head):
				return t.wholeBody(ctx, body, res.Header.Get("Content-Type"))
			case known || bytes.IndexAny(bytes.TrimLeft(head, " \t\r\n"), "{[") == 0: // the body begins like JSON
				return t.codec.LiftReader(ctx, body, LiftOptions{Fields: t.fields})
			}
			return body
		}}
	}
	res.ContentLength = -1
	res.Header.Del("Content-Length")
	if known { // most other bodies pass unchanged
		for _, h := range []string{"ETag", "Digest", "Content-MD5", "Content-Digest", "Repr-Digest"} {
			res.Header.Del(h)
		}
	}
	return nil
}

// isJSON reports whether a type is JSON, NDJSON or an event stream.
func isJSON(kind string) bool {
	switch kind {
	case "application/json", "text/json", "text/event-stream", "application/x-ndjson", "application/ndjson",
		"application/jsonl", "application/x-jsonlines", "application/json-seq", "application/stream+json":
		return true
	}
	return strings.HasSuffix(kind, "+json")
}

// isMedia reports whether a body of this type is one item.
func isMedia(kind string) bool {
	top, _, _ := strings.Cut(kind, "/")
	return top == "image" || top == "audio" || top == "video" || kind == "application/pdf"
}

// inflate decodes gzip that is sent although identity was requested, and returns an error for other encodings.
func inflate(res *http.Response) error {
	switch enc := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		res.Body = &inflater{src: res.Body}
		res.Header.Del("Content-Encoding")
		res.Uncompressed = true
		return nil
	default:
		return media.Errorf(media.CodeBadResponse, "the response is encoded as %q although identity was requested: it cannot be read", enc)
	}
}

// inflater starts decoding at the first Read, so that the headers of the answer are not delayed.
type inflater struct {
	src io.ReadCloser
	zip *gzip.Reader
}

func (i *inflater) Read(p []byte) (int, error) {
	if i.zip == nil {
		z, err := gzip.NewReader(i.src)
		if err != nil {
			return 0, err
		}
		i.zip = z
	}
	return i.zip.Read(p)
}

func (i *inflater) Close() error { return i.src.Close() }

// streams reports whether a type is a stream, whose first bytes are not awaited.
func streams(kind string) bool {
	return kind == "text/event-stream" || strings.Contains(kind, "ndjson") || strings.HasSuffix(kind, "jsonl") || strings.HasSuffix(kind, "jsonlines") ||
		kind == "application/json-seq" || kind == "application/stream+json"
}

// headBytes is the number of bytes of a body that are examined to determine what it contains.
const headBytes = 512

// looksLikeMedia reports whether a body begins like a picture, audio or a video.
func looksLikeMedia(head []byte) bool {
	if !probe.Media(head) {
		return false
	}
	m := media.ModalityOf(probe.Head(head).MIMEType)
	return m == media.ModalityImage || m == media.ModalityAudio || m == media.ModalityVideo
}

// sniffedBody examines the first bytes at the first Read, and chooses the reader of the body.
type sniffedBody struct {
	src    io.ReadCloser
	choose func(head []byte, body io.ReadCloser) io.ReadCloser
	body   atomic.Pointer[io.ReadCloser] // the body may be closed while it is read
}

func (s *sniffedBody) Read(p []byte) (int, error) {
	if s.body.Load() == nil {
		head, rest := make([]byte, headBytes), io.Reader(s.src)
		n := 0
		for n < len(head) {
			more, err := s.src.Read(head[n:])
			n += more
			if err != nil {
				rest = failing{err}
				break
			}
		}
		body := s.choose(head[:n], joined{io.MultiReader(bytes.NewReader(head[:n]), rest), s.src})
		s.body.Store(&body)
	}
	return (*s.body.Load()).Read(p)
}

func (s *sniffedBody) Close() error {
	if body := s.body.Load(); body != nil {
		return (*body).Close()
	}
	return s.src.Close()
}

// joined combines a reader with the closer of another reader.
type joined struct {
	io.Reader
	io.Closer
}

// failing is a reader that returns the error that ended a body.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// wholeBody stores a body and returns a reader of its token.
func (t *transport) wholeBody(ctx context.Context, src io.ReadCloser, kind string) io.ReadCloser {
	b, err := t.codec.Store(ctx, src, kind)
	if err != nil {
		return joined{failing{err}, src}
	}
	l := Lifted{Blob: b, Variant: VariantStd, Token: t.codec.Token(media.ScopeOf(ctx).Tree, b, VariantStd)}
	l.report(collectorOf(ctx), nil)
	return joined{strings.NewReader(l.Token), src}
}
