package agent

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"atelier/agent/vision"
	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
)

type callContent = step.ModelCall[chat.Response]

// An exact result decodes to itself: the run continues with the encoded result as a replay does with the decoded one.
func TestExactResults(t *testing.T) {
	t.Parallel()
	usd := "0.25"
	at := time.Date(2026, 11, 23, 22, 10, 0, 123456789, time.UTC)
	answer := func(text string) CallResult {
		return CallResult{callContent{Response: chat.Response{Text: text}, Began: at, Ended: at}}
	}
	for name, c := range map[string]struct {
		result CallResult
		exact  bool
	}{
		"text":                        {answer(`{"message":"Ünï <b> & \u2028 done"}`), true},
		"charged":                     {CallResult{callContent{Response: chat.Response{Usage: chat.Usage{InputTokens: 1 << 60}, CostUSD: &usd, Warnings: []string{"w"}}, MayCostUSD: &usd}}, true},
		"failure":                     {CallResult{callContent{Failure: &step.Failure{Code: media.CodeInvalid, Message: "no", RetryAfter: time.Hour, Valid: []string{"a"}}, Unsettled: true}}, true},
		"valid replacement character": {answer("\uFFFD"), true},
		"invalid text":                {answer("a\xff\xfeb"), false},
		"invalid model":               {CallResult{callContent{Response: chat.Response{Model: "\xc3"}}}, false},
		"invalid warning":             {CallResult{callContent{Response: chat.Response{Warnings: []string{"\xc3("}}}}, false},
		"media":                       {CallResult{callContent{Response: chat.Response{Media: []media.Output{{Metadata: map[string]any{"n": 1}}}}}}, false},
		"lost":                        {CallResult{callContent{Lost: []vision.Lost{{Code: media.CodeNotFound}}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := json.Marshal(c.result)
			if err != nil {
				t.Fatal(err)
			}
			exact := c.result.roundTrips(b)
			if exact != c.exact {
				t.Errorf("exact is %v, want %v", exact, c.exact)
			}
			var decoded CallResult
			if err := json.Unmarshal(b, &decoded); err != nil {
				t.Fatal(err)
			}
			if exact && !reflect.DeepEqual(decoded, c.result) {
				t.Errorf("decoded as %+v, want %+v", decoded, c.result)
			}
		})
	}
}

// The result in the journal counts, even if another process saved the step first.
func TestJournalledResultCounts(t *testing.T) {
	t.Parallel()
	l := &liveCall{made: true, result: CallResult{callContent{Response: chat.Response{Text: "own"}}}}
	saved, err := json.Marshal(l.result)
	if err != nil {
		t.Fatal(err)
	}
	l.saved = saved
	for text, b := range map[string][]byte{"own": saved, "other": []byte(`{"response":{"text":"other"}}`)} {
		if got, err := l.resultOf(b); err != nil || got.Response.Text != text {
			t.Errorf("result %q, %v, want %q", got.Response.Text, err, text)
		}
	}
	if _, err := l.resultOf([]byte("{")); media.CodeOf(err) != media.CodeInternal {
		t.Errorf("broken JSON: %v, want %s", err, media.CodeInternal)
	}
	l.made = false
	if got, err := l.resultOf([]byte(`{"response":{"text":"before"}}`)); err != nil || got.Response.Text != "before" {
		t.Errorf("replay: %q, %v", got.Response.Text, err)
	}
}
