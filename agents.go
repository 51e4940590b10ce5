package atelier

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/action"
	"atelier/action/diagram"
	"atelier/action/file"
	"atelier/action/infographic"
	"atelier/action/mediaset"
	"atelier/action/mermaid"
	"atelier/action/network"
	"atelier/action/picture"
	"atelier/action/sketch"
	tables "atelier/action/table"
	"atelier/action/visual"
	"atelier/action/wordcloud"
	"atelier/agent"
	"atelier/agents"
	"atelier/chat"
	"atelier/media"
)

// Sources are what a run works with besides its task.
type Sources struct {
	// Files is a folder that agents may read, Knowledge one of documents that they may search.
	Files, Knowledge string
	// Database is an SQLite file or a postgres:// address that agents may query; it is only
	// read. An address with a password is not kept: a run with one is resumed with the same
	// address in Config.Sources.
	Database string
	// Agents is a folder of definitions; they add to the shipped agents or replace them.
	Agents string
	// ChatModel and ImageModel are models that a person named: they come before what the
	// configuration and the definitions prefer.
	ChatModel, ImageModel string
}

// setting is how [Sources] are kept with a run, for the process that takes it over.
type setting struct {
	Files  string `json:"files,omitempty"`
	KB     string `json:"kb,omitempty"`
	DB     string `json:"db,omitempty"`
	Secret bool   `json:"db_secret,omitempty"`
	// SecretID tells databases with secret addresses apart.
	SecretID   string `json:"db_secret_id,omitempty"`
	Agents     string `json:"agents,omitempty"`
	Model      string `json:"model,omitempty"`
	ImageModel string `json:"image_model,omitempty"`
}

// setting writes what of the sources may be kept.
func (a *Atelier) setting(c Sources) (json.RawMessage, error) {
	s := setting{Model: c.ChatModel, ImageModel: c.ImageModel}
	db := c.Database
	if u, err := url.Parse(c.Database); strings.Contains(c.Database, "://") {
		db, s.DB = "", c.Database
		if err != nil || u.User != nil || u.RawQuery != "" {
			s.DB, s.Secret, s.SecretID = "", true, a.secretID(c.Database)
		}
	}
	for _, f := range []struct {
		from string
		to   *string
	}{{c.Files, &s.Files}, {c.Knowledge, &s.KB}, {c.Agents, &s.Agents}, {db, &s.DB}} {
		if f.from == "" {
			continue
		}
		path, err := filepath.Abs(f.from) // means the same in another folder
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "find %s: %w", f.from, err)
		}
		*f.to = path
	}
	return json.Marshal(s)
}

// secretID names an address without giving it away, and remembers it for this process.
func (a *Atelier) secretID(address string) string {
	mac := hmac.New(sha256.New, a.key.Secret)
	mac.Write([]byte(address))
	id := hex.EncodeToString(mac.Sum(nil)[:8])
	a.secrets.Store(id, address)
	return id
}

// sourcesOf reads the sources that a run was begun with.
func (a *Atelier) sourcesOf(saved json.RawMessage) (Sources, error) {
	var s setting
	if len(saved) > 0 {
		if err := json.Unmarshal(saved, &s); err != nil {
			return Sources{}, media.Errorf(media.CodeCorrupt, "read how the run was set up: %w", err)
		}
	}
	c := Sources{Files: s.Files, Knowledge: s.KB, Database: s.DB, Agents: s.Agents, ChatModel: s.Model, ImageModel: s.ImageModel}
	if !s.Secret {
		return c, nil
	}
	if address, ok := a.secrets.Load(s.SecretID); ok {
		c.Database, _ = address.(string)
	} else if c.Database = a.Config.Sources.Database; c.Database == "" {
		return c, media.Errorf(media.CodeInvalid, "the run was begun with a database whose address is not kept: give it with --db")
	}
	return c, nil
}

// WithChatModel changes the chat model that a run is set up with; it is for run.Fork.Setting.
func WithChatModel(model string) func(saved json.RawMessage) (json.RawMessage, error) {
	return func(saved json.RawMessage) (json.RawMessage, error) {
		var s setting
		if len(saved) > 0 {
			if err := json.Unmarshal(saved, &s); err != nil {
				return nil, media.Errorf(media.CodeCorrupt, "read how the run was set up: %w", err)
			}
		}
		s.Model = model
		return json.Marshal(s)
	}
}

// outfit is a runner of agents and what it works with.
type outfit struct {
	runner   *agent.Runner
	files    *file.Files    // nil without a folder
	tables   *tables.Tables // those of the folder
	research *research      // the other sources
}

