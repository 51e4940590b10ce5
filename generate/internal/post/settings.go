package post

import (
	"fmt"

	"atelier/generate/driver"
)

// Names are what a provider calls the settings of a task; those without a name are not
// sent by [Body.Settings].
type Names struct {
	Prompt, NegativePrompt string
	// Size is one field of "WIDTHxHEIGHT", Width and Height are two.
	Size, Width, Height       string
	AspectRatio, Tier         string
	Quality, Style            string
	Background, Moderation    string
	Seed                      string
	OutputFormat, Compression string
	Voice, Speed              string
}

// Settings adds the settings that the task has, each to the field of its name.
func (b Body) Settings(t driver.Task, n Names) {
	size := ""
	if t.Width > 0 && t.Height > 0 {
		size = fmt.Sprintf("%dx%d", t.Width, t.Height)
	}
	for name, value := range map[string]any{
		n.Prompt: t.Prompt, n.NegativePrompt: t.NegativePrompt, n.Size: size, n.Width: t.Width, n.Height: t.Height,
		n.AspectRatio: t.AspectRatio, n.Tier: t.Tier, n.Quality: t.Quality, n.Style: t.Style, n.Background: t.Background,
		n.Moderation: t.Moderation, n.Seed: t.Seed, n.OutputFormat: t.OutputFormat, n.Compression: t.Compression,
		n.Voice: t.Voice, n.Speed: t.Speed,
	} {
		if name != "" {
			b.Set(name, value)
		}
	}
}
