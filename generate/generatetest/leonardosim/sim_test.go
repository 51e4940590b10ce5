package leonardosim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/generate/generatetest/leonardosim"
)

// TestSchema: the simulator checks the fields and limits of the published schema.
func TestSchema(t *testing.T) {
	t.Parallel()
	sim := leonardosim.New(leonardosim.Config{})
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	const phoenix, anime, lucid = "de7d3faf-762f-48e0-b3b7-9d0ac3a3fcf3", "e71a1c2f-4f80-4800-934f-2c68979d8cc8", "7b592283-e8a7-4c5a-9ba6-d18c31f258b9"
	for body, want := range map[string]string{
		`{"prompt":"x","modelId":"` + anime + `"}`:                                                         "",
		`{"prompt":"x","modelId":"` + phoenix + `","contrast":3.5}`:                                        "",
		`{"prompt":"x","modelId":"` + phoenix + `"}`:                                                       "validation-failed",
		`{"prompt":"x","modelId":"` + phoenix + `","contrast":1.3}`:                                        "validation-failed",
		`{"prompt":"x","modelId":"` + phoenix + `","contrast":1.3,"alchemy":false}`:                        "",
		`{"prompt":"x","modelId":"` + phoenix + `","contrast":3.5,"ultra":true}`:                           "validation-failed",
		`{"prompt":"x","modelId":"` + lucid + `","alchemy":true}`:                                          "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","num_images":8,"width":768,"height":768}`:                 "",
		`{"prompt":"x","modelId":"` + anime + `","num_images":5}`:                                          "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","width":1028}`:                                            "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","width":1544}`:                                            "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","presetStyle":"moody"}`:                                   "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","init_image_id":"nobody"}`:                                "not-exists",
		`{"prompt":"x","modelId":"` + anime + `","init_strength":0.5}`:                                     "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","image":"x"}`:                                             "validation-failed",
		`{"prompt":"x","modelId":"someone"}`:                                                               "not-exists",
		`{"prompt":"","modelId":"` + anime + `"}`:                                                          "validation-failed",
		`{"prompt":"` + strings.Repeat("x", 1501) + `","modelId":"` + anime + `"}`:                         "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","guidance_scale":21}`:                                     "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","num_inference_steps":9}`:                                 "validation-failed",
		`{"prompt":"x","modelId":"` + anime + `","transparency":"foreground_only","scheduler":"LEONARDO"}`: "",
		`{"prompt":"x","modelId":"` + anime + `","seed":-1}`:                                               "validation-failed",
		`{"prompt":`: "parse-failed",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/api/rest/v1/generations", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+sim.Key())
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Error, Path, Code string }
		err = json.NewDecoder(res.Body).Decode(&got)
		_ = res.Body.Close() // already read
		if err != nil || got.Code != want || (res.StatusCode == http.StatusOK) != (want == "") {
			t.Errorf("%.90s: %d %+v, %v; want %q", body, res.StatusCode, got, err, want)
		}
	}
}
