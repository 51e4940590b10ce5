package passage_test

import (
	"regexp"
	"testing"

	"atelier/chat/offline/question/passage"
	"atelier/chat/offline/question/speech"
)

func TestLogSearchOfWordsAndDays(t *testing.T) {
	t.Parallel()
	lines := []string{
		"2024-05-09 00:06:14 INFO  payment accepted order=81200",
		"2024-05-09 00:09:49 WARN  payment declined order=81201",
		"2024-05-10 00:09:49 WARN  payment declined order=81202",
		"2024-05-10 00:10:49 ERROR backup failed: disk full",
		"2024-06-10 00:10:49 INFO  login failed for user alice",
	}
	for q, want := range map[string]int{
		"How many payments were declined on 9 May 2024":     1,
		"How many payments were declined":                   2,
		"How often did the backup fail":                     1,
		"How many logins failed":                            1,
		"How many ERROR lines are there in May 2024":        1,
		"How many payments were declined on 11 May 2024":    0,
		"How many payments were accepted after 9 May 2024":  -1, // no line shows this
		"How many users failed to log in":                   -1,
		"How many different payments were declined":         -1,
		"What share of payments was declined":               -1,
		"How many payments were declined because of a card": -1,
	} {
		pattern, _ := passage.LogSearch(q, speech.English, false)
		got := 0
		if pattern == "" {
			got = -1
		} else {
			for _, l := range lines {
				if regexp.MustCompile(pattern).MatchString(l) {
					got++
				}
			}
		}
		if got != want {
			t.Errorf("%s: %d lines, not %d, of %s", q, got, want, pattern)
		}
	}
}

func TestLogSearchOfStampedLines(t *testing.T) {
	t.Parallel()
	lines := []string{
		"24.06.24 05:43:04 Internet connection lost.",
		"25.06.24 05:43:04 Internet connection lost.",
		"2024-06-25 05:43:04 Internet connection lost.",
		"On 24.06.24 at 05:43 the internet connection was lost.",
		"The internet connection was lost again.",
	}
	for q, want := range map[string]int{
		"How often was the internet connection lost":                 3,
		"How often was the internet connection lost on 24 June 2024": 1,
	} {
		pattern, _ := passage.LogSearch(q, speech.English, true)
		got := 0
		for _, l := range lines {
			if regexp.MustCompile(pattern).MatchString(l) {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d lines, not %d, of %s", q, got, want, pattern)
		}
	}
}

func TestLogSearch(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"How many ERROR lines does the log have":              `\bERROR\b`,
		"How many requests were answered with status 404":     `" 404(?:\s|$)`,
		"How many warnings are in the log":                    `\bWARN(?:ING)?\b`,
		"How many errors happened because of the new release": "",
		"What happened in the log":                            "",
	} {
		if got, _ := passage.LogSearch(q, speech.English, false); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
}
