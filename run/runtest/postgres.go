//go:build unix

package runtest

import (
	"errors"
	"sync"
	"testing"

	"atelier/internal/pgtest"
	"atelier/ledger/postgres"
	"atelier/run/durable"
)

// The database of which all others are copies: furnished is its URL, empty until it was made.
var (
	template  sync.Once //nolint:gochecknoglobals // made once
	furnished string    //nolint:gochecknoglobals // made once
)

// CopyDatabase makes a database for a ledger and an engine on the server of the test's process,
// see pgtest.Main, and gives its URL.
func CopyDatabase(tb testing.TB) (url string) {
	tb.Helper()
	template.Do(func() {
		url := pgtest.Database(tb)
		s, err := postgres.Open(tb.Context(), postgres.Config{URL: url})
		if err != nil {
			tb.Fatal(err)
		}
		e, err := durable.Open(tb.Context(), durable.Config{DatabaseURL: url, Locks: tb.TempDir()})
		if err != nil {
			tb.Fatal(errors.Join(err, s.Close()))
		}
		if err := errors.Join(e.Close(tb.Context()), s.Close()); err != nil {
			tb.Fatal(err)
		}
		furnished = url
	})
	if furnished == "" {
		tb.Fatal("the database that is copied could not be made")
	}
	return pgtest.Copy(tb, furnished)
}
