package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"atelier/ledger/ledgertest"
	"atelier/media"
)

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
	if err := s.LabelMedia(t.Context(), "ann", later, "lighthouse", ""); err != nil {
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
