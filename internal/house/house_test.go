package house_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	root     = "../.."
	module   = "atelier/"
	maxLines = 600
)

// mayImport lists the packages that each room's production code may import. A room's sub-packages follow the room's
// rule and may import the room itself.
var mayImport = map[string][]string{
	"media":              {},
	"journal":            {"media"},
	"media/blob":         {"media"},
	"media/probe":        {"media"},
	"media/wire":         {"media", "media/blob", "media/probe"},
	"internal/safehttp":  {"media", "internal/patience"},
	"internal/sqlitedb":  {},
	"internal/patience":  {},
	"internal/pattern":   {},
	"internal/disk":      {"media"},
	"media/imaging":      {"media", "media/blob", "media/probe", "media/wire"},
	"generate":           {"media", "journal", "media/blob", "media/probe", "media/wire", "media/imaging", "internal/safehttp", "internal/patience"},
	"chat":               {"media", "media/blob", "media/probe", "media/wire", "media/imaging", "internal/patience", "internal/pattern", "internal/safehttp"},
	"draw":               {"media", "internal/pattern"},
	"ledger":             {"media", "internal/sqlitedb"},
	"action":             {"media", "media/blob", "media/probe", "media/wire", "media/imaging", "generate", "draw", "internal/safehttp", "internal/patience", "internal/sqlitedb"},
	"agents":             {},
	"agent":              {"media", "journal", "media/blob", "media/probe", "media/wire", "media/imaging", "generate", "chat", "action", "internal/pattern", "internal/safehttp"},
	"workflow":           {"media", "generate"},
	"run":                {"media", "journal", "media/blob", "media/probe", "media/wire", "media/imaging", "generate", "chat", "action", "agent", "ledger", "workflow", "internal/safehttp", "internal/sqlitedb"},
	"web":                {},
	"api":                {"media", "ledger"},
	".":                  {"*"},
	"cmd":                {"*"},
	"bench":              {"*"},
	"internal/everyday":  {},
	"internal/house":     {},
	"internal/goruntime": {},
	"internal/recent":    {},
	"internal/pgtest":    {},
	"internal/token":     {"media", "internal/disk"},
	"internal/sim":       {"media"},
	"internal/shipped":   {"media", "action", "agent", "agents", "workflow", "examples"},
	"internal/folder":    {"media", "media/blob", "agent", "ledger", "internal/disk"},
	"internal/export":    {"media", "media/wire", "media/imaging", "ledger", "run", "workflow", "internal/folder"},
	"examples":           {"*"},
	"e2e":                {"*"},
}

type source struct {
	path string // slash separated, from the root
	file *ast.File
	text string
}

func (s source) dir() string { return filepath.ToSlash(filepath.Dir(s.path)) }

// test reports whether only tests use the code: test files and the conformance suites.
func (s source) test() bool {
	return strings.HasSuffix(s.path, "_test.go") || strings.Contains(s.dir()+"/", "test/")
}

func sources(t *testing.T) []source {
	t.Helper()
	out, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("found only %d Go files: is the root wrong?", len(out))
	}
	return out
}

// parsed reads the repository once; its result is not modified.
var parsed = sync.OnceValues(func() (out []source, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "node_modules" || name == "tools" || name == "testdata" || strings.HasPrefix(name, ".") && name != ".." && name != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, b, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		out = append(out, source{path: filepath.ToSlash(rel), file: f, text: string(b)})
		return err
	})
	return out, err
})

func packageOf(dir string) string {
	if strings.HasPrefix(dir, "internal/") {
		return dir
	}
	if strings.HasPrefix(dir, "media/") { // each of these is a room: operations on bytes are layered
		return strings.Join(strings.SplitN(dir, "/", 3)[:2], "/")
	}
	room, _, _ := strings.Cut(dir, "/")
	return room
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		room := packageOf(s.dir())
		allowed, known := mayImport[room]
		if !known {
			t.Errorf("%s: room %q is not in the house: add it here and to docs/architecture.md", s.path, room)
			continue
		}
		for _, spec := range s.file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if s.test() || path != strings.TrimSuffix(module, "/") && !strings.HasPrefix(path, module) {
				continue
			}
			path = cmp.Or(strings.TrimPrefix(path+"/", module), ".")
			path = strings.TrimSuffix(path, "/")
			to := packageOf(cmp.Or(path, "."))
			if to != room && to != "internal/sim" && !slices.Contains(allowed, to) && !slices.Contains(allowed, "*") {
				t.Errorf("%s imports %s: %s may use %v", s.path, path, room, allowed)
			}
			if strings.HasSuffix(path, "test") || path == "internal/sim" && s.ships() {
				t.Errorf("%s imports the test package %s", s.path, path)
			}
		}
	}
}

