package relay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
)

// recall answers a request, which is not sent, with what is kept.
func (t *Transport) recall(req *http.Request, id string) (*http.Response, error) {
	res, err := t.kept(req, id)
	return res, errors.Join(err, closed(req))
}

// taken is the answer to a request that was made, from the folder. It is cut where nobody waited for it
// any more.
func (t *Transport) taken(req *http.Request, id string) (*http.Response, error) {
	res, err := t.kept(req, id)
	if why := context.Cause(req.Context()); err == nil && why != nil && res.Body.(*keptBody).cut {
		return nil, errors.Join(why, res.Body.Close())
	}
	return res, err
}

// kept is the answer to a request in the folder.
func (t *Transport) kept(req *http.Request, id string) (*http.Response, error) {
	a, f, err := t.relay.spool.open(id)
	switch {
	case err != nil:
		left(req.Context())
		return nil, err
	case a.Failed != "":
		return nil, a.failure(req.Context())
	}
	left(req.Context())
	return &http.Response{
		Status: strconv.Itoa(a.Status) + " " + http.StatusText(a.Status), StatusCode: a.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header(a.Header), ContentLength: -1, Request: req, Body: &keptBody{f, a.Cut != ""},
	}, nil
}

// keptBody reads a kept body, and ends as that ended.
type keptBody struct {
	file *os.File // not embedded: what it can do besides knows nothing of cut
	cut  bool
}

// Read implements io.Reader.
func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.file.Read(p)
	if errors.Is(err, io.EOF) && b.cut {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements io.Closer.
func (b *keptBody) Close() error { return b.file.Close() }

// failure is the error of a call without an answer.
func (a answer) failure(ctx context.Context) error {
	if a.Left {
		left(ctx)
	}
	return errors.New(a.Failed)
}
