package api

import "context"

// CatalogService lists agents, models and providers.
type CatalogService interface {
	// Agents lists the available agents.
	Agents(ctx context.Context) ([]Agent, error)
	// ChatModels lists the chat models, ready ones first.
	ChatModels(ctx context.Context) ([]ChatModel, error)
	// Models lists the media models, the default first.
	Models(ctx context.Context) ([]Model, error)
	// Providers lists the services of the models.
	Providers(ctx context.Context) ([]Provider, error)
}

// Agent is an available agent.
type Agent struct {
	Slug        string   `json:"slug" doc:"Identifies the agent in requests; so does the name."`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Version     string   `json:"version,omitempty" doc:"The first characters of the definition's SHA-256."`
	Ready       bool     `json:"ready"`
	Missing     []string `json:"missing,omitempty" doc:"Required sources that are not configured."`
}

// ChatModel is a chat model.
type ChatModel struct {
	ID            string     `json:"id" doc:"Identifies the model in requests."`
	Name          string     `json:"name"`
	Provider      string     `json:"provider"`
	Default       bool       `json:"default" doc:"It is used for agents whose preferred models are not ready."`
	Vision        bool       `json:"vision"`
	MaxImages     int        `json:"max_images,omitempty"`
	ContextTokens int64      `json:"context_tokens,omitempty"`
	Price         *ChatPrice `json:"price,omitempty"`
	Ready         bool       `json:"ready"`
	Reason        string     `json:"reason,omitempty" doc:"Why the model is not ready."`
}

// ChatPrice is the price of a million tokens in US dollars.
type ChatPrice struct {
	InputUSD  string `json:"input_usd"`
	OutputUSD string `json:"output_usd"`
}

// Model is a media model.
type Model struct {
	ID       string   `json:"id" doc:"Identifies the model in requests."`
	Name     string   `json:"name"`
	Provider string   `json:"provider"`
	Modality string   `json:"modality"`
	Methods  []string `json:"methods" nullable:"false"`
	Default  bool     `json:"default"`
	Price    string   `json:"price,omitempty" doc:"The price of one result in US dollars, if it is a single number."`
	Ready    bool     `json:"ready"`
	Reason   string   `json:"reason,omitempty" doc:"Why the model is not ready."`
}

// Provider is a service with chat models or media models.
type Provider struct {
	Name      string   `json:"name"`
	Ready     bool     `json:"ready"`
	Variables []string `json:"variables,omitempty" doc:"The environment variables that can hold its key."`
	Chat      bool     `json:"chat" doc:"The provider has chat models."`
	Media     bool     `json:"media" doc:"The provider has media models."`
}

func registerCatalog(rt *routes, c CatalogService) {
	registerList(rt, "/api/agents", "List agents", "catalog", c.Agents)
	registerList(rt, "/api/chat-models", "List chat models", "catalog", c.ChatModels)
	registerList(rt, "/api/models", "List models", "catalog", c.Models)
	registerList(rt, "/api/providers", "List providers", "catalog", c.Providers)
}
