package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"atelier/media"
)

func TestURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://ann:sesame@db.example.com:6432/atelier?sslmode=verify-full",
		"postgresql://localhost/atelier", "postgres:///atelier?host=/run/postgresql", " postgres://localhost \n",
	} {
		if err := Check(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{
		"", "atelier.db", "sqlite:///a.db", "host=localhost password=sesame", "mysql://ann:sesame@db/a",
		"postgres://ann:sesame@db:port/a", "postgres://ann:sesame%zz@db/a", "postgres://ann:sesame@db/a?sslmode=maybe",
		"postgres://ann:sesame@db/a?connect_timeout=soon",
	} {
		err := Check(url)
		if media.CodeOf(err) != media.CodeInvalid || strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v", url, err)
		}
		if _, oerr := Open(t.Context(), Config{URL: url}); media.CodeOf(oerr) != media.CodeInvalid {
			t.Errorf("open %s: %v", url, oerr)
		}
	}
}

func TestPlaceNamesNoSecret(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://ann:sesame@db.example.com:6432/atelier": "PostgreSQL atelier on db.example.com:6432",
		"postgres://ann@localhost":                          "PostgreSQL ann on localhost:5432",
		"postgres:///atelier?host=/run/postgresql":          "PostgreSQL atelier in /run/postgresql",
	} {
		c, err := parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := place(c); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// TestUnreachable connects to a loopback port without a listener.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), Config{URL: "postgres://ann:sesame@127.0.0.1:1/atelier?sslmode=disable"})
	if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
		t.Fatalf("error = %v", err)
	}
	for _, word := range []string{"sesame", "user=ann"} {
		if strings.Contains(err.Error(), word) {
			t.Errorf("%v shows %s", err, word)
		}
	}
	if !strings.Contains(err.Error(), "atelier on 127.0.0.1:1 does not answer") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error = %v", err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		want  media.Code
		again bool
	}{
		{&pgconn.PgError{Code: "53100"}, media.CodeDiskFull, false},
		{&pgconn.PgError{Code: "53300"}, media.CodeUnavailable, false},
		{&pgconn.PgError{Code: "25006"}, media.CodeForbidden, false},
		{&pgconn.PgError{Code: "42501"}, media.CodeForbidden, false},
		{&pgconn.PgError{Code: "55P03"}, media.CodeUnavailable, false},
		{&pgconn.PgError{Code: "40P01"}, media.CodeUnavailable, true},
		{&pgconn.PgError{Code: "57P01"}, media.CodeUnavailable, true},
		{&pgconn.PgError{Code: "25P03"}, media.CodeUnavailable, true},
		{&pgconn.PgError{Code: "57014"}, media.CodeDeadline, false},
		{&pgconn.PgError{Code: "28P01"}, media.CodeUnauthorized, false},
		{&pgconn.PgError{Code: "3D000"}, media.CodeNotFound, false},
		{&pgconn.PgError{Code: "3F000"}, media.CodeNotFound, false},
		{&pgconn.PgError{Code: "42P01"}, media.CodeCorrupt, false},
		{&pgconn.PgError{Code: "XX001"}, media.CodeCorrupt, false},
		{&pgconn.PgError{Code: "XX000"}, media.CodeInternal, false},
		{&pgconn.PgError{Code: "23505"}, media.CodeConflict, false},
		{&pgconn.PgError{Code: "23503"}, media.CodeNotFound, false},
		{&pgconn.PgError{Code: "22021"}, media.CodeInvalid, false},
		{&pgconn.PgError{}, media.CodeInternal, false},
		{io.ErrUnexpectedEOF, media.CodeUnavailable, true},
		{driver.ErrBadConn, media.CodeUnavailable, true},
		{context.Canceled, media.CodeCancelled, false},
		{context.DeadlineExceeded, media.CodeDeadline, false},
		{errors.New("odd"), media.CodeInternal, false},
	} {
		err := dialect{place: "PostgreSQL a"}.Failure("do it", c.err)
		if got := media.CodeOf(err); got != c.want || !strings.HasPrefix(err.Error(), "do it: ") {
			t.Errorf("%v: code %q, want %q: %v", c.err, got, c.want, err)
		}
		if got := (dialect{}).Retryable(c.err); got != c.again {
			t.Errorf("%v: again is %v", c.err, got)
		}
	}
}
