package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"atelier/media"
)

// List is one page of a list.
type List[T any] struct {
	Items []T `json:"items" nullable:"false"`
	// Next is the cursor of the next page; empty on the last one.
	Next string `json:"next" doc:"The value of after for the next page; empty on the last page."`
}

// Page selects a page of a list.
type Page struct {
	After string `query:"after" maxLength:"400" doc:"The value of next from the previous page."`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"The maximum number of items."`
}

func (p *Page) page() *Page { return p }

// cursorOf returns the cursor of the position after a page. The cursor belongs to the query; other queries reject it.
func cursorOf(query any, next string) string {
	if next == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(mark(query) + next))
}

// mark identifies the query of a cursor.
func mark(query any) string {
	b, _ := json.Marshal(query) // queries are plain structs
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// readCursor returns the position in a cursor of the same query; empty for no cursor.
func readCursor(query any, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	next, own := strings.CutPrefix(string(b), mark(query))
	if err != nil || !own || next == "" || strings.ContainsFunc(next, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", media.Errorf(media.CodeInvalid, "after is not a cursor of this list: use next from the previous page, with the same filters")
	}
	return next, nil
}
