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

// TestDuring: a time has the preposition of its unit in each language.
func TestDuring(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at              speech.Period
		english, german string
	}{
		{speech.Period{Unit: "year", Year: 1931}, "in 1931", "im Jahr 1931"},
		{speech.Period{Unit: "quarter", Year: 2024, N: 3}, "in Q3 2024", "in Q3 2024"},
		{speech.Period{Unit: "half", Year: 2024, N: 1}, "in H1 2024", "im 1. Halbjahr 2024"},
		{speech.Period{Unit: "month", Year: 2024, N: 3}, "in March 2024", "im März 2024"},
		{speech.Period{Unit: "day", Year: 2024, N: 3, Day: 3}, "on 3 March 2024", "am 3. März 2024"},
		{speech.Period{Unit: "dayOfYear", N: 3, Day: 3}, "on 3 March", "am 3. März"},
		{speech.Period{Unit: "weekday", N: 1}, "on Mondays", "am Montag"},
	} {
		if english, german := speech.English.During(c.at), speech.German.During(c.at); english != c.english || german != c.german {
			t.Errorf("%+v: %s, %s", c.at, english, german)
		}
	}
}
