//go:build postgres && unix

package durable_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"atelier/internal/pgtest"
	"atelier/journal"
	"atelier/journal/journaltest"
	"atelier/media"
	"atelier/run/durable"
)

// With the build tag postgres, every test of the engine also runs on a real server.
func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// newConfig returns a new database for the engine of a test.
func newConfig(tb testing.TB) durable.Config {
	tb.Helper()
	return withLeases(tb, durable.Config{DatabaseURL: pgtest.Database(tb)})
}

func TestJournalOnPostgreSQL(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, journaltest.Config{Remembers: true, Open: func(t *testing.T) journaltest.Place {
		t.Helper()
		return database{newConfig(t)}
	}})
}

// TestServerRefuses: the error names the problem with a server, without the password.
func TestServerRefuses(t *testing.T) {
	t.Parallel()
	const password = "open-sesame-7"
	good := newConfig(t)
	asGuest := strings.Replace(good.DatabaseURL, "user=postgres", "user="+pgtest.Guest, 1)
	for name, test := range map[string]struct {
		url  string
		code media.Code
	}{
		"wrong password":     {asGuest + "&password=" + password, media.CodeUnauthorized},
		"may create nothing": {asGuest + "&password=" + pgtest.GuestPassword, media.CodeForbidden},
		"read only":          {good.DatabaseURL + "&default_transaction_read_only=on", media.CodeForbidden},
		"no such database":   {strings.Replace(good.DatabaseURL, "/test_", "/none_", 1), media.CodeNotFound},
		"nobody listens":     {"postgres://someone:" + password + "@127.0.0.1:1/none", media.CodeUnavailable},
		"no URL":             {"postgres://someone:" + password + "@127.0.0.1:port/none", media.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := durable.Open(t.Context(), withLeases(t, durable.Config{DatabaseURL: test.url}))
			if err == nil {
				killEngine(t, e)
			}
			if media.CodeOf(err) != test.code {
				t.Fatalf("error %v, want %s", err, test.code)
			}
			for _, secret := range []string{password, pgtest.GuestPassword, "someone"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error contains %q: %v", secret, err)
				}
			}
		})
	}
}

// TestSearchPath: deployments that share a database by search_path do not see each other's work.
func TestSearchPath(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	nothing := func(context.Context, journal.Journal, string, []byte) error { return nil }
	plain := open(t, c, nothing)
	defer killEngine(t, plain)
	c.DatabaseURL += "&search_path=studio"
	studio := open(t, c, nothing)
	defer killEngine(t, studio)
	if err := studio.Start(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := plain.State("a"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("one sees the other's work: %v", err)
	}
	if p := studio.Place(); !strings.Contains(p, "schema studio_atelier_engine") {
		t.Errorf("place %q", p)
	}
}
