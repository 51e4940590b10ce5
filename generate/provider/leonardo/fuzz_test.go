package leonardo_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/provider/leonardo"
	"atelier/media"
)

// roundTripFunc is a round tripper made of a function.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (c roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// FuzzAnswer: whatever a provider answers, the driver neither panics nor quotes media or the key, and does not trust a
// webhook call without its bearer.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"generations_by_pk":{"id":"g","status":"COMPLETE","seed":"7","generated_images":[{"id":"i","url":"https://x.example/a","nsfw":true},{}]}}`,
		`{"generations_by_pk":{"status":"FAILED"}}`, `{"generations_by_pk":null}`, `[{"message":"x","extensions":{"code":"y"}}]`, `null`,
		`{"sdGenerationJob":{"generationId":"g","apiCreditCost":11,"cost":{"amount":"0.012","unit":"DOLLARS"}}}`,
		`{"error":"moderation: no","path":"$","code":"unexpected"}`, `{"type":"image_generation.complete","data":{"object":{"id":"g"}}}`,
		`{"user_details":[{"user":{"id":"../u"}}],"generations":[{"id":"g","status":"PENDING","createdAt":"2026-11-21T12:00:00.000","prompt":"x","seed":7},{"createdAt":7}]}`,
		string(generatetest.PNG(2, 2, 1)), // the answer itself is the result
	} {
		f.Add(s, uint16(200))
		f.Add(s, uint16(500))
	}
	codec := wiretest.NewCodec(f)
	f.Fuzz(func(t *testing.T, body string, status uint16) {
		d, err := leonardo.New(leonardo.Config{APIKey: "key-of-leonardo", Codec: codec, Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200 + int(status)%400, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		clean := func(err error) {
			if err != nil && (media.ErrorText(err.Error()) != err.Error() || strings.Contains(err.Error(), "key-of-leonardo")) {
				t.Errorf("%q is quoted: %v", body, err)
			}
		}
		u, err := d.Start(t.Context(), driver.Task{Prompt: "x", N: 2})
		clean(err)
		whole := len(u.Items) == 1 && u.Items[0].Blob != nil
		if err == nil && u.Task.ID == "" && len(u.Items) != 2 && !whole {
			t.Errorf("%q gave %+v", body, u)
		}
		_, err = d.Poll(t.Context(), driver.Task{N: 2}, driver.Handle{ID: "g"})
		clean(err)
		seed := int64(7)
		_, err = driver.Find(t.Context(), d, driver.Task{Prompt: "x", Seed: &seed, N: 2}, time.Time{})
		clean(err)
		u, err = d.Notification(t.Context(), driver.Notification{Body: []byte(body)})
		clean(err)
		if u.Done || len(u.Items) > 0 {
			t.Errorf("%q is believed: %+v", body, u)
		}
	})
}

// FuzzNotification: any notification with the bearer becomes an update of a named generation or an error; one without
// it is refused.
func FuzzNotification(f *testing.F) {
	const bearer, key = "hook-secret", "key-of-leonardo"
	sim := leonardosim.New(leonardosim.Config{Key: key, WebhookKey: bearer})
	d, err := leonardo.New(leonardo.Config{APIKey: key, NotifySecret: bearer, Codec: wiretest.NewCodec(f), Base: &generatetest.Tape{Simulator: sim}})
	if err != nil {
		f.Fatal(err)
	}
	u, err := d.Start(f.Context(), driver.Task{
		Prompt: "x", N: 2, Width: 1024, Height: 1024,
		Model: catalog.Model{Provider: "leonardo", Name: "Leonardo Anime XL", APIModel: "e71a1c2f-4f80-4800-934f-2c68979d8cc8"},
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range sim.Notifications(u.Task.ID) {
		f.Add(string(n.Body), n.Header["Authorization"][0])
	}
	for _, s := range []string{
		`{"type":"image_generation.complete","data":{"object":{"id":"g","status":"COMPLETE","images":[null,{"nsfw":true}],"seed":{}}}}`,
		`{"type":"image_generation.complete","data":{"object":{"id":"g","status":"FAILED"}}}`, `{"data":{"object":{"id":"g"}}}`, `{"data":[]}`, `null`,
	} {
		f.Add(s, "Bearer ")
	}
	f.Fuzz(func(t *testing.T, body, auth string) {
		hear := func(auth string) (driver.Update, error) {
			return d.Notification(t.Context(), driver.Notification{Header: map[string][]string{"Authorization": {auth}}, Body: []byte(body)})
		}
		u, err := hear("Bearer " + bearer)
		generatetest.Sane(t, u, err, key)
		if err == nil && (u.Task.ID == "" || len(u.Items) > 0 && !u.Done) {
			t.Errorf("%q is %+v", body, u)
		}
		if _, err := hear(auth); auth != "Bearer "+bearer && media.CodeOf(err) != media.CodeUnauthorized {
			t.Errorf("%q with %q is believed: %v", body, auth, err)
		}
	})
}
