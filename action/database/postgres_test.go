package database

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/action"
	"atelier/media"

	"github.com/jackc/pgx/v5/pgproto3"
)

// server simulates a PostgreSQL server: it records the statements that it receives and answers a query with the first
// script whose text the query contains.
type server struct {
	addr       string
	mu         sync.Mutex // guards statements
	statements []string
	scripts    []script
	// cancelled is closed when a client asks to cancel a query.
	cancelled chan struct{}
	once      sync.Once
	// ended is closed when the test ends, in case no client has asked to cancel.
	ended chan struct{}
}

// script answers a query that contains text.
type script struct {
	text  string
	cols  []pgproto3.FieldDescription
	rows  [][]string
	code  string // returned instead of rows
	hangs bool   // no answer until the client cancels
}

func col(name string, oid uint32) pgproto3.FieldDescription {
	return pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: oid, DataTypeSize: -1, TypeModifier: -1}
}

// The OIDs of the PostgreSQL types that the tests use.
const (
	int8OID, textOID, numericOID = 20, 25, 1700
)

// schema returns scripts for the queries of Describe Database.
func schema() []script {
	return []script{{
		text: "pg_catalog.pg_class",
		rows: [][]string{{"sale", "public.sale", "table", "4000", "All sales", `[{"name": "id", "databaseType": "integer", "key": true}, {"name": "amount", "databaseType": "numeric", "key": false}]`, `["(region_id) → region(id)"]`}},
		cols: []pgproto3.FieldDescription{col("name", textOID), col("from", textOID), col("kind", textOID), col("rows", int8OID), col("comment", textOID), col("columns", textOID), col("references", textOID)},
	}}
}

func serve(t *testing.T, scripts ...script) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), scripts: append(scripts, schema()...), cancelled: make(chan struct{}), ended: make(chan struct{})}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); close(s.ended); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = c.Close() }()
				s.serveClient(c)
			})
		}
	})
	return s
}

func (s *server) url() string {
	return "postgres://reader:swordfish@" + s.addr + "/shop?sslmode=disable"
}

func (s *server) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements = append(s.statements, strings.Join(strings.Fields(text), " "))
}

func (s *server) received() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.statements, "\n")
}

// serveClient serves one client until it disconnects.
func (s *server) serveClient(c net.Conn) {
	b := pgproto3.NewBackend(c, c)
	m, err := b.ReceiveStartupMessage()
	if err != nil {
		return
	}
	if _, ok := m.(*pgproto3.CancelRequest); ok {
		s.once.Do(func() { close(s.cancelled) })
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte("1234")})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	status, current, broken := byte('I'), "", false
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			s.note(m.String)
			if strings.HasPrefix(m.String, "begin") {
				status = 'T'
			} else if m.String == "rollback" {
				status = 'I'
			}
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte(strings.ToUpper(strings.Fields(m.String)[0]))})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: status})
		case *pgproto3.Parse:
			s.note(m.Query)
			current, broken = m.Query, false
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Describe:
			b.Send(&pgproto3.RowDescription{Fields: s.script(current).cols})
		case *pgproto3.Execute:
			broken = s.answer(b, current)
		case *pgproto3.Sync:
			if broken && status == 'T' {
				status = 'E'
			}
			b.Send(&pgproto3.ReadyForQuery{TxStatus: status})
		case *pgproto3.Terminate:
			return
		}
	}
}

func (s *server) script(query string) script {
	for _, one := range s.scripts {
		if strings.Contains(query, one.text) {
			return one
		}
	}
	return script{code: "42601"}
}

// answer sends rows or an error, and reports whether it sent an error.
func (s *server) answer(b *pgproto3.Backend, query string) bool {
	one := s.script(query)
	if one.hangs {
		_ = b.Flush()
		select {
		case <-s.cancelled:
		case <-s.ended:
		}
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "57014", Message: "canceling statement due to user request"})
		return true
	}
	if one.code != "" {
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: one.code, Message: "the server's words"})
		return true
	}
	for _, row := range one.rows {
		values := make([][]byte, len(row))
		for i, v := range row {
			if v != "NULL" {
				values[i] = []byte(v)
			}
		}
		b.Send(&pgproto3.DataRow{Values: values})
	}
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT")})
	return false
}

