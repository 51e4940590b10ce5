package contract

import (
	"encoding/json"
	"strings"
	"testing"
)

// inPieces passes an answer to a reader in pieces of n bytes.
func inPieces(answer string, n int) (message string) {
	var m MessageReader
	for answer != "" {
		cut := min(n, len(answer))
		message += m.Write(answer[:cut])
		answer = answer[cut:]
	}
	return message
}

func TestMessageReader(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"message":"Hello.","done":true}`: "Hello.",
		`{"reasoning":"a \"message\": no","message":"Größe 🎨 \n\"x\" \\ \u00e9 \ud83c\udfa8"}`: "Größe 🎨 \n\"x\" \\ é 🎨",
		"```json\n{ \"message\" : \"yes\" }\n```":                                              "yes",
		`{"payload":{"message":"no"},"actions":[{"message":"no"}],"done":true}`:                "",
		`{"payload":["message","no"],"message":"yes","message2":"no"}`:                         "yes",
		`{"ask":{"question":"message"},"message":null,"payload":"no"}`:                         "",
		"{\"message\":\"two\nlines\"}":                                                         "two\nlines",
		`<think>{"message":"draft"}</think>{"message":"yes"}`:                                  "",
		`{"message":"see ${media:img-7k3m9q2x} and $5"}`:                                       "see ${media:img-7k3m9q2x} and $5",
		`{"message":"half`:               "half",
		`{"message":"half ${media:img-7`: "half ",
		`{"message":"lone \ud83c!"}`:     "lone \ufffd!",
		``:                               "",
	} {
		for _, n := range []int{1, 2, 3, 5, 7, 1000} {
			if got := inPieces(answer, n); got != want {
				t.Errorf("%s in pieces of %d: got %q, want %q", answer, n, got, want)
			}
		}
	}
}

// FuzzMessageReader compares the message read from a partial step with that of the complete step.
func FuzzMessageReader(f *testing.F) {
	for _, s := range []string{"Hello", "ä\"\\\n🎨", "$5 ${media:img-7k3m9q2x}", "\x00\x7f", `\ud83c`} {
		f.Add(s, "key", 3)
	}
	f.Fuzz(func(t *testing.T, message, key string, n int) {
		message, key = strings.ToValidUTF8(message, ""), "x"+key
		parts := make([]string, 5)
		for i, v := range []any{key, []string{key, message}, map[string]string{"message": key}, message, key} {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			parts[i] = string(b)
		}
		answer := `{"aa":` + parts[0] + `,` + parts[4] + `:` + parts[1] + `,"zz":` + parts[2] + `,"message":` + parts[3] + `,"b":` + parts[0] + `}`
		if got := inPieces(answer, max(1, min(n, 100))); got != message {
			t.Errorf("%s: got %q, want %q", answer, got, message)
		}
	})
}
