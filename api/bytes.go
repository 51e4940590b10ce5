package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atelier/media"
)

// Widths lists the widths of thumbnails, in pixels. Arbitrary widths would let clients fill the disk. The smallest is a
// placeholder while the picture loads.
var Widths = []int{16, 160, 320, 640, 1280, 2048}

// registerBytes registers the operations for media bytes.
func (m mediaResource) registerBytes(rt *routes) {
	widths := &huma.Schema{Type: huma.TypeInteger}
	for _, w := range Widths {
		widths.Enum = append(widths.Enum, w)
	}
	body := map[string]*huma.MediaType{"*/*": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	rt.stream(huma.Operation{
		Method: http.MethodGet, Path: "/media/{id}", Summary: "Read media", Tags: []string{"media"},
		Description: "The bytes. Range and conditional requests are supported. The bytes never change: the ETag is their digest.",
		Parameters: []*huma.Param{
			{Name: "w", In: "query", Description: "Return a thumbnail of this width. Small pictures are not enlarged.", Schema: widths},
			{Name: "download", In: "query", Description: "1 makes browsers save the file.", Schema: &huma.Schema{Type: huma.TypeString}},
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "The bytes.", Content: body}, "206": {Description: "The requested bytes.", Content: body},
			"304": {Description: "Not modified."}, "416": {Description: "The range is outside of the bytes."},
		},
	}, m.read)
}

func (m mediaResource) read(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	width, err := widthOf(q.Get("w"))
	if err != nil {
		return err
	}
	c, err := m.media.OpenMedia(r.Context(), r.PathValue("id"), width)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", c.MIMEType)
	h.Set("ETag", `"`+c.Digest.String()+`"`)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("Content-Disposition", disposition(c.FileName, q.Get("download") == "1"))
	if !inert(c.MIMEType) {
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
	}
	in := &seeker{ctx: r.Context(), c: c}
	defer in.close()
	http.ServeContent(&plainErrors{ResponseWriter: w, r: r}, r, "", time.Time{}, in)
	return nil
}

// widthOf parses a thumbnail width; it returns 0 for empty text.
func widthOf(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	e := media.Errorf(media.CodeInvalid, "w is %.20q: thumbnails are 16, 160, 320, 640, 1280 or 2048 pixels wide", media.ErrorText(text))
	for _, w := range Widths {
		valid := strconv.Itoa(w)
		if valid == text {
			return w, nil
		}
		e.Valid = append(e.Valid, valid)
	}
	return 0, e
}

// disposition returns a Content-Disposition with a file name in any script.
func disposition(name string, download bool) string {
	kind := "inline"
	if download {
		kind = "attachment"
	}
	if d := mime.FormatMediaType(kind, map[string]string{"filename": name}); name != "" && d != "" {
		return d
	}
	return kind
}

// plainErrors converts the text errors of http.ServeContent to problems.
type plainErrors struct {
	http.ResponseWriter
	r      *http.Request
	failed bool
}

func (p *plainErrors) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		p.ResponseWriter.WriteHeader(status)
		return
	}
	p.failed = true
	problem := newProblem(status, media.CodeInvalid, fmt.Sprintf("the Range %.80q is outside of these bytes", media.ErrorText(p.r.Header.Get("Range"))))
	if status == http.StatusPreconditionFailed {
		problem = newProblem(status, media.CodeVersion, "the bytes do not have the ETag in If-Match")
	}
	writeProblem(p.ResponseWriter, p.r, problem)
}

func (p *plainErrors) Write(b []byte) (int, error) {
	if p.failed {
		return len(b), nil
	}
	return p.ResponseWriter.Write(b)
}

// ReadFrom lets the underlying writer copy the data, with sendfile if the item is a file.
func (p *plainErrors) ReadFrom(src io.Reader) (int64, error) {
	if p.failed {
		return io.Copy(io.Discard, src)
	}
	var s *seeker
	l, limited := src.(*io.LimitedReader)
	if limited {
		s, _ = l.R.(*seeker)
	}
	if s == nil {
		return io.Copy(p.ResponseWriter, src)
	}
	in, err := s.reader()
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(p.ResponseWriter, &io.LimitedReader{R: in, N: l.N})
	s.at, l.N = s.at+n, l.N-n
	return n, err
}

// seeker implements io.ReadSeeker on an item, for one request.
type seeker struct {
	ctx  context.Context //nolint:containedctx // io.Seeker has no context parameter; the seeker lives for one request
	c    Content
	at   int64
	open io.ReadCloser
}

func (s *seeker) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.c.Size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start")
	}
	if offset != s.at {
		s.close()
		s.at = offset
	}
	return offset, nil
}

func (s *seeker) Read(p []byte) (int, error) {
	in, err := s.reader()
	if err != nil {
		return 0, err
	}
	n, err := in.Read(p)
	s.at += int64(n)
	return n, err
}

// reader returns a reader that continues at the current offset.
func (s *seeker) reader() (_ io.Reader, err error) {
	if s.open == nil {
		s.open, err = s.c.Open(s.ctx, s.at, -1)
	}
	return s.open, err
}

func (s *seeker) close() {
	if s.open != nil {
		_ = s.open.Close() // read-only
		s.open = nil
	}
}

// inert reports whether browsers show a type without executing it. PDF has its own viewer, which does not start in a
// sandbox.
func inert(mimeType string) bool {
	kind, _, _ := strings.Cut(mimeType, "/")
	return kind == "image" && mimeType != "image/svg+xml" || kind == "audio" || kind == "video" || mimeType == "application/pdf"
}
