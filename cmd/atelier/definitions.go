package main

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier"
	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/generate"
	"atelier/internal/shipped"
)

type agentsCmd struct {
	List     agentsListCmd     `cmd:"" help:"List agents; for those that cannot run, what they need."`
	Show     agentsShowCmd     `cmd:"" help:"Show one agent: models, actions, sub-agents, prompt."`
	Validate agentsValidateCmd `cmd:"" help:"Check definitions and print every problem and its location."`
}

// agentView is an agent as list and show print it.
type agentView struct {
	Slug        string `json:"slug"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Ready is false if a source that the agent requires is missing.
	Ready   bool            `json:"ready"`
	Missing []missingSource `json:"missing"`
	Actions []string        `json:"actions"`
	Agents  []string        `json:"agents"`
	Turns   int             `json:"turns"`
	Shipped bool            `json:"shipped"`
	File    string          `json:"file"`
	Hash    string          `json:"hash"`
}

// missingSource is a source that an agent lacks, and the reason.
type missingSource struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
}

func agentViewOf(d *definition.Agent, sources map[string]agent.Source) agentView {
	v := agentView{
		Slug: d.Slug, Name: d.Name, Description: d.Description, Ready: true, Missing: []missingSource{}, Actions: []string{}, Agents: []string{},
		Turns: d.Turns, Shipped: path.Dir(d.File) == shipped.Folder, File: d.File, Hash: d.Hash,
	}
	for _, name := range d.Requires {
		if s := sources[name]; !s.Configured {
			v.Ready = false
			v.Missing = append(v.Missing, missingSource{name, cmp.Or(s.Reason, "this program has no source with that name")})
		}
	}
	for _, a := range d.Actions {
		v.Actions = append(v.Actions, a.Name)
	}
	for _, a := range d.Agents {
		v.Agents = append(v.Agents, a.Slug)
	}
	return v
}

// state describes whether an agent can run and, if not, what it needs.
func (v agentView) state() string {
	if v.Ready {
		return "ready"
	}
	var needs []string
	for _, m := range v.Missing {
		needs = append(needs, m.Source+": "+m.Reason)
	}
	return "needs " + strings.Join(needs, "; ")
}

type agentsListCmd struct {
	Agents string `help:"A folder of agent definitions. They are added to the shipped ones and replace those of the same name." placeholder:"DIR"`
}

func (c *agentsListCmd) Run(w *world) error {
	cfg, err := atelier.ConfigFromEnv(w.env)
	if err != nil {
		return err
	}
	sources, err := cfg.Configured()
	if err != nil {
		return err
	}
	defs, err := shipped.Definitions(c.Agents)
	if err != nil {
		return err
	}
	var views []agentView
	for _, d := range defs.All() {
		views = append(views, agentViewOf(d, sources))
	}
	return printList(w, views, []string{"AGENT", "NAME", "STATUS", "WHAT IT DOES"}, func(v agentView) []string {
		return []string{v.Slug, v.Name, v.state(), short(v.Description, 80)}
	})
}

type agentsShowCmd struct {
	Slug   string `arg:"" help:"Slug or display name: research-agent, sage."`
	Agents string `help:"A folder of agent definitions. They are added to the shipped ones and replace those of the same name." placeholder:"DIR"`
}

// modelView is the model that would be chosen for an agent.
type modelView struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	// Preferred lists the models that the definition prefers; Reason says why another one is chosen.
	Preferred []string `json:"preferred"`
	Reason    string   `json:"reason,omitempty"`
}

// agentDetails is what show prints in addition to the list.
type agentDetails struct {
	agentView
	Requires      []string        `json:"requires"`
	ChatModel     modelView       `json:"chat_model"`
	ImageModel    *modelView      `json:"image_model"`
	PayloadSchema json.RawMessage `json:"payload_schema,omitempty"`
	Prompt        string          `json:"prompt"`
	definition    *definition.Agent
	// missing holds the reasons why sub-agents are not offered.
	missing map[string]string
}

func (c *agentsShowCmd) Run(w *world) error {
	defs, err := shipped.Definitions(c.Agents)
	if err != nil {
		return err
	}
	d, err := defs.Find(c.Slug)
	if err != nil {
		return err
	}
	return w.withApp(appConfig{}, func(a *app) error {
		sources, err := a.Config.Configured()
		if err != nil {
			return err
		}
		v := agentDetails{
			agentView: agentViewOf(d, sources), Requires: orEmpty(d.Requires), ChatModel: a.resolveChatModel(w, d), ImageModel: a.resolveImageModel(w, d),
			PayloadSchema: d.PayloadSchema, Prompt: d.Prompt, definition: d, missing: map[string]string{},
		}
		for _, use := range d.Agents {
			if sub, err := defs.Find(use.Slug); err != nil {
				v.missing[use.Slug] = "is unknown"
			} else if s := agentViewOf(sub, sources); !s.Ready {
				v.missing[use.Slug] = s.state()
			}
		}
		return w.print(v, func() { v.print(w) })
	})
}

// resolveChatModel returns the chat model that would be chosen.
func (a *app) resolveChatModel(w *world, d *definition.Agent) modelView {
	v := modelView{Preferred: orEmpty(d.ChatModels)}
	c, err := a.Chat.Choose(w.ctx, d.ChatModels)
	if err != nil {
		v.Reason = err.Error()
		return v
	}
	p := c.Model.Profile()
	v.Name, v.Provider, v.Reason = p.Name, p.Provider, c.Reason
	if v.Reason == "" && len(d.ChatModels) > 0 && !a.matches(d.ChatModels, p) {
		v.Reason = "the default model of this installation (ATELIER_CHAT_MODEL) takes precedence"
	}
	return v
}

// matches reports whether a model is a preferred one.
func (a *app) matches(prefer []string, p chat.Profile) bool {
	return slices.ContainsFunc(prefer, func(name string) bool {
		return slices.ContainsFunc(a.Chat.Profiles().Find(name), func(f chat.Profile) bool { return f.ID == p.ID && f.Provider == p.Provider })
	})
}

// resolveImageModel returns the image model that would be chosen; nil for an agent whose actions call none.
func (a *app) resolveImageModel(w *world, d *definition.Agent) *modelView {
	makes := func(u definition.ActionUse) bool {
		return slices.ContainsFunc(shipped.Families()[0].Actions, func(a action.Description) bool { return a.Name == u.Name })
	}
	if !slices.ContainsFunc(d.Actions, makes) {
		return nil
	}
	v := &modelView{Preferred: orEmpty(d.ImageModels)}
	plan, err := a.Gateway.Plan(w.ctx, generate.Request{Prompt: "x", Prefer: d.ImageModels})
	if err != nil {
		v.Reason = err.Error()
		return v
	}
	v.Name, v.Provider = plan.Model.Name, plan.Model.Provider
	for _, disposition := range plan.Dispositions {
		if disposition.Setting == "model" && disposition.Outcome != generate.OutcomeApplied {
			v.Reason = disposition.Reason
		}
	}
	return v
}

func (v agentDetails) print(w *world) {
	rows := [][]string{
		{"name", v.Name}, {"description", v.Description}, {"state", v.state()}, {"chat model", v.ChatModel.text()},
	}
	if v.ImageModel != nil {
		rows = append(rows, []string{"image model", v.ImageModel.text()})
	}
	rows = append(rows, []string{"turns", itoa(v.Turns)})
	for _, a := range v.definition.Actions {
		rows = append(rows, []string{"action", a.Name + expiryText(a)})
	}
	for _, a := range v.definition.Agents {
		rows = append(rows, []string{"sub-agent", a.Slug + subAgentText(a, v.missing[a.Slug])})
	}
	if v.PayloadSchema != nil {
		rows = append(rows, []string{"payload schema", short(string(v.PayloadSchema), 200)})
	}
	rows = append(rows, []string{"file", v.File}, []string{"hash", v.Hash})
	table(w.stdout, []string{"agent", v.Slug}, rows)
	w.line("\n%s", v.Prompt)
}

func (m modelView) text() string {
	s := cmp.Or(m.Name, "none")
	if m.Provider != "" {
		s += " (" + m.Provider + ")"
	}
	if m.Reason != "" {
		s += ": " + m.Reason
	}
	return s
}

// expiryText describes when an action's results leave the context.
func expiryText(a definition.ActionUse) string {
	if a.ExpirationTurns == 0 || a.ExpirationMode == "None" {
		return ""
	}
	return ": results after " + plural(a.ExpirationTurns, "turn") + " " + strings.ToLower(cmp.Or(a.ExpirationMode, "Remove"))
}

// subAgentText describes what a sub-agent receives, where its payload is stored, and what it lacks.
func subAgentText(a definition.AgentUse, missing string) string {
	var parts []string
	if missing != "" {
		parts = append(parts, missing)
	}
	if len(a.Input) > 0 {
		parts = append(parts, "gets "+strings.Join(a.Input, ", "))
	}
	switch a.PayloadKey {
	case "":
	case ".":
		parts = append(parts, "merges its payload")
	default:
		parts = append(parts, "stores its payload as "+a.PayloadKey)
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

type agentsValidateCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Folders or YAML files; each is checked together with the shipped agents. The default is the shipped agents alone."`
}

