//go:build unix

package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"
)

// Database creates an empty database on the server of [Main] and returns its URL.
func Database(tb testing.TB) string {
	tb.Helper()
	s := &Server{dir: os.Getenv(serverVariable)}
	if s.dir == "" {
		tb.Fatal("pgtest: there is no server: call pgtest.Main in TestMain")
	}
	return s.Database(tb)
}

// Copy creates a copy of another database on the server of [Main] and returns its URL. from is the
// URL of the other database, which must have no connections.
func Copy(tb testing.TB, from string) string {
	tb.Helper()
	s := &Server{dir: os.Getenv(serverVariable)}
	u, err := url.Parse(from)
	if err != nil || s.dir == "" {
		tb.Fatalf("pgtest: copy a database: %v", err)
	}
	return s.make(tb, " TEMPLATE "+strings.TrimPrefix(u.Path, "/"))
}

// Database creates an empty database and returns its URL.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	return s.make(tb, "")
}

func (s *Server) make(tb testing.TB, as string) string {
	tb.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	if err := s.execute("CREATE DATABASE " + name + as); err != nil {
		tb.Fatal(err)
	}
	return s.URL(name, superuser)
}

// URL returns the URL of a database of this server, which need not exist, for a role.
func (s *Server) URL(database, role string) string {
	q := url.Values{"host": {s.dir}, "user": {role}}
	return "postgres:///" + database + "?" + q.Encode()
}

func (s *Server) execute(statement string) error {
	db, err := sql.Open("pgx", s.URL(superuser, superuser))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), statement)
	return errors.Join(err, db.Close())
}
