package openai_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
	"atelier/media"
	"atelier/media/wire"
)

// testDriver is a driver on a simulator, with the store of its pictures.
type testDriver struct {
	sim    *openaisim.Simulator
	driver *openai.Driver
	codec  *wire.Codec
	ctx    context.Context //nolint:containedctx // a test's scope.
}

func newTestDriver(t *testing.T) *testDriver {
	t.Helper()
	s := &testDriver{sim: openaisim.New(openaisim.Config{}), codec: wiretest.NewCodec(t)}
	srv := httptest.NewServer(s.sim)
	t.Cleanup(srv.Close)
	var err error
	s.driver, err = openai.New(openai.Config{APIKey: s.sim.Key(), BaseURL: srv.URL + "/v1", Codec: s.codec})
	if err != nil {
		t.Fatal(err)
	}
	s.ctx = media.WithScope(t.Context(), media.Scope{Tree: "run-1"})
	return s
}

func (s *testDriver) put(t *testing.T, b []byte) media.Output {
	t.Helper()
	return media.NewOutput(generatetest.Stored(s.ctx, t, s.codec, b), media.Meta{})
}

func edit(change func(*driver.Task)) driver.Task {
	return task(func(q *driver.Task) {
		q.Method = generate.MethodEdit
		change(q)
	})
}

// received is one part of a form.
type received struct{ Name, File, Type, Text string }

// form reads the form that the provider received and compares its files with the stored ones.
func form(t *testing.T, c sim.Captured, files [][]byte) []received {
	t.Helper()
	_, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	r := multipart.NewReader(bytes.NewReader(c.Body), params["boundary"])
	var got []received
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if p.FileName() != "" {
			text = "other bytes"
			if len(files) > 0 && bytes.Equal(b, files[0]) {
				text = "the file"
			}
			files = files[min(1, len(files)):]
		}
		got = append(got, received{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), text})
	}
	return got
}

func TestEditRequest(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t)
	files := [][]byte{generatetest.PNG(96, 64, 1), generatetest.JPEG(40, 30, 2), clearPNG(t, 96, 64)}
	mask := s.put(t, files[2])
	u, err := s.driver.Start(s.ctx, edit(func(q *driver.Task) {
		q.Prompt, q.N, q.Quality, q.OutputFormat, q.Compression = "bluer\r\n\r\n--“sea”", 2, "high", "webp", pointer(70)
		q.Inputs, q.Mask = []media.Output{s.put(t, files[0]), s.put(t, files[1])}, &mask
		q.Options = map[string]any{"user": "u-1"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	calls := s.sim.Captured()
	if len(calls) != 1 || calls[0].Path != "/v1/images/edits" || calls[0].Method != http.MethodPost {
		t.Fatalf("calls %+v", calls)
	}
	want := []received{
		{"model", "", "", "gpt-image-2"},
		{"n", "", "", "2"},
		{"output_compression", "", "", "70"},
		{"output_format", "", "", "webp"},
		{"prompt", "", "", "bluer\r\n\r\n--“sea”"},
		{"quality", "", "", "high"},
		{"user", "", "", "u-1"},
		{"image[]", "picture-8.png", "image/png", "the file"},
		{"image[]", "picture-9.jpeg", "image/jpeg", "the file"},
		{"mask", "picture-10.png", "image/png", "the file"},
	}
	if diff := cmp.Diff(want, form(t, calls[0], files)); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if len(u.Items) != 2 || u.Items[0].Blob == nil || u.Items[0].Blob.Width != 1536 || u.Usage.ImageInputTokens != 2*194 {
		t.Errorf("update %+v", u)
	}
}

// TestEditOfOnePicture: a single input has the field name that compatible services without lists expect.
func TestEditOfOnePicture(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t)
	files := [][]byte{generatetest.PNG(96, 64, 1)}
	_, err := s.driver.Start(s.ctx, edit(func(q *driver.Task) { q.Inputs = []media.Output{s.put(t, files[0])} }))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, part := range form(t, s.sim.Captured()[0], files) {
		if part.File != "" {
			names = append(names, part.Name)
		}
	}
	if !slices.Equal(names, []string{"image"}) {
		t.Errorf("files %q", names)
	}
}

func TestEditPreviews(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t)
	previews := 0
	u, err := s.driver.Start(s.ctx, edit(func(q *driver.Task) {
		q.Inputs = []media.Output{s.put(t, generatetest.PNG(64, 96, 1))}
		q.Partial = func(int, media.Blob) { previews++ }
	}))
	if err != nil || previews != 2 || len(u.Items) != 1 || u.Items[0].Blob == nil || u.Items[0].Blob.Digest != s.sim.Sent()[0] {
		t.Errorf("%d previews, %+v, %v", previews, u, err)
	}
}

// TestEditFaults: an edit fails like a generation.
func TestEditFaults(t *testing.T) {
	t.Parallel()
	for fault, code := range map[sim.Fault]media.Code{
		sim.FaultUnauthorized: media.CodeUnauthorized, sim.FaultRateLimit: media.CodeRateLimited,
		sim.FaultDropped: media.CodeUnavailable, sim.FaultHalfBody: media.CodeBadResponse, sim.FaultQuota: media.CodeQuotaExceeded,
	} {
		s := newTestDriver(t)
		s.sim.Inject(sim.Injection{Fault: fault})
		_, err := s.driver.Start(s.ctx, edit(func(q *driver.Task) { q.Inputs = []media.Output{s.put(t, generatetest.PNG(64, 64, 1))} }))
		if media.CodeOf(err) != code || len(s.sim.Captured()) != 1 {
			t.Errorf("%s: %v after %d calls, want %s", fault, err, len(s.sim.Captured()), code)
		}
	}
}

// TestEditsThatDoNotLeave: nothing is sent for a picture that does not exist, or without the scope that the picture
// needs.
func TestEditsThatDoNotLeave(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t)
	stored := s.put(t, generatetest.PNG(64, 64, 1))
	missing := media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}, media.Meta{})
	for name, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a case's scope.
		in   media.Output
		code media.Code
	}{
		"no bytes": {s.ctx, missing, media.CodeNotFound},
		"no scope": {t.Context(), stored, media.CodeForbidden},
	} {
		_, err := s.driver.Start(c.ctx, edit(func(q *driver.Task) { q.Inputs = []media.Output{c.in} }))
		if media.CodeOf(err) != c.code || len(s.sim.Captured()) != 0 {
			t.Errorf("%s: %v after %d calls, want %s", name, err, len(s.sim.Captured()), c.code)
		}
	}
}

