package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"atelier/ledger"
	"atelier/ledger/ledgertest"
	"atelier/media"
)

// TestSearchIgnoresCase: the case of all letters is ignored, in searches with and without the index, of media and of
// conversations; characters with a meaning in patterns are found as they are.
func TestSearchIgnoresCase(t *testing.T) {
	t.Parallel()
	s, db := openWith(t, filepath.Join(t.TempDir(), "a.db"), ledgertest.Deps{})
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "ann", Tree: "t", Run: "r"})
	const label = "Größe: ÜBER [^2*?] маяк"
	if _, err := s.Record(ctx, media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("a")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}, media.Meta{Label: label})); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateConversation(ctx, ledger.Conversation{ID: "c", Owner: "ann", Title: label}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"über": 1, "GRÖSSE": 0, "größe: ü": 1, "Ü": 1, "МАЯК": 1, "über [^2*?] м": 1, "über [^2*?x] м": 0, "ü*м": 0, "é": 0, "BER [": 1,
	} {
		for _, tree := range []string{"", "t"} { // with a tree, the index is not used
			found, err := s.ListMedia(ctx, "ann", ledger.MediaQuery{Text: text, Tree: tree})
			if err != nil || len(found.Items) != want {
				t.Errorf("media with %q: %d, %v", text, len(found.Items), err)
			}
		}
		if query, args, _ := find(ctx, text); query != "" && want == 1 {
			var id string
			if err := db.QueryRowContext(ctx, query, args...).Scan(&id); err != nil {
				t.Errorf("the index with %q: %v", text, err)
			}
		}
		found, err := s.ListConversations(ctx, "ann", ledger.ConversationQuery{Text: text})
		if err != nil || len(found.Items) != want {
			t.Errorf("conversations with %q: %d, %v", text, len(found.Items), err)
		}
	}
}

// TestSearchIndex: a database of a version without the index gets it when it is opened; later additions and changes are
// in it.
func TestSearchIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	s, db := openWith(t, path, ledgertest.Deps{})
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "ann", Tree: "t", Run: "r"})
	record := func(s *Store, label string) string {
		t.Helper()
		o, err := s.Record(ctx, media.NewOutput(media.Blob{
			Digest: media.DigestOf([]byte(label)), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"},
		}, media.Meta{Label: label}))
		if err != nil {
			t.Fatal(err)
		}
		return o.ID
	}
	old := record(s, "Waterwheel")
	for _, statement := range []string{
		"DROP TRIGGER media_texts_new", "DROP TRIGGER media_texts_changed", "DROP TABLE media_trigrams", "DROP TABLE media_texts",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, db = openWith(t, path, ledgertest.Deps{})
	defer s.Close()
	later := record(s, "watermelon")
	if err := s.LabelMedia(t.Context(), "ann", later, new("lighthouse"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "VACUUM"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{"TERWH": {old}, "lighthouse": {later}, "wheelhouse": nil, "ater": {old, later}} {
		query, args, err := find(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		var got sql.NullString // comma-separated ids
		err = db.QueryRowContext(t.Context(), "SELECT group_concat(id, ',') FROM ("+query+" ORDER BY id)", args...).Scan(&got)
		if err != nil || got.String != strings.Join(want, ",") {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"ab", "", "a\x00bc", "\xffabc"} {
		if query, _, _ := find(t.Context(), text); query != "" {
			t.Errorf("%q is looked for in the index", text)
		}
	}
}
