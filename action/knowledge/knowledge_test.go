package knowledge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/action"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

// folder writes files and opens them as a knowledge base that checks the folder on every search.
func folder(tb testing.TB, files map[string]string) (*Base, Config) {
	tb.Helper()
	cfg := Config{Dir: tb.TempDir(), Data: filepath.Join(tb.TempDir(), "kb"), Refresh: time.Nanosecond}
	for name, content := range files {
		put(tb, cfg.Dir, name, content)
	}
	return open(tb, cfg), cfg
}

func open(tb testing.TB, cfg Config) *Base {
	tb.Helper()
	b, err := Open(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

// put writes a file; each write has its own modification time, as files that people edit have.
func put(tb testing.TB, dir, name, content string) {
	tb.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// ask searches and returns the hits.
func (b *Base) ask(tb testing.TB, query string, params ...any) []hit {
	tb.Helper()
	p := map[string]any{"Query": query, "Count": 8.0}
	for i := 0; i+1 < len(params); i += 2 {
		p[params[i].(string)] = params[i+1]
	}
	res, err := b.search(tb.Context(), &action.Call{Params: p})
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	hits, _ := res.Outputs["results"].([]hit)
	return hits
}

func paths(hits []hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return out
}

const (
	wind  = "# Wind power\n\nIntro about turbines.\n\n## Costs\n\nAn offshore turbine costs four million euros. The blades are of glass fibre.\n\n## Birds\n\nCafé owners complain: naïve gulls sit on it."
	solar = "<html><head><title>Solar panels</title></head><body><h1>Solar</h1><p>Panels cost less every year. Silicon is cheap.</p></body></html>"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	b, _ := folder(t, map[string]string{
		"energy/wind.md": wind, "energy/solar.html": solar, "cn.txt": "中国的风力发电在增长。太阳能便宜。", "data.csv": "year,reactor\n2020,Olkiluoto\n",
		"deck.json": `{"topic": "geothermal"}`, "he.txt": "אנרגיית רוח היא עתיד", "emoji.md": "# 🚀 Launch\n\nRockets 🚀 go up.",
	})
	for name, test := range map[string]struct {
		query string
		want  []string
	}{
		"all words":    {"offshore turbine costs", []string{"energy/wind.md", "energy/wind.md", "energy/solar.html"}},
		"stem":         {"turbines", []string{"energy/wind.md", "energy/wind.md"}},
		"phrase":       {`"glass fibre"`, []string{"energy/wind.md"}},
		"no phrase":    {`"fibre glass"`, nil},
		"accents":      {"cafe naive", []string{"energy/wind.md"}},
		"title":        {"solar", []string{"energy/solar.html"}},
		"Chinese":      {"太阳能", []string{"cn.txt"}},
		"Chinese not":  {"能太阳", nil},
		"Hebrew":       {"רוח", []string{"he.txt"}},
		"table":        {"Olkiluoto", []string{"data.csv"}},
		"JSON":         {"geothermal", []string{"deck.json"}},
		"emoji":        {"🚀 rockets", []string{"emoji.md"}},
		"common words": {"what is the silicon", []string{"energy/solar.html"}},
		"nothing":      {"quantum", nil},
		"operators":    {`turbine NEAR( OR NOT * ^ : "`, []string{"energy/wind.md", "energy/wind.md"}},
		"injection":    {`x"; DROP TABLE word; --`, nil},
	} {
		if diff := cmp.Diff(test.want, paths(b.ask(t, test.query))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	h := b.ask(t, "offshore")[0]
	if h.Title != "Wind power" || h.Heading != "Costs" || !strings.HasPrefix(h.Text, "An offshore turbine") || h.Score <= 0 ||
		string([]rune(wind)[h.Offset:h.Offset+11]) != "An offshore" {
		t.Errorf("%+v", h)
	}
	if got := paths(b.ask(t, "costs", "Path", "energy/solar")); fmt.Sprint(got) != "[energy/solar.html]" {
		t.Error(got)
	}
}

func TestSearchIsDeterministic(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("%02d.md", i)] = "# Same\n\nThe same words in every document."
	}
	a, _ := folder(t, files)
	b, _ := folder(t, files)
	if diff := cmp.Diff(a.ask(t, "same words"), b.ask(t, "same words")); diff != "" {
		t.Error(diff)
	}
}

func TestOneDocumentDoesNotCrowdOutOthers(t *testing.T) {
	t.Parallel()
	b, _ := folder(t, map[string]string{"much.md": strings.Repeat("# Wind\n\nwind wind wind wind\n\n", 30), "little.md": "Once the wind blew, and many other words were said about it as well."})
	got := paths(b.ask(t, "wind", "Count", 5.0))
	if fmt.Sprint(got) != "[much.md much.md much.md little.md much.md]" {
		t.Error(got)
	}
}

// TestAVeryLongDocumentDoesNotHideTheOthers: the document has more matching passages than a search considers.
func TestAVeryLongDocumentDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	files := map[string]string{"book.txt": strings.Repeat("# Wind\n\nwind wind wind wind\n\n", 3*maxLooked)}
	for i := range 5 {
		files[fmt.Sprintf("note%d.md", i)] = "Once the wind blew, and many other words were said about it as well."
	}
	b, _ := folder(t, files)
	got := fmt.Sprint(paths(b.ask(t, "wind")))
	if got != "[book.txt book.txt book.txt note0.md note1.md note2.md note3.md note4.md]" {
		t.Error(got)
	}
}

func TestRefreshIsIncremental(t *testing.T) {
	t.Parallel()
	b, cfg := folder(t, map[string]string{"a.md": "alpha text", "b.md": "beta text", "c.md": "gamma text"})
	if b.report.Indexed != 3 || b.report.Documents != 3 {
		t.Fatalf("%+v", b.report)
	}
	r, err := b.Refresh(t.Context())
	if err != nil || r.Indexed != 0 || r.Removed != 0 {
		t.Fatalf("nothing changed: %+v %v", r, err)
	}
	put(t, cfg.Dir, "b.md", "delta text, longer")
	put(t, cfg.Dir, "sub/d.md", "epsilon text")
	if err := os.Remove(filepath.Join(cfg.Dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	if got := paths(b.ask(t, "delta epsilon gamma beta alpha")); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if b.report.Indexed != 2 || b.report.Removed != 1 || b.report.Documents != 3 || b.report.Passages != 3 {
		t.Errorf("%+v", b.report)
	}
	if got := b.ask(t, "beta"); got != nil {
		t.Errorf("an old text is found: %v", got)
	}
	again := open(t, cfg)
	if again.report.Indexed != 0 || again.report.Documents != 3 {
		t.Errorf("a second opening indexes anew: %+v", again.report)
	}
}

// TestAWaitingSearchCanBeCancelled: another run indexes many new documents.
func TestAWaitingSearchCanBeCancelled(t *testing.T) {
	t.Parallel()
	b, _ := folder(t, map[string]string{"a.md": "alpha text"})
	b.refreshLock <- struct{}{}
	defer func() { <-b.refreshLock }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := b.search(ctx, &action.Call{Params: map[string]any{"Query": "alpha", "Count": 8.0}})
		failed <- err
	}()
	select {
	case err := <-failed:
		if media.CodeOf(err) != media.CodeCancelled {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the search waits")
	}
}

// TestAFolderThatIsGoneKeepsItsIndex: a network drive is disconnected for a while.
func TestAFolderThatIsGoneKeepsItsIndex(t *testing.T) {
	t.Parallel()
	b, cfg := folder(t, map[string]string{"a.md": "alpha text"})
	if err := os.RemoveAll(cfg.Dir); err != nil {
		t.Fatal(err)
	}
	_, err := b.search(t.Context(), &action.Call{Params: map[string]any{"Query": "alpha", "Count": 8.0}})
	if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "the folder cannot be read") {
		t.Error(err)
	}
	if had, err := b.known(t.Context()); err != nil || len(had) != 1 {
		t.Errorf("%v %v", had, err)
	}
}

func TestRefreshWaits(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	cfg := Config{Dir: t.TempDir(), Data: t.TempDir(), Now: func() time.Time { return now }}
	put(t, cfg.Dir, "a.md", "alpha")
	b := open(t, cfg)
	put(t, cfg.Dir, "b.md", "beta")
	if got := b.ask(t, "beta"); got != nil {
		t.Errorf("looked at the folder too soon: %v", got)
	}
	now = now.Add(3 * time.Second)
	if got := b.ask(t, "beta"); len(got) != 1 {
		t.Errorf("did not look again: %v", got)
	}
}

func TestFolderThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	b, cfg := folder(t, map[string]string{"0.md": "stone"})
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			p := filepath.Join(cfg.Dir, fmt.Sprintf("%d.md", i%20+1))
			if i%3 == 2 {
				_ = os.Remove(p)
			} else {
				_ = os.WriteFile(p, []byte(strings.Repeat(fmt.Sprintf("moving %d ", i), i%500+1)), 0o600)
			}
		}
	})
	for range 30 {
		if got := b.ask(t, "stone"); len(got) != 1 {
			t.Errorf("%v", got)
		}
		b.ask(t, "moving")
	}
	stop()
	all.Wait()
	// Without changes, the index matches the folder.
	if _, err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cfg.Dir)
	if err != nil || b.report.Documents != len(entries) {
		t.Errorf("%d documents, %d files, %v", b.report.Documents, len(entries), err)
	}
}

