package wire

import (
	"io"
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	a := std(png(600, 2, 2)) // 800 characters
	lines := func(s string, n int, br string) string {
		var o strings.Builder
		for len(s) > n {
			o.WriteString(s[:n] + br)
			s = s[n:]
		}
		return o.String() + s
	}
	for in, want := range map[string]string{
		"":                                 "",
		"an ordinary message.":             "an ordinary message.",
		a[:47]:                             a[:47],
		a[:48]:                             "[base64, 48 characters]",
		"x " + a + ", y":                   "x [base64, 800 characters], y",
		a[:48] + "==" + " " + a[:47] + "=": "[base64, 50 characters] [base64, 48 characters]",
		`{"e":"` + strings.ReplaceAll(a, "/", `\/`) + `"}`:            `{"e":"[base64, 800 characters]"}`,
		strings.ReplaceAll(a, "+", `\u002b`):                          "[base64, 800 characters]",
		lines(a, 40, "\n"):                                            "[base64, 800 characters]",
		lines(a, 40, "\r\n"):                                          "[base64, 800 characters]",
		lines(a, 40, `\n`):                                            "[base64, 800 characters]",
		lines(a, 76, `\r\n`) + `\n"`:                                  "[base64, 800 characters]" + `"`,
		"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
		`C:\new\table\u00e9 \"x\" \\` + a[:20]:                        `C:\new\table\u00e9 \"x\" \\` + a[:20],
		`\"` + a[:60] + `\"`:                                          `\"[base64, 60 characters]\"`,
		a[:20] + strings.Repeat("\n", 3_000) + "x":                    a[:20] + strings.Repeat("\n", 3_000) + "x",
		`tail \`: `tail \`,
	} {
		if got := scrub(in); got != want {
			t.Errorf("%s:\n got %s\nwant %s", clipped(in), clipped(got), clipped(want))
		}
		for _, n := range []int{1, 2, 3, 7, 4096} {
			got, err := io.ReadAll(newScrubReader(chunked(in, n)))
			if err != nil || string(got) != want {
				t.Errorf("%s in chunks of %d: %v\n got %s\nwant %s", clipped(in), n, err, clipped(string(got)), clipped(want))
			}
		}
	}
}
