package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/media"
	"atelier/media/imaging"
)

// negotiation converts a request to a task for one model and records the disposition of every requested setting.
type negotiation struct {
	planner *Planner
	req     generate.Request
	model   catalog.Model
	task    driver.Task
	out     []generate.Disposition
	act     catalog.Act // the requested act, if the model's row has acts
}

// negotiate negotiates every setting. Errors are for what the model cannot do, and for mistakes.
func (n *negotiation) negotiate() error {
	n.task = driver.Task{
		Method: n.req.Method, Model: n.model, Prompt: n.req.Prompt,
		Inputs: n.req.Inputs, Mask: n.req.Mask,
	}
	t := n.task
	t.N = min(n.req.N, n.model.MaxN)
	for provider, options := range n.req.Options {
		if requested, ok := options["action"]; ok && strings.EqualFold(provider, n.model.Provider) {
			t.Options = map[string]any{"action": requested}
		}
	}
	if t.CheckOptions() == nil { // an option that breaks its rule is rejected later, with all others
		var err error
		if n.act, err = act.Of(t); err != nil {
			return err
		}
	}
	n.count()
	n.frames()
	n.method()
	if err := n.prompt(); err != nil {
		return err
	}
	if err := n.pictures(); err != nil {
		return err
	}
	n.geometry()
	if err := n.quality(); err != nil {
		return err
	}
	n.style()
	n.format()
	n.background()
	n.compression()
	n.seed()
	n.optional("moderation", n.req.Moderation, "moderation setting for this", func() { n.task.Moderation = n.req.Moderation })
	n.voice()
	n.speed()
	if err := n.options(); err != nil {
		return err
	}
	n.narrow()
	n.flags()
	return nil
}

func (n *negotiation) add(setting, requested, applied string, outcome generate.Outcome, reason string) {
	n.out = append(n.out, generate.Disposition{
		Setting: setting, Asked: fault.Quote(requested), Applied: fault.Quote(applied), Outcome: outcome, Reason: reason,
	})
}

func (n *negotiation) applied(setting, value string) {
	n.add(setting, value, value, generate.OutcomeApplied, "")
}

func (n *negotiation) adapted(setting, requested, applied, reason string) {
	n.add(setting, requested, applied, generate.OutcomeAdapted, reason)
}

func (n *negotiation) dropped(setting, requested, reason string) {
	n.add(setting, requested, "", generate.OutcomeDropped, reason)
}

func (n *negotiation) supports(what string) bool {
	return slices.Contains(n.model.Supports, what) && !n.isUnsupported(what)
}

// isUnsupported reports whether the model does not accept a setting for this method.
func (n *negotiation) isUnsupported(what string) bool {
	switch n.task.Method {
	case generate.MethodEdit:
		return slices.Contains(n.model.EditLacks, what)
	case generate.MethodGenerate:
		return slices.Contains(n.model.GenerateLacks, what)
	default:
		return false
	}
}

func (n *negotiation) count() {
	switch requested, gives := n.req.N, len(Split(n.req.N, n.model.MaxN))*n.model.Grid; {
	case requested == 0:
	case gives == 0 || gives == requested || n.act.Once:
		n.applied("n", strconv.Itoa(requested))
	default:
		n.adapted("n", strconv.Itoa(requested), strconv.Itoa(gives), fmt.Sprintf("%s makes grids of %d; all are kept", n.model.Name, n.model.Grid))
	}
}

func (n *negotiation) frames() {
	switch {
	case !n.planner.config.Partials:
	case n.model.Streams():
		n.applied("partials", "true")
	default:
		n.dropped("partials", "true", n.model.Name+" gives no preview frames")
	}
}

func (n *negotiation) prompt() error {
	requested := strings.TrimSpace(n.req.Prompt)
	switch {
	case n.act.Words == catalog.WordsNone:
		n.task.Prompt = ""
		if requested != "" {
			n.dropped("prompt", requested, fmt.Sprintf("%s's %s takes no words", n.model.Name, n.act.Name))
		}
	case requested == "" && n.req.Method != generate.MethodVariation && n.act.Words != catalog.WordsOptional:
		return emptyPrompt(n.model.Modality)
	}
	if avoid := strings.TrimSpace(n.req.NegativePrompt); avoid != "" {
		switch {
		case n.act.Words == catalog.WordsNone:
			n.dropped("negative_prompt", avoid, fmt.Sprintf("%s's %s takes no words", n.model.Name, n.act.Name))
		case n.supports("negative_prompt"):
			n.task.NegativePrompt = avoid
			n.applied("negative_prompt", avoid)
		case n.model.Modality == media.ModalityAudio:
			n.dropped("negative_prompt", avoid, n.model.Name+" would speak it aloud")
		default:
			n.task.Prompt += "\n\nAvoid: " + avoid
			n.adapted("negative_prompt", avoid, "Avoid: "+avoid, n.model.Name+" has no negative prompt; it was appended to the prompt")
		}
	}
	limit := cmp.Or(n.model.MaxPrompt, maxPrompt)
	if have := utf8.RuneCountInString(n.task.Prompt); have > limit {
		return media.Errorf(media.CodeInvalid, "the prompt has %d characters and %s takes %d: shorten it", have, n.model.Name, limit)
	}
	return nil
}