func TestTwoProcessesShareAnIndex(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("%d.md", i)] = "shared words"
	}
	a, cfg := folder(t, files)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			b, err := Open(t.Context(), cfg)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = b.Close() }()
			if got := b.ask(t, "shared"); len(got) != 8 {
				t.Errorf("%d hits", len(got))
			}
		})
	}
	for i := range 50 {
		put(t, cfg.Dir, fmt.Sprintf("%d.md", i), "shared words, changed")
	}
	all.Wait()
	if a.ask(t, "changed"); a.report.Documents != 50 || a.report.Passages != 50 {
		t.Errorf("%+v", a.report)
	}
}

func TestDamagedIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	b, cfg := folder(t, map[string]string{"a.md": "alpha"})
	path, err := b.path()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]string{
		"text":    "this is no database at all, but a note of a hundred characters or so, as people write them, and more",
		"cut":     string(whole[:5000]),
		"zeroed":  string(whole[:100]) + strings.Repeat("\x00", len(whole)-100),
		"version": string(whole[:60]) + "\x00\x00\x00\x09" + string(whole[64:]),
	} {
		_ = os.Remove(path + "-wal")
		_ = os.Remove(path + "-shm")
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := Open(t.Context(), cfg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := again.ask(t, "alpha"); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
		_ = again.Close()
	}
}

func TestDocumentsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("swordfish"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Dir: t.TempDir(), Data: t.TempDir(), MaxBytes: 1000, MaxCharacters: 500, MaxDocuments: 7}
	for name, text := range map[string]string{
		"a.md": "alpha", "b.bin": "\x00\x01\x02", "c.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "d.md": "", "e.pdf": "%PDF-1.7 broken", "f.txt": strings.Repeat("big ", 300),
		"g.txt": strings.Repeat("x ", 270) + "swordfish", "h.md": "beyond", ".hidden.md": "swordfish",
	} {
		put(t, cfg.Dir, name, text)
	}
	if err := os.Symlink(outside, filepath.Join(cfg.Dir, "0-link.md")); err != nil {
		t.Fatal(err)
	}
	b := open(t, cfg)
	if got := b.ask(t, "swordfish"); got != nil {
		t.Errorf("found what is outside, hidden or over the limit: %v", got)
	}
	got := map[string]string{}
	for _, s := range b.report.Skipped {
		got[s.Path] = s.Reason
	}
	for name, want := range map[string]string{
		"b.bin": "no readable text", "c.png": "no readable text", "d.md": "empty", "e.pdf": "no readable pages", "f.txt": "larger than", "g.txt": "only its first 500 characters", "0-link.md": "outside of the folder", "1 documents": "beyond the first 7",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if r, err := b.Refresh(t.Context()); err != nil || r.Indexed != 0 || len(r.Skipped) != len(got) {
		t.Errorf("reads what it cannot read again: %+v %v", r, err)
	}
	res, err := b.search(t.Context(), &action.Call{Params: map[string]any{"Query": "alpha", "Count": 1.0}})
	if err != nil || !strings.Contains(fmt.Sprint(res.Outputs["skipped"]), "e.pdf") {
		t.Errorf("%v %v", err, res.Outputs)
	}
}