func (o *outfit) close() {
	if o.files != nil {
		_ = o.tables.Close() // a folder that stays behind is temporary
		_ = o.files.Close()  // opened for reading only
	}
	o.research.close()
}

// Runner opens what the agents of a run work with; the caller calls closer. The runs of
// [Atelier.Run] open their own.
func (a *Atelier) Runner(ctx context.Context, s Sources) (runner *agent.Runner, closer func(), err error) {
	o, err := a.outfit(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return o.runner, o.close, nil
}

// outfit opens what runs work with.
func (a *Atelier) outfit(ctx context.Context, s Sources) (_ *outfit, err error) {
	o := &outfit{}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	definitions, err := Definitions(s.Agents)
	if err != nil {
		return nil, err
	}
	actions, err := a.actions(ctx, s, o)
	if err != nil {
		return nil, err
	}
	models, err := a.models(s)
	if err != nil {
		return nil, err
	}
	o.runner, err = agent.NewRunner(agent.Config{
		Definitions: definitions, Actions: actions, Models: models, Codec: a.Codec, Recorder: a.Ledger,
		Observer: a.observer, Sources: o.research.sources(s.Files != ""), Guardrail: a.Config.Guardrail, Budget: a.budget, SourceActions: sourceActions(),
		Find: func(ctx context.Context, owner, id string) (media.Output, error) {
			rec, err := a.Ledger.MediaRecord(ctx, owner, id)
			return rec.Output, err
		},
	})
	return o, err
}

// actions opens the sources and lists what agents can do with them.
func (a *Atelier) actions(ctx context.Context, s Sources, o *outfit) (*action.Registry, error) {
	registry, err := action.NewRegistry(action.Config{Store: a.Codec, Recorder: a.Ledger, Fetch: action.FetcherFunc(a.fetch.Fetch)})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(picture.Actions(a.Gateway), drawings(), mediaset.Actions(), a.Config.Actions)
	if s.Files != "" {
		if o.files, err = file.Open(file.Config{Dir: s.Files}); err != nil { //nolint:contextcheck // a short look at the folder
			return nil, err
		}
		o.tables = tables.New(tables.Config{Files: o.files})
		all = append(all, slices.Concat(o.files.Actions(), o.tables.Actions())...)
	}
	if o.research, err = a.openResearch(ctx, s); err != nil {
		return nil, err
	}
	all = append(all, o.research.actions()...)
	return registry, registry.Register(all...)
}

// models are the chat models of a run.
func (a *Atelier) models(s Sources) (*chat.Registry, error) {
	if own := a.Config.Sources; s.ChatModel == own.ChatModel && s.ImageModel == own.ImageModel {
		return a.Chat, nil
	}
	return a.newChat(s)
}

// drawings are the actions that draw without a model.
func drawings() []action.Action {
	return slices.Concat(visual.Actions(), diagram.Actions(), network.Actions(), wordcloud.Actions(), sketch.Actions(), mermaid.Actions(), infographic.Actions())
}

// Definitions loads the shipped agents and those of a folder; empty means none. The error
// names every problem with its place.
func Definitions(dir string) (*agent.Definitions, error) {
	folders := []agent.Folder{ShippedAgents()}
	if dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, media.Errorf(media.CodeInvalid, "--agents %s is not a folder that can be read", dir)
		}
		if _, _, err := LocateDefinitions(dir); err != nil {
			return nil, media.Errorf(media.CodeInvalid, "--agents: %w", err)
		}
		folders = append(folders, agent.Folder{Name: dir, Files: os.DirFS(dir)})
	}
	return agent.LoadFolders(folders...)
}

// ShippedFolder is the name of the shipped definitions in messages.
const ShippedFolder = "(shipped)"

// ShippedAgents are the definitions that come with Atelier.
func ShippedAgents() agent.Folder { return agent.Folder{Name: ShippedFolder, Files: agents.FS()} }

// LocateDefinitions finds the folder of definitions that a path means, and the file in it if it
// is one.
func LocateDefinitions(name string) (dir, file string, err error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", "", media.Errorf(media.CodeNotFound, "%s cannot be read: give a folder or a YAML file that exists", name)
	case info.IsDir():
		entries, err := os.ReadDir(name)
		if err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return isYAML(e.Name()) }) {
			return "", "", media.Errorf(media.CodeInvalid, "%s holds no definition that can be read: an agent is a YAML file (NAME.yaml) with its prompt beside it", name)
		}
		return name, "", nil
	case !isYAML(name):
		return "", "", media.Errorf(media.CodeInvalid, "%s is no definition: name the YAML file, not its prompt", name)
	}
	return filepath.Dir(name), filepath.Base(name), nil
}

func isYAML(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) }
