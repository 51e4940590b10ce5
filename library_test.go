package atelier_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier"
	"atelier/agent"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/generatetest/openaisim"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/wire"
	"atelier/run/runtest"
)

// TestTheWorkingDirectoryChanges: a relative data folder and relative sources stay those of the call of Open.
func TestTheWorkingDirectoryChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("files", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("files/sales.csv", []byte("region,amount\nnorth,10\nsouth,31\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := open(t, atelier.Config{Dir: "data", Sources: atelier.Sources{Files: "files"}})
	other := t.TempDir()
	t.Chdir(other)
	res, err := a.Generate(t.Context(), generate.Request{Prompt: "a lighthouse", Size: "512x512"})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, a, atelier.Sources{}); !strings.Contains(got, " 41") {
		t.Errorf("%q has no 41", got)
	}
	if err := a.Save(t.Context(), res.Outputs()[0], filepath.Join(t.TempDir(), "x.png")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(other); err != nil || len(left) != 0 {
		t.Errorf("the new working directory has %v, %v", left, err)
	}
}

// TestTheNextRunReadsChangedFiles: a run reads the folder as it is, whatever earlier runs of the process read.
func TestTheNextRunReadsChangedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, atelier.Config{Sources: atelier.Sources{Files: dir}})
	for _, test := range []struct{ rows, want string }{{"north,10\nsouth,31\n", " 41"}, {"north,100\nsouth,317\n", " 417"}} {
		if err := os.WriteFile(filepath.Join(dir, "sales.csv"), []byte("region,amount\n"+test.rows), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, a, atelier.Sources{}); !strings.Contains(got, test.want) {
			t.Errorf("%q has no%s", got, test.want)
		}
	}
}

// ask returns the offline answer about the total of a table.
func ask(t *testing.T, a *atelier.Atelier, s atelier.Sources) (message string) {
	t.Helper()
	for e, err := range a.Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "research-agent", Message: "What is the total amount?"}, Sources: s}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Result != nil {
			message = e.Result.Message
		}
	}
	return message
}

// slow is a driver whose calls end when their picture is released.
type slow struct {
	driver.Synchronous
	codec            *wire.Codec
	started, release chan struct{}
}

func (*slow) Provider() string { return "studio" }

func (*slow) Ready() error { return nil }

func (s *slow) Start(ctx context.Context, _ driver.Task) (driver.Update, error) {
	close(s.started)
	<-s.release
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		return driver.Update{}, err
	}
	b, err := s.codec.Store(context.WithoutCancel(ctx), &file, "image/png") // what was made is kept
	return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, err
}

// studioCatalogue is the catalogue of the slow driver.
const studioCatalogue = `provider: studio
models:
  - {name: Studio Grey, api_model: grey-1, modality: image, methods: [generate], size: {mode: enum, values: [64x64]}, max_n: 1, mask: none, formats: [png], source: Ours.}
`

