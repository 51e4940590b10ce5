package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/media"
	"atelier/media/wire"
)

// Limits of a request.
const (
	// maxPrompt is the maximum length of a prompt, in characters, for models without a limit.
	maxPrompt = 32_000
	// minSpeed and maxSpeed limit the speed of speech.
	minSpeed, maxSpeed = 0.25, 4.0
)

// normalise returns a copy with defaults and rejects what no model could accept.
func normalise(r generate.Request) (generate.Request, error) {
	r.Method = cmp.Or(r.Method, generate.MethodGenerate)
	r.OutputFormat = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(r.OutputFormat), "."))
	if r.OutputFormat == "jpg" {
		r.OutputFormat = "jpeg"
	}
	for _, s := range []*string{&r.Voice, &r.Size, &r.DefaultSize, &r.AspectRatio, &r.Quality, &r.Style, &r.Background, &r.Moderation} {
		*s = strings.TrimSpace(*s)
	}
	r.Style, r.Background, r.Moderation = strings.ToLower(r.Style), strings.ToLower(r.Background), strings.ToLower(r.Moderation)
	if strings.EqualFold(r.Size, "auto") {
		r.Size = "auto"
	}
	if err := checkWords(r); err != nil {
		return r, err
	}
	switch { // silently ignoring a picture is worse than an error
	case r.Method == generate.MethodGenerate && (len(r.Inputs) > 0 || r.Mask != nil):
		return r, media.Errorf(media.CodeInvalid, "generate takes no input pictures: use method edit or variation, or leave them out")
	case r.Method != generate.MethodGenerate && len(r.Inputs) == 0:
		return r, media.Errorf(media.CodeInvalid, "%s needs an input picture: name one", r.Method)
	case r.Method == generate.MethodVariation && r.Mask != nil:
		return r, media.Errorf(media.CodeInvalid, "variation takes no mask: use method edit")
	}
	return r, nil
}

// checkWords checks everything except the pictures.
func checkWords(r generate.Request) error {
	if r.N < 0 || r.N > generate.MaxN {
		return generate.InvalidCountError(r.N)
	}
	if strings.TrimSpace(r.Prompt) == "" && r.Method == generate.MethodGenerate { // pictures may be sufficient
		return emptyPrompt(r.Modality)
	}
	if !utf8.ValidString(r.Prompt) || !utf8.ValidString(r.NegativePrompt) {
		return media.Errorf(media.CodeInvalid, "the prompt is not valid UTF-8: save it as UTF-8 text")
	}
	for _, size := range []string{r.Size, r.DefaultSize} {
		if _, err := catalog.ParseSize(size); err != nil && size != "" && size != "auto" {
			return err
		}
	}
	if r.AspectRatio != "" {
		if _, err := catalog.ParseRatio(r.AspectRatio); err != nil {
			return err
		}
	}
	if r.Compression != nil && (*r.Compression < 0 || *r.Compression > 100) {
		return media.Errorf(media.CodeInvalid, "compression is %d: use 0 to 100", *r.Compression)
	}
	if r.Speed != 0 && !(r.Speed >= minSpeed && r.Speed <= maxSpeed) {
		return media.Errorf(media.CodeInvalid, "speed is %g: use %g to %g", r.Speed, minSpeed, maxSpeed)
	}
	for _, w := range []struct {
		setting, value string
		words          []string
	}{
		{"background", r.Background, []string{"transparent", "opaque", "auto"}},
		{"moderation", r.Moderation, []string{"auto", "low"}},
		{"output_format", r.OutputFormat, []string{"png", "jpeg", "webp", "gif", "svg", "mp3", "wav", "opus", "aac", "flac", "txt"}},
		{"method", string(r.Method), []string{"generate", "edit", "variation"}},
	} {
		if w.value != "" && !slices.Contains(w.words, w.value) {
			return media.Errorf(media.CodeInvalid, "%s %q is unknown: use %s", w.setting, fault.Quote(w.value), strings.Join(w.words, ", "))
		}
	}
	return nil
}

func emptyPrompt(m media.Modality) error {
	say := "say what the picture is to show"
	if m == media.ModalityAudio {
		say = "give the text to speak"
	}
	return media.Errorf(media.CodeInvalid, "the prompt is empty: %s", say)
}

// withoutMedia replaces media that is embedded as text in a request: models take pictures as inputs. A prompt of more
// than longest characters is kept, to be rejected.
func withoutMedia(r generate.Request, longest int) generate.Request {
	for _, s := range []*string{&r.Prompt, &r.NegativePrompt, &r.Style, &r.Quality, &r.Voice, &r.Label} {
		if s != &r.Prompt || utf8.RuneCountInString(r.Prompt) <= longest {
			*s = wire.NameMedia(*s)
		}
	}
	r.Options = maps.Clone(r.Options)
	for provider, of := range r.Options {
		r.Options[provider], _ = driver.WithoutMedia(of).(map[string]any)
	}
	return r
}
