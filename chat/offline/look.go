package offline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"atelier/chat"
	"atelier/internal/pattern"
	"atelier/media"
	"atelier/media/imaging"
)

// Blobs opens the blobs whose pixels are read; *wire.Codec implements it.
type Blobs interface {
	// Open opens a stored blob; the caller closes it.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
}

const (
	// maxSeen is the maximum number of pictures that this model looks at in one request.
	maxSeen = 4
	// namedColours is the maximum number of colours that are named.
	namedColours = 4
)

// seen is a picture that the model is shown.
type seen struct {
	ref   string
	shown media.Output
	pixels
}

// asksToLook matches a question about the pictures that are shown.
var asksToLook = pattern.Lazy(`(?i)\b(describe|what|which|whose|who|where|how|compare|similar|same|alike|like|differ|difference|different|palette|colou?rs?|bright|brightness|dark|size|big|large|wide|look|see|tell|is|are|does|do|beschreibe?|was|welche[rs]?|wer|wo|wie|vergleiche?|ähnlich|gleich|farben?|hell|dunkel|groß|zeigt?|siehst|ist|sind)(?:\s|[?.!,]|$)`)

// inspect reads and measures the pictures of a request. The caller's policy reports
// pictures that cannot be read beforehand; here they are an error.
func (m Model) inspect(ctx context.Context, r chat.Request) ([]seen, error) {
	if m.Blobs == nil {
		return nil, nil
	}
	var out []seen
	for _, msg := range r.Messages {
		for i, p := range msg.Parts {
			if p.Media == nil {
				continue
			}
			ref := string(p.Media.Ref)
			if i > 0 { // the text before a smaller form names the item's ref
				if named := namedRef().FindString(msg.Parts[i-1].Text); named != "" {
					ref = named
				}
			}
			out = append(out, seen{ref: ref, shown: *p.Media})
		}
	}
	if len(out) > maxSeen {
		return nil, m.Profile().CheckImageCount(len(out), nil)
	}
	for i := range out {
		in, err := m.Blobs.Open(ctx, out[i].shown.Digest)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", out[i].ref, err)
		}
		img, err := imaging.Decode(ctx, in, out[i].shown.Facts, imaging.Limits{})
		_ = in.Close() // only read
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", out[i].ref, err)
		}
		out[i].pixels = measure(img)
	}
	return out, nil
}

// asksAboutShownPictures reports whether a task asks what the shown pictures look like, and not for a new or changed
// one.
func asksAboutShownPictures(c *conversation) bool {
	if len(c.seen) == 0 || len(c.results) > 0 {
		return false
	}
	changes := changeOfOne().MatchString(c.task) || comparison().MatchString(c.task) || variation().MatchString(c.task) || makesNew().MatchString(c.task) ||
		thenChange().MatchString(c.task)
	orders := command().MatchString(c.task)
	return !changes && !orders && (asksToLook().MatchString(c.task) || readPictureRequest(c) == pictureRequest{})
}

// describe says what the pixels of every picture show, and how alike the pictures are.
func (c *conversation) describe() string {
	p := wordsFor(c.task)
	var parts []string
	for _, s := range c.seen {
		parts = append(parts, c.describeOne(s, p))
	}
	for i := range c.seen {
		for j := i + 1; j < len(c.seen); j++ {
			a, b := c.seen[i], c.seen[j]
			like := a.like(b.pixels)
			how := fmt.Sprintf(p.Say("%s (likeness %.0f of 100)", "%s (Ähnlichkeit %.0f von 100)"), p.word(graded(like, likenesses)), 100*like)
			if a.shown.Digest == b.shown.Digest {
				how = p.Say("the same, byte for byte", "dasselbe, Byte für Byte")
			}
			parts = append(parts, fmt.Sprintf(p.Say("%s and %s are %s.", "%s und %s sind %s."), a.ref, b.ref, how))
		}
	}
	return strings.Join(parts, " ")
}

func (c *conversation) describeOne(s seen, p wording) string {
	w, h, label := s.shown.Width, s.shown.Height, s.shown.Label
	for _, i := range c.media { // the size of the item itself, if a smaller form is shown
		if i.Ref == s.ref && i.Width > 0 {
			w, h, label = i.Width, i.Height, i.Label
		}
	}
	name := s.ref
	if label != "" {
		name += " (" + label + ")"
	}
	shape := "square"
	switch {
	case w > h:
		shape = "wide"
	case h > w:
		shape = "upright"
	}
	text := fmt.Sprintf(p.Say("%s is %d × %d pixels, %s, %s (%.0f of 100), with %s contrast.", "%s hat %d × %d Pixel, ist %s, %s (%.0f von 100), mit %s Kontrast."), name, w, h, p.word(shape), p.word(graded(s.light, lights)), 100*s.light, p.word(graded(s.contrast, contrasts)))
	var colours []string
	names := slices.Sorted(maps.Keys(s.shares))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(s.shares[b], s.shares[a]) })
	for _, n := range names[:min(namedColours, len(names))] {
		if s.shares[n] < 0.03 && len(colours) > 0 {
			break
		}
		m := s.means[n]
		colours = append(colours, fmt.Sprintf("%s %.0f %% (#%02x%02x%02x)", p.word(n), 100*s.shares[n], int(math.Round(255*m[0])), int(math.Round(255*m[1])), int(math.Round(255*m[2]))))
	}
	if len(colours) > 0 {
		text += " " + fmt.Sprintf(p.Say("Its colours: %s.", "Seine Farben: %s."), strings.Join(colours, ", "))
	}
	if s.clear > 0.01 {
		text += " " + fmt.Sprintf(p.Say("%.0f %% of it is transparent.", "%.0f %% davon sind durchsichtig."), 100*s.clear)
	}
	return text
}
