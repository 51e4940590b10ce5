package main

import (
	"time"

	"atelier/chat"
	"atelier/media"
)

type modelsCheckCmd struct {
	Chat bool   `help:"Chat models: asks each chat provider with a key for its list, which costs nothing."`
	Only string `name:"provider" help:"Only this provider." placeholder:"NAME"`
	JSON bool   `help:"Print JSON."`
}

// checked is what the list of one provider says.
type checked struct {
	Provider string         `json:"provider"`
	Listed   int            `json:"listed"`
	Findings []chat.Finding `json:"findings"`
	Error    string         `json:"error,omitempty"`
}

// Run compares; a provider that cannot be asked is a line of the report.
func (c *modelsCheckCmd) Run(w *world) error {
	if !c.Chat {
		return media.Errorf(media.CodeInvalid, "say which models: atelier models check --chat")
	}
	return w.withApp(appConfig{}, func(a *app) error {
		all := []checked{}
		var rows [][]string
		for _, p := range a.chat.Profiles().Providers() {
			if a.chat.Ready(p) != nil || c.Only != "" && c.Only != p.Key {
				continue
			}
			k := checked{Provider: p.Key, Findings: []chat.Finding{}}
			listed, err := a.chat.List(w.ctx, p.Key)
			if err != nil {
				k.Error = err.Error()
				rows = append(rows, []string{p.Key, "", "not asked", k.Error})
			} else {
				k.Listed = len(listed)
				k.Findings = append(k.Findings, a.chat.Profiles().Compare(p.Key, listed, time.Now())...) //nolint:forbidigo // the clock of the command line
			}
			for _, f := range k.Findings {
				rows = append(rows, []string{p.Key, f.Model, string(f.Kind), f.Note})
			}
			all = append(all, k)
		}
		if c.JSON {
			return w.printJSON(all)
		}
		table(w.stdout, []string{"PROVIDER", "MODEL", "FINDING", "NOTE"}, rows)
		return nil
	})
}
