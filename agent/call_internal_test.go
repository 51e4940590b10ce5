package agent

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
)

type callContent = step.ModelCall[chat.Response]

// A result decodes to itself: the run continues with the result as a replay reads it.
func TestExactResults(t *testing.T) {
	t.Parallel()
	usd := "0.25"
	at := time.Date(2026, 11, 23, 22, 10, 0, 123456789, time.UTC)
	answer := func(text string) CallResult {
		return CallResult{callContent{Response: chat.Response{Text: text}, Began: at, Ended: at}}
	}
	for name, result := range map[string]CallResult{
		"text":                        answer(`{"message":"Ünï <b> & \u2028 done"}`),
		"charged":                     {callContent{Response: chat.Response{Usage: chat.Usage{InputTokens: 1 << 60}, CostUSD: &usd, Warnings: []string{"w"}}, MayCostUSD: &usd}},
		"failure":                     {callContent{Failure: &step.Failure{Code: media.CodeInvalid, Message: "no", RetryAfter: time.Hour, Valid: []string{"a"}}, Unsettled: true}},
		"valid replacement character": answer("\uFFFD"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			var decoded CallResult
			if err := json.Unmarshal(b, &decoded); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(decoded, result) {
				t.Errorf("decoded as %+v, want %+v", decoded, result)
			}
		})
	}
}
