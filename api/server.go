// Package api implements Atelier's HTTP API: resources as JSON, media as bytes, events as a stream. [New] creates the
// handler. Each resource is an interface of this package; package atelier implements it, so that every decision is made
// in one place.
//
// Every unsuccessful response is problem+json; see [Problem]. An error code has the same status everywhere; see
// [StatusOf]. Lists are keyset pages, and a cursor belongs to its query. The OpenAPI document is at /openapi.json and
// in docs/openapi.json.
//
// The package imports media and ledger.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"atelier/media"
)

// Config configures a [Server]. A resource that is nil is not served.
type Config struct {
	// Version is the program's version.
	Version string
	// Hosts are the host names of the server, in addition to the loopback names.
	Hosts []string
	// PublicURL is the address at which other machines reach the server. Its host is added to Hosts. Empty means that
	// the server is not reachable from outside.
	PublicURL string
	// Tokens identifies the access tokens that requests require; nil means that none are required.
	Tokens TokenService
	// LinkKey signs the links of reports if Tokens is set.
	LinkKey []byte
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// MaxUpload is the maximum size of an upload, in bytes; 0 means [DefaultMaxUpload].
	MaxUpload int64
	// RequestsPerSecond is the average number of requests that each client may send if Tokens is set; 0 means
	// [DefaultRequestsPerSecond], a negative number means no limit.
	RequestsPerSecond float64
	// Samples returns metrics in addition to those of requests. It may be nil.
	Samples func() []Sample
	// Pages is the built web UI, with index.html at the root; nil means none.
	Pages fs.FS

	Health        HealthService
	Catalog       CatalogService
	Media         MediaService
	Runs          RunService
	Trace         TraceService
	Conversations ConversationService
	Generations   GenerationService
	Budgets       BudgetService
	Workflows     WorkflowService
	WorkflowRuns  WorkflowRunService
	Interactions  InteractionService
	SubActions    SubActionService
	// Events returns the hub of the owner of the request.
	Events func(ctx context.Context) *Hub
	Keys   KeyService
	Hooks  HookService
}

// The limits of requests.
const (
	// DefaultMaxUpload is the default maximum size of an upload, in bytes.
	DefaultMaxUpload = 4 << 30
	// maxBody is the maximum size of a JSON body, in bytes.
	maxBody = 1 << 20
)

// Server answers all requests. It is safe for concurrent use.
type Server struct {
	cfg     Config
	routes  *routes
	access  *access
	handler http.Handler
	stats   requestStats
}

// routes collects the operations that resources register.
type routes struct {
	mux  *http.ServeMux
	api  huma.API // the OpenAPI document
	keys keys
}

// New creates a server.
func New(c Config) *Server {
	if c.MaxUpload == 0 {
		c.MaxUpload = DefaultMaxUpload
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default clock
	}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" {
		c.Hosts = append(slices.Clone(c.Hosts), strings.ToLower(u.Hostname()))
	}
	rt := &routes{mux: http.NewServeMux(), keys: keys{KeyService: c.Keys}}
	jsonFormat := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: readJSON}
	rt.api = humago.New(rt.mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "Atelier", Version: "1", Description: "Agents that view media, make media and write reports with it, and a gateway to media models. " +
				"Errors are problem+json with a code; lists are {items, next}; events are server-sent events."},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json", Transformers: []huma.Transformer{asProblem},
		RejectUnknownQueryParameters: true,
	})
	rt.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	rt.api.OpenAPI().Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer", Description: "An access token (atelier tokens create) whose scope includes the named one. A server that only this machine can reach requires none."}}
	s := &Server{cfg: c, routes: rt, access: &access{tokens: c.Tokens, linkKey: c.LinkKey, publicURL: c.PublicURL, now: c.Now}, stats: requestStats{routes: map[route]routeStats{}}}
	if c.Tokens != nil && c.RequestsPerSecond >= 0 {
		s.access.rates = &rates{perSecond: cmp.Or(c.RequestsPerSecond, DefaultRequestsPerSecond), now: c.Now, clients: map[string]*rate.Limiter{}}
	}
	registerHealth(rt, c.Health, c.Version)
	rt.mux.HandleFunc("GET /metrics", s.metrics)
	if c.Tokens != nil {
		s.access.register(rt)
	}
	s.resources()
	delete(rt.api.OpenAPI().Components.Schemas.Map(), "ErrorModel") // the types of the HTTP library
	delete(rt.api.OpenAPI().Components.Schemas.Map(), "ErrorDetail")
	rt.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		doc, err := s.OpenAPI()
		if err != nil {
			writeProblem(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(doc) // the client may have disconnected
	})
	rt.mux.HandleFunc("/", s.handleUnmatched)
	s.handler = s.recordRequests(s.rejectCrossSite(s.authorized(recovered(rt.mux))))
	return s
}

