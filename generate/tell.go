package generate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maker is a model that gave results, and which.
type maker struct {
	plan  *Plan
	slots []int
}

// name names the model with its results.
func (m maker) name() string {
	var list []string
	for _, index := range m.slots {
		list = append(list, strconv.Itoa(index))
	}
	if len(list) == 1 {
		return fmt.Sprintf("%s (result %s)", m.plan.Model.Name, list[0])
	}
	return fmt.Sprintf("%s (results %s)", m.plan.Model.Name, strings.Join(list, ", "))
}

// whoGave lists the models that gave results, the operation's own first.
func (x *execution) whoGave() []maker {
	x.mu.Lock()
	defer x.mu.Unlock()
	var list []maker
	for _, s := range x.slots {
		p := x.makers[s.Index]
		if s.Output == nil || p == nil {
			continue
		}
		i := slices.IndexFunc(list, func(m maker) bool {
			return m.plan.Model.Provider == p.Model.Provider && m.plan.Model.APIModel == p.Model.APIModel
		})
		switch {
		case i >= 0:
			list[i].slots = append(list[i].slots, s.Index)
		case p == x.plan:
			list = slices.Insert(list, 0, maker{p, []int{s.Index}})
		default:
			list = append(list, maker{p, []int{s.Index}})
		}
	}
	return list
}

// tell makes the dispositions those of the models that gave the results. Where several
// did and treat a setting differently, both are named.
func (x *execution) tell() {
	all := x.whoGave()
	if len(all) == 0 || len(x.plan.req.Fallback) == 0 {
		return
	}
	first := all[0].plan
	x.op.Model, x.op.APIModel, x.op.Provider = first.Model.Name, first.Model.APIModel, first.Model.Provider
	out := slices.Clone(x.plan.Dispositions)
	for i := range out {
		if out[i].Setting != "n" && out[i].Setting != "model" {
			out[i] = mixed(out[i], all)
		}
	}
	switch {
	case len(all) > 1:
		var names []string
		for _, m := range all {
			names = append(names, m.plan.Model.Name)
		}
		out = stoodIn(out, x.plan.asked(), strings.Join(names, ", "), everyone(all, func(m maker) string { return m.plan.because() }))
	case first != x.plan:
		out = stoodIn(out, x.plan.asked(), first.Model.Name, first.because())
	}
	x.op.Dispositions = out
}

// because says why the plan's model was asked.
func (p *Plan) because() string {
	why := p.why
	if i := slices.IndexFunc(p.Dispositions, func(d Disposition) bool { return d.Setting == "model" }); why == "" && i >= 0 {
		why = p.Dispositions[i].Reason
	}
	return cmp.Or(why, "as asked")
}

// everyone says something of each model.
func everyone(all []maker, say func(maker) string) string {
	var list []string
	for _, m := range all {
		list = append(list, m.name()+": "+say(m))
	}
	return strings.Join(list, "; ")
}

// mixed is what became of a setting with the models that gave the results.
func mixed(d Disposition, all []maker) Disposition {
	var list []Disposition
	for _, m := range all {
		one := d
		if i := slices.IndexFunc(m.plan.Dispositions, func(o Disposition) bool { return o.Setting == d.Setting }); i >= 0 {
			one = m.plan.Dispositions[i]
		}
		list = append(list, one)
	}
	if !slices.ContainsFunc(list, func(o Disposition) bool { return o.Applied != list[0].Applied || o.Outcome != list[0].Outcome }) {
		return list[0]
	}
	of := func(m maker) Disposition {
		return list[slices.IndexFunc(all, func(o maker) bool { return o.plan == m.plan })]
	}
	return Disposition{
		Setting: d.Setting, Asked: d.Asked, Outcome: OutcomeAdapted,
		Applied: everyone(all, func(m maker) string { return cmp.Or(of(m).Applied, "nothing") }),
		Reason:  everyone(all, func(m maker) string { return cmp.Or(of(m).Reason, string(of(m).Outcome)) }),
	}
}
