//go:build postgres && unix

package durable_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelier/internal/pgtest"
	"atelier/journal"
	"atelier/journal/journaltest"
	"atelier/media"
	"atelier/run/durable"
)

// With the build tag postgres every test of the engine runs on a real server as well.
func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// newConfig is a new database for the engine of a test.
func newConfig(tb testing.TB) durable.Config {
	tb.Helper()
	return durable.Config{DatabaseURL: pgtest.Database(tb), Locks: filepath.Join(tb.TempDir(), "executors")}
}

func TestJournalOnPostgreSQL(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, journaltest.Config{Remembers: true, Open: func(t *testing.T) journaltest.Place {
		t.Helper()
		return place{newConfig(t)}
	}})
}

// TestServerRefuses: what is wrong with a server is told, without the password.
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
			e, err := durable.Open(t.Context(), durable.Config{DatabaseURL: test.url, Locks: t.TempDir()})
			if err == nil {
				leave(t, e)
			}
			if media.CodeOf(err) != test.code {
				t.Fatalf("error %v, want %s", err, test.code)
			}
			for _, secret := range []string{password, pgtest.GuestPassword, "someone"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells %q: %v", secret, err)
				}
			}
		})
	}
}

// TestProcessesMakeTheTables: several processes may find an empty database at once, and
// deployments that share it by search_path do not see each other's work.
func TestProcessesMakeTheTables(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			mine := c
			if i == 3 {
				mine.DatabaseURL += "&search_path=studio"
			}
			e := open(t, mine, func(context.Context, journal.Journal, string, []byte) error { return nil })
			defer leave(t, e)
			if err := e.Start(t.Context(), fmt.Sprintf("w%d", i), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	e := open(t, c, func(context.Context, journal.Journal, string, []byte) error { return nil })
	defer leave(t, e)
	for i := range 4 {
		if _, _, err := e.State(fmt.Sprintf("w%d", i)); (media.CodeOf(err) == media.CodeNotFound) != (i == 3) {
			t.Errorf("work %d: %v", i, err)
		}
	}
}
