package openai_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"atelier/generate/generatetest"
	"atelier/media"
)

// TestOddAnswers: compatible services differ in the types of fields and the status of errors. A picture that arrives is
// kept, and an error is reported in the service's words.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	picture := base64.StdEncoding.EncodeToString(generatetest.PNG(64, 64, 1))
	for name, c := range map[string]struct {
		status     int
		kind, body string
		pictures   int
		code       media.Code
		says       string
	}{
		"numbers as text":       {200, "application/json", `{"created":"now","usage":{"input_tokens":"12","output_tokens":7.5},"size":1024,"data":[{"b64_json":"` + picture + `","revised_prompt":{}}]}`, 1, "", ""},
		"types as text":         {200, "text/plain", `{"data":[{"b64_json":"` + picture + `"}]}`, 1, "", ""},
		"error in a success":    {200, "application/json", `{"error":{"message":"the upstream is out of memory","type":"server_error","code":null}}`, 0, media.CodeUnavailable, "out of memory"},
		"error as text":         {200, "application/json", `{"data":[],"error":"the upstream is out of memory"}`, 0, media.CodeUnavailable, "out of memory"},
		"refusal in a success":  {200, "application/json", `{"error":{"message":"no","code":"content_policy_violation"}}`, 0, media.CodeModerated, "no"},
		"error beside pictures": {200, "application/json", `{"error":{"message":"one failed"},"data":[{"b64_json":"` + picture + `"}]}`, 1, "", ""},
		"invalid prompt":        {400, "application/json", `{"error":{"message":"flagged","type":"invalid_request_error","code":"invalid_prompt","param":null}}`, 0, media.CodeModerated, "flagged"},
		"fields of other types": {400, "application/json", `{"error":{"message":"size is wrong","param":["size"],"code":400}}`, 0, media.CodeInvalid, "size is wrong"},
		"list of errors":        {400, "application/json", `[{"error":{"message":"size is wrong"}}]`, 0, media.CodeInvalid, "size is wrong"},
		"nothing said":          {400, "application/json", `{"error":{}}`, 0, media.CodeInvalid, "status 400"},
		"text behind it":        {200, "application/json", `{"data":[{"b64_json":"` + picture + `"}]} -- request 7`, 1, media.CodeBadResponse, "billed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body)) // the client may have disconnected
			}), "sk-test-key")
			u, err := d.Start(t.Context(), task(nil))
			got, said := 0, ""
			for _, it := range u.Items {
				if it.Blob != nil {
					got++
				}
				if it.Err != nil {
					err = errors.Join(err, it.Err)
				}
			}
			if err != nil {
				said = err.Error()
			}
			if got != c.pictures || media.CodeOf(err) != c.code || !strings.Contains(said, c.says) || strings.HasSuffix(said, ": ") {
				t.Errorf("%d pictures, %s: %v", got, media.CodeOf(err), err)
			}
		})
	}
}
