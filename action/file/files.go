package file

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier/action"
	"atelier/media"
	"atelier/media/wire"
)

// Config selects the folder that agents can read.
type Config struct {
	// Dir is the folder; required.
	Dir string
	// MaxFiles is the maximum number of files of a listing; 0 means 1,000.
	MaxFiles int
}

// Files is a folder that agents may list and read. It is safe for concurrent use.
type Files struct {
	cfg  Config
	root *os.Root
}

// Open opens the folder. A missing folder is [media.CodeNotFound]; one that is not a folder, is not
// readable, or contains no visible file is [media.CodeInvalid].
func Open(cfg Config) (*Files, error) {
	cfg.MaxFiles = cmp.Or(cfg.MaxFiles, 1000)
	info, err := os.Stat(cfg.Dir)
	switch {
	case cfg.Dir == "":
		return nil, media.Errorf(media.CodeInvalid, "the folder is missing: give the folder with your files")
	case errors.Is(err, fs.ErrNotExist):
		return nil, media.Errorf(media.CodeNotFound, "folder %s does not exist on this machine: check the path", cfg.Dir)
	case err != nil:
		return nil, media.Errorf(media.CodeInvalid, "folder %s cannot be read: %s", cfg.Dir, reason(err))
	case !info.IsDir():
		return nil, media.Errorf(media.CodeInvalid, "%s is a file, not a folder: give the folder that contains it", cfg.Dir)
	}
	root, err := os.OpenRoot(cfg.Dir)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "folder %s cannot be read: %s", cfg.Dir, reason(err))
	}
	f := &Files{cfg: cfg, root: root}
	l := listing{files: f, max: 1}
	err = l.walk(context.Background(), ".")
	switch {
	case err != nil || l.total > 0:
	case len(l.skipped) > 0:
		err = media.Errorf(media.CodeInvalid, "folder %s contains no readable file (%s: %s)", cfg.Dir, l.skipped[0].Path, l.skipped[0].Reason)
	default:
		err = media.Errorf(media.CodeInvalid, "folder %s is empty: add text, Markdown, HTML, CSV, TSV or JSON files", cfg.Dir)
	}
	if err != nil {
		_ = root.Close() // err is more specific
		return nil, err
	}
	return f, nil
}

// Close releases the folder.
func (f *Files) Close() error { return f.root.Close() }

