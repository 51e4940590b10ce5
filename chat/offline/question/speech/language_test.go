package speech_test

import (
	"testing"

	"atelier/chat/offline/question/speech"
)

func TestNumbersOfTheLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v      float64
		lang   speech.Language
		places int
		want   string
	}{
		{48210.5, speech.English, 2, "48,210.5"},
		{48210.5, speech.German, 2, "48.210,5"},
		{3706227, speech.English, 2, "3,706,227"},
		{-0.17, speech.English, 2, "−0.17"},
		{0.00012345, speech.English, 2, "0.00012"},
		{1234, speech.German, 2, "1.234"},
		{0, speech.English, 2, "0"},
	} {
		if got := speech.Number(c.v, c.places, c.lang); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.v, c.lang, got, c.want)
		}
	}
}

// TestNamesAreFolded: a name that is not folded never equals a word of a question.
func TestNamesAreFolded(t *testing.T) {
	t.Parallel()
	for _, names := range []map[string]int{speech.MonthNames, speech.WeekdayNames} {
		for name := range names {
			if folded := speech.Fold(name); folded != name {
				t.Errorf("%q is folded to %q", name, folded)
			}
		}
	}
}