// spelling returns the model's spelling of a word; false if it does not have the word.
func spelling(words []string, word string) (string, bool) {
	i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
	if i < 0 {
		return "", false
	}
	return words[i], true
}

func (n *negotiation) style() {
	own := n.model.Styles
	exact, known := spelling(own, n.req.Style)
	near, similar := spelling(own, map[string]string{"natural": "neutral", "vivid": "vibrant"}[n.req.Style])
	switch s := n.req.Style; {
	case s == "":
	case !n.supports("style") && n.model.Modality != media.ModalityImage:
		n.dropped("style", s, n.model.Name+" has no style setting")
	case !n.supports("style"):
		n.dropped("style", s, n.model.Name+" has no style setting; describe the style in the prompt")
	case len(own) == 0 || known:
		n.task.Style = cmp.Or(exact, s)
		n.applied("style", s)
	case similar:
		n.task.Style = near
		n.adapted("style", s, near, n.model.Name+" calls it so")
	default:
		n.dropped("style", s, fmt.Sprintf("%s has the styles %s; describe others in the prompt", n.model.Name, strings.Join(own, ", ")))
	}
}

func (n *negotiation) format() {
	f := n.req.OutputFormat
	switch {
	case f == "":
	case slices.Contains(n.model.Formats, f):
		n.task.OutputFormat = f
		n.applied("output_format", f)
	case n.model.Modality != media.ModalityImage:
		n.dropped("output_format", f, fmt.Sprintf("%s gives %s, and %s is not converted", n.model.Name, cmp.Or(strings.Join(n.model.Formats, ", "), "its own format"), n.model.Modality))
	case !Writable(f):
		n.dropped("output_format", f, n.model.Name+" does not give it, and pictures are converted to png, jpeg or webp only")
	case len(n.model.Formats) == 0:
		n.adapted("output_format", f, Converted("its own format", f), n.model.Name+" chooses its own format; another one is converted and the original kept")
	default:
		n.adapted("output_format", f, Converted(strings.Join(n.model.Formats, " or "), f), fmt.Sprintf("%s gives %s; its answer is converted and the original kept", n.model.Name, strings.Join(n.model.Formats, ", ")))
	}
}

// Converted describes a converted format in a disposition.
func Converted(from, to string) string { return from + ", converted to " + to }

// Writable reports whether a picture can be converted into the format.
func Writable(format string) bool {
	_, err := imaging.ParseFormat(format)
	return err == nil
}

func (n *negotiation) background() {
	b := n.req.Background
	if b == "transparent" && n.req.OutputFormat == "jpeg" && n.supports("background") {
		n.dropped("background", b, "jpeg has no transparency; ask for png or webp")
		return
	}
	n.optional("background", b, "background setting; describe the background in the prompt", func() { n.task.Background = b })
}

func (n *negotiation) compression() {
	if n.req.Compression == nil {
		return
	}
	requested := strconv.Itoa(*n.req.Compression)
	switch f, asked := n.task.OutputFormat, n.req.OutputFormat; {
	case f == "" && n.model.Modality == media.ModalityImage && (asked == "jpeg" || asked == "webp"):
		n.adapted("compression", requested, requested+", if it is converted", n.model.Name+" does not give "+asked+"; its answer is compressed when it is converted")
	case !n.supports("compression"):
		n.dropped("compression", requested, n.model.Name+" has no compression setting")
	case f != "jpeg" && f != "webp":
		n.dropped("compression", requested, "only jpeg and webp are compressed with loss; set output_format too")
	default:
		n.task.Compression = n.req.Compression
		n.applied("compression", requested)
	}
}

