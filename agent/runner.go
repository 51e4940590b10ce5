// Package agent runs agents: definitions read from files, the loop that asks a chat model for one
// JSON step after another, the parallel acts of a step, sub-agents whose media is added to their
// parent's, and the completion of the answer.
//
// A [Runner] runs one agent per call and reports what happens to an [Observer], which saves and
// publishes it. Media that a run makes is stored and recorded immediately and is in the [Result]
// regardless of what the model does next, even if the run fails or is cancelled. A payload keeps
// its placeholders; package resolve renders them when it is read.
//
// Errors are media.Error values: invalid and not_found for definitions and requests, over_budget,
// conflict for late answers, bad_response, cancelled, and the errors of the chat model. It may
// import media, journal, blob, probe, wire, imaging, generate, chat and action.
package agent

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/definition"
	"atelier/agent/internal/meter"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/media"
	"atelier/media/wire"
)

// ChatModels chooses a chat model; *chat.Registry implements it. prefer lists display names or IDs,
// best first; the choice says why a preference was not met.
type ChatModels interface {
	Choose(ctx context.Context, prefer []string) (chat.Choice, error)
}

// Source says whether a source that an agent may require is configured.
type Source struct {
	Configured bool `json:"configured"`
	// Reason tells models and people how to configure it; empty if it is configured.
	Reason string `json:"reason,omitempty"`
}

// Config configures a [Runner].
type Config struct {
	// Definitions are the agents' definitions; required unless GoAgents is set.
	Definitions *definition.Set
	// GoAgents are agents written in Go, by slug. They are called like other agents.
	GoAgents map[string]GoAgent
	// Actions are the actions that agents can call; required.
	Actions *action.Registry
	// Models chooses chat models; required unless every agent is a Go agent.
	Models ChatModels
	// Codec replaces media in model text and opens media; required.
	Codec *wire.Codec
	// Recorder records pictures that a chat model made itself; nil disables recording.
	Recorder media.Recorder
	// Find reads an owner's media record by its ID, for images given by ID; nil means that there
	// are none. An unknown ID is media.CodeNotFound.
	Find func(ctx context.Context, owner, id string) (media.Output, error)
	// Guardrail checks what a person wrote before a model sees it; nil accepts everything.
	Guardrail Guardrail
	// Journal makes the run durable; nil means [journal.Memory].
	Journal journal.Journal
	// Budget limits the calls of chat models; use the gateway's budget, so that both count against
	// the same limits. Nil means [generate.InMemory].
	Budget generate.Budget
	// Observer saves and publishes what happens; nil discards it.
	Observer Observer
	// Sources are files, web, db, kb and the program's own sources by name. A missing name means not configured.
	Sources map[string]Source
	// SourceActions are actions with the tag action.TagSource that Actions lacks because their source is not
	// configured. The numbers of a recorded run may have been compared with their results.
	SourceActions []string
	// Parallel is the maximum number of concurrent acts of a step; 0 means 8.
	Parallel int
	// Now is the clock; nil means time.Now in UTC.
	Now func() time.Time
	// NewID returns IDs for runs, steps and prompts; nil means UUIDv7.
	NewID func() string
}

// Validate returns an error that names a missing or invalid setting.
func (c Config) Validate() error {
	switch {
	case c.Actions == nil:
		return media.Errorf(media.CodeInvalid, "agent.Config.Actions is missing: give the action registry")
	case c.Codec == nil:
		return media.Errorf(media.CodeInvalid, "agent.Config.Codec is missing: give the wire codec")
	case c.Definitions == nil && len(c.GoAgents) == 0:
		return media.Errorf(media.CodeInvalid, "agent.Config.Definitions is missing: load some, or give GoAgents")
	case c.Definitions != nil && c.Models == nil:
		return media.Errorf(media.CodeInvalid, "agent.Config.Models is missing: give the chat registry")
	case c.Parallel < 0:
		return media.Errorf(media.CodeInvalid, "agent.Config.Parallel must not be negative")
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Definitions == nil {
		c.Definitions = &definition.Set{}
	}
	if c.Journal == nil {
		c.Journal = journal.Memory{}
	}
	if c.Budget == nil {
		c.Budget = generate.InMemory{}
	}
	if c.Observer == nil {
		c.Observer = noopObserver{}
	}
	c.Parallel = cmp.Or(c.Parallel, 8)
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().UTC() } //nolint:forbidigo // the default clock
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	return c
}

