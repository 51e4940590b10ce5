//go:build postgres && unix

package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"atelier/internal/pgtest"
	"atelier/ledger"
	"atelier/ledger/internal/sqlstore"
	"atelier/ledger/ledgertest"
	"atelier/ledger/migrations"
	"atelier/media"
)

// databases maps the databases of one test to URLs.
type databases struct {
	server *pgtest.Server
	mu     sync.Mutex // guards urls
	urls   map[string]string
}

func (d *databases) url(t *testing.T, name string) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	key := t.Name() + "/" + name
	if d.urls[key] == "" {
		d.urls[key] = d.server.Database(t)
	}
	return d.urls[key]
}

func open(t *testing.T, url string, d ledgertest.Deps) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{URL: url, Now: d.Now, NewID: d.NewID, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// administer executes statements outside of a store.
func administer(t *testing.T, url string, statements ...string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func newRun(t *testing.T, s *Store, id string) (ledger.Run, error) {
	t.Helper()
	r := ledger.Run{ID: id, Owner: "ann", Tree: id, Agent: "sage", Status: ledger.StatusRunning}
	return r, s.CreateRun(t.Context(), r)
}

// TestConformance runs the suite. A full disk is the server's own error, raised by a trigger: filling a real disk needs
// permissions that a test does not have.
func TestConformance(t *testing.T) {
	t.Parallel()
	dbs := &databases{server: pgtest.Start(t), urls: map[string]string{}}
	ledgertest.Run(t, ledgertest.Harness{
		Open: func(t *testing.T, name string, d ledgertest.Deps) ledger.Store {
			t.Helper()
			return open(t, dbs.url(t, name), d)
		},
		Fill: func(t *testing.T, _ ledger.Store) {
			t.Helper()
			administer(t, dbs.url(t, "one"),
				`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
				`CREATE TRIGGER full_disk BEFORE INSERT ON blobs FOR EACH ROW EXECUTE FUNCTION full_disk()`)
		},
		Expire: func(t *testing.T, _ ledger.Store, at string) {
			t.Helper()
			administer(t, dbs.url(t, "one"), `UPDATE leases SET expires_at = '`+at+`'`)
		},
		OpenReadOnly: func(t *testing.T, name string, d ledgertest.Deps) ledger.Store {
			t.Helper()
			return open(t, dbs.url(t, name)+"&default_transaction_read_only=on", d)
		},
	})
}

func TestServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for name, test := range map[string]func(*testing.T, *pgtest.Server){
		"foreign schemas are refused":     foreignSchemas,
		"older schemas are brought up":    olderSchemas,
		"copies are merged":               copiesAreMerged,
		"another schema by search_path":   otherSchema,
		"roles and databases":             rolesAndDatabases,
		"a secondary row fails":           secondaryRow,
		"search without an index":         searchWithoutIndex,
		"search by an index":              searchByIndex,
		"another process holds the lock":  lockHeld,
		"deadlocks are repeated":          deadlocks,
		"a terminated session":            terminated,
		"text that no database can keep":  badText,
		"through a pooler's kind of mode": withoutPreparing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, server)
		})
	}
}

func foreignSchemas(t *testing.T, server *pgtest.Server) {
	t.Helper()
	for change, says := range map[string]string{
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`: "has schema version 99",
		`DELETE FROM goose_db_version WHERE version_id = 4`:                       "was written by another version of atelier",
	} {
		url := server.Database(t)
		if err := open(t, url, ledgertest.Deps{}).Close(); err != nil {
			t.Fatal(err)
		}
		administer(t, url, change)
		_, err := Open(t.Context(), Config{URL: url})
		if media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "or name another database; nothing was changed") {
			t.Errorf("error = %v", err)
		}
	}
}

func olderSchemas(t *testing.T, server *pgtest.Server) {
	t.Helper()
	for version := range int64(migrations.Latest) {
		if version == 0 {
			continue // the suite begins with empty databases
		}
		url := server.Database(t)
		old, err := sql.Open("pgx", url)
		if err != nil {
			t.Fatal(err)
		}
		p, err := goose.NewProvider(goose.DialectPostgres, old, migrations.Files, goose.WithLogger(goose.NopLogger()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.UpTo(t.Context(), version); err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		administer(t, url, `INSERT INTO agent_runs (id, owner, tree_id, depth, agent, status, task, created_at, updated_at)
			VALUES ('r', 'ann', 'r', 0, 'sage', 'succeeded', 'x', '2026-11-20T04:00:00.000000Z', '2026-11-20T04:00:00.000000Z')`)
		s := open(t, url, ledgertest.Deps{})
		if _, err := s.Run(t.Context(), "ann", "r"); err != nil {
			t.Error(err)
		}
		if v, err := s.Version(t.Context()); err != nil || v != migrations.Latest {
			t.Errorf("from %d to %d, %v", version, v, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// copiesAreMerged migrates a database in which every run tree had copies of the media it was given.
func copiesAreMerged(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	old, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, old, migrations.Files, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	administer(t, url, ledgertest.VersionSeven()...)
	s := open(t, url, ledgertest.Deps{})
	ledgertest.Merged(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func otherSchema(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	if _, err := Open(t.Context(), Config{URL: url + "&search_path=studio"}); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("without the schema: %v", err)
	}
	administer(t, url, "CREATE SCHEMA studio")
	plain, studio := open(t, url, ledgertest.Deps{}), open(t, url+"&search_path=studio", ledgertest.Deps{})
	defer plain.Close()
	defer studio.Close()
	if _, err := newRun(t, studio, "r"); err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Run(t.Context(), "ann", "r"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("one schema sees the other's run: %v", err)
	}
}

func rolesAndDatabases(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	s := open(t, url, ledgertest.Deps{})
	defer s.Close()
	r, err := newRun(t, s, "r")
	if err != nil {
		t.Fatal(err)
	}
	asGuest := strings.Replace(url, "user=postgres", "user="+pgtest.Guest, 1)
	allowed := asGuest + "&password=" + pgtest.GuestPassword
	for name, c := range map[string]struct {
		url  string
		want media.Code
	}{
		"wrong password":        {asGuest + "&password=guess", media.CodeUnauthorized},
		"no such role":          {strings.Replace(url, "user=postgres", "user=nobody", 1), media.CodeUnauthorized},
		"no such database":      {server.URL("nothing", "postgres"), media.CodeNotFound},
		"may not even look":     {allowed, media.CodeForbidden},
		"may not create tables": {strings.Replace(server.Database(t), "user=postgres", "user="+pgtest.Guest+"&password="+pgtest.GuestPassword, 1), media.CodeForbidden},
	} {
		_, err := Open(t.Context(), Config{URL: c.url})
		if media.CodeOf(err) != c.want || strings.Contains(err.Error(), pgtest.GuestPassword) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	administer(t, url, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+pgtest.Guest)
	guest := open(t, allowed, ledgertest.Deps{})
	defer guest.Close()
	if _, err := guest.Run(t.Context(), "ann", r.ID); err != nil {
		t.Errorf("reading: %v", err)
	}
	if _, err := newRun(t, guest, "s"); media.CodeOf(err) != media.CodeForbidden {
		t.Errorf("writing: %v", err)
	}
}

// searchByIndex: a search queries the index for the rarest of its words.
func searchByIndex(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	defer open(t, url, ledgertest.Deps{}).Close()
	const insert = `INSERT INTO blobs (digest, size_bytes, mime_type, state, created_at, updated_at) VALUES ('sha256-0', 1, 'image/png', 'ready', '', '');
		INSERT INTO media (id, owner, tree_id, digest, ref, modality, mime_type, size_bytes, label, created_at, updated_at)
		SELECT 'm-' || i, 'ann', 't-' || i, 'sha256-0', 'img-0', 'image', 'image/png', 1, 'Harbour of the waterwheel' || CASE WHEN i = 7 THEN ', Ärger' ELSE '' END, '', ''
		FROM generate_series(1, 3000) i; ANALYZE media`
	administer(t, url, strings.Split(insert, ";")...)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for text, want := range map[string]string{"harbour of ärger": "%ärger%", "ärger, harbour": "%ärger%", "of it": "", "ΟΔΟΣ": "", "maß": "%maß%"} {
		query, args, err := find(t.Context(), db, text, false)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && query != "" || want != "" && fmt.Sprint(args) != "["+want+"]" {
			t.Errorf("%s: %s %v, want %q", text, query, args, want)
		}
	}
	if query, _, _ := find(t.Context(), db, "маяк ßen", true); query != "" {
		t.Error("a database of Latin letters is asked for others")
	}
	query, args, err := find(t.Context(), db, "ärger", false)
	if err != nil {
		t.Fatal(err)
	}
	var plan string
	if err := db.QueryRowContext(t.Context(), "EXPLAIN (FORMAT JSON) "+query, args...).Scan(&plan); err != nil || !strings.Contains(plan, `"media_texts"`) {
		t.Errorf("the index is not used: %v %s", err, plan)
	}
}

// searchWithoutIndex: a role that may not create the extension searches without it.
func searchWithoutIndex(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	administer(t, url, "GRANT CREATE ON SCHEMA public TO "+pgtest.Guest)
	var log strings.Builder
	s, err := Open(t.Context(), Config{
		URL:    strings.Replace(url, "user=postgres", "user="+pgtest.Guest+"&password="+pgtest.GuestPassword, 1),
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.Contains(log.String(), "CREATE EXTENSION pg_trgm") {
		t.Errorf("the log is %q", log.String())
	}
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "ann", Tree: "t", Run: "r"})
	blob := media.Blob{Digest: media.DigestOf([]byte("a")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}
	if _, err := s.Record(ctx, media.NewOutput(blob, media.Meta{Label: "Waterwheel"})); err != nil {
		t.Fatal(err)
	}
	l, err := s.ListMedia(t.Context(), "ann", ledger.MediaQuery{Text: "terwh"})
	if err != nil || len(l.Items) != 1 {
		t.Errorf("found %d items, %v", len(l.Items), err)
	}
}

func secondaryRow(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	s := open(t, url, ledgertest.Deps{})
	defer s.Close()
	administer(t, url, "DROP TABLE conversation_detail_attachments, agent_run_media, prompt_run_media, media_lineage")
	ledgertest.RecordComesFirst(t, s)
}

func lockHeld(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	holder := open(t, url, ledgertest.Deps{})
	defer holder.Close()
	r, err := newRun(t, holder, "r")
	if err != nil {
		t.Fatal(err)
	}
	waiter, err := Open(t.Context(), Config{URL: url, LockTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer waiter.Close()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := (dialect{}).Lock(t.Context(), tx, "events"); err != nil {
		t.Fatal(err)
	}
	_, err = waiter.AppendEvents(t.Context(), []ledger.Event{{Tree: r.ID, RunID: r.ID, Kind: "warning"}})
	if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
		t.Errorf("error = %v", err)
	}
	if _, err := waiter.ListRuns(t.Context(), "ann", ledger.RunQuery{}); err != nil {
		t.Errorf("reading beside a writer: %v", err)
	}
}

// deadlocks makes the server abort a transaction of the store once.
func deadlocks(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	s := open(t, url, ledgertest.Deps{})
	defer s.Close()
	administer(t, url, "CREATE SEQUENCE broken", `CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('broken') = 1 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected'; END IF;
		RETURN NEW; END $$`,
		"CREATE TRIGGER break_off BEFORE INSERT ON prompt_run_media FOR EACH ROW EXECUTE FUNCTION break_off()")
	r, err := newRun(t, s, "r")
	if err != nil {
		t.Fatal(err)
	}
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "ann", Tree: r.ID, Run: r.ID})
	b := media.Blob{Digest: media.DigestOf([]byte("a")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}
	if _, err := s.Record(ctx, media.NewOutput(b, media.Meta{})); err != nil {
		t.Fatal(err)
	}
	links, err := s.ListPromptMedia(t.Context(), "ann", r.ID, ledger.Page{})
	if err != nil || len(links.Items) != 1 {
		t.Errorf("links %+v, %v", links.Items, err)
	}
}

// terminated ends the store's sessions; writes still succeed.
func terminated(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t)
	s := open(t, url, ledgertest.Deps{})
	defer s.Close()
	for i := range 5 {
		if _, err := newRun(t, s, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		administer(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'atelier' AND datname = current_database()")
	}
	if _, err := newRun(t, s, "last"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.ListRuns(t.Context(), "ann", ledger.RunQuery{}); err != nil || len(list.Items) != 6 {
		t.Errorf("%d runs, %v", len(list.Items), err)
	}
}

func badText(t *testing.T, server *pgtest.Server) {
	t.Helper()
	s := open(t, server.Database(t), ledgertest.Deps{})
	defer s.Close()
	for _, id := range []string{"a\x00b", "\xff"} {
		if _, err := newRun(t, s, id); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	r, err := newRun(t, s, "r")
	if err != nil {
		t.Fatal(err)
	}
	r.Message = "a\x00b\xff ' \\ ü \U0001F98A"
	if err := s.FinishRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Run(t.Context(), "ann", "r"); err != nil || got.Message != "ab\uFFFD ' \\ ü \U0001F98A" {
		t.Errorf("message %q, %v", got.Message, err)
	}
}

func withoutPreparing(t *testing.T, server *pgtest.Server) {
	t.Helper()
	url := server.Database(t) + "&default_query_exec_mode=exec"
	dbs := &databases{server: server, urls: map[string]string{t.Name() + "/one": url}}
	s := open(t, dbs.url(t, "one"), ledgertest.Deps{})
	defer s.Close()
	r, err := newRun(t, s, "r")
	if err != nil {
		t.Fatal(err)
	}
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "ann", Tree: r.ID, Run: r.ID})
	b := media.Blob{Digest: media.DigestOf([]byte("a")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png", DurationSeconds: 1.5}}
	o, err := s.Record(ctx, media.NewOutput(b, media.Meta{Label: "x"}))
	if err != nil {
		t.Fatal(err)
	}
	if w, err := s.PromoteMedia(ctx, "ann", r.ID, []media.Output{o}); err != nil || len(w) > 0 {
		t.Error(w, err)
	}
	list, err := s.ListMedia(ctx, "ann", ledger.MediaQuery{Tree: r.ID})
	if err != nil || len(list.Items) != 1 || !list.Items[0].Promoted || list.Items[0].DurationSeconds != 1.5 {
		t.Errorf("%+v, %v", list.Items, err)
	}
}

// TestServerGoesAndComesBack stops the server between calls and restarts it.
func TestServerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	url := server.Database(t)
	s := open(t, url, ledgertest.Deps{})
	defer s.Close()
	kept, err := newRun(t, s, "kept")
	if err != nil {
		t.Fatal(err)
	}
	server.Stop()
	_, write := newRun(t, s, "lost")
	_, read := s.Run(t.Context(), "ann", kept.ID)
	_, start := Open(t.Context(), Config{URL: url})
	for name, err := range map[string]error{"write": write, "read": read, "start": start} {
		if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.Restart(t)
	if _, err := s.Run(t.Context(), "ann", kept.ID); err != nil {
		t.Errorf("committed data is missing: %v", err)
	}
	if _, err := newRun(t, s, "lost"); err != nil {
		t.Errorf("the same call, later: %v", err)
	}
}

// TestLostInsideTransaction stops the server between two statements.
func TestLostInsideTransaction(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	db, _, err := connect(Config{URL: server.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlstore.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tx, err := db.Write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Stop()
	err = db.Dialect.Lock(context.Background(), tx, "x")
	if got := media.CodeOf(db.Dialect.Failure("lock", err)); got != media.CodeUnavailable || !db.Dialect.Retryable(err) {
		t.Errorf("statement: %v", err)
	}
	err = tx.Commit()
	if got := media.CodeOf(db.Dialect.Failure("commit", err)); err == nil || got != media.CodeUnavailable {
		t.Errorf("commit: %v", err)
	}
}
