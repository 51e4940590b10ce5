package wordcloud_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"atelier/draw/svgtest"
	"atelier/draw/wordcloud"
	"atelier/media"
)

func list(n int, weight func(i int) float64) []any {
	var out []any
	for i := range n {
		out = append(out, []any{fmt.Sprint("word", i), weight(i)})
	}
	return out
}

func TestNoTwoWordsTouch(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]map[string]any{
		"one":     {"Title": "T", "Words": []any{"word"}},
		"equal":   {"Title": "T", "Words": list(80, func(int) float64 { return 7 })},
		"falling": {"Title": "T", "Words": list(250, func(i int) float64 { return 1 / float64(i+1) }), "MaxWords": 250.0},
		"huge":    {"Title": "T", "Words": list(40, func(i int) float64 { return math.Pow(10, float64(i*3)) })},
		"map":     {"Title": "T", "Words": map[string]any{"a": 1.0, "b": "2", "c": 3}, "Width": 240.0, "Height": 160.0},
		"long":    {"Title": "T", "Words": []any{[]any{strings.Repeat("very long word ", 20), 9.0}, []any{"Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz", 8.0}, []any{"short", 7.0}}},
		"text":    {"Title": "T", "Text": "The sea, the sea and the moon. Sea!"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, res := svgtest.CheckRepeatable(t, wordcloud.Draw, p)
			d.NoOverlap(t)
			if n := res.Facts["WordCount"].(int); n != len(d.Texts("wd")) || n == 0 {
				t.Errorf("%d words, %d drawn", n, len(d.Texts("wd")))
			}
		})
	}
}

func TestWordsAreCountedAndSorted(t *testing.T) {
	t.Parallel()
	_, res := svgtest.Draw(t, wordcloud.Draw, map[string]any{"Title": "Sea", "Text": "The sea and the moon; SEA, wave wave wave 12 12 of it's und der die das 海"})
	if got := fmt.Sprint(res.Facts["TopWords"]); got != "[wave sea moon 海]" {
		t.Error(got)
	}
	if want := "Word cloud: Sea. The heaviest words: wave 3, sea 2, moon 1, 海 1."; res.Alt != want {
		t.Error(res.Alt)
	}
	_, res = svgtest.Draw(t, wordcloud.Draw, map[string]any{"Title": "T", "Words": `[{"word":"a","count":1},{"text":"b","value":"5"},{"text":"A","weight":9},{"text":"none","weight":0},{"text":"gap","weight":null}]`})
	if got := fmt.Sprint(res.Facts["TopWords"]); got != "[a b gap]" {
		t.Error(got)
	}
}

func TestTenThousandWords(t *testing.T) {
	t.Parallel()
	_, res := svgtest.CheckRepeatable(t, wordcloud.Draw, map[string]any{"Title": "T", "Words": list(10_000, func(i int) float64 { return float64(10_000 - i) })})
	if res.Facts["WordCount"] != 100 || !strings.Contains(res.Alt, "100 heaviest of 10000 words") {
		t.Errorf("%v: %v", res.Facts["WordCount"], res.Alt)
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	svgtest.Survives(t, wordcloud.Draw, func(s string) map[string]any {
		return map[string]any{"Title": s, "Subtitle": s, "Source": s, "Words": []any{[]any{s, 3.0}, []any{"plain", 2.0}}}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	svgtest.Refuses(t, wordcloud.Draw, map[string]map[string]any{
		"there is no word":        {"Title": "T"},
		"no word to draw":         {"Title": "T", "Words": []any{[]any{"a", -1.0}, []any{"b", math.NaN()}}},
		"the weight of \"a\" is":  {"Title": "T", "Words": []any{[]any{"a", "many"}}},
		"Words[1] has no text":    {"Title": "T", "Words": []any{"a", map[string]any{"weight": 1.0}}},
		"MaxWords is 0":           {"Title": "T", "Words": []any{"a"}, "MaxWords": 0.0},
		"Words is not valid JSON": {"Title": "T", "Words": "[{"},
		"at most 2097152":         {"Title": "T", "Text": strings.Repeat("word ", 500_000)},
	})
}

func FuzzWords(f *testing.F) {
	f.Add(`[["a",1],{"text":"b","weight":2}]`)
	f.Add("plain text with words")
	f.Fuzz(func(t *testing.T, words string) {
		if len(words) > 4000 {
			return
		}
		res, err := wordcloud.Draw(map[string]any{"Title": "T", "Words": words})
		if err != nil {
			if media.CodeOf(err) != media.CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		d := svgtest.Parse(t, res.Data)
		d.NoOverlap(t)
	})
}

func BenchmarkWordCloud(b *testing.B) {
	p := map[string]any{"Title": "T", "Words": list(100, func(i int) float64 { return 1 / float64(i+1) })}
	b.ReportAllocs()
	for b.Loop() {
		svgtest.Draw(b, wordcloud.Draw, p)
	}
}

func TestWeightsAreReadable(t *testing.T) {
	t.Parallel()
	_, res := svgtest.Draw(t, wordcloud.Draw, map[string]any{"Title": "T", "Words": `{"solar": 123456, "wind": 0.25}`})
	if want := "The heaviest words: solar 123,456, wind 0.25."; !strings.Contains(res.Alt, want) {
		t.Error(res.Alt)
	}
}
