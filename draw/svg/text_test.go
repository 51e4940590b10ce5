package svg_test

import (
	"strings"
	"testing"

	"atelier/draw/svg"
)

func TestWrapKeepsToTheRoom(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "one", "a few words that need more than one line", "Donaudampfschifffahrtsgesellschaftskapitän", "漢字とかなだけの長い文章がここにあります", strings.Repeat("x ", 500), "👩🏽‍🚀👩🏽‍🚀👩🏽‍🚀👩🏽‍🚀👩🏽‍🚀"} {
		for _, room := range []float64{20, 60, 300} {
			lines := svg.Wrap(s, 13, room, 3)
			if len(lines) > 3 {
				t.Errorf("%q in %g: %d lines", s, room, len(lines))
			}
			for _, l := range lines {
				if w := svg.Width(l, 13); w > room && len([]rune(l)) > 2 {
					t.Errorf("%q is %g wide, room for %g", l, w, room)
				}
			}
		}
	}
	if got := strings.Join(svg.Wrap("漢字とかな", 13, 40, 9), ""); got != "漢字とかな" {
		t.Errorf("text was lost: %q", got)
	}
}

func TestFileNamesAndClips(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"Größe & Co: 2024!": "gr-e-co-2024.svg", "": "drawing.svg", "漢字": "drawing.svg", "../../etc": "etc.svg"} {
		if got := svg.FileName(in); got != want {
			t.Errorf("FileName(%q) = %q, want %q", in, got, want)
		}
	}
	if n := len([]rune(svg.Clip(strings.Repeat("ä", 900)))); n != 200 {
		t.Errorf("clipped to %d", n)
	}
}

func TestReadPage(t *testing.T) {
	t.Parallel()
	p, err := svg.ReadPage(map[string]any{"Title": " a\nb ", "Width": "1,000", "Source": "Source: x"}, 960, 540)
	if err != nil || p.Title != "a b" || p.W != 1000 || p.H != 540 {
		t.Errorf("page = %+v, %v", p, err)
	}
	for says, params := range map[string]map[string]any{"Title is missing": {}, "Width is 9: give pixels from 240 to 4000": {"Title": "t", "Width": 9.0}, "Height is tall": {"Title": "t", "Height": "tall"}} {
		if _, err := svg.ReadPage(params, 960, 540); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error = %v, want %q", err, says)
		}
	}
}

func TestWidthsOfMarksAndFormats(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{"ế": "e", "Nguyễn": "Nguyen"} {
		if svg.Width(a, 12) != svg.Width(b, 12) {
			t.Errorf("%q is %g wide, %q %g", a, svg.Width(a, 12), b, svg.Width(b, 12))
		}
	}
	if w := svg.Width("a\u200bb\u2066c\u2069", 12) - svg.Width("abc", 12); w > 2 {
		t.Errorf("invisible characters are %g wide", w)
	}
}

func TestEmojiAreNotBroken(t *testing.T) {
	t.Parallel()
	for room := 30.0; room < 120; room += 3 {
		for _, l := range svg.Wrap(strings.Repeat("👩‍🚀", 12), 12, room, 9) {
			if strings.HasPrefix(l, "\u200d") || strings.HasPrefix(l, "🚀") || strings.HasSuffix(l, "\u200d") {
				t.Fatalf("room %g: %q", room, l)
			}
		}
	}
}