func TestDescribePostgres(t *testing.T) {
	t.Parallel()
	s := serve(t)
	d := open(t, Config{URL: s.url()})
	res, err := d.describe(t.Context(), &action.Call{Params: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	tables, _ := res.Outputs["tables"].([]Table)
	if len(tables) != 1 || fmt.Sprintf("%v %s %d %s", tables[0].References, tables[0].Comment, *tables[0].Rows, tables[0].Note) != "[(region_id) → region(id)] All sales 4000 estimated" ||
		!strings.HasPrefix(fmt.Sprint(tables[0].Columns), "[{id integer integer true ") || !strings.Contains(fmt.Sprint(tables[0].Columns), "{amount number numeric false ") {
		t.Errorf("%+v", tables)
	}
}

// TestDescribeManyTablesOfPostgres: the tables are described with one query, however many there are.
func TestDescribeManyTablesOfPostgres(t *testing.T) {
	t.Parallel()
	tables := schema()[0]
	for i := range 40 {
		name := fmt.Sprintf("t%d", i)
		tables.rows = append(tables.rows, []string{name, "public." + name, "table", "4000", "", "[]", "[]"})
	}
	s := serve(t, tables)
	d := open(t, Config{URL: s.url()})
	before := strings.Count(s.received(), "pg_catalog")
	if _, err := d.describe(t.Context(), &action.Call{Params: map[string]any{}}); err != nil {
		t.Fatal(err)
	}
	if after := strings.Count(s.received(), "pg_catalog"); after != 2*before || strings.Count(s.received(), "pg_attribute") != 2 {
		t.Errorf("%d mentions of the catalogue when it was opened, then %d:\n%.2000s", before, after, s.received())
	}
}

// TestPostgresIsReadOnly checks the statements that the server receives for each query.
func TestPostgresIsReadOnly(t *testing.T) {
	t.Parallel()
	s := serve(t, script{
		text: "FROM shop", rows: [][]string{{"2020", "1.50"}, {"2021", "NULL"}},
		cols: []pgproto3.FieldDescription{col("year", textOID), col("amount", numericOID)},
	})
	d := open(t, Config{URL: s.url(), Timeout: 7 * time.Second, MaxRows: 50})
	a := d.must(t, "SELECT year, amount FROM shop; -- all")
	if a.String() != "[year amount] [[2020 1.5] [2021 <nil>]] 2 rows" || a.Statement != "SELECT year, amount FROM shop" {
		t.Errorf("%s %+v", a, a)
	}
	_, last, _ := strings.Cut(s.received(), "rollback\n") // after the check by Open
	want := `SET default_transaction_read_only = on
SET statement_timeout = 7000
SET lock_timeout = 5000
begin read only
SELECT * FROM ( SELECT year, amount FROM shop ) AS bounded LIMIT 51
rollback`
	if last != want {
		t.Errorf("the server received\n%s\nwant\n%s", last, want)
	}
}

func TestPostgresErrors(t *testing.T) {
	t.Parallel()
	for sqlstate, want := range map[string]media.Code{
		"25006": media.CodeForbidden, "42501": media.CodeForbidden, "57014": media.CodeDeadline, "28P01": media.CodeUnauthorized,
		"3D000": media.CodeNotFound, "53300": media.CodeUnavailable, "57P03": media.CodeUnavailable, "42P01": media.CodeInvalid, "": media.CodeInvalid,
	} {
		s := serve(t, script{text: "FROM x", code: sqlstate, hangs: false, cols: []pgproto3.FieldDescription{col("a", textOID)}})
		if sqlstate == "" {
			s.scripts[0].text = "nothing like it"
		}
		d := open(t, Config{URL: s.url()})
		_, err := d.ask(t, "SELECT a FROM x")
		if media.CodeOf(err) != want || strings.Contains(fmt.Sprint(err), "swordfish") {
			t.Errorf("%s: %v (%s), want %s", sqlstate, err, media.CodeOf(err), want)
		}
	}
}

func TestPostgresThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, script{text: "FROM x", hangs: true, cols: []pgproto3.FieldDescription{col("a", textOID)}})
	d := open(t, Config{URL: s.url()})
	d.cfg.Timeout = shortLimit // set after Open, which can take longer on a busy machine
	if _, err := d.ask(t, "SELECT a FROM x"); media.CodeOf(err) != media.CodeDeadline {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	_ = l.Close()
	if _, err := Open(ctx, Config{URL: "postgresql://reader:swordfish@" + gone + "/shop"}); media.CodeOf(err) != media.CodeUnavailable || strings.Contains(err.Error(), "swordfish") || !strings.Contains(err.Error(), gone) {
		t.Errorf("%v", err)
	}
}

func TestPostgresRowThatIsTooLong(t *testing.T) {
	t.Parallel()
	s := serve(t, script{text: "FROM x", rows: [][]string{{strings.Repeat("x", maxValue+1)}}, cols: []pgproto3.FieldDescription{col("a", textOID)}})
	d := open(t, Config{URL: s.url()})
	if _, err := d.ask(t, "SELECT a FROM x"); media.CodeOf(err) != media.CodeTooLarge {
		t.Errorf("%v", err)
	}
}
