package atelier

import (
	"io"
	"path/filepath"
	"testing"

	"atelier/internal/shipped"
	"atelier/run/runtest"
)

// TestEveryActionIsInTheCatalogue: the catalogue of documented and checked actions equals what a run registers.
func TestEveryActionIsInTheCatalogue(t *testing.T) {
	t.Parallel()
	catalogue, folder := shipped.Catalogue(), "examples/energy"
	a, err := Open(t.Context(), Config{Dir: runtest.Folder(t), Search: Search{SearXNG: "http://127.0.0.1:9"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	var opened []io.Closer
	registry, _, err := a.actions(t.Context(), Sources{Files: folder, Knowledge: folder, Database: filepath.Join(a.Config.Dir, "atelier.db")}, &opened)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range opened {
		defer func() { _ = source.Close() }()
	}
	for _, name := range registry.Names() {
		if _, ok := catalogue.Actions[name]; !ok {
			t.Errorf("%s is registered and not in the catalogue", name)
		}
	}
	if len(catalogue.Actions) != len(registry.Names()) {
		t.Errorf("the catalogue has %d actions, a run %d", len(catalogue.Actions), len(registry.Names()))
	}
	for _, d := range []string{"Query Database", "Web Search", "Search Knowledge Base", "Read File"} {
		if catalogue.Actions[d] == "" {
			t.Errorf("%s needs no source", d)
		}
	}
}
