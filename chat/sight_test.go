package chat_test

import (
	"testing"

	"atelier/chat"
)

// TestModelsThatSee: models are found also under dated ids, regional ids and hosts that the catalogue does not list.
// The limits are the provider's.
func TestModelsThatSee(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"openai/gpt-4o-2024-11-20", "openai/gpt-4-turbo", "anthropic/claude-3-5-sonnet-20241022", "gemini/gemini-2.0-flash",
		"openrouter/anthropic/claude-3.5-sonnet", "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock/us.amazon.nova-pro-v1:0",
		"bedrock/mistral.pixtral-large-2502-v1:0",
	} {
		found := p.Find(name)
		if len(found) != 1 || !found[0].SupportsVision || found[0].MaxImages == 0 || found[0].MaxImageBytes == 0 || len(found[0].MediaTypes) == 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	for _, name := range []string{"openai/gpt-3.5-turbo", "bedrock/amazon.nova-micro-v1:0", "ollama/qwen3"} {
		if found := p.Find(name); len(found) != 1 || found[0].SupportsVision {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
