package main

import (
	"time"

	"atelier/chat"
	"atelier/ledger"
	"atelier/media"
)

// checked is the result of comparing one provider's model list.
type checked struct {
	Provider string         `json:"provider"`
	Listed   int            `json:"listed"`
	Findings []chat.Finding `json:"findings"`
	Error    string         `json:"error,omitempty"`
}

// chatModels compares the profiles with the model lists of the providers. A provider that cannot be called
// becomes a line of the report.
func (c *modelsCheckCmd) chatModels(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		all := []checked{}
		var rows [][]string
		for _, p := range a.Chat.Profiles().Providers() {
			ready := a.Chat.Ready(p)
			switch {
			case c.Only != "" && c.Only != p.Key, c.Only == "" && ready != nil:
				continue
			case ready != nil:
				return ready
			}
			k := checked{Provider: p.Key, Findings: []chat.Finding{}}
			listed, err := a.ListChatModels(w.ctx, p.Key)
			if err != nil {
				k.Error = err.Error()
				rows = append(rows, []string{p.Key, "", "not asked", k.Error})
			} else {
				k.Listed = len(listed)
				k.Findings = append(k.Findings, a.Chat.Profiles().Compare(p.Key, listed, time.Now())...) //nolint:forbidigo // the clock of the command line
			}
			for _, f := range k.Findings {
				rows = append(rows, []string{p.Key, f.Model, string(f.Kind), f.Note})
			}
			all = append(all, k)
		}
		if c.Only != "" && len(all) == 0 {
			return media.Errorf(media.CodeNotFound, "there is no chat provider %q: see `atelier providers`", c.Only)
		}
		return w.print(ledger.List[checked]{Items: all}, func() { table(w.stdout, []string{"PROVIDER", "MODEL", "FINDING", "NOTE"}, rows) })
	})
}