func TestBadSearches(t *testing.T) {
	t.Parallel()
	b, _ := folder(t, map[string]string{"a.md": "alpha"})
	for name, p := range map[string]map[string]any{
		"empty": {"Query": " ", "Count": 3.0}, "signs": {"Query": `"" ( * ! 🚀`, "Count": 3.0}, "none": {"Query": "a", "Count": 0.0}, "many": {"Query": "a", "Count": 21.0},
	} {
		if _, err := b.search(t.Context(), &action.Call{Params: p}); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.ask(t, strings.Repeat("word ", 10_000)) // long queries do no harm
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.search(ctx, &action.Call{Params: map[string]any{"Query": "a", "Count": 1.0}}); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("%v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, cfg := range map[string]Config{
		"no data": {Dir: dir}, "empty": {Dir: dir, Data: t.TempDir()}, "missing": {Dir: filepath.Join(dir, "gone"), Data: t.TempDir()},
	} {
		if _, err := Open(t.Context(), cfg); media.CodeOf(err) != media.CodeInvalid && media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPassagesCoverTheText(t *testing.T) {
	t.Parallel()
	text := wind + "\n\n" + strings.Repeat("A long sentence without any break goes on. ", 200) + "\n" + strings.Repeat("漢字", 3000)
	for _, p := range passages(text) {
		if n := len([]rune(p.text)); n > maxLength {
			t.Errorf("%d characters", n)
		}
		if got := string([]rune(text)[p.start : p.start+min(10, len([]rune(p.text)))]); !strings.HasPrefix(p.text, got) {
			t.Errorf("starts at %d with %q, is %.20q", p.start, got, p.text)
		}
	}
}

func FuzzPassages(f *testing.F) {
	f.Add(wind)
	f.Add("# \n[page 1]\n\n\n" + strings.Repeat("x", 3000))
	f.Add(" \u00a0\n漢字 é\xff")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		runes := []rune(s)
		for _, p := range passages(s) {
			own := []rune(p.text)
			if p.start < 0 || p.start+len(own) > len(runes) || string(runes[p.start:p.start+len(own)]) != p.text {
				t.Errorf("passage at %d is not in the text: %q", p.start, p.text)
			}
		}
		words(s)
	})
}

func BenchmarkSearch(b *testing.B) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("%d.md", i)] = strings.Repeat(fmt.Sprintf("# Part %d\n\nWords about wind, number %d.\n\n", i, i*7), 20)
	}
	base, _ := folder(b, files)
	base.cfg.Refresh = time.Hour
	for b.Loop() {
		base.ask(b, "wind number 77")
	}
}

func BenchmarkIndex(b *testing.B) {
	dir := b.TempDir()
	for i := range 200 {
		put(b, dir, fmt.Sprintf("%d.md", i), strings.Repeat(wind, 20))
	}
	for b.Loop() {
		base, err := Open(b.Context(), Config{Dir: dir, Data: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		if err := base.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