// TestSDKsOfChatStayInTheirPackages: a program that uses agents with its own models links none of the SDKs.
func TestSDKsOfChatStayInTheirPackages(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test() || strings.HasPrefix(s.dir(), "bench") {
			continue
		}
		for _, spec := range s.file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			sdk := strings.HasPrefix(path, "charm.land/fantasy") || strings.HasPrefix(path, "github.com/aws/") || strings.HasPrefix(path, "github.com/openai/") || strings.HasPrefix(path, "google.golang.org/genai")
			if sdk && s.dir() != "chat/fantasy" && s.dir() != "chat/bedrock" {
				t.Errorf("%s imports %s: it belongs into chat/fantasy or chat/bedrock", s.path, path)
			}
			if opens := path == module+"chat/fantasy" || path == module+"chat/bedrock"; opens && packageOf(s.dir()) != "." && !strings.HasPrefix(s.dir(), "chat/") {
				t.Errorf("%s imports %s: package atelier opens chat models, others take a chat.Registry", s.path, path)
			}
		}
	}
}

func TestDriversDoNotImportEachOther(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test() || !strings.HasPrefix(s.dir(), "generate/provider/") {
			continue
		}
		for _, spec := range s.file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			shared := strings.HasPrefix(path, module+"generate/internal/") || slices.Contains([]string{"generate/act", "generate/catalog", "generate/driver", "generate/money"}, strings.TrimPrefix(path, module))
			if !shared && strings.HasPrefix(path, module+"generate/") && !strings.HasPrefix(path+"/", module+s.dir()+"/") {
				t.Errorf("%s imports %s: drivers know only the Gateway's contract", s.path, path)
			}
		}
	}
}

func TestPureRoomsStayPure(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test() || !slices.Contains([]string{"agent", "generate", "generate/gateway", "generate/plan"}, s.dir()) && packageOf(s.dir()) != "workflow" {
			continue
		}
		for _, spec := range s.file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if path == "database/sql" || path == "net/http" || strings.Contains(path, "dbos") {
				t.Errorf("%s imports %s: HTTP, SQL and the durable engine stay in their own rooms", s.path, path)
			}
		}
	}
}

// TestTheFrontDoorShowsNothingInternal: a program of another module cannot name a type of internal/, so no exported
// declaration of the root package uses one.
func TestTheFrontDoorShowsNothingInternal(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.dir() != "." || s.test() {
			continue
		}
		internal := map[string]bool{}
		for _, spec := range s.file.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); strings.Contains(path, "/internal/") {
				internal[path[strings.LastIndex(path, "/")+1:]] = true
			}
		}
		for _, f := range exported(s.file) {
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && internal[x.Name] {
					t.Errorf("%s: %s.%s is in an exported declaration", s.path, x.Name, sel.Sel.Name)
				}
				return true
			})
		}
	}
}

// exported returns the types of a file's exported functions and fields.
func exported(f *ast.File) (types []ast.Node) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				types = append(types, d.Type)
			}
		case *ast.GenDecl:
			ast.Inspect(d, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok && (len(field.Names) == 0 || field.Names[0].IsExported()) {
					types = append(types, field.Type)
				}
				return true
			})
		}
	}
	return types
}

func TestOneRoomKnowsTheEngine(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			if strings.Contains(spec.Path.Value, "dbos") && s.dir() != "run/durable" {
				t.Errorf("%s imports %s: only run/durable knows the durable engine", s.path, spec.Path.Value)
			}
		}
	}
}

// dials lists the files that may open HTTP connections themselves, with the reason.
var dials = map[string]string{
	"internal/safehttp/safehttp.go":  "the guard of fetches",
	"api/client/client.go":           "programs call their own server by it",
	"internal/safehttp/provider.go":  "the one client of providers",
	"internal/safehttp/transport.go": "their connections",
}