func (n *negotiation) seed() {
	if n.req.Seed == nil {
		return
	}
	requested := strconv.FormatInt(*n.req.Seed, 10)
	if !n.supports("seed") {
		n.dropped("seed", requested, n.model.Name+" has no seeds; the result cannot be repeated")
		return
	}
	seed := n.model.FoldSeed(*n.req.Seed)
	n.task.Seed = &seed
	if seed == *n.req.Seed {
		n.applied("seed", requested)
		return
	}
	n.adapted("seed", requested, strconv.FormatInt(seed, 10), fmt.Sprintf("seeds of %s go from 0 to %d", n.model.Name, n.model.MaxSeed))
}

// optional passes a setting to set if the model has it.
func (n *negotiation) optional(setting, requested, lacks string, set func()) {
	switch {
	case requested == "":
	case n.supports(setting):
		set()
		n.applied(setting, requested)
	default:
		n.dropped(setting, requested, n.model.Name+" has no "+lacks)
	}
}

// options adds this model's options to the task; each other one is dropped with a reason. One that can only be a mistake
// is an error, so that nobody pays for a request with dropped settings: its provider is not asked, or no model of its
// provider has it. Strict requests are refused with their dispositions instead.
func (n *negotiation) options() error {
	catalogue, asked := n.planner.config.Catalogue, n.model.Provider
	for _, provider := range slices.Sorted(maps.Keys(n.req.Options)) {
		offered, known := catalogue.Options(provider)
		owner := strings.ToLower(provider)
		for _, name := range slices.Sorted(maps.Keys(n.req.Options[provider])) {
			value, mistake, reason := n.req.Options[provider][name], "", ""
			setting := "options." + fault.Quote(provider) + "." + fault.Quote(name)
			switch {
			case !known:
				mistake = ": there is no such provider; it is one of " + strings.Join(catalogue.Providers(), ", ")
			case owner != asked && !slices.Contains(n.req.OptionsFor, owner):
				mistake = fmt.Sprintf(" is for models of %s, and %s is asked, a model of %s: leave it out, or name one of its models", owner, n.model.Name, asked)
			case !slices.Contains(offered, name):
				mistake = fmt.Sprintf(" is unknown: the models of %s take %s", owner, strings.Join(offered, ", "))
			case owner != asked:
				reason = "the request went to " + asked
			case !slices.Contains(n.model.Options, name):
				reason = fmt.Sprintf("%s takes only the options %s", n.model.Name, strings.Join(n.model.Options, ", "))
			case n.isUnsupported(name):
				reason = fmt.Sprintf("%s does not take it to %s", n.model.Name, n.task.Method)
			default:
				if n.task.Options == nil {
					n.task.Options = map[string]any{}
				}
				n.task.Options[name] = value // a value that its rule rejects is reported by CheckOptions
				if accepted, err := n.model.OptionRules[name].Accept(setting, value); err == nil {
					n.task.Options[name] = accepted
				}
				n.applied(setting, fmt.Sprint(value))
				continue
			}
			if mistake != "" {
				reason = "option " + fault.Quote(media.ErrorText(provider+"."+name)) + mistake
				if !n.req.Strict {
					return media.Errorf(media.CodeInvalid, "%s", reason)
				}
			}
			n.dropped(setting, fmt.Sprint(value), reason)
		}
	}
	return nil
}

func (n *negotiation) narrow() {
	t := &n.task
	for i := range n.out {
		d := &n.out[i]
		if n.act.Name == "" || d.Outcome == generate.OutcomeDropped || n.act.Permits(d.Setting, n.model.Provider) {
			continue
		}
		d.Applied, d.Outcome, d.Reason = "", generate.OutcomeDropped, fmt.Sprintf("%s's %s does not take it", n.model.Name, n.act.Name)
		if option, ok := catalog.CutOption(d.Setting, n.model.Provider); ok { // an option may have the name of a setting
			delete(t.Options, option)
			continue
		}
		name := catalog.ActSettings[d.Setting]
		t.Unset(name)
		if name == "aspect_ratio" {
			t.Tier, t.Width, t.Height = "", 0, 0
		}
	}
}

// flags records the settings that lose against another flag.
func (n *negotiation) flags() {
	if len(n.model.Flags) == 0 || !n.act.Flagged() {
		return
	}
	_, lost := act.Flags(n.task)
	for _, l := range lost {
		for i := range n.out {
			d := &n.out[i]
			same := strings.EqualFold(d.Setting, l.Setting) || d.Setting == "size" && l.Setting == "aspect_ratio"
			if same && d.Outcome != generate.OutcomeDropped {
				d.Applied, d.Outcome, d.Reason = l.Applied, l.Outcome, l.Reason
			}
		}
	}
}

