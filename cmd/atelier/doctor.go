package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier"
	"atelier/chat"
	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/internal/disk"
	"atelier/media"
)

type doctorCmd struct{}

// check is one line of the doctor's report.
type check struct {
	Name string `json:"name"`
	// State is ok, off (works without it), warn (works, but should be changed) or bad.
	State string `json:"state"`
	Note  string `json:"note"`
}

// Run checks everything that needs no call to a provider.
func (c *doctorCmd) Run(w *world) error {
	var checks []check
	err := w.withApp(appConfig{}, func(a *app) error {
		checks = append(checks, check{"data folder", "ok", a.Config.Dir}, a.probeFolder(w.ctx), a.checkModes())
		v, err := a.Ledger.Version(w.ctx)
		checks = append(checks, verdict("ledger", a.Ledger.Place()+", schema version "+strconv.FormatInt(v, 10), err), a.checkEngine(w.ctx))
		for _, p := range a.providers() {
			k := check{p.Kind + " " + p.Name, "ok", "ready"}
			if !p.Ready {
				k.State, k.Note = "off", p.Reason
			}
			checks = append(checks, k)
		}
		catalogue := check{"model catalogue", "ok", "last checked on " + a.Catalogue.Checked().Format(time.DateOnly)}
		if n := len(a.Catalogue.Stale(time.Now())); n > 0 { //nolint:forbidigo // the clock of the command line
			catalogue.State, catalogue.Note = "off", catalogue.Note+"; "+plural(n, "finding")+": atelier models check"
		}
		checks = append(checks, a.checkSearch(), catalogue)
		choice, err := a.Chat.Choose(w.ctx, nil)
		note := ""
		if err == nil {
			note = choiceText(choice)
		}
		checks = append(checks, verdict("default chat model", note, err))
		plan, err := a.Gateway.Plan(w.ctx, generate.Request{Prompt: "x"})
		if note = ""; err == nil {
			note = plan.Model.Name + " (" + plan.Model.Provider + ")"
			_, err = a.Gateway.DryRun(w.ctx, generate.Request{Prompt: "x"}) // its fallbacks and the budgets
		}
		checks = append(checks, verdict("default image model", note, err))
		address, err := w.listenAddress("")
		if note = ""; err == nil {
			note = address.String()
			_, err = a.NeedsTokens(address)
		}
		checks = append(checks, verdict("server address", note, err))
		_, err = atelier.ServeConfigFromEnv(w.env) // the variables that only serve reads
		return err
	})
	switch {
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case err != nil:
		checks = append(checks, verdict("settings, data folder and ledger", "", err))
	}
	bad := slices.ContainsFunc(checks, func(k check) bool { return k.State == "bad" })
	var rows [][]string
	for _, k := range checks {
		rows = append(rows, []string{k.State, k.Name, k.Note})
	}
	err = w.print(map[string]any{"checks": checks, "ok": !bad}, func() { table(w.stdout, []string{"STATUS", "CHECK", "NOTE"}, rows) })
	return cmp.Or(err, exitIf(bad, exitInput))
}

// choiceText describes the chosen chat model, with its substitutions, warnings and a missing price.
func choiceText(c chat.Choice) string {
	p := c.Model.Profile()
	parts := []string{p.String()}
	for _, d := range c.Changes {
		parts = append(parts, d.Reason)
	}
	parts = append(parts, c.Warnings...)
	if !p.Priced() {
		parts = append(parts, "price unknown")
	}
	return strings.Join(parts, "; ")
}

// checkEngine opens the durable engine, which creates or updates its tables.
func (a *app) checkEngine(ctx context.Context) check {
	e, err := a.Engine(ctx, false)
	if err != nil {
		return verdict("durable engine", "", err)
	}
	if err = e.Healthy(ctx); err == nil {
		err = e.Close(ctx)
	}
	return verdict("durable engine", e.Place()+", "+plural(a.Config.RunsAtOnce, "run")+" at a time", err)
}

func verdict(name, note string, err error) check {
	if err != nil {
		return check{name, "bad", err.Error()}
	}
	return check{name, "ok", note}
}

// checkSearch returns the line about web search.
func (a *app) checkSearch() check {
	name, err := a.Config.Search.Name()
	if err == nil && name == "" {
		sources, _ := a.Config.Configured() // its only error is that of Name
		return check{"web search", "off", sources["web"].Reason}
	}
	return verdict("web search", name, err)
}

// probeFolder writes a small file and removes it, and looks for the free space that billable calls require.
func (a *app) probeFolder(ctx context.Context) check {
	f, err := os.CreateTemp(a.Config.Dir, ".doctor-*")
	if err == nil {
		_, err = f.WriteString("x")
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		err = disk.Error("write a file", err)
	} else if _, full := a.Blobs.Reserve(ctx, 0, cmp.Or(a.Config.MinFree, gateway.DefaultMinFree)); media.CodeOf(full) == media.CodeDiskFull {
		err = full // its other errors mean that the free space is not known
	}
	return verdict("data folder is writable", "", err)
}

// checkModes checks whether other users can access the data folder or its entries.
func (a *app) checkModes() check {
	const name = "data folder is private"
	var open []string
	paths := []string{a.Config.Dir}
	list, err := os.ReadDir(a.Config.Dir)
	for _, e := range list {
		paths = append(paths, filepath.Join(a.Config.Dir, e.Name()))
	}
	for _, p := range paths {
		if info, err := os.Lstat(p); err == nil && info.Mode()&os.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			open = append(open, p)
		}
	}
	switch {
	case err != nil:
		return verdict(name, "", disk.Error("read the data folder", err))
	case len(open) > 0 && runtime.GOOS != "windows":
		return check{name, "warn", "other users can read " + strings.Join(open, ", ") + ": remove their access with chmod go-rwx"}
	}
	return check{name, "ok", ""}
}

func itoa(n int) string { return strconv.Itoa(n) }
