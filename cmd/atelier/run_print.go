package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"atelier/agent"
	"atelier/agent/report"
	"atelier/chat/offline"
	"atelier/generate"
	"atelier/generate/plan"
	"atelier/ledger"
	"atelier/media"
)

// viewsOf returns the JSON form of items and their files in the folder dir.
func viewsOf(items []media.Output, dir string, files map[media.Ref]report.File) []outputView {
	out := []outputView{}
	for _, o := range items {
		var file savedFile
		if f, ok := files[o.Ref]; ok {
			file = savedFile{filepath.Join(dir, filepath.FromSlash(f.Path)), f.Marking}
		}
		out = append(out, viewOf(o, file))
	}
	return out
}

// readable returns the message with each placeholder replaced by the item's name.
func readable(res *agent.Result) string {
	return media.ResolveString(withoutInvented(res.Message), func(r media.Ref) string {
		if o, ok := res.Find(r); ok {
			return named(o.Label, r)
		}
		return "[missing " + string(r.Modality()) + "]"
	})
}

// withoutInvented replaces the placeholders in the text of a model that contain no ref.
func withoutInvented(text string) string {
	for _, bad := range media.BadRefs(text) {
		text = strings.Replace(text, "${media:"+bad+"}", "[missing media]", 1)
	}
	return text
}

// named formats an item within a text for people.
func named(label string, r media.Ref) string {
	return "[" + strings.TrimSpace(label+" "+string(r)) + "]"
}

// printRun prints the answer of a run with what it used and what it waits for.
func (w *world) printRun(ans answer) error {
	return w.print(ans, func() {
		w.printAnswer(ans)
		if n := len(ans.AlsoMade); n > 0 {
			w.note("also made: %s; see atelier media list --run %s", plural(n, "item"), ans.RunID)
		}
		w.note("%s %s: %s, %s, %s, cost %s", ans.RunID, ans.Status, plural(ans.Usage.ModelCalls, "model call"), plural(ans.Usage.Images, "image"),
			duration(ans.Usage.WorkedMS), costText(ledger.Cost(ans.Cost)))
		if ans.Conversation != "" {
			w.note("conversation %s: continue with --conversation %[1]s", ans.Conversation)
		}
		w.ask(ans.RunID, ans.Pending)
	})
}

// printAnswer prints an answer: its text, its outputs, its dispositions, its warnings and its report.
func (w *world) printAnswer(ans answer) {
	if ans.Message != "" {
		w.line("%s", ans.Message)
	}
	for _, o := range ans.Outputs {
		w.line("  %s  %-13s %s", o.Ref, o.MIMEType, o.where())
	}
	for _, o := range append(slices.Clone(ans.Outputs), ans.AlsoMade...) {
		if note := (savedFile{o.Path, o.Marking}).note(); note != "" {
			w.note("%s", note)
		}
	}
	for _, d := range withoutWarning(ans.Dispositions) {
		if !offlineChat(d) {
			w.note("%s", outcomeText(d))
		}
	}
	warnings := ans.Warnings
	ofPictures := func(warning string) bool { return warning == plan.OfflineWarning(offline.Model{}.Profile().Name) }
	if slices.ContainsFunc(ans.Dispositions, offlineChat) && !slices.ContainsFunc(warnings, ofPictures) { // mention the offline model once
		warnings = append(slices.Clone(warnings), offline.Model{}.Profile().Name+" answered because no chat model has an API key; atelier doctor shows which key to set")
	}
	w.warnings(warnings)
	if ans.Report != "" {
		w.line("report: %s", ans.Report)
	}
}

// costText formats the cost of a run and the part of it that providers reported; the rest is estimated.
func costText(c ledger.Cost) string {
	var of string
	total := estimateText(c.EstimatedUSD)
	switch {
	case c.EstimatedUSD == nil:
		return amount(nil)
	case ledger.PicoOf(c.EstimatedUSD) == 0:
	case ledger.PicoOf(c.ReportedUSD) == 0:
		of = " (estimated)"
	case *c.ReportedUSD == *c.EstimatedUSD:
		total, of = amount(c.EstimatedUSD), " (reported)"
	default:
		of = " (" + amount(c.ReportedUSD) + " reported, the rest estimated)"
	}
	if !c.Complete {
		return "at least " + strings.TrimPrefix(total, "about ") + of
	}
	return total + of
}

// withoutWarning returns the dispositions that no warning mentions.
func withoutWarning(all []generate.Disposition) []generate.Disposition {
	return slices.DeleteFunc(slices.Clone(all), func(d generate.Disposition) bool { return d.Setting == agent.ImageModelSetting })
}

// offlineChat reports whether the offline model substituted for a chat model that an agent prefers.
func offlineChat(d generate.Disposition) bool {
	return d.Setting == "chat_model" && d.Outcome == generate.OutcomeSubstituted && d.Applied == offline.Model{}.Profile().Name
}

// outcomeText describes a disposition.
func outcomeText(d generate.Disposition) string {
	used := ""
	if d.Applied != "" {
		used = fmt.Sprintf(", applied %q", d.Applied)
	}
	return fmt.Sprintf("%s %s: requested %q%s: %s", d.Setting, d.Outcome, d.Asked, used, d.Reason)
}

// ending converts a run's status into an error with its exit code.
func (w *world) ending(res *agent.Result, runErr error) error {
	switch res.Status {
	case agent.StatusSucceeded:
		return nil
	case agent.StatusPaused:
		return reportedError{exitPaused}
	case agent.StatusCancelled:
		w.note("interrupted; what was made is kept: atelier media list --run %s", res.RunID)
		w.note("continue with: atelier runs retry %s", res.RunID)
		return reportedError{exitInterrupted}
	default:
	}
	if runErr == nil && res.Error != nil {
		runErr = media.Errorf(res.Error.Code, "%s", res.Error.Message)
	}
	if media.CodeOf(runErr) == media.CodeTooLarge { // the size of user input is checked before a run begins
		w.note("atelier: %s", w.failure(runErr.Error()))
		return reportedError{exitProvider}
	}
	return runErr
}

// openInBrowser opens a file with the system's program for it, if there is one.
func openInBrowser(ctx context.Context, w *world, path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	if err := exec.CommandContext(ctx, name, args...).Start(); err != nil { //nolint:gosec // a fixed program and a path that this package built
		w.note("open %s in a browser", path)
	}
}
