//go:build unix

package runtest

import (
	"errors"
	"sync"
	"testing"

	"atelier/internal/pgtest"
	"atelier/ledger/postgres"
	"atelier/run/durable"
	"atelier/run/lease"
)

// The template database: furnished is its URL, empty until the database is created.
var (
	template  sync.Once //nolint:gochecknoglobals // made once
	furnished string    //nolint:gochecknoglobals // made once
)

// CopyDatabase creates a database for a ledger and an engine on the server of the test's process,
// see pgtest.Main, and returns its URL.
func CopyDatabase(tb testing.TB) (url string) {
	tb.Helper()
	template.Do(func() {
		url := pgtest.Database(tb)
		s, err := postgres.Open(tb.Context(), postgres.Config{URL: url})
		if err != nil {
			tb.Fatal(err)
		}
		e, err := durable.Open(tb.Context(), durable.Config{DatabaseURL: url, Leases: lease.NewKeeper(s)})
		if err != nil {
			tb.Fatal(errors.Join(err, s.Close()))
		}
		if err := errors.Join(e.Close(tb.Context()), s.Close()); err != nil {
			tb.Fatal(err)
		}
		furnished = url
	})
	if furnished == "" {
		tb.Fatal("the template database could not be created")
	}
	return pgtest.Copy(tb, furnished)
}
