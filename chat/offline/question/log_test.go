package question_test

import (
	"regexp"
	"testing"

	"atelier/chat/offline/question"
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
		"How many payments were accepted after 9 May 2024":  -1, // no line shows that
		"How many users failed to log in":                   -1,
		"How many different payments were declined":         -1,
		"What share of payments was declined":               -1,
		"How many payments were declined because of a card": -1,
	} {
		pattern, _ := question.LogSearch(q, question.English)
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