// readJSON decodes a body. Numbers without a type of their own become json.Number, so that large integers stay exact;
// but validation, which decodes into an any, needs float64.
func readJSON(b []byte, v any) error {
	if _, validation := v.(*any); validation {
		return json.Unmarshal(b, v)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err := d.Decode(v)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // the schema has checked its type
		return fmt.Errorf("%s: the %s is out of range", mismatch.Field, mismatch.Value)
	}
	return err
}

// resources registers the configured resources.
func (s *Server) resources() {
	c, rt := s.cfg, s.routes
	resource(rt, c.Catalog, registerCatalog)
	resource(rt, c.Media, func(rt *routes, m MediaService) { mediaResource{m, c.MaxUpload}.register(rt) })
	resource(rt, c.Runs, func(rt *routes, r RunService) { registerRuns(rt, r, s.access) })
	resource(rt, c.Trace, registerTrace)
	resource(rt, c.Conversations, registerConversations)
	resource(rt, c.Generations, registerGenerations)
	resource(rt, c.Budgets, func(rt *routes, b BudgetService) {
		registerList(rt, "/api/budgets", "List budgets", "catalog", b.ListBudgets)
	})
	resource(rt, c.Workflows, registerWorkflows)
	resource(rt, c.WorkflowRuns, registerWorkflowRuns)
	resource(rt, c.Interactions, registerInteractions)
	resource(rt, c.SubActions, registerSubActions)
	resource(rt, c.Hooks, registerHooks)
	if c.Events != nil {
		registerEvents(rt, c.Events, s.access)
	}
}

// resource registers the operations of a resource, if the resource is set.
func resource[S comparable](rt *routes, service S, register func(*routes, S)) {
	var none S
	if service != none {
		register(rt, service)
	}
}

// ServeHTTP handles a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// OpenAPI returns the OpenAPI document of all operations.
func (s *Server) OpenAPI() ([]byte, error) {
	b, err := json.MarshalIndent(s.routes.api.OpenAPI(), "", "  ")
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "write the OpenAPI document: %w", err)
	}
	return append(b, '\n'), nil
}

// operation adds what all operations have in common.
func operation(op huma.Operation) huma.Operation {
	op.OperationID = strings.NewReplacer(" ", "-").Replace(strings.ToLower(op.Summary))
	op.MaxBodyBytes = maxBody
	op.Security = []map[string][]string{{}, {"token": {string(scopeOf(op.Method, op.Method+" "+op.Path))}}}
	op.BodyReadTimeout = 30 * time.Second
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = &huma.Response{
		Description: "A problem.",
		Content:     map[string]*huma.MediaType{problemType: {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}},
	}
	return op
}

// on returns an operation that responds when its work is done.
func on(method, path, summary, tag string) huma.Operation {
	return huma.Operation{Method: method, Path: path, Summary: summary, Tags: []string{tag}}
}

// accepted returns an operation that responds when its work has started.
func accepted(path, summary, tag string) huma.Operation {
	return huma.Operation{Method: http.MethodPost, Path: path, Summary: summary, Tags: []string{tag}, DefaultStatus: http.StatusAccepted}
}

// The inputs of operations: the body of a request and the parameters that identify it.
type (
	with[T any]   struct{ Body T }
	withID[T any] struct {
		ByID
		Body T
	}
	withKey[T any] struct {
		Keyed
		Body T
	}
	withIDAndKey[T any] struct {
		ByID
		Keyed
		Body T
	}
	withIDKeyAndOption[T any] struct {
		ByID
		Keyed
		Body *T `required:"false"`
	}
)

