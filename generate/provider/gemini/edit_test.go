package gemini_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/provider/gemini"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

func TestEditSendsPicturesBeforeTheWords(t *testing.T) {
	t.Parallel()
	sim, codec := geminisim.New(geminisim.Config{}), wiretest.NewCodec(t)
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	d, err := gemini.New(gemini.Config{APIKey: sim.Key(), BaseURL: srv.URL, Codec: codec})
	if err != nil {
		t.Fatal(err)
	}
	ctx := media.WithScope(t.Context(), media.Scope{Tree: "run-1"})
	files := [][]byte{generatetest.PNG(64, 48, 1), generatetest.JPEG(40, 30, 2)}
	q := task(func(q *driver.Task) {
		q.Method, q.Prompt, q.AspectRatio = generate.MethodEdit, "put both on a table", ""
	})
	for _, f := range files {
		q.Inputs = append(q.Inputs, media.NewOutput(generatetest.Stored(ctx, t, codec, f), media.Meta{}))
	}
	u, err := d.Start(ctx, q)
	if err != nil || len(u.Items) != 1 || u.Items[0].Blob == nil || u.Usage.ImageInputTokens != 2*560 {
		t.Fatalf("update %+v, %v", u, err)
	}
	var body struct {
		Contents []struct {
			Role  string
			Parts []map[string]any
		}
		GenerationConfig map[string]any
	}
	if err := json.Unmarshal(sim.Captured()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	inline := func(mime string, b []byte) map[string]any {
		return map[string]any{"inlineData": map[string]any{"mimeType": mime, "data": base64.StdEncoding.EncodeToString(b)}}
	}
	want := []map[string]any{inline("image/png", files[0]), inline("image/jpeg", files[1]), {"text": "put both on a table"}}
	if diff := cmp.Diff(want, body.Contents[0].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%.600s", diff)
	}
	if body.GenerationConfig["imageConfig"] != nil {
		t.Errorf("an edit without size asks for %v", body.GenerationConfig)
	}
	missing := media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}, media.Meta{})
	q.Inputs = append(q.Inputs, missing)
	if _, err := d.Start(ctx, q); media.CodeOf(err) != media.CodeNotFound || len(sim.Captured()) != 1 {
		t.Errorf("a picture that is not there: %v after %d calls", err, len(sim.Captured()))
	}
}
