package main

import (
	"time"

	"atelier/media"
)

type modelsCheckCmd struct {
	Chat bool   `help:"Check chat models: request the model list of each chat provider with a key, which is free. Without this flag, the catalogue of image and speech models is compared with today's date, and no provider is called."`
	Only string `name:"provider" help:"With --chat, only this provider." placeholder:"NAME"`
	JSON bool   `help:"Print JSON."`
}

// Run compares the catalogue with today's date, or checks the chat models.
func (c *modelsCheckCmd) Run(w *world) error {
	if c.Chat {
		return c.chatModels(w)
	}
	if c.Only != "" {
		return media.Errorf(media.CodeInvalid, "--provider requires --chat: atelier models check --chat --provider %s", c.Only)
	}
	return w.withApp(appConfig{}, func(a *app) error {
		today := time.Now() //nolint:forbidigo // the clock of the command line
		found := a.Catalogue.Stale(today)
		checked := a.Catalogue.Checked().Format(time.DateOnly)
		return w.print(map[string]any{"checked": checked, "findings": orEmpty(found), "ok": len(found) == 0}, func() {
			if len(found) == 0 {
				w.line("the catalogue of %s is up to date for the next 30 days", checked)
				return
			}
			var rows [][]string
			for _, f := range found {
				rows = append(rows, []string{f.Provider, f.Model, f.Problem})
			}
			table(w.stdout, []string{"PROVIDER", "MODEL", "PROBLEM"}, rows)
			w.line("the catalogue was last checked on %s: update Atelier, or override rows in your own file (ATELIER_CATALOGUE)", checked)
		})
	})
}