// validation is what validate --json prints.
type validation struct {
	OK       bool                 `json:"ok"`
	Agents   []string             `json:"agents"`
	Problems []definition.Problem `json:"problems"`
}

func (c *agentsValidateCmd) Run(w *world) error {
	all := validation{Agents: []string{}, Problems: []definition.Problem{}}
	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	seen := map[string]bool{}
	for _, p := range paths {
		slugs, problems, err := validate(p)
		if err != nil {
			return err
		}
		for _, p := range problems {
			if !seen[p.String()] {
				seen[p.String()] = true
				all.Problems = append(all.Problems, p)
			}
		}
		all.Agents = append(all.Agents, slugs...)
	}
	slices.Sort(all.Agents)
	all.Agents, all.OK = slices.Compact(all.Agents), len(all.Problems) == 0
	err := w.print(all, func() {
		files := map[string]bool{}
		for _, p := range all.Problems {
			files[p.File] = true
			w.line("%s", p)
		}
		if all.OK {
			w.line("ok: %s (%s)", plural(len(all.Agents), "agent"), strings.Join(all.Agents, ", "))
		} else {
			w.note("%s in %s", plural(len(all.Problems), "problem"), plural(len(files), "file"))
		}
	})
	return cmp.Or(err, exitIf(!all.OK, exitInput))
}

// validate checks a folder, a file with its folder, or, for an empty name, the shipped
// agents. It returns the slugs of the named definitions.
func validate(name string) (slugs []string, problems []definition.Problem, err error) {
	folders := []definition.Folder{shipped.Agents()}
	mine := func(file string) bool { return path.Dir(file) == shipped.Folder }
	about := func(definition.Problem) bool { return true }
	if name != "" {
		folder, only, err := definition.Locate(name)
		if err != nil {
			return nil, nil, err
		}
		folder.Name = filepath.ToSlash(folder.Name)
		folders = append(folders, folder)
		mine = func(file string) bool { return path.Dir(file) == path.Clean(folder.Name) }
		if only != "" {
			only = path.Join(folder.Name, only)
			mine = func(file string) bool { return file == only }
			about = func(p definition.Problem) bool { return p.Concerns(only) }
		}
	}
	defs, found := definition.Check(shipped.Catalogue(), folders...)
	for _, d := range defs {
		if mine(d.File) {
			slugs = append(slugs, d.Slug)
		}
	}
	for _, p := range found {
		if about(p) {
			problems = append(problems, p)
		}
	}
	return slugs, problems, nil
}