// Runner runs agents. It is safe for concurrent use; runs are isolated from each other.
type Runner struct {
	cfg     Config
	steps   *contract.Parser
	systems map[string]string // system prompts by slug, of the available agents
	// interceptor replaces media in input from people, models and actions.
	interceptor *action.Interceptor
}

// NewRunner checks the configuration and every definition against the registered actions. A missing action is an error
// with file and line, except in an agent whose required source is not configured: such an agent is not offered.
func NewRunner(cfg Config) (*Runner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	steps, err := contract.NewParser()
	if err != nil {
		return nil, err
	}
	r := &Runner{cfg: cfg.withDefaults(), steps: steps, systems: map[string]string{}, interceptor: cfg.Actions.Interceptor()}
	for slug := range r.cfg.GoAgents {
		if _, err := r.cfg.Definitions.Find(slug); err == nil {
			return nil, media.Errorf(media.CodeInvalid, "agent %q is defined in a file and in Go: give one of them another slug", slug)
		}
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	for _, d := range r.cfg.Definitions.All() {
		if r.ready(d) != nil {
			continue
		}
		s, err := r.system(d)
		if err != nil {
			return nil, err
		}
		r.systems[d.Slug] = s
	}
	return r, nil
}

// check finds names in definitions that do not exist.
func (r *Runner) check() error {
	c := definition.Catalogue{
		Actions: map[string]string{}, GoAgents: slices.Collect(maps.Keys(r.cfg.GoAgents)), Sources: slices.Sorted(maps.Keys(r.cfg.Sources)),
		Offered: func(d *definition.Agent) bool { return r.ready(d) == nil },
	}
	for _, name := range r.cfg.Actions.Names() {
		c.Actions[name] = "" // what needs a source is registered if it is configured
		if r.cfg.Actions.Costs(name) {
			c.Priced = append(c.Priced, name)
		}
		if a, err := r.cfg.Actions.Lookup(name); err == nil {
			c.Tags = append(c.Tags, a.Tags...)
		}
	}
	return r.cfg.Definitions.Verify(c)
}

// ready returns an error if an agent cannot run because a source that it requires is not configured.
func (r *Runner) ready(d *definition.Agent) error {
	for _, name := range d.Requires {
		s := r.cfg.Sources[name]
		if s.Configured {
			continue
		}
		return media.Errorf(media.CodeInvalid, "agent %s needs %s, which is not configured: %s", d.Slug, name, cmp.Or(s.Reason, "configure the source "+name))
	}
	return nil
}

func (r *Runner) slugs() []string {
	out := make([]string, 0, len(r.cfg.GoAgents))
	for _, d := range r.cfg.Definitions.All() {
		out = append(out, d.Slug)
	}
	out = slices.AppendSeq(out, maps.Keys(r.cfg.GoAgents))
	slices.Sort(out)
	return out
}

// Run runs an agent until it ends or waits for a person. In the latter case the result has status paused with its
// questions and its state, and the error is nil. If the error is not nil and the agent was found, the result is still
// returned, with the status and everything that was made. When ctx ends, the run is cancelled: Run waits for work in
// progress and keeps it. If the cause of ctx is journal.ErrHandedOver, the run is left as it is, to be replayed: the
// error wraps the cause, and nothing more is saved or reported.
func (r *Runner) Run(ctx context.Context, req Request) (*Result, error) {
	req, err := r.Prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	root, err := r.root(req)
	if err != nil {
		return nil, err
	}
	return root.do(ctx, req.Granted)
}

// Prepare returns a request in a form that can be saved: with IDs, with the refs of its images, see
// [Runner.StoreImages], and without the media in its message and input, which is stored, recorded and listed in
// Extracted. The error is the one that Run would return; unless LenientImages is set, this includes pictures that the
// agent's model does not accept. After an error no media is recorded. Preparing a request again does not change it.
func (r *Runner) Prepare(ctx context.Context, req Request) (Request, error) {
	return r.PrepareWith(ctx, req, nil)
}

// PrepareWith is [Runner.Prepare] for callers that save the media records together with the
// request: recorder gets the records. Nil means the runner's recorder.
func (r *Runner) PrepareWith(ctx context.Context, req Request, recorder media.Recorder) (Request, error) {
	if req.RunID == "" {
		req.RunID = r.cfg.NewID()
	}
	req.Owner = cmp.Or(req.Owner, "local")
	quiet := *r // found media is reported when the run has begun
	quiet.cfg.Observer = noopObserver{}
	if recorder != nil {
		quiet.cfg.Recorder, quiet.interceptor = recorder, r.interceptor.Recording(recorder)
	}
	root, err := quiet.root(req)
	if err != nil {
		return req, err
	}
	if req, err = quiet.storeImages(ctx, req, root.checkModelAccepts); err != nil {
		return req, err
	}
	req.Fitted = append(slices.Clip(req.Fitted), root.sights.Fitted...)
	req.Admitted = req.Admitted || len(req.Images) > 0
	ctx = root.scoped(ctx)
	req.Message = root.intake.text(ctx, req.Message)
	req.Input = root.intake.values(ctx, req.Input)
	for i, m := range req.History {
		if text := root.intake.text(ctx, m.Text()); text != m.Text() {
			req.History = slices.Clone(req.History)
			req.History[i] = chat.Text(m.Role, text)
		}
	}
	req.Extracted = append(slices.Clip(req.Extracted), root.set.All()...)
	req.Warnings = append(slices.Clip(req.Warnings), root.outcome.snapshot().warnings...)
	return req, nil
}

// root creates the run of a request that has its IDs.
func (r *Runner) root(req Request) (*run, error) {
	spec, err := r.admit(req)
	if err != nil {
		return nil, err
	}
	m := &meter.Meter{}
	part := 0
	if req.State != nil {
		part = req.State.Part
	}
	var policy definition.VisionContextPolicy
	switch { // the request takes precedence over the definition
	case req.Vision != nil:
		policy = req.Vision.WithDefaults()
	case spec.def != nil:
		policy = spec.def.VisionContext
	default:
		policy = definition.DefaultVisionContext()
	}
	t := &runTree{
		r: r, request: req, wait: newWaiting(req.State), worked: m, allowed: &generate.Allowance{Bounds: req.bounds()},
	}
	root := &run{
		core: &core{
			runLog: t.newLog(identity{id: req.RunID, tree: req.RunID, owner: req.Owner, path: spec.slug, part: part}, m),
			spec:   spec, journal: r.transcript(req),
		},
		brief: brief{task: req.Message, input: req.Input, conversation: req.History, extracted: req.Extracted, warnings: req.Warnings},
	}
	return root.initialize(vision.Sights{
		Config: vision.Config{Lenient: req.LenientImages, Lost: req.LostImages, Policy: policy},
		Given:  inputImages(req.Images), Fitted: req.Fitted,
	}), nil
}

// Check returns the error with which Run would refuse a request: it checks that there is a message,
// that the limits can be read, and that the agent exists and is available.
func (r *Runner) Check(req Request) error {
	_, err := r.admit(req)
	return err
}

// DisplayName returns the display name of an agent, or the argument if there is no such agent.
func (r *Runner) DisplayName(agent string) string {
	sp, err := r.spec(agent)
	if err != nil {
		return agent
	}
	return sp.name
}

func (r *Runner) admit(req Request) (spec, error) {
	if plain.Blank(req.Message) {
		return spec{}, media.Errorf(media.CodeInvalid, "the message is empty: say what the agent should do")
	}
	if err := cmp.Or(checkImages(req.Images), req.ToolContext.Check(), req.Vision.Validate(), req.LostImages.Validate()); err != nil {
		return spec{}, err
	}
	if _, ok := definition.USD(req.ApproveOver); !ok && req.ApproveOver != "" {
		return spec{}, media.Errorf(media.CodeInvalid, "ApproveOver: %q is not an amount in US dollars: give a plain decimal number, such as 0.05", plain.Clip(media.ErrorText(req.ApproveOver), 40))
	}
	if req.MaxTurns < 0 || req.MaxTokens < 0 || req.MaxImages < 0 || req.MaxTime < 0 {
		return spec{}, media.Errorf(media.CodeInvalid, "MaxTurns, MaxTokens, MaxImages and MaxTime must not be negative: leave them out for no limit")
	}
	if err := req.bounds().Validate(); err != nil {
		return spec{}, media.Errorf(media.CodeInvalid, "MaxCost: %w", err)
	}
	if err := req.State.check(); err != nil {
		return spec{}, err
	}
	return r.spec(req.Agent)
}

// spec is an agent to run: a definition or Go code.
type spec struct {
	slug, name string
	def        *definition.Agent
	code       GoAgent
}

// spec returns an agent by slug or display name.
func (r *Runner) spec(name string) (spec, error) {
	if code, ok := r.cfg.GoAgents[name]; ok {
		return spec{slug: name, name: name, code: code}, nil
	}
	d, err := r.cfg.Definitions.Find(name)
	if err != nil {
		e := media.Errorf(media.CodeNotFound, "there is no agent %q: there are %s", plain.Clip(name, 80), plain.Joined(r.slugs()))
		e.Valid = r.slugs()
		return spec{}, e
	}
	if err := r.ready(d); err != nil {
		return spec{}, err
	}
	return spec{slug: d.Slug, name: d.Name, def: d}, nil
}

// mediaActions are the actions for its media set that every agent may call, if registered.
var mediaActions = []string{
	"List Agent Media", "Get Agent Media Details", "View Agent Media", "Label Agent Media", "Promote Agent Media", "Prune Agent Media",
}

// callable lists in a prompt what an agent can call.
type callable struct {
	Agent   string               `json:"agent"`
	Actions []action.Description `json:"actions"`
	Agents  []calleeView         `json:"agents"`
	Sources map[string]Source    `json:"sources"`
}

type calleeView struct {
	Name        string `json:"name"`
	Slug        string `json:"slug"`
	Description string `json:"description"`
}

// system returns an agent's system prompt: its own prompt, what it may call, and how to answer.
func (r *Runner) system(d *definition.Agent) (string, error) {
	names := r.actionNames(d)
	acts, err := r.cfg.Actions.Describe(names...)
	if err != nil {
		return "", err
	}
	c := callable{Agent: d.Slug, Actions: acts, Agents: []calleeView{}, Sources: r.cfg.Sources}
	if len(names) == 0 {
		c.Actions = []action.Description{}
	}
	if c.Sources == nil {
		c.Sources = map[string]Source{}
	}
	for _, a := range d.Agents {
		s, err := r.spec(a.Slug)
		if err != nil { // not offered: a source that it needs is not configured
			continue
		}
		view := calleeView{Name: s.name, Slug: s.slug, Description: "Written in Go."}
		if s.def != nil {
			view.Description = s.def.Description
		}
		c.Agents = append(c.Agents, view)
	}
	schema := ""
	if d.PayloadSchema != nil {
		schema = "\n\n## Payload\nWhen you answer with `done`, the whole `payload` must fit this JSON Schema:\n```json\n" + string(d.PayloadSchema) + "\n```"
	}
	return d.Prompt + schema + "\n\n## Callable\n" + transcript.Fenced(c) + "\n\n" + contract.Instruction, nil
}

// actionNames returns the actions that an agent may call, its own actions first.
func (r *Runner) actionNames(d *definition.Agent) []string {
	var names []string
	for _, a := range d.Actions {
		names = append(names, a.Name)
	}
	for _, n := range mediaActions {
		if r.cfg.Actions.Has(n) && !slices.ContainsFunc(names, func(have string) bool { return plain.SameName(have, n) }) {
			names = append(names, n)
		}
	}
	return names
}