// TestCloseAwaitsGenerations: a picture that a provider is making while the Atelier is closed is recorded, and no call
// is made afterwards.
func TestCloseAwaitsGenerations(t *testing.T) {
	t.Parallel()
	c := atelier.Config{Dir: runtest.Folder(t)}
	s := &slow{started: make(chan struct{}), release: make(chan struct{})}
	c.Catalogue = filepath.Join(c.Dir, "studio.yaml")
	if err := os.WriteFile(c.Catalogue, []byte(studioCatalogue), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Drivers = []func(*wire.Codec) (driver.Driver, error){func(codec *wire.Codec) (driver.Driver, error) {
		s.codec = codec
		return s, nil
	}}
	a := open(t, c)
	request := generate.Request{Prompt: "grey", Model: "Studio Grey"}
	made, closed := make(chan *generate.Result, 1), make(chan error, 1)
	go func() {
		res, err := a.Generate(context.WithoutCancel(t.Context()), request)
		if err != nil {
			t.Error(err)
		}
		made <- res
	}()
	<-s.started
	go func() { closed <- a.Close() }()
	for refused := false; !refused; { // at the first call after the beginning of Close
		_, err := a.Generate(t.Context(), generate.Request{Prompt: "x", Model: "no such model"})
		refused = media.CodeOf(err) == media.CodeUnavailable
	}
	close(s.release)
	if res := <-made; res == nil || len(res.Outputs()) != 1 || res.Outputs()[0].ID == "" {
		t.Errorf("%+v", res)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	again := open(t, atelier.Config{Dir: c.Dir})
	list, err := again.Ledger.ListMedia(t.Context(), "local", ledger.MediaQuery{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%d items, %v", len(list.Items), err)
	}
}

// TestDriversAreChecked: a missing driver is an error of Open.
func TestDriversAreChecked(t *testing.T) {
	t.Parallel()
	none := func(*wire.Codec) (driver.Driver, error) { return nil, nil } //nolint:nilnil // the fault
	for _, create := range []func(*wire.Codec) (driver.Driver, error){nil, none} {
		_, err := atelier.Open(t.Context(), atelier.Config{Dir: runtest.Folder(t), Drivers: []func(*wire.Codec) (driver.Driver, error){create}})
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "Config.Drivers[0]") {
			t.Errorf("%v", err)
		}
	}
}

// TestServeIsChecked: what a server lacks is an error; after its end, the Atelier starts no more runs.
func TestServeIsChecked(t *testing.T) {
	t.Parallel()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a := open(t, atelier.Config{Adopt: true})
	if err := a.Serve(t.Context(), atelier.ServeConfig{}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("without a listener: %v", err)
	}
	if err := open(t, atelier.Config{}).Serve(t.Context(), atelier.ServeConfig{Listener: listen()}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("without Config.Adopt: %v", err)
	}
	own := atelier.ServeConfig{Wrap: func(h http.Handler) http.Handler { return h }}
	if err := open(t, atelier.Config{Adopt: true, PublicURL: "https://atelier.example.com"}).Serve(t.Context(), own); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("for everybody: %v", err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := a.Serve(over, atelier.ServeConfig{Listener: listen()}); err != nil {
		t.Error(err)
	}
	if err := a.Serve(t.Context(), atelier.ServeConfig{Listener: listen()}); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("a second time: %v", err)
	}
	for _, err := range a.Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "sage", Message: "Hello."}}) {
		if media.CodeOf(err) != media.CodeUnavailable || !strings.Contains(err.Error(), "is closed") {
			t.Errorf("a run afterwards: %v", err)
		}
	}
}

// TestCloseEndsEverything: Close ends the server, waits for it, and leaves no connection to a provider.
func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	provider := openaisim.New(openaisim.Config{})
	srv := httptest.NewUnstartedServer(provider)
	var mu sync.Mutex // guards connections
	connections := map[net.Conn]http.ConnState{}
	changed := make(chan struct{}, 1)
	srv.Config.ConnState = func(c net.Conn, s http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		connections[c] = s
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	srv.Start()
	defer srv.Close()
	a := open(t, atelier.Config{Adopt: true, Keys: map[string]string{"openai": provider.Key()}, BaseURLs: map[string]string{"openai": srv.URL + "/v1"}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	accepting := make(chan struct{})
	go func() {
		served <- a.Serve(context.WithoutCancel(t.Context()), atelier.ServeConfig{Listener: l, Wrap: func(h http.Handler) http.Handler {
			close(accepting)
			return h
		}})
	}()
	<-accepting
	if res, err := a.Generate(t.Context(), generate.Request{Prompt: "a lighthouse", Model: "GPT Image 2"}); err != nil || res.Err() != nil {
		t.Fatal(err, res)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the server outlasts Close")
	}
	for open := 1; open > 0; {
		select {
		case <-changed:
		case <-time.After(20 * time.Second): // the client itself would close them after 90 seconds
			t.Fatal("connections to the provider stay open")
		}
		mu.Lock()
		open = 0
		for _, s := range connections {
			if s != http.StateClosed {
				open++
			}
		}
		mu.Unlock()
	}
	if err := a.Serve(t.Context(), atelier.ServeConfig{Listener: l}); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("a server of a closed Atelier: %v", err)
	}
}
