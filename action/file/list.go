package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"atelier/action"
	"atelier/action/internal/charset"
	"atelier/media"
	"atelier/media/probe"
)

// maxSkipped is the maximum number of skipped paths that a listing names.
const maxSkipped = 50

// entry is one file of a listing.
type entry struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"sizeBytes"`
	// Kind is table, json, markdown, html, text, pdf, docx, image, audio, video, document or binary.
	Kind     string `json:"kind"`
	Modified string `json:"modified"`
}

// list runs List Files.
func (f *Files) list(ctx context.Context, c *action.Call) (action.Result, error) {
	l := listing{files: f, max: f.cfg.MaxFiles, pattern: strings.TrimSpace(c.Text("Pattern"))}
	if _, err := path.Match(l.pattern, ""); err != nil {
		return action.Result{}, media.Errorf(media.CodeInvalid, "pattern %q is malformed: use * and ?, as in *.csv", Clip(l.pattern, 80))
	}
	if err := l.at(ctx, c.Text("Path")); err != nil {
		return action.Result{}, err
	}
	return l.result(), nil
}

// listing collects the files below a folder.
type listing struct {
	files    *Files
	pattern  string
	max      int
	entries  []entry
	skipped  []Skipped
	total    int
	unlisted int // skipped beyond maxSkipped
	// each, if set, is called for every matching file instead of adding it to entries.
	each func(p string, info fs.FileInfo) error
}

func (l *listing) result() action.Result {
	r := action.Result{
		Message: fmt.Sprintf("%d files", l.total),
		Outputs: map[string]any{"files": append([]entry{}, l.entries...), "totalCount": l.total},
	}
	if len(l.skipped) > 0 {
		r.Outputs["skipped"] = l.skipped
	}
	switch {
	case l.total == 0 && l.pattern != "":
		r.Message = fmt.Sprintf("No file matches %s", Clip(l.pattern, 80))
	case l.total == 0:
		r.Message = "The folder contains no files"
	case l.total == 1:
		r.Message = "1 file"
	case l.total > len(l.entries):
		r.Message = fmt.Sprintf("%d files, the first %d listed: narrow it with Path or Pattern", l.total, len(l.entries))
		r.Warnings = append(r.Warnings, r.Message)
	}
	if l.unlisted > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d more skipped paths are not listed", l.unlisted))
	}
	return r
}

// at lists the folder, or the single file, that a model names.
func (l *listing) at(ctx context.Context, given string) error {
	name, err := l.files.locate(given)
	if err != nil {
		return err
	}
	info, err := l.files.root.Stat(name)
	if err != nil {
		return l.files.explain(ctx, given, name, err)
	}
	switch {
	case info.IsDir():
		return l.walk(ctx, name)
	case !info.Mode().IsRegular():
		return irregular(name)
	}
	return l.add(name, info)
}

// walk lists a folder and everything below it. Errors of paths below it become entries of skipped.
func (l *listing) walk(ctx context.Context, dir string) error {
	return fs.WalkDir(l.files.root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && p == dir {
			return media.Errorf(media.CodeInvalid, "the folder cannot be read: %s", reason(err))
		}
		if err != nil {
			l.skip(p, reason(err))
			return nil
		}
		hidden := p != dir && strings.HasPrefix(path.Base(p), ".")
		switch {
		case hidden && d.IsDir():
			l.skip(p, "hidden")
			return fs.SkipDir
		case hidden:
			l.skip(p, "hidden")
		case !d.IsDir():
			return l.file(p, d)
		}
		return nil
	})
}

// file adds a regular file, following a link that stays inside the folder, and skips everything else.
func (l *listing) file(p string, d fs.DirEntry) error {
	link := d.Type()&fs.ModeSymlink != 0
	stat := d.Info
	if link {
		stat = func() (fs.FileInfo, error) { return l.files.root.Stat(p) }
	}
	info, err := stat()
	switch {
	case err != nil && link && isEscape(err):
		l.skip(p, "link to a place outside of the folder")
	case err != nil && link:
		l.skip(p, "broken link")
	case err != nil:
		l.skip(p, reason(err))
	case info.IsDir():
		l.skip(p, "link to a folder")
	case !info.Mode().IsRegular():
		l.skip(p, "not a regular file")
	default:
		return l.add(p, info)
	}
	return nil
}

func (l *listing) skip(p, reason string) {
	if len(l.skipped) >= maxSkipped {
		l.unlisted++
		return
	}
	l.skipped = append(l.skipped, Skipped{Path: Clip(p, 200), Reason: reason})
}

func (l *listing) add(p string, info fs.FileInfo) error {
	if !matches(l.pattern, p) {
		return nil
	}
	l.total++
	if l.each != nil {
		return l.each(p, info)
	}
	if len(l.entries) >= l.max {
		return nil
	}
	kind := kindOfName(p)
	if kind == "" {
		kind = "unreadable"
		if head, err := l.files.source(p, info).Head(); err == nil {
			kind = kindOfHead(head)
		}
	}
	l.entries = append(l.entries, entry{
		Path: p, SizeBytes: info.Size(), Kind: kind,
		Modified: info.ModTime().UTC().Format(time.DateOnly),
	})
	return nil
}

// matches reports whether a path matches a pattern, in which **/ means any folders.
func matches(pattern, p string) bool {
	if pattern == "" {
		return true
	}
	pattern, p = strings.ToLower(pattern), strings.ToLower(p)
	if !strings.Contains(pattern, "/") {
		p = path.Base(p)
	}
	want, have := strings.Split(pattern, "/"), strings.Split(p, "/")
	like := func(pattern, part string) bool { ok, err := path.Match(pattern, part); return ok && err == nil }
	var deep, from []string // what follows the last **/, and the parts tried for it; another try of an earlier **/ finds no more
	for len(have) > 0 {
		switch {
		case len(want) > 1 && want[0] == "**":
			want, deep, from = want[1:], want[1:], have
		case len(want) > 0 && like(want[0], have[0]):
			want, have = want[1:], have[1:]
		case deep == nil:
			return false
		default:
			want, have, from = deep, from[1:], from[1:]
		}
	}
	return len(want) == 0
}

// kinds are the kinds of common file extensions.
var kinds = map[string]string{
	".csv": kindTable, ".tsv": kindTable, ".tab": kindTable, ".xlsx": kindTable, ".xlsm": kindTable, ".docx": kindDOCX, ".pdf": kindPDF,
	".json": kindJSON, ".ndjson": kindJSON, ".jsonl": kindJSON, ".geojson": kindJSON, ".md": "markdown", ".markdown": "markdown",
	".html": "html", ".htm": "html", ".xhtml": "html", ".txt": "text", ".log": "text", ".rst": "text", ".yaml": "text", ".yml": "text",
	".toml": "text", ".ini": "text", ".xml": "text", ".tex": "text",
}

// kindOfName returns the kind of a common file extension, or "" if the content must decide.
func kindOfName(p string) string { return kinds[strings.ToLower(path.Ext(p))] }

// kindOfHead detects a kind from the first bytes of a file.
func kindOfHead(head []byte) string {
	mime := probe.Head(head).MIMEType
	switch {
	case mime == "text/html":
		return "html"
	case mime == "application/json":
		return kindJSON
	case isPDF(head):
		return kindPDF
	case mime != "" && !strings.HasPrefix(mime, "text/"):
		return string(media.ModalityOf(mime))
	case charset.Binary(head):
		return "binary"
	}
	return "text"
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
