package client

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"atelier/api"
	"atelier/media"
)

// StoreMedia writes the form while the request reads it.
func (c mediaItems) StoreMedia(ctx context.Context, r io.Reader, u api.Upload) (api.Media, error) {
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	read := make(chan error, 1)
	go func() {
		err := writeForm(form, r, u)
		pw.CloseWithError(err)
		read <- err
	}()
	var m api.Media
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/media", pr)
	if err == nil {
		req.Header.Set("Content-Type", form.FormDataContentType())
		m, err = decoded[api.Media](c.do(req)) //nolint:bodyclose // decoded closes the body
	}
	_ = pr.CloseWithError(io.ErrClosedPipe) // ends a form that nobody reads
	if unread := <-read; unread != nil && !errors.Is(unread, io.ErrClosedPipe) {
		return m, media.Errorf(media.CodeInvalid, "read the upload: %w", unread)
	}
	return m, err
}

// writeForm writes an upload as a multipart form.
func writeForm(form *multipart.Writer, r io.Reader, u api.Upload) error {
	if u.Label != "" {
		if err := form.WriteField("label", u.Label); err != nil {
			return err
		}
	}
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition("file", u.FileName))
	if u.MIMEType != "" {
		h.Set("Content-Type", u.MIMEType)
	}
	p, err := form.CreatePart(h)
	if err != nil {
		return err
	}
	if _, err := io.Copy(p, r); err != nil {
		return err // the server rejects a form without an end
	}
	return form.Close()
}

func (c mediaItems) FetchMedia(ctx context.Context, address string) (api.Media, error) {
	return sendJSON[api.Media](ctx, c.transport, request{method: http.MethodPost, path: "/api/media", body: api.Link{URL: address}})
}

func (c mediaItems) ListMedia(ctx context.Context, q api.MediaQuery) (api.List[api.Media], error) {
	return list[api.Media](ctx, c.transport, "/api/media", q)
}

func (c mediaItems) Media(ctx context.Context, id string) (api.MediaDetails, error) {
	return get[api.MediaDetails](ctx, c.transport, at("/api/media/", id, ""))
}

func (c mediaItems) LabelMedia(ctx context.Context, id string, change api.MediaChange) (api.Media, error) {
	return sendJSON[api.Media](ctx, c.transport, request{method: http.MethodPatch, path: at("/api/media/", id, ""), body: change})
}

func (c mediaItems) DeleteMedia(ctx context.Context, id string) (time.Time, error) {
	d, err := sendJSON[api.Deleted](ctx, c.transport, request{method: http.MethodDelete, path: at("/api/media/", id, "")})
	return d.UndoUntil, err
}

func (c mediaItems) RestoreMedia(ctx context.Context, id string) (api.Media, error) {
	return sendJSON[api.Media](ctx, c.transport, request{method: http.MethodPost, path: at("/api/media/", id, "/restore")})
}

// OpenMedia requests the first byte, for the header of the response. Open of the result requests the others.
func (c mediaItems) OpenMedia(ctx context.Context, id string, width int) (api.Content, error) {
	r := request{method: http.MethodGet, path: at("/media/", id, ""), header: http.Header{"Range": {"bytes=0-0"}}}
	if width != 0 {
		r.query = url.Values{"w": {strconv.Itoa(width)}}
	}
	res, err := c.send(ctx, r)
	if err != nil {
		return api.Content{}, err
	}
	if err := res.Body.Close(); err != nil {
		return api.Content{}, broken(ctx, "GET "+r.path, err)
	}
	out := api.Content{MIMEType: res.Header.Get("Content-Type")}
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil {
		out.FileName = params["filename"]
	}
	_, size, _ := strings.Cut(res.Header.Get("Content-Range"), "/")
	var unread error
	out.Size, unread = strconv.ParseInt(size, 10, 64)
	if out.Digest, err = media.ParseDigest(strings.Trim(res.Header.Get("ETag"), `"`)); err != nil || unread != nil {
		return out, media.Errorf(media.CodeBadResponse, "GET %s: the response has no digest or no size", r.path)
	}
	out.Open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		end := out.Size
		if length >= 0 && length < end-offset {
			end = offset + length
		}
		if offset < 0 {
			return nil, media.Errorf(media.CodeInvalid, "the offset is %d: use 0 or more", offset)
		}
		if offset >= end {
			return http.NoBody, nil
		}
		r := r // requests share no header
		r.header = http.Header{"Range": {"bytes=" + strconv.FormatInt(offset, 10) + "-" + strconv.FormatInt(end-1, 10)}}
		res, err := c.send(ctx, r)
		if err != nil {
			return nil, err
		}
		if res.StatusCode != http.StatusPartialContent {
			_ = res.Body.Close() // the body is not used
			return nil, media.Errorf(media.CodeBadResponse, "GET %s: the server responded to a range request with %s", r.path, res.Status)
		}
		return &download{ReadCloser: res.Body, ctx: ctx, path: r.path}, nil
	}
	return out, nil
}

// download adds error codes to the errors of a body.
type download struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // the context of one download
	path string
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = broken(d.ctx, "GET "+d.path, err)
	}
	return n, err
}

func (c mediaItems) WriteArchive(ctx context.Context, ids []string, w io.Writer) error {
	const path = "/api/media/zip"
	return c.copy(ctx, request{method: http.MethodGet, path: path, query: url.Values{"ids": {strings.Join(ids, ",")}}}, w)
}
