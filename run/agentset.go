package run

import (
	"context"
	"encoding/json"
	"sync"

	"atelier/agent"
)

// agentSet holds the agents for one setting.
type agentSet struct {
	agents *agent.Runner
	closer func()
}

// agentSets creates the agents for each setting, and closes those that no run uses when others are needed.
type agentSets struct {
	// agents are the agents for setting.
	agents  *agent.Runner
	setting json.RawMessage
	// create creates the agents for another setting; if it is nil, agents serve every setting.
	create func(ctx context.Context, setting json.RawMessage) (*agent.Runner, func(), error)
	// used reports whether a run of this process has a setting.
	used func(setting string) bool

	mu   sync.Mutex // guards made
	made map[string]agentSet
}

// forSetting returns the agents for a setting.
func (o *agentSets) forSetting(ctx context.Context, setting json.RawMessage) (*agent.Runner, error) {
	key := string(setting)
	if o.create == nil || key == string(o.setting) {
		return o.agents, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o, ok := o.made[key]; ok {
		return o.agents, nil
	}
	for unused, made := range o.made {
		if !o.used(unused) {
			made.closer()
			delete(o.made, unused)
		}
	}
	agents, closer, err := o.create(context.WithoutCancel(ctx), setting)
	if err != nil {
		return nil, err
	}
	o.made[key] = agentSet{agents, closer}
	return agents, nil
}

// close closes the created agents.
func (o *agentSets) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, made := range o.made {
		made.closer()
		delete(o.made, key)
	}
}