// answer is a JSON response.
type answer[T any] struct{ Body T }

// found returns a response with a result.
func found[T any](v T, err error) (*answer[T], error) { return &answer[T]{v}, err }

// handle registers a JSON operation.
func handle[I, O any](rt *routes, op huma.Operation, do func(ctx context.Context, in *I) (*O, error)) {
	huma.Register(rt.api, operation(op), func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, problemOf(ctx, err)
		}
		return out, nil
	})
}

// byID registers an operation on one resource, without a body.
func byID[T any](rt *routes, op huma.Operation, do func(ctx context.Context, id string) (T, error)) {
	handle(rt, op, func(ctx context.Context, in *ByID) (*answer[T], error) { return found(do(ctx, in.ID)) })
}

// registerList registers a list that has only one page.
func registerList[T any](rt *routes, path, summary, tag string, list func(context.Context) ([]T, error)) {
	handle(rt, on(http.MethodGet, path, summary, tag), func(ctx context.Context, _ *struct{}) (*answer[List[T]], error) {
		items, err := list(ctx)
		return found(List[T]{Items: append([]T{}, items...)}, err)
	})
}

// paged registers a list. A cursor belongs to the path and the query parameters other than those of the page.
func paged[Q any, P interface {
	*Q
	page() *Page
}, T any](rt *routes, path, summary, tag string, list func(context.Context, Q) (List[T], error),
) {
	handle(rt, on(http.MethodGet, path, summary, tag), func(ctx context.Context, in *Q) (*answer[List[T]], error) {
		filters, p := *in, P(in).page()
		*P(&filters).page() = Page{}
		query := call{Name: path, Body: filters}
		var err error
		if p.After, err = readCursor(query, p.After); err != nil {
			return nil, err
		}
		l, err := list(ctx, *in)
		return found(List[T]{Items: append([]T{}, l.Items...), Next: cursorOf(query, l.Next)}, err)
	})
}

// stream registers an operation whose body or response is not JSON.
func (rt *routes) stream(op huma.Operation, do func(w http.ResponseWriter, r *http.Request) error) {
	op = operation(op)
	if strings.Contains(op.Path, "{id}") {
		op.Parameters = append(op.Parameters, &huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	rt.api.OpenAPI().AddOperation(&op)
	rt.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			fail(w, r, err)
		}
	})
}

// fail responds with the problem of an error. A response that has begun is aborted: it must not look complete.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if c, ok := w.(*countedWriter); ok && (c.status != 0 || c.n > 0) {
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, r, err)
}

// handleUnmatched handles requests that match no operation: pages and unknown paths.
func (s *Server) handleUnmatched(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		try := r.Clone(r.Context())
		try.Method = m
		if _, pattern := s.routes.mux.Handler(try); m != r.Method && pattern != "/" {
			allowed = append(allowed, m)
		}
	}
	switch {
	case len(allowed) > 0:
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		writeProblem(w, r, newProblem(http.StatusMethodNotAllowed, media.CodeInvalid, fmt.Sprintf("%s is not allowed here: use %s", r.Method, strings.Join(allowed, " or "))))
	case s.cfg.Pages != nil && slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method) && !reserved(r.URL.Path):
		s.page(w, r)
	default:
		writeProblem(w, r, media.Errorf(media.CodeNotFound, "there is nothing at %.200s", media.ErrorText(r.URL.Path)))
	}
}

// reserved reports whether a path can never be a page.
func reserved(path string) bool {
	return slices.ContainsFunc([]string{"/api/", "/media/", "/v1/", "/hooks/", "/mcp", "/metrics", "/openapi.json"}, func(p string) bool { return strings.HasPrefix(path, p) })
}

// recovered logs a panic and responds with a problem.
//
//nolint:contextcheck // the request has its context
func recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // only that exact value
				panic(v)
			}
			slog.ErrorContext(r.Context(), "request panicked", slog.String("panic", media.ErrorText(fmt.Sprint(v))), slog.String("stack", string(debug.Stack())))
			fail(w, r, media.Errorf(media.CodeInternal, "the request panicked"))
		}()
		next.ServeHTTP(w, r)
	})
}

// plain responds with one line of text.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the client may have disconnected
}