// TestOneRoomMakesClients: no other code can bypass the limits on addresses, redirects, times and sizes.
func TestOneRoomMakesClients(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test() || dials[s.path] != "" || packageOf(s.dir()) == "bench" || packageOf(s.dir()) == "examples" {
			continue
		}
		for _, found := range clientsOf(s.file) {
			t.Errorf("%s uses %s: calls to providers go by safehttp.NewProvider, fetches by safehttp.New", s.path, found)
		}
	}
}

// clientsOf lists the ways in which a file obtains a client or a transport of net/http. A pointer to a client that
// other code made does not count.
func clientsOf(f *ast.File) (found []string) {
	name := ""
	for _, spec := range f.Imports {
		if spec.Path.Value == `"net/http"` {
			if name = "http"; spec.Name != nil {
				name = spec.Name.Name
			}
		}
	}
	banned := []string{"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"}
	ast.Inspect(f, func(n ast.Node) bool {
		if star, ok := n.(*ast.StarExpr); ok {
			if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "Client" {
				return false
			}
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(banned, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && name != "" && x.Name == name {
			found = append(found, "http."+sel.Sel.Name)
		}
		return true
	})
	return found
}

func TestClientsAreFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		"var c = &http.Client{}": 1, "var c = new(http.Client)": 1, "type t struct { c http.Client }": 1, "var t = http.DefaultTransport": 1,
		"func f() { http.Get(``) }": 1, "func f() { http.DefaultClient.Do(nil) }": 1, "var t = &http.Transport{}": 1,
		"func f(c *http.Client) { c.Get(``) }": 0, "var h http.Handler": 0,
	} {
		for _, form := range []string{"package x\nimport \"net/http\"\n" + code, "package x\nimport web \"net/http\"\n" + strings.ReplaceAll(code, "http.", "web.")} {
			f, err := parser.ParseFile(token.NewFileSet(), "x.go", form, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := clientsOf(f); len(got) != want {
				t.Errorf("%s: %v, want %d", form, got, want)
			}
		}
	}
}

func TestFilesStaySmall(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > maxLines {
			t.Errorf("%s has %d lines: at most %d", s.path, n, maxLines)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, s := range sources(t) {
		if !strings.HasSuffix(s.path, "_test.go") {
			said[s.dir()] = said[s.dir()] || s.file.Doc != nil
		}
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func TestNoInitAndNoSkippedTest(t *testing.T) {
	t.Parallel()
	skip := regexp.MustCompile(`\b[tb]\.Skip(Now|f)?\(`)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function: register explicitly", s.path)
			}
		}
		if !strings.HasPrefix(s.path, "internal/house/") && skip.MatchString(s.text) {
			t.Errorf("%s skips a test", s.path)
		}
	}
}

func TestDocumentsNameEveryVariable(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`"((?:ATELIER|OPENAI|GEMINI|GOOGLE|ANTHROPIC|OPENROUTER|MIDJOURNEY|OLLAMA|SEARXNG|BRAVE|TAVILY)_[A-Z_]+)"`)
	found := 0
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, m := range variable.FindAllStringSubmatch(s.text, -1) {
			found++
			if !strings.Contains(string(doc), "`"+m[1]+"`") {
				t.Errorf("%s reads %s, which docs/configuration.md does not name", s.path, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("found no environment variable in the code: is the pattern wrong?")
	}
}

// TestThreatsHaveTheirTests: each test that docs/security.md names is in a folder that the same line names, and the
// document names each fuzz target of provider data.
func TestThreatsHaveTheirTests(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test() && f.Recv == nil {
				tests[s.dir()+" "+f.Name.Name] = true
			}
		}
	}
	quoted := regexp.MustCompile("`([A-Za-z/.]+)`")
	name, named := regexp.MustCompile(`^(Test|Fuzz)[A-Z]`), map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		words := quoted.FindAllStringSubmatch(line, -1)
		for _, w := range words {
			if !name.MatchString(w[1]) {
				continue
			}
			found := false
			for _, dir := range words {
				if key := dir[1] + " " + w[1]; tests[key] {
					found, named[key] = true, true
				}
			}
			if !found {
				t.Errorf("docs/security.md names %s, which is in no folder that its line names", w[1])
			}
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d tests are named", len(named))
	}
	sent := regexp.MustCompile(`^(chat|generate(/[a-z/]+)?|media/wire|action/web) Fuzz`)
	for key := range tests {
		if sent.MatchString(key) && !strings.HasPrefix(key, "generate/provider/offline ") && !named[key] {
			t.Errorf("docs/security.md does not name %s", key)
		}
	}
}

