package generate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// received is the size of a picture that came, and the plan that it came of.
type received struct {
	sides
	plan *Plan
}

// nearStep is how far, in pixels of a side of 1024, a ratio may be off where a provider decides on the pixels.
const nearStep = 32

// expects is what the provider was asked for: a size, or a ratio alone, or neither.
func (p *Plan) expects() (size sides, ratio string) {
	t := p.task
	if t.Width > 0 {
		return sides{t.Width, t.Height}, ""
	}
	return t.Model.Size.tierFit(t.AspectRatio, t.Tier).sides, t.AspectRatio
}

// asked names for people what the provider was asked for.
func (r received) asked() string {
	size, ratio := r.plan.expects()
	if size != (sides{}) {
		return size.String()
	}
	return strings.TrimSpace(ratio + " " + r.plan.task.Tier)
}

// kept reports whether the picture has the size that was asked for, or its ratio.
func (r received) kept() (size, ratio bool) {
	want, name := r.plan.expects()
	if want != (sides{}) {
		return r.sides == want, r.sides == want || nearRatio(r.ratio(), want.ratio(), nearStep)
	}
	asked, err := parseRatio(name)
	return false, err == nil && nearRatio(r.ratio(), asked, nearStep)
}

// tier is the tier of the model that the picture comes nearest to; empty if it has none.
func (r received) tier() string {
	rule := r.plan.Model.Size
	if len(rule.Ratios) == 0 {
		return ""
	}
	return rule.nearestTier(rule.nearestRatio(r.ratio()), r.pixels())
}

// missed says that the provider answered with another size.
func (r received) missed() string {
	return fmt.Sprintf("%s was asked for %s and answered with %s", r.plan.Model.Name, r.asked(), r.sides)
}

// pictures are the sizes of the pictures that came where a size, a ratio or a tier was asked for.
func (x *execution) pictures() (all []received) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.slots {
		if o := s.Output; o != nil && o.Modality == media.ModalityImage && o.Width > 0 && o.Height > 0 {
			r := received{sides{o.Width, o.Height}, cmp.Or(x.makers[s.Index], x.plan)}
			if t := r.plan.task; t.Width > 0 || t.AspectRatio != "" || t.Tier != "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// judgeSize corrects the dispositions of size, ratio and tier by the pictures that came:
// what came is what is told.
func (x *execution) judgeSize() {
	all := x.pictures()
	if len(all) == 0 {
		return
	}
	var sizes []string
	for _, r := range all {
		if size := r.String(); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	came := strings.Join(sizes, ", ")
	for setting, judge := range map[string]func(*Disposition, []received, string){
		"size": judgePixels, "aspect_ratio": judgeRatio, "quality": judgeTier,
	} {
		x.judge(setting, func(d *Disposition) {
			if d.Outcome == OutcomeApplied || d.Outcome == OutcomeAdapted {
				judge(d, all, came)
			}
		})
	}
}

// judgePixels corrects the disposition of a size.
func judgePixels(d *Disposition, all []received, came string) {
	if d.Asked == "auto" {
		return
	}
	other := slices.IndexFunc(all, func(r received) bool { size, _ := r.kept(); return !size })
	if other < 0 {
		return
	}
	d.Applied = came
	if ask, err := parseSize(d.Asked); err == nil && ask.String() == came {
		d.Outcome, d.Reason = OutcomeApplied, ""
		return
	}
	d.Outcome = OutcomeAdapted
	size, _ := all[other].plan.expects()
	if _, ratio := all[other].kept(); size != (sides{}) || !ratio {
		d.Reason = all[other].missed()
	}
}

// judgeRatio corrects the disposition of a ratio, which may name a size.
func judgeRatio(d *Disposition, all []received, came string) {
	other := slices.IndexFunc(all, func(r received) bool { _, ratio := r.kept(); return !ratio })
	if other >= 0 {
		d.Applied, d.Outcome, d.Reason = came, OutcomeAdapted, all[other].missed()
		return
	}
	if _, err := parseSize(d.Applied); err == nil {
		d.Applied = came
	}
}

// judgeTier corrects the disposition of a quality that stands for a tier.
func judgeTier(d *Disposition, all []received, came string) {
	for _, r := range all {
		if asked := r.plan.task.Tier; asked == d.Applied && asked != "" && r.tier() != asked {
			d.Applied, d.Outcome = came, OutcomeAdapted
			d.Reason = fmt.Sprintf("%s was asked for %s and answered with %s", r.plan.Model.Name, asked, r.sides)
			return
		}
	}
}