// TestSimulatorRefuses proves that the simulator checks files as the endpoint does.
func TestSimulatorRefuses(t *testing.T) {
	t.Parallel()
	good := generatetest.PNG(64, 64, 1)
	gifLike := []byte("GIF89a\x40\x00\x40\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x40\x00\x40\x00\x00\x02\x02\x44\x01\x00\x3b")
	for name, c := range map[string]struct {
		inputs [][]byte
		mask   []byte
		says   string
	}{
		"type":           {[][]byte{gifLike}, nil, "mimetype"},
		"mask size":      {[][]byte{good}, clearPNG(t, 32, 32), "size does not match"},
		"mask of opaque": {[][]byte{good}, generatetest.PNG(64, 64, 2), "RGBA"},
		"too many":       {make([][]byte, 17), nil, "maximum length 16"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestDriver(t)
			_, err := s.driver.Start(s.ctx, edit(func(q *driver.Task) {
				for _, b := range c.inputs {
					if b == nil {
						b = good
					}
					q.Inputs = append(q.Inputs, s.put(t, b))
				}
				if c.mask != nil {
					o := s.put(t, c.mask)
					q.Mask = &o
				}
			}))
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v (%s), want %q", err, media.CodeOf(err), c.says)
			}
		})
	}
}

// TestEditOutsideOfARun: a program that sets no scope can edit its own pictures.
func TestEditOutsideOfARun(t *testing.T) {
	t.Parallel()
	service := openaisim.New(openaisim.Config{})
	srv := httptest.NewServer(service)
	t.Cleanup(srv.Close)
	codec := wiretest.NewCodec(t)
	d, err := openai.New(openai.Config{APIKey: service.Key(), BaseURL: srv.URL + "/v1", Codec: codec, Base: srv.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{d}, Storage: codec})
	if err != nil {
		t.Fatal(err)
	}
	made, err := g.Generate(t.Context(), generate.Request{Prompt: "a boat"})
	if err != nil || made.Err() != nil {
		t.Fatalf("%v, %v", err, made.Err())
	}
	edited, err := g.Generate(t.Context(), generate.Request{Method: generate.MethodEdit, Prompt: "bluer", Inputs: made.Outputs()})
	if err != nil || edited.Err() != nil || len(edited.Outputs()) != 1 {
		t.Errorf("%v, %v", err, edited.Err())
	}
}