func TestDirectDependenciesHaveReasons(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	require := regexp.MustCompile(`(?m)^(?:require )?\t?([a-z0-9.-]+\.[a-z]+/\S+) v\S+$`)
	for _, m := range require.FindAllStringSubmatch(string(mod), -1) {
		if !strings.Contains(string(doc), m[1]) {
			t.Errorf("docs/dependencies.md gives no reason for %s", m[1])
		}
	}
}

// stepText matches the text of a durable step's name in code.
var stepText = regexp.MustCompile(`"(turn-[%0-9]|call-%|sleep-%?|ask-["%]|-ask"|generate-"|resume-"|retry-%|found-%|guardrail-|-approval"|-again-|-budget"|-media"|-short-%|-seeing-%)`)

// TestStepNames: only journal/step writes and parses names of durable steps.
func TestStepNames(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		room, _, _ := strings.Cut(s.dir(), "/")
		if s.test() || s.dir() == "journal/step" || !slices.Contains([]string{"journal", "generate", "agent", "run", "."}, room) {
			continue
		}
		if found := stepText.FindString(s.text); found != "" {
			t.Errorf("%s: %s is the text of a step's name: use journal/step", s.path, found)
		}
	}
}

// TestRacelessPackages: the packages that `make race` omits start no goroutine and use no synchronization.
func TestRacelessPackages(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^RACELESS := (.*)$`).FindStringSubmatch(strings.ReplaceAll(string(makefile), "$$", "$"))
	if list == nil {
		t.Fatal("the Makefile has no RACELESS")
	}
	raceless, found := regexp.MustCompile(list[1]), 0
	for _, s := range sources(t) {
		if s.test() || !raceless.MatchString(module+s.dir()) {
			continue
		}
		found++
		for _, spec := range s.file.Imports {
			if slices.Contains([]string{`"sync"`, `"sync/atomic"`, `"golang.org/x/sync/errgroup"`}, spec.Path.Value) {
				t.Errorf("%s imports %s: make race has to run its tests", s.path, spec.Path.Value)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s starts a goroutine: make race has to run its tests", s.path)
			}
			return true
		})
	}
	if found == 0 {
		t.Error("RACELESS names no package")
	}
}

// TestStatusesComeFromTheTable: the gateway sets only those statuses of an operation, an attempt or a slot that the
// table of generate/operation returned.
func TestStatusesComeFromTheTable(t *testing.T) {
	t.Parallel()
	advances := 0
	for _, s := range sources(t) {
		if s.test() || s.dir() != "generate/gateway" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					field, ok := to.(*ast.SelectorExpr)
					if !ok || field.Sel.Name != "Status" {
						continue
					}
					advances++
					if by := called(n.Rhs[min(i, len(n.Rhs)-1)]); !slices.Contains([]string{"next", "Advance", "Status"}, by) {
						t.Errorf("%s writes a status that the table of operations did not give", s.path)
					}
				}
			case *ast.CompositeLit:
				name, _ := n.Type.(*ast.Ident)
				if name == nil || !slices.Contains([]string{"Operation", "Attempt", "Slot"}, name.Name) {
					break
				}
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Status" {
						t.Errorf("%s makes a %s with a status that the table of operations did not give", s.path, name.Name)
					}
				}
			}
			return true
		})
	}
	if advances < 10 {
		t.Errorf("found only %d writes of a status: is this test blind?", advances)
	}
}

// called returns the name of the function that an expression calls, or "" if it calls none.
func called(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// TestRequestsHaveTheirOwner: the server handles a request for the owner of its token, never for the configured owner.
func TestRequestsHaveTheirOwner(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, s := range sources(t) {
		if s.dir() != "." || s.test() || !strings.HasPrefix(s.path, "serve_") || s.path == "serve_access.go" {
			continue
		}
		seen++
		if strings.Contains(s.text, "Config.Owner") {
			t.Errorf("%s uses Config.Owner: use owner(ctx)", s.path)
		}
	}
	if seen < 5 {
		t.Errorf("only %d files of the server were found", seen)
	}
}
