package gateway

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/plan"
)

// judgeSizes corrects the dispositions of size, ratio and tier by the pictures that arrived.
func judgeSizes(list []generate.Disposition, all []received) {
	if len(all) == 0 {
		return
	}
	var sizes []string
	for _, r := range all {
		if size := r.String(); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	for setting, judge := range map[string]func(*generate.Disposition, []received, string){
		"size": judgePixels, "aspect_ratio": judgeRatio, "quality": judgeTier,
	} {
		if d := plan.Find(list, setting); d != nil && (d.Outcome == generate.OutcomeApplied || d.Outcome == generate.OutcomeAdapted) {
			judge(d, all, strings.Join(sizes, ", "))
		}
	}
}

// judgeFormat corrects the disposition of the output format by the formats that the model returned.
func judgeFormat(list []generate.Disposition, f formats, model, requested string) {
	d := plan.Find(list, "output_format")
	switch {
	case d == nil:
	case f.unconverted != "":
		d.Applied, d.Outcome, d.Reason = f.unconverted, generate.OutcomeAdapted, fmt.Sprintf("%s answered in %s, which stays as it is: %s", model, f.unconverted, f.why)
	case f.converted != "":
		d.Applied, d.Outcome, d.Reason = plan.Converted(f.converted, requested), generate.OutcomeAdapted, model+" answered in another format; it was converted and the original kept"
	case f.native:
		d.Applied, d.Outcome, d.Reason = d.Asked, generate.OutcomeApplied, ""
	}
}

// byMakers returns a plan's dispositions as the models that made the results treated the settings. If several models
// treated a setting differently, the disposition names each of them.
func byMakers(own *plan.Plan, all []maker) []generate.Disposition {
	out := slices.Clone(own.Dispositions)
	for i := range out {
		if out[i].Setting != "n" && out[i].Setting != "model" {
			out[i] = mergeDisposition(out[i], all)
		}
	}
	switch first := all[0].plan; {
	case len(all) > 1:
		var names []string
		for _, m := range all {
			names = append(names, m.plan.Model.Name)
		}
		out = plan.Substituted(out, own.Asked(), strings.Join(names, ", "), joinByMaker(all, func(i int) string { return all[i].plan.Reason() }))
	case first != own:
		out = plan.Substituted(out, own.Asked(), first.Model.Name, first.Reason())
	}
	return out
}

// received is the size of a received picture, and the plan that it was made by.
type received struct {
	catalog.Sides
	plan *plan.Plan
}

// nearStep is the tolerance for ratios where a provider decides on the pixels, in pixels of a side of 1024.
const nearStep = 32

// matchesRequest reports whether the picture has the requested size and the requested ratio.
func (r received) matchesRequest() (size, ratio bool) {
	want, name := r.plan.Expects()
	if want != (catalog.Sides{}) {
		return r.Sides == want, r.Sides == want || plan.NearRatio(r.Ratio(), want.Ratio(), nearStep)
	}
	requested, err := catalog.ParseRatio(name)
	return false, err == nil && plan.NearRatio(r.Ratio(), requested, nearStep)
}

func (r received) mismatchReason() string {
	size, ratio := r.plan.Expects()
	asked := size.String()
	if size == (catalog.Sides{}) {
		asked = strings.TrimSpace(ratio + " " + r.plan.Task.Tier)
	}
	return fmt.Sprintf("%s was asked for %s and answered with %s", r.plan.Model.Name, asked, r.Sides)
}

func judgePixels(d *generate.Disposition, all []received, came string) {
	if d.Asked == "auto" {
		return
	}
	other := slices.IndexFunc(all, func(r received) bool { size, _ := r.matchesRequest(); return !size })
	if other < 0 {
		return
	}
	d.Applied = came
	if ask, err := catalog.ParseSize(d.Asked); err == nil && ask.String() == came {
		d.Outcome, d.Reason = generate.OutcomeApplied, ""
		return
	}
	d.Outcome = generate.OutcomeAdapted
	size, _ := all[other].plan.Expects()
	if _, ratio := all[other].matchesRequest(); size != (catalog.Sides{}) || !ratio {
		d.Reason = all[other].mismatchReason()
	}
}

// judgeRatio corrects the disposition of a ratio, whose Applied may be a size.
func judgeRatio(d *generate.Disposition, all []received, came string) {
	other := slices.IndexFunc(all, func(r received) bool { _, ratio := r.matchesRequest(); return !ratio })
	if other >= 0 {
		d.Applied, d.Outcome, d.Reason = came, generate.OutcomeAdapted, all[other].mismatchReason()
		return
	}
	if _, err := catalog.ParseSize(d.Applied); err == nil {
		d.Applied = came
	}
}

// judgeTier corrects the disposition of a tier, which only models with ratios have, by the nearest tier of each picture.
func judgeTier(d *generate.Disposition, all []received, came string) {
	for _, r := range all {
		rule := r.plan.Model.Size
		if requested := r.plan.Task.Tier; requested == d.Applied && requested != "" && rule.NearestTier(rule.NearestRatio(r.Ratio()), r.Pixels()) != requested {
			d.Applied, d.Outcome = came, generate.OutcomeAdapted
			d.Reason = fmt.Sprintf("%s was asked for %s and answered with %s", r.plan.Model.Name, requested, r.Sides)
			return
		}
	}
}

// formats records how results met the requested output format.
type formats struct {
	converted   string // the format of an answer that was converted
	native      bool
	unconverted string // the format of an answer that stayed as it was
	why         string
}

type maker struct {
	plan  *plan.Plan
	slots []int
}

// joinByMaker joins what is said about each model, by its index.
func joinByMaker(all []maker, say func(int) string) string {
	var list []string
	for i, m := range all {
		var results []string
		for _, index := range m.slots {
			results = append(results, strconv.Itoa(index))
		}
		what := "results"
		if len(results) == 1 {
			what = "result"
		}
		list = append(list, fmt.Sprintf("%s (%s %s): %s", m.plan.Model.Name, what, strings.Join(results, ", "), say(i)))
	}
	return strings.Join(list, "; ")
}

// mergeDisposition merges a setting's dispositions of the models that made the results.
func mergeDisposition(d generate.Disposition, all []maker) generate.Disposition {
	var list []generate.Disposition
	for _, m := range all {
		list = append(list, *cmp.Or(plan.Find(m.plan.Dispositions, d.Setting), &d))
	}
	if !slices.ContainsFunc(list, func(o generate.Disposition) bool { return o.Applied != list[0].Applied || o.Outcome != list[0].Outcome }) {
		return list[0]
	}
	return generate.Disposition{
		Setting: d.Setting, Asked: d.Asked, Outcome: generate.OutcomeAdapted,
		Applied: joinByMaker(all, func(i int) string { return cmp.Or(list[i].Applied, "nothing") }),
		Reason:  joinByMaker(all, func(i int) string { return cmp.Or(list[i].Reason, string(list[i].Outcome)) }),
	}
}