// variationPrompt asks for a variation from a model that only edits.
const variationPrompt = "Make a variation of this picture: keep its subject, its style and its mood, and change composition and details."

func (n *negotiation) method() {
	if !slices.Contains(n.model.Emulates, n.task.Method) {
		return
	}
	n.task.Method = generate.MethodEdit
	n.task.Prompt = strings.TrimSpace(variationPrompt + " " + n.task.Prompt)
	n.adapted("method", string(n.req.Method), string(generate.MethodEdit), n.model.Name+" has no variations; the picture is edited with a prompt that asks for one")
}

// pictures rejects inputs and a mask that their facts show to be unusable. [Planner.Prepare] converts pictures that need
// conversion.
func (n *negotiation) pictures() error {
	if len(n.req.Inputs) == 0 {
		return nil
	}
	var names []string
	for _, o := range n.req.Inputs {
		if err := picture(o); err != nil {
			return err
		}
		names = append(names, displayName(o))
	}
	n.applied("inputs", strings.Join(names, ", "))
	m := n.req.Mask
	if m == nil {
		return nil
	}
	if err := picture(*m); err != nil {
		return err
	}
	if err := sameSize(*m, n.req.Inputs[0], catalog.Sides{W: m.Width, H: m.Height}); err != nil {
		return err
	}
	n.applied("mask", displayName(*m))
	return nil
}

func picture(o media.Output) error {
	switch {
	case o.Digest.IsZero():
		return media.Errorf(media.CodeInvalid, "the input %s has no bytes in the store: store it first", o)
	case o.Modality != media.ModalityImage:
		return media.Errorf(media.CodeUnsupported, "%s is not a picture but %s: only png, jpeg, webp, gif and bmp pictures can be edited", displayName(o), o.MIMEType)
	case !catalog.IsRaster(o.MIMEType):
		return media.Errorf(media.CodeUnsupported, "%s is %s and has no pixels that can be read: only png, jpeg, webp, gif and bmp pictures can be edited", displayName(o), o.MIMEType)
	}
	return nil
}

// sameSize checks that a mask has its picture's size, if both sizes are known.
func sameSize(mask, of media.Output, have catalog.Sides) error {
	if have.W == 0 || of.Width == 0 || have.W == of.Width && have.H == of.Height {
		return nil
	}
	return media.Errorf(media.CodeInvalid, "the mask %s is %s and the picture %s is %s: make the mask in the picture's size",
		displayName(mask), have, displayName(of), catalog.Sides{W: of.Width, H: of.Height})
}

func (n *negotiation) voice() {
	requested, voices := n.req.Voice, n.model.Voices
	voice, known := spelling(voices, requested)
	switch {
	case requested == "":
	case len(voices) == 0:
		n.dropped("voice", requested, n.model.Name+" has no voices")
	case known:
		n.task.Voice = voice
		n.applied("voice", voice)
	default:
		n.task.Voice = voices[0]
		n.adapted("voice", requested, voices[0], fmt.Sprintf("%s has the voices %s", n.model.Name, strings.Join(voices, ", ")))
	}
}

func (n *negotiation) speed() {
	if n.req.Speed != 0 {
		requested := strconv.FormatFloat(n.req.Speed, 'g', -1, 64)
		n.optional("speed", requested, "speed setting", func() { n.task.Speed = n.req.Speed })
	}
}

// review corrects the dispositions of a follow-up's settings, and lets the driver review the plan.
func (p *Plan) review() error {
	t := p.Task
	t.N = slices.Max(p.Calls)
	f, err := act.Follow(t)
	notes := f.Notes
	if d, ok := p.Driver.(driver.Reviewed); ok && err == nil {
		var more []generate.Disposition
		more, err = d.Review(t)
		notes = append(notes, more...)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		if each, err := strconv.Atoi(n.Applied); n.Setting == "n" && err == nil {
			p.ResultsPerCall = each
		}
		if requested := strings.TrimSpace(p.Request.Prompt); n.Setting == "prompt" && requested != "" {
			n.Asked, n.Applied = fault.Quote(requested), fault.Quote(n.Applied)
			p.Dispositions = append(p.Dispositions, n)
			continue
		}
		if have := Find(p.Dispositions, n.Setting); have != nil && have.Outcome != generate.OutcomeDropped {
			have.Applied, have.Outcome, have.Reason = fault.Quote(n.Applied), n.Outcome, n.Reason
		}
	}
	return nil
}
