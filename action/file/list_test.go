package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier/action"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

func TestOpenRefusesFoldersThatDoNotServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := filepath.Join(dir, "one.txt")
	empty, hidden := filepath.Join(dir, "empty"), filepath.Join(dir, "hidden")
	for _, d := range []string{empty, hidden} {
		if err := os.Mkdir(d, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{one, filepath.Join(hidden, ".env")} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		dir  string
		code media.Code
		say  string
	}{
		"none":        {"", media.CodeInvalid, "the folder is missing"},
		"missing":     {filepath.Join(dir, "gone"), media.CodeNotFound, "does not exist"},
		"a file":      {one, media.CodeInvalid, "not a folder"},
		"empty":       {empty, media.CodeInvalid, "is empty"},
		"hidden only": {hidden, media.CodeInvalid, "no readable file"},
	} {
		f, err := Open(Config{Dir: test.dir})
		if f != nil || media.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: %v, want %s: %s", name, err, test.code, test.say)
		}
	}
}

func TestListFiles(t *testing.T) {
	t.Parallel()
	f, dir := folder(t, map[string]string{
		"b.csv": "a,b\n1,2\n", "notes/a.md": "# A", "notes/deep/c.JSON": "[]", "page.html": "<p>", ".git/config": "x", ".env": "k",
		"noext": "plain words", "picture": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x05\x00\x00\x00\x04\x08\x00\x00\x00\x00", "data.bin": "\x00\x01\x02",
	})
	outside := filepath.Join(t.TempDir(), "secret.txt")
	for link, target := range map[string]string{"out.txt": outside, "in.csv": "b.csv", "broken": "nowhere", "folder": "notes"} {
		if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := listing{files: f, max: 100}
	if err := l.walk(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, e := range l.entries {
		kinds[e.Path] = e.Kind
		if len(e.Modified) != 10 {
			t.Errorf("%s modified %q", e.Path, e.Modified)
		}
	}
	if diff := cmp.Diff(map[string]string{
		"b.csv": "table", "in.csv": "table", "notes/a.md": "markdown", "notes/deep/c.JSON": "json", "page.html": "html",
		"noext": "text", "picture": "image", "data.bin": "binary",
	}, kinds); diff != "" {
		t.Error(diff)
	}
	reasons := map[string]string{}
	for _, s := range l.skipped {
		reasons[s.Path] = s.Reason
	}
	if diff := cmp.Diff(map[string]string{
		".git": "hidden", ".env": "hidden", "out.txt": "link to a place outside of the folder", "broken": "broken link",
		"folder": "link to a folder", "pipe": "not a regular file",
	}, reasons); diff != "" {
		t.Error(diff)
	}
}

// TestMatches has patterns that are slow to match if each **/ is tried at each folder for each other one.
func TestMatches(t *testing.T) {
	t.Parallel()
	p := strings.Repeat("a/", 30) + "b"
	for pattern, want := range map[string]bool{strings.Repeat("**/", 20) + "c": false, strings.Repeat("**/", 20) + "b": true, strings.Repeat("**/a/", 20) + "b": true, "**/b/**/b": false, "a/**/a/b": true, "**/a": false} {
		if got := matches(pattern, p); got != want {
			t.Errorf("%s: %t", pattern, got)
		}
	}
}

func TestListPathAndPattern(t *testing.T) {
	t.Parallel()
	f, dir := folder(t, map[string]string{"a.csv": "1", "sub/b.CSV": "22", "sub/c.md": "333"})
	for name, test := range map[string]struct {
		params map[string]any
		want   []string
	}{
		"all":          {map[string]any{"Path": "."}, []string{"a.csv", "sub/b.CSV", "sub/c.md"}},
		"pattern":      {map[string]any{"Path": ".", "Pattern": "*.csv"}, []string{"a.csv", "sub/b.CSV"}},
		"any depth":    {map[string]any{"Path": ".", "Pattern": "**/*.md"}, []string{"sub/c.md"}},
		"any depth in": {map[string]any{"Path": ".", "Pattern": "SUB/**/*.md"}, []string{"sub/c.md"}},
		"deeper":       {map[string]any{"Path": ".", "Pattern": "**/sub/*.md"}, []string{"sub/c.md"}},
		"not in":       {map[string]any{"Path": ".", "Pattern": "other/**/*.md"}, nil},
		"like a name":  {map[string]any{"Path": ".", "Pattern": "s**/*.md"}, []string{"sub/c.md"}},
		"by path":      {map[string]any{"Path": ".", "Pattern": "sub/*"}, []string{"sub/b.CSV", "sub/c.md"}},
		"folder":       {map[string]any{"Path": "sub"}, []string{"sub/b.CSV", "sub/c.md"}},
		"one file":     {map[string]any{"Path": "a.csv"}, []string{"a.csv"}},
		"absolute":     {map[string]any{"Path": dir}, []string{"a.csv", "sub/b.CSV", "sub/c.md"}},
		"backslashes":  {map[string]any{"Path": `.\sub\`}, []string{"sub/b.CSV", "sub/c.md"}},
		"no match":     {map[string]any{"Path": ".", "Pattern": "*.pdf"}, nil},
	} {
		res, err := f.list(t.Context(), &action.Call{Params: test.params})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		entries, _ := res.Outputs["files"].([]entry)
		for _, e := range entries {
			got = append(got, e.Path)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || res.Outputs["totalCount"] != len(test.want) {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, params := range map[string]map[string]any{
		"malformed": {"Path": ".", "Pattern": "[a"}, "missing": {"Path": "gone"}, "above": {"Path": "../"}, "root": {"Path": "/etc"},
	} {
		if res, err := f.list(t.Context(), &action.Call{Params: params}); err == nil {
			t.Errorf("%s: %v", name, res)
		}
	}
}

func TestListSaysWhenThereIsMore(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("f%02d.txt", i)] = "x"
		files[fmt.Sprintf(".h%02d", i*2)] = "x"
		files[fmt.Sprintf(".i%02d", i*2)] = "x"
	}
	f, _ := folder(t, files)
	f.cfg.MaxFiles = 10
	res, err := f.list(t.Context(), &action.Call{Params: map[string]any{"Path": "."}})
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := res.Outputs["files"].([]entry)
	skipped, _ := res.Outputs["skipped"].([]Skipped)
	if len(entries) != 10 || res.Outputs["totalCount"] != 30 || len(skipped) != maxSkipped || len(res.Warnings) != 2 || !strings.Contains(res.Message, "first 10") {
		t.Errorf("%d entries, %v, %d skipped, %q", len(entries), res.Outputs["totalCount"], len(skipped), res.Warnings)
	}
}

func TestListTellsOfAFolderThatIsGone(t *testing.T) {
	t.Parallel()
	f, dir := folder(t, map[string]string{"a.txt": "x"})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	res, err := f.list(t.Context(), &action.Call{Params: map[string]any{"Path": "."}})
	if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "the folder cannot be read") {
		t.Errorf("%v %q", err, res.Message)
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f, _ := folder(t, map[string]string{"a.txt": "x"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.list(ctx, &action.Call{Params: map[string]any{"Path": "."}}); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("list: %v", err)
	}
}

func TestReadStaysInTheFolder(t *testing.T) {
	t.Parallel()
	f, dir := folder(t, map[string]string{"sales 2024.csv": "a,b\n1,2\n", "sub/x.txt": "inside", ".env": "secret", "sub/.git/config": "secret"})
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"out.txt": outside, "up.txt": "../../etc/hostname", "sub/ok.txt": "x.txt"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for p, code := range map[string]media.Code{
		"../secret.txt": media.CodeForbidden, "sub/../../secret.txt": media.CodeForbidden, "/etc/passwd": media.CodeForbidden,
		`..\..\x`: media.CodeForbidden, ".env": media.CodeForbidden, "sub/.git/config": media.CodeForbidden, "./sub/../.env": media.CodeForbidden,
		outside: media.CodeForbidden, "out.txt": media.CodeForbidden, "up.txt": media.CodeForbidden,
		"sub": media.CodeInvalid, "pipe": media.CodeInvalid, "gone.csv": media.CodeNotFound, "sub/sales 2024.txt": media.CodeNotFound,
	} {
		_, err := f.call(t, map[string]any{"Path": p})
		if media.CodeOf(err) != code || strings.Contains(err.Error(), "secret\n") {
			t.Errorf("%s: %v, want %s", p, err, code)
		}
	}
	for _, p := range []string{"sub/x.txt", "./sub/../sub/x.txt", filepath.Join(dir, "sub", "x.txt"), "sub/ok.txt", "file://" + dir + "/sub/x.txt"} {
		if res, err := f.call(t, map[string]any{"Path": p}); err != nil || *decoded(t, res).Text != "inside" {
			t.Errorf("%s: %v", p, err)
		}
	}
	_, err := f.call(t, map[string]any{"Path": "data/sales 2024.txt"})
	e, _ := err.(*media.Error) //nolint:errorlint // the test wants the unwrapped error
	if e == nil || len(e.Valid) == 0 || e.Valid[0] != "sales 2024.csv" || !e.Retryable {
		t.Errorf("near paths: %+v", e)
	}
}