// Actions returns List Files, Read File and Search Files for the folder.
func (f *Files) Actions() []action.Action {
	return []action.Action{{
		Name:        "List Files",
		Description: "Lists the files of the folder with size, kind and date. Use it first, then Describe Tables, Read File or Search Files.",
		Tags:        []string{"file"},
		Params: []action.Param{
			{Name: "Path", Default: ".", Description: "The folder to list, including its subfolders. The default is the whole folder."},
			{Name: "Pattern", Description: "Only files whose name matches, such as *.csv. A pattern with a slash is matched against the path."},
			{Name: "files", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path, sizeBytes, kind and modified of each file."},
			{Name: "totalCount", Direction: action.Output, Type: "integer", Description: "The number of matching files, listed or not."},
			{Name: "skipped", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path and reason of files that were omitted."},
		},
		Run: f.list,
	}, {
		Name: "Read File",
		Description: "Reads one file of the folder as text: text, Markdown, HTML, PDF, Word (.docx) and JSON. For a table, it shows the first lines: " +
			"use Describe Tables and Query Tables for its numbers.",
		Tags: []string{"file", action.TagSource},
		Params: []action.Param{
			{Name: "Path", Required: true, Description: "The path, as listed by List Files."},
			{Name: "Page", Type: "integer", Description: "The page to read, from 1: a page of a PDF or Word document, or a part of Limit characters of other text. The default is all."},
			{Name: "Offset", Type: "integer", Default: 0, Description: "The offset of the first character to return."},
			{Name: "Limit", Type: "integer", Default: 8000, Description: "The maximum number of characters to return."},
			{Name: "kind", Direction: action.Output, ValueType: action.Other, Description: "table or text; otherwise what the file is and why it cannot be read."},
			{Name: "path", Direction: action.Output, ValueType: action.Other, Description: "Path of the file."},
			{Name: "text", Direction: action.Output, ValueType: action.Other, Description: "The text, with title, page, pages, offset, totalChars and truncated."},
			{Name: "warnings", Direction: action.Output, ValueType: action.Other, Description: "What was repaired or omitted."},
		},
		Run: f.read,
	}, {
		Name: "Search Files",
		Description: "Searches logs, other text files, PDF and Word documents of the folder for a regular expression and returns the matching lines and their location. " +
			"All matching lines are counted, shown or not.",
		Tags: []string{"file", action.TagSource},
		Params: []action.Param{
			{Name: "Pattern", Required: true, Description: "Regular expression (RE2), such as ERROR|WARN or timeout after \\d+ s."},
			{Name: "Path", Default: ".", Description: "The file or folder to search. The default is the whole folder."},
			{Name: "Files", Description: "Only files whose name matches, such as *.log."},
			{Name: "Context", Type: "integer", Default: 0, Description: "The number of lines to show before and after each match, at most 10."},
			{Name: "MaxMatches", Type: "integer", Default: 30, Description: "The maximum number of matches to show, at most 100."},
			{Name: "MatchCase", Type: "boolean", Default: false, Description: "Whether the search is case-sensitive."},
			{Name: "matches", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path, line (or page), text, before and after of each match shown."},
			{Name: "matchCount", Direction: action.Output, Type: "integer", Description: "The number of matching lines in all files."},
			{Name: "files", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path and count of each file with matches."},
			{Name: "searched", Direction: action.Output, Type: "integer", Description: "The number of files searched."},
			{Name: "skipped", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "path and reason of files that were not searched."},
			{Name: "truncated", Direction: action.Output, Type: "boolean", Description: "Whether there are more matches than are shown."},
		},
		Run: f.search,
	}}
}

// Descriptions returns the descriptions of the actions, without a folder, for documentation and checks.
func Descriptions() []action.Description { return action.Document((&Files{}).Actions()...) }

// locate returns the path inside the folder that a model means. It accepts a relative path, a path that starts with the
// folder's own path, file:// and backslashes.
func (f *Files) locate(given string) (string, error) {
	p := strings.ReplaceAll(strings.TrimSpace(given), `\`, "/")
	p = strings.TrimPrefix(p, "file://")
	if abs, err := filepath.Abs(f.cfg.Dir); err == nil {
		if rest, ok := strings.CutPrefix(p, filepath.ToSlash(abs)); ok && (rest == "" || rest[0] == '/') {
			p = strings.TrimLeft(rest, "/")
		}
	}
	p = path.Clean(cmp.Or(p, "."))
	if strings.HasPrefix(p, "/") || p == ".." || strings.HasPrefix(p, "../") {
		return "", outside(given)
	}
	if strings.HasPrefix(p, ".") && p != "." || strings.Contains(p, "/.") {
		return "", media.Errorf(media.CodeForbidden, "%q is hidden, and hidden files are ignored: use a path from List Files", Clip(given, 120))
	}
	return p, nil
}

func outside(given string) error {
	return media.Errorf(media.CodeForbidden, "%q is outside of the folder: use a path from List Files", Clip(given, 120))
}

func irregular(name string) error {
	return media.Errorf(media.CodeInvalid, "%q is not a regular file", Clip(name, 120))
}

// open returns a readable regular file and its first bytes.
func (f *Files) open(ctx context.Context, given string) (s Source, head []byte, err error) {
	name, err := f.locate(given)
	if err != nil {
		return s, nil, err
	}
	info, err := f.root.Stat(name)
	if err != nil {
		return s, nil, f.explain(ctx, given, name, err)
	}
	if info.IsDir() {
		return s, nil, media.Errorf(media.CodeInvalid, "%q is a folder: use List Files with this path", Clip(name, 120))
	}
	if !info.Mode().IsRegular() {
		return s, nil, irregular(name)
	}
	s = f.source(name, info)
	if head, err = s.Head(); err != nil {
		return s, nil, f.explain(ctx, given, name, err)
	}
	return s, head, nil
}

// explain converts a file system error to an error with a code and advice.
func (f *Files) explain(ctx context.Context, given, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e := media.Errorf(media.CodeNotFound, "the folder has no file %q: use a path from List Files", Clip(given, 120))
		e.Valid, e.Retryable = f.near(ctx, name), true
		if len(e.Valid) > 0 {
			e.Message += ", for example " + strings.Join(e.Valid[:min(3, len(e.Valid))], ", ")
		}
		return e
	case errors.Is(err, fs.ErrPermission):
		return media.Errorf(media.CodeInvalid, "this program has no permission to read %q: change its permissions", Clip(name, 120))
	case isEscape(err):
		return outside(given)
	}
	return media.Errorf(media.CodeInvalid, "%q cannot be read: %s", Clip(name, 120), reason(err))
}

// isEscape reports whether err is the error of os.Root for a link that leads outside.
func isEscape(err error) bool { return strings.Contains(err.Error(), "escapes from parent") }

// near returns up to 20 existing paths, those with the same base name first.
func (f *Files) near(ctx context.Context, name string) []string {
	l := listing{files: f, max: 200}
	if err := l.walk(ctx, "."); err != nil {
		return nil
	}
	var paths []string
	for _, e := range l.entries {
		paths = append(paths, e.Path)
	}
	want := strings.ToLower(path.Base(name))
	slices.SortStableFunc(paths, func(a, b string) int {
		return cmp.Compare(nameDistance(a, want), nameDistance(b, want))
	})
	return paths[:min(20, len(paths))]
}

func nameDistance(p, want string) int {
	base := strings.ToLower(path.Base(p))
	switch {
	case base == want:
		return 0
	case strings.TrimSuffix(base, path.Ext(base)) == strings.TrimSuffix(want, path.Ext(want)):
		return 1
	}
	return 2
}

// reason returns an operating system's error without the path, which the message already contains.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Clip shortens text to n characters for a quotation, a list or a message. It names media before it clips, because the
// rest of a clipped item could be too short to be recognized as media.
func Clip(s string, n int) string {
	s = wire.NameMedia(strings.ToValidUTF8(s, "�"))
	if head := media.Head(s, n); head != s {
		return head + "…"
	}
	return s
}
