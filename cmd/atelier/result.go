package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier/agent/resolve"
	"atelier/generate"
	"atelier/generate/plan"
	"atelier/internal/disk"
	"atelier/internal/shipped"
	"atelier/media"
	"atelier/media/imaging"
)

// resultFlags select how the results of a generation are delivered: as files, on standard output, as text or as JSON.
type resultFlags struct {
	Output string `short:"o" help:"The file to write. Several results become NAME-1, NAME-2 and so on. - writes a single result to standard output." placeholder:"FILE"`
}

// formats maps file extensions to formats and modalities; text can be the answer of any model.
var formats = map[string]struct {
	format string
	holds  media.Modality
}{
	"png": {"png", media.ModalityImage}, "jpg": {"jpeg", media.ModalityImage}, "jpeg": {"jpeg", media.ModalityImage}, "webp": {"webp", media.ModalityImage},
	"gif": {"gif", media.ModalityImage}, "svg": {"svg", media.ModalityImage}, "mp3": {"mp3", media.ModalityAudio}, "wav": {"wav", media.ModalityAudio},
	"ogg": {"opus", media.ModalityAudio}, "opus": {"opus", media.ModalityAudio}, "aac": {"aac", media.ModalityAudio}, "flac": {"flac", media.ModalityAudio}, "txt": {format: "txt"},
}

// formatOf returns the format that a file's extension names, and its modality; both are empty for
// standard output and for no file.
func formatOf(file string) (format string, holds media.Modality, err error) {
	if file == "" || file == toStdout {
		return "", "", nil
	}
	f, ok := formats[strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))]
	if !ok {
		err = media.Errorf(media.CodeInvalid, "-o %s: use the extension .png, .jpg or .webp; .mp3, .wav, .opus, .aac or .flac for sound; .txt for text", file)
	}
	return f.format, f.holds, err
}

// writable returns an error, before anything is made, if the results of a plan cannot be written to
// the requested file. Format is the value of --format.
func (f resultFlags) writable(p *plan.Plan, format string) error {
	if f.Output == toStdout && p.ResultCount > 1 {
		return media.Errorf(media.CodeInvalid, "-o - takes one result, but %s makes %d: request one with -n 1, or name a file", p.Model.Name, p.ResultCount)
	}
	requested := "-o " + f.Output
	if format != "" {
		requested = "--format " + format
	}
	for _, d := range p.Dispositions {
		if d.Setting == "output_format" && d.Outcome == generate.OutcomeDropped {
			return media.Errorf(media.CodeUnsupported, "%s is not possible: %s. Nothing was generated", requested, d.Reason)
		}
	}
	return nil
}

// fits returns an error if the file does not suit the results of an operation that was started earlier.
func (f resultFlags) fits(ctx context.Context, a *app, operation string) error {
	_, holds, err := formatOf(f.Output)
	if err != nil || f.Output == "" {
		return err
	}
	o, slots, _, err := a.Ledger.Operation(ctx, owner, operation)
	if err != nil {
		return err
	}
	if f.Output == toStdout && len(slots) > 1 {
		return media.Errorf(media.CodeInvalid, "-o - takes one result, but operation %s makes %d: name a file", o.ID, len(slots))
	}
	if holds != "" && o.Modality != "" && holds != o.Modality {
		return media.Errorf(media.CodeInvalid, "-o %s is for %s, but operation %s makes %s: use another file extension", f.Output, holds, o.ID, o.Modality)
	}
	return nil
}

// piped returns the world for a command with -o -: its bytes go to standard output, its text to standard error.
func (f resultFlags) piped(w *world) (*world, error) {
	switch {
	case f.Output != toStdout:
		return w, nil
	case w.json:
		return nil, media.Errorf(media.CodeInvalid, "-o - and --json both write to standard output: name a file, or omit --json")
	}
	p := *w
	p.bytes, p.stdout = w.stdout, w.stderr
	return &p, nil
}

