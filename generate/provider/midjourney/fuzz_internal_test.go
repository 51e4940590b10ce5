package midjourney

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// FuzzTask: whatever a proxy answers about a task, the update keeps the contract and holds no media, and its metadata
// allows a follow-up.
func FuzzTask(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","status":"SUCCESS","imageUrl":"https://x/y.png","buttons":[{"customId":"MJ::JOB::upsample::1::h"}]}`,
		`{"id":1,"status":"FAILURE","failReason":"` + strings.Repeat("iVBORw0KGgo", 20) + `"}`,
		`{"status":"SUCCESS","imageUrls":[{"url":"a"},{"url":"b"}],"properties":{"finalPrompt":"x"}}`,
		`null`, ``, `{"status":"IN_PROGRESS","progress":"1e309%"}`, `{"status":"CANCEL","buttons":{}}`,
	} {
		f.Add(seed)
	}
	d, err := New(Config{BaseURL: "https://proxy.example", Codec: wiretest.NewCodec(f)})
	if err != nil {
		f.Fatal(err)
	}
	rows, err := catalog.Load()
	if err != nil {
		f.Fatal(err)
	}
	row, _ := rows.Lookup("Midjourney")
	f.Fuzz(func(t *testing.T, body string) {
		var s report
		if json.Unmarshal([]byte(body), &s) != nil {
			return
		}
		q := driver.Task{Model: row, N: 1}
		u := d.update(q, driver.Handle{}, s)
		if u.Done != (len(u.Items) > 0) || !(u.Progress >= -1 && u.Progress <= 1) {
			t.Fatalf("update %+v", u)
		}
		for _, it := range u.Items {
			if (it.Err == nil) == (it.URL == "") || it.Err != nil && media.ErrorText(it.Err.Message) != it.Err.Message {
				t.Errorf("item %+v", it)
			}
			raw, err := json.Marshal(map[string]any{"midjourney": it.Metadata["midjourney"], "offers": it.Offers})
			if err != nil || it.Offers == nil && wire.NameMedia(string(raw)) != string(raw) { // the Gateway cleans offers
				t.Errorf("metadata %s, %v", raw, err)
			}
			var kept map[string]any
			if err := json.Unmarshal(raw, &kept); err != nil {
				t.Fatal(err)
			}
			q.Method, q.Inputs = generate.MethodVariation, []media.Output{{Metadata: kept}}
			if _, err := newJob(q); err != nil && media.CodeOf(err) != media.CodeInvalid && media.CodeOf(err) != media.CodeUnsupported {
				t.Errorf("follow-up: %v", err)
			}
		}
	})
}
