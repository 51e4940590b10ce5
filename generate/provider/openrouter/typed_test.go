package openrouter_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/provider/openrouter"
	"atelier/media"
)

// TestTypedImages: a row that is served via images calls the typed endpoint with the fields of its settings. The cost
// and the type are those of the answer; a missing type is sniffed.
func TestTypedImages(t *testing.T) {
	t.Parallel()
	picture := generatetest.PNG(64, 48, 3)
	raw, err := json.Marshal(picture)
	if err != nil {
		t.Fatal(err)
	}
	const usage = `"usage":{"prompt_tokens":5,"completion_tokens":1537,"cost":0.03422675,"is_byok":true,"completion_tokens_details":{"image_tokens":1120},"cost_details":{"upstream_inference_cost":0.0336}}`
	for name, c := range map[string]struct{ body, declared string }{
		"a type":  {`{"created":0,"data":[{"b64_json":` + string(raw) + `,"media_type":"image/png"}],` + usage + `}`, "image/png"},
		"no type": {"\n\n  " + `{"created":0,"data":[{"b64_json":` + string(raw) + `}],` + usage + `}`, ""},
	} {
		base := &requestRecorder{next: generatetest.Answer{Status: http.StatusOK, Type: "application/json", Body: c.body}}
		d, err := openrouter.New(openrouter.Config{APIKey: "k", Codec: wiretest.NewCodec(t), Base: base})
		if err != nil {
			t.Fatal(err)
		}
		seed := int64(7)
		u, err := d.Start(t.Context(), driver.Task{
			Prompt: "a fox", N: 2, AspectRatio: "16:9", Tier: "2K", Background: "transparent", Seed: &seed,
			Model: catalog.Model{Provider: "openrouter", APIModel: "a/b", Via: "images", Modality: media.ModalityImage},
		})
		if err != nil || len(u.Items) != 1 || u.Items[0].Blob == nil || u.Items[0].Blob.Width != 64 || u.Items[0].DeclaredMIME != c.declared {
			t.Fatalf("%s: %+v, %v", name, u, err)
		}
		if u.ReportedUSD != "0.06782675" || u.Metadata["upstream_usd"] != "0.0336" || u.Usage.ImageOutputTokens != 1120 {
			t.Errorf("%s: cost %q, %+v, %v", name, u.ReportedUSD, u.Usage, u.Metadata)
		}
		if want := `{"aspect_ratio":"16:9","background":"transparent","model":"a/b","n":2,"prompt":"a fox","resolution":"2K","seed":7}`; strings.TrimSpace(base.body) != want || base.path != "/api/v1/images" {
			t.Errorf("%s: %s %s", name, base.path, base.body)
		}
	}
}
