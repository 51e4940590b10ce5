package agent_test

import (
	"strings"
	"testing"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/media"
)

func TestRunnerChecksNames(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"actions: [Fly]\n":                `painter.yaml:4:11: unknown action "Fly": use one of Paint`,
		"agents: [bob]\n":                 `painter.yaml:4:10: agent "bob" is not known`,
		"agents: [bob]\nactions: [Fly]\n": `painter.yaml:5:11: unknown action "Fly"`,
		"requires: [disk]\n":              `painter.yaml:4:12: requires: "disk" is not a source: use files, web, db, kb, tides`,
	} {
		store := newStore(t)
		reg, err := action.NewRegistry(action.Config{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Register(paint()); err != nil {
			t.Fatal(err)
		}
		defs, err := definition.Load(definitions(map[string]string{"painter": yaml}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = agent.NewRunner(agent.Config{Definitions: defs, Actions: reg, Codec: store, Models: &script{}, Sources: map[string]agent.Source{"tides": {}}})
		if media.CodeOf(err) != media.CodeInvalid && media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := agent.NewRunner(agent.Config{}); err == nil || !strings.Contains(err.Error(), "agent.Config.Actions") {
		t.Errorf("got %v", err)
	}
}