// prepare checks that files can be written where -o says, before anything is billed.
func (f resultFlags) prepare() error {
	if f.Output == "" || f.Output == toStdout {
		return nil
	}
	dir := filepath.Dir(f.Output)
	if err := makeFolder(dir); err != nil {
		return err
	}
	if info, err := os.Stat(f.Output); err == nil && info.IsDir() {
		return media.Errorf(media.CodeInvalid, "-o %s is a folder: add a file name", f.Output)
	}
	probe, err := os.CreateTemp(dir, ".atelier-*")
	if err != nil {
		return disk.Error("write into the folder "+dir, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// proceed continues an operation that was started earlier, and prints its results. Ctrl-C cancels it with cause.
func (f resultFlags) proceed(w *world, operation string, partials bool, cause error, do func(ctx context.Context, a *app, id string) (*generate.Result, error)) error {
	p := newProgress(w)
	return w.withApp(appConfig{events: p.generation, partials: partials}, func(a *app) error {
		id, err := a.stores().operationID(w.ctx, operation)
		if err != nil {
			return err
		}
		if err := f.fits(w.ctx, a, id); err != nil {
			return err
		}
		if err := f.prepare(); err != nil {
			return err
		}
		ctx, end := w.interruptible(cause)
		defer end()
		ctx = a.Scoped(ctx, "")
		res, err := do(ctx, a, id)
		p.clear()
		if err != nil {
			return err
		}
		return f.print(ctx, w, a, res)
	})
}

// print writes the files and the answer. Partial success is success; no results at all are a failure of the provider.
func (f resultFlags) print(ctx context.Context, w *world, a *app, res *generate.Result) error {
	slots, firstErr, unsaved := f.slots(ctx, w, a, res, f.Output)
	if w.json {
		unsaved = cmp.Or(w.printJSON(resultView(res, slots)), unsaved)
	} else {
		f.printForPeople(w, res, slots)
	}
	return cmp.Or(unsaved, outcomeError(res, firstErr))
}

// slots writes the files of a result. An error for one file does not stop the others.
func (f resultFlags) slots(ctx context.Context, w *world, a *app, res *generate.Result, to string) (slots []slotView, firstErr *generate.SlotError, unsaved error) {
	slots = make([]slotView, 0, len(res.Slots))
	for _, s := range res.Slots {
		v := slotView{s.Index, s.Status, nil, s.Error, s.RevisedPrompt, s.Seed, s.Safety}
		if s.Output != nil {
			name := to
			if to == toStdout {
				to = "" // it takes one result
			} else if ext := filepath.Ext(to); to != "" && len(res.Slots) > 1 {
				name = strings.TrimSuffix(to, ext) + "-" + strconv.Itoa(s.Index) + ext
			}
			file, err := w.save(ctx, a.stores(), *s.Output, name)
			unsaved = cmp.Or(unsaved, err)
			if file.path != "" && foreignSVG(*s.Output) {
				res.Warnings = append(res.Warnings, rawSVG(file.path))
			}
			if note := file.note(); note != "" && !w.json {
				w.note("%s", note)
			}
			o := viewOf(*s.Output, file)
			v.Output = &o
		} else if firstErr == nil {
			firstErr = s.Error
		}
		slots = append(slots, v)
	}
	return slots, firstErr, unsaved
}

func (f resultFlags) printForPeople(w *world, res *generate.Result, slots []slotView) {
	for _, s := range slots {
		if s.Output == nil {
			msg := string(s.Status)
			if s.Error != nil {
				msg = s.Error.Message
			}
			w.note("%d  %s", s.Index, msg)
			continue
		}
		w.line("%d  %s  %s  %s  %s  %s", s.Index, s.Output.Ref, s.Output.MIMEType, s.Output.extent(), size(s.Output.Size), s.Output.where())
	}
	w.line("%s by %s (%s)%s, cost %s", res.Status, res.Model, res.Provider, requestedName(res), price(res.Status, res.Cost, res.Usage))
	w.dispositions(res.Dispositions)
	w.warnings(res.Warnings)
	switch {
	case slices.ContainsFunc(res.Slots, generate.Slot.Undecided): // its message says what to do
	case res.Status == generate.StatusRunning:
		w.line("it is still running; to wait for it: atelier generate --wait %s", res.Operation)
	case slices.ContainsFunc(res.Slots, func(s generate.Slot) bool { return s.Error != nil && retryable(s.Error.Code) }):
		w.note("%s", retryHint(res.Operation, res.Usage, slices.ContainsFunc(res.Slots, func(s generate.Slot) bool { return s.Status == generate.StatusCancelled })))
	}
}

// dispositions prints the settings that were not applied as requested.
func (w *world) dispositions(ds []generate.Disposition) {
	for _, d := range ds {
		if d.Outcome != generate.OutcomeApplied {
			w.line("%-11s %s: requested %q, applied %q: %s", d.Outcome, d.Setting, d.Asked, d.Applied, d.Reason)
		}
	}
}

// warnings prints warnings for people.
func (w *world) warnings(list []string) {
	for _, warning := range list {
		w.note("warning: %s", warning)
	}
}

// foreignSVG reports whether an item is an SVG that did not come from a drawing action of this program.
func foreignSVG(o media.Output) bool { return o.MIMEType == "image/svg+xml" && !shipped.Drew(o) }

// rawSVG returns the warning for such a file.
func rawSVG(path string) string {
	return path + " is the provider's unchanged SVG. It may contain scripts or links to other servers, which a browser runs or loads if you open the file directly, but not if a page shows it as an image"
}

// resultView returns the JSON form of a result.
func resultView(res *generate.Result, slots []slotView) map[string]any {
	return map[string]any{
		"operation": res.Operation, "status": res.Status, "slots": slots,
		"dispositions": orEmpty(res.Dispositions), "cost": res.Cost, "model": res.Model, "provider": res.Provider,
		"warnings": orEmpty(res.Warnings),
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// outcomeError returns the error whose exit code matches the result of an operation.
func outcomeError(res *generate.Result, firstErr *generate.SlotError) error {
	switch {
	case res.Status == generate.StatusRunning:
		return reportedError{exitRunning}
	case res.Status == generate.StatusCancelled:
		return reportedError{exitInterrupted}
	case len(res.Outputs()) > 0:
		return nil
	case firstErr == nil, firstErr.Code == media.CodeTooLarge, firstErr.Code == media.CodeBlockedAddress, firstErr.Code == media.CodeConflict:
		// What the provider sent is too large, leads to a blocked address, or conflicts with another request.
		return reportedError{exitProvider}
	}
	return reportedError{exitCode(firstErr.Code)}
}

// requestedName returns the name by which the user requested the model, if it is a different one.
func requestedName(res *generate.Result) string {
	for _, d := range res.Dispositions {
		if d.Setting == "model" && d.Outcome == generate.OutcomeApplied && !strings.EqualFold(d.Asked, res.Model) {
			return ", requested as " + d.Asked
		}
	}
	return ""
}

// retryHint says how to retry the failed results, and which ones need more than that.
func retryHint(operation string, u generate.Usage, cancelled bool) string {
	text := "to retry the failed results: atelier operations retry " + operation
	switch {
	case cancelled:
		text += " (add --all to include results that were cancelled at the provider or may have been billed)"
	case billable(u):
		text += " (add --all to include results that were or may have been billed)"
	}
	return text
}

// billable reports whether calls were billed, or may have been.
func billable(u generate.Usage) bool {
	return u.Images > 0 || u.Unsettled > 0 || u.InputTokens > 0 || u.OutputTokens > 0
}

// price returns the cost as text: the reported one or, failing that, what is known of it.
func price(s generate.Status, c generate.Cost, u generate.Usage) string {
	used := billable(u)
	switch {
	case c.ReportedUSD != nil:
		return amount(c.ReportedUSD)
	case !used && s != generate.StatusModerated && s != generate.StatusRunning:
		return "nothing"
	case !used || c.EstimatedUSD == nil: // some providers bill what they refuse
		return "unknown"
	}
	return "about " + strings.TrimPrefix(estimateText(c.EstimatedUSD), "about ")
}

// toStdout is the file name that means standard output.
const toStdout = "-"

// writeItem writes an item to a file or to standard output, and reports the file and its AI marking. A file whose
// extension is that of another type is refused.
func (w *world) writeItem(s *stores, o media.Output, path string) error {
	w, err := resultFlags{Output: path}.piped(w)
	if err != nil {
		return err
	}
	if ext, real := filepath.Ext(path), filepath.Ext(resolve.FileName(o)); resolve.IsExtension(ext) && !sameFormat(ext, real) {
		return media.Errorf(media.CodeInvalid, "-o %s: the file would be %s: use the extension %s", path, o.MIMEType, real)
	}
	file, err := w.write(w.ctx, s, o, path)
	switch {
	case err != nil:
		return err
	case w.json:
		err = w.printJSON(viewOf(o, file))
	case path != toStdout:
		w.line("%s", path)
	}
	if foreignSVG(o) {
		w.warnings([]string{rawSVG(file.path)})
	}
	if note := file.note(); note != "" {
		w.note("%s", note)
	}
	return err
}

// savedFile is the copy of an item.
type savedFile struct {
	// path is empty if nothing was written.
	path    string
	marking imaging.Marking
}

// note returns what a user must know about the marking of the file; empty for one with the label.
func (c savedFile) note() string {
	switch c.marking {
	case imaging.MarkingSigned:
		return c.path + " is the provider's unchanged, signed original (C2PA): its signature states how it was made"
	case imaging.MarkingNone:
		return c.path + " has no AI label, because files of its type cannot carry one: state yourself that it was made by AI"
	case imaging.MarkingLabel, imaging.MarkingAdded:
	}
	return ""
}

// write writes an item, with the AI label if it needs one, to a file or to standard output.
func (w *world) write(ctx context.Context, s *stores, o media.Output, path string) (file savedFile, err error) {
	write := func(to io.Writer) (err error) {
		file.marking, err = imaging.Export(to, o, func() (io.ReadCloser, error) { return s.Blobs.Open(ctx, o.Digest) })
		return err
	}
	file.path = path
	if path == toStdout {
		file.path, err = "standard output", write(w.bytes)
	} else {
		err = writeTo(path, write)
	}
	return file, err
}

// save writes a result to a file, whose extension follows the bytes, or to standard output.
func (w *world) save(ctx context.Context, s *stores, o media.Output, name string) (savedFile, error) {
	if name == "" {
		return savedFile{}, nil
	}
	ext := filepath.Ext(name)
	if real := filepath.Ext(resolve.FileName(o)); name != toStdout && !sameFormat(ext, real) {
		name = strings.TrimSuffix(name, ext) + real
	}
	file, err := w.write(context.WithoutCancel(ctx), s, o, name) // also if the command is cancelled: it was paid for
	if err != nil {
		return savedFile{}, media.Errorf(media.CodeOf(err), "%w; the item itself is stored: atelier media get %s", err, o.Ref)
	}
	return file, nil
}

// writeTo writes a file, which appears only once it is complete, or into a device or a pipe.
func writeTo(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	switch {
	case err != nil || info.Mode().IsRegular():
		return disk.Write(name, write)
	case info.IsDir():
		return media.Errorf(media.CodeInvalid, "write %s: it is a folder: add a file name", name)
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the user names the file
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		return disk.Error("write "+name, err)
	}
	return nil
}
