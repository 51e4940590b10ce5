package offline

import (
	"strings"

	"atelier/internal/pattern"
)

// clip shortens text at a word.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := strings.ToValidUTF8(s[:most], "")
	if i := strings.LastIndexByte(cut, ' '); i > most/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

var (
	// rightToLeft matches a run of words that are written from right to left.
	rightToLeft = pattern.Lazy(`[\p{Arabic}\p{Hebrew}\p{Syriac}\p{Thaana}](?:[\p{Arabic}\p{Hebrew}\p{Syriac}\p{Thaana}\p{Mn} ]*[\p{Arabic}\p{Hebrew}\p{Syriac}\p{Thaana}\p{Mn}])?`)
	leftToRight = pattern.Lazy(`[A-Za-z]{2}`)
)
