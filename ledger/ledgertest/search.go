package ledgertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/ledger"
	"atelier/media"
)

// searchFillers is the number of newer records that hide the searched ones: more than a store reads before it queries
// the index.
const searchFillers = 600

// searches contains records with texts, followed by many newer ones, for searches of the older ones. A page holds two
// records.
type searches struct {
	*fixture
	ids map[string]string // name → id
}

func newSearches(t *testing.T, f *fixture) *searches {
	t.Helper()
	s := &searches{fixture: f, ids: map[string]string{}}
	ctx := scoped(t, f.run(t, owner, nil))
	for name, m := range map[string]media.Meta{
		"inside":  {Label: "Waterwheels at dusk"},
		"case":    {Description: "A ZEPPELIN over the bay"},
		"file":    {FileName: "zeppelin-plan.png"},
		"german":  {Label: "Äußere Straße am Fluß"},
		"russian": {Label: "старый маяк"},
		"turkish": {Label: "İzmir"},
		"percent": {Label: "100% cotton"},
		"under":   {Label: "snake_case name"},
		"quote":   {Label: `the "grand" hotel's \ sign`},
		"short":   {Label: "xq"},
	} {
		s.ids[name] = f.record(ctx, t, picture(name, m)).ID
	}
	for i := range 5 {
		name := fmt.Sprintf("lantern %d", i)
		s.ids[name] = f.record(ctx, t, picture(name, media.Meta{Label: name})).ID
	}
	s.ids["foreign"] = f.record(scoped(t, f.run(t, "bob", nil)), t, picture("foreign", media.Meta{Label: "bob's zeppelin"})).ID
	s.fill(t, "filler")
	return s
}

// fill saves the newer records in one commit.
func (s *searches) fill(t *testing.T, label string) {
	t.Helper()
	ctx := scoped(t, s.run(t, owner, nil))
	must(t, s.InTransaction(ctx, func(ctx context.Context) error {
		for i := range searchFillers {
			name := fmt.Sprintf("%s %d", label, i)
			if _, err := s.Record(ctx, picture(name, media.Meta{Label: name})); err != nil {
				return err
			}
		}
		return nil
	}))
}

// want compares all pages of a search, sorted by name, with the names of the expected records.
func (s *searches) want(t *testing.T, who string, q ledger.MediaQuery, names ...string) {
	t.Helper()
	known := map[string]string{}
	for name, id := range s.ids {
		known[id] = name
	}
	got, last := []string{}, ""
	for pages := 0; ; pages++ {
		q.Limit = 2
		l, err := s.ListMedia(t.Context(), who, q)
		if err != nil {
			t.Errorf("search %q: %v", q.Text, err)
			return
		}
		for _, m := range l.Items {
			if last != "" && m.ID >= last {
				t.Errorf("search %q: %s after %s: not newest first", q.Text, m.ID, last)
			}
			last = m.ID
			got = append(got, known[m.ID])
		}
		if q.After = l.Next; l.Next == "" || pages > searchFillers {
			break
		}
	}
	slices.Sort(got)
	slices.Sort(names)
	if d := cmp.Diff(append([]string{}, names...), got); d != "" {
		t.Errorf("search %q as %s: %s", q.Text, who, d)
	}
}

func searchClauses() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"searches by text":        searchTexts,
		"searches follow changes": searchChanges,
	}
}

func searchTexts(t *testing.T, f *fixture) {
	t.Helper()
	s := newSearches(t, f)
	for text, names := range map[string][]string{
		"erwhee":                 {"inside"},
		"WATERWHEELS":            {"inside"},
		"wheels at":              {"inside"},
		"at dusk of":             nil,
		"dusk at waterwheels":    nil,
		"zeppelin":               {"case", "file"},
		"Zeppelin OVER the":      {"case"},
		"zeppelin-":              {"file"},
		"straße":                 {"german"},
		"aße am f":               {"german"},
		"strasse":                nil,
		"маяк":                   {"russian"},
		"Äußere STR":             {"german"},
		"ый ма":                  {"russian"},
		"zmir":                   {"turkish"},
		"100% c":                 {"percent"},
		"0% ":                    {"percent"},
		"100_ c":                 nil,
		"snake_case":             {"under"},
		"snake%name":             nil,
		"snakeXcase":             nil,
		`"grand" hotel's \ s`:    {"quote"},
		`the "grand" OR`:         nil,
		"xq":                     {"short"},
		"q":                      {"short"},
		"lantern":                {"lantern 0", "lantern 1", "lantern 2", "lantern 3", "lantern 4"},
		"lantern 3":              {"lantern 3"},
		strings.Repeat("ab", 60): nil,
	} {
		s.want(t, owner, ledger.MediaQuery{Text: text}, names...)
	}
	s.want(t, "bob", ledger.MediaQuery{Text: "zeppelin"}, "foreign")
	s.want(t, owner, ledger.MediaQuery{Text: "zeppelin", Modality: media.ModalityImage}, "case", "file")
	s.want(t, owner, ledger.MediaQuery{Text: "zeppelin", Modality: media.ModalityVideo})
	s.want(t, owner, ledger.MediaQuery{Text: "zeppelin", Deleted: true})
}

func searchChanges(t *testing.T, f *fixture) {
	t.Helper()
	s := newSearches(t, f)
	must(t, f.LabelMedia(t.Context(), owner, s.ids["inside"], new("old mill"), new("beside the zeppelin")))
	s.want(t, owner, ledger.MediaQuery{Text: "waterwheels"})
	s.want(t, owner, ledger.MediaQuery{Text: "old mill"}, "inside")
	s.want(t, owner, ledger.MediaQuery{Text: "zeppelin"}, "case", "file", "inside")
	must(t, f.LabelMedia(t.Context(), owner, s.ids["inside"], new("Waterwheels"), nil))
	s.want(t, owner, ledger.MediaQuery{Text: "waterwheels"}, "inside")

	f.finishRun(t, s.runOf(t, s.ids["case"]))
	must(t, f.DeleteMedia(t.Context(), owner, s.ids["case"]))
	s.want(t, owner, ledger.MediaQuery{Text: "zeppelin"}, "file", "inside")
	s.want(t, owner, ledger.MediaQuery{Text: "zeppelin", Deleted: true}, "case")
	must(t, f.RestoreMedia(t.Context(), owner, s.ids["case"], f.deps.Now().AddDate(-1, 0, 0)))
	s.want(t, owner, ledger.MediaQuery{Text: "zeppelin"}, "case", "file", "inside")

	again := f.open(t)
	l, err := again.ListMedia(t.Context(), owner, ledger.MediaQuery{Text: "waterwheels"})
	if err != nil || len(l.Items) != 1 || l.Items[0].ID != s.ids["inside"] {
		t.Errorf("opened again: %+v, %v", l.Items, err)
	}
}

func (s *searches) runOf(t *testing.T, mediaID string) ledger.Run {
	t.Helper()
	m, err := s.MediaRecord(t.Context(), owner, mediaID)
	must(t, err)
	r, err := s.Run(t.Context(), owner, m.Run)
	must(t, err)
	return r
}
