package chart

import (
	"cmp"
	"fmt"
	"math"

	"atelier/draw/graph"
	"atelier/draw/svg"
)

// The limits of one chart: more points than pixels are useless and make the file large.
const (
	maxLine    = 1000
	maxScatter = 2000
	maxBars    = 200
	maxNames   = 30 // bars of unordered categories
)

// reduce thins out long series and describes that in d.reduced.
func (d *dataset) reduce() {
	n := d.longest()
	switch {
	case d.bars() && n > 60 && !ordered(d.labels):
		d.largestBars(n)
	case d.bars() && n > maxBars:
		d.averageBars(n)
	case d.kind == kindScatter && d.count() > maxScatter:
		n = d.count()
		step := (n + maxScatter - 1) / maxScatter
		for i, s := range d.series {
			d.series[i] = series{name: s.name}
			for k := 0; k < len(s.y); k += step {
				d.series[i].add(s.x[k], s.y[k])
			}
		}
		d.reduced = fmt.Sprintf(d.locale.say("every point"), ordinal(step, d.locale), d.locale.amount(float64(n), ""))
	case !d.bars() && d.kind != kindScatter && n > maxLine:
		for i := range d.series {
			d.series[i] = largestTriangles(d.series[i], maxLine)
		}
		d.reduced = fmt.Sprintf(d.locale.say("thinned"), d.locale.amount(float64(n), ""), d.locale.amount(maxLine, ""))
	}
}

// largestBars keeps the categories with the largest values, the largest first, because the mean of
// unrelated neighbours has no meaning.
func (d *dataset) largestBars(n int) {
	total := make([]float64, n)
	for i := range total {
		for _, s := range d.series {
			if v := s.y[i]; !math.IsNaN(v) {
				total[i] += math.Abs(v)
			}
		}
	}
	order := graph.Ranked(n, func(a, b int) int { return cmp.Compare(total[b], total[a]) })[:maxNames]
	labels := make([]string, maxNames)
	for k, i := range order {
		labels[k] = d.labels[i]
	}
	for k, s := range d.series {
		d.series[k] = s.pick(order)
		d.series[k].x = s.x[:maxNames] // bars stand at their indices
	}
	d.labels = labels
	d.reduced = fmt.Sprintf(d.locale.say("largest"), maxNames, d.locale.amount(float64(n), ""))
}

// averageBars replaces groups of neighbouring bars with their mean.
func (d *dataset) averageBars(n int) {
	group := (n + maxBars - 1) / maxBars
	var labels []string
	for i := 0; i < n; i += group {
		labels = append(labels, d.labels[i])
	}
	for k := range d.series {
		old, s := d.series[k].y, series{name: d.series[k].name}
		for i := 0; i < n; i += group {
			sum, m := 0.0, 0.0
			for _, v := range old[i:min(n, i+group)] {
				if !math.IsNaN(v) {
					sum, m = sum+v, m+1
				}
			}
			s.add(float64(len(s.x)), sum/m) // no value at all gives NaN: a gap
		}
		d.series[k] = s
	}
	d.labels = labels
	d.reduced = fmt.Sprintf(d.locale.say("averaged"), group, d.locale.amount(float64(n), ""))
}

// largestTriangles keeps n points that preserve the shape (Steinarsson, 2013). A gap in a bucket stays a gap.
func largestTriangles(s series, n int) series {
	if len(s.y) <= n {
		return s
	}
	out := series{name: s.name, x: []float64{s.x[0]}, y: []float64{s.y[0]}}
	size := float64(len(s.y)-2) / float64(n-2)
	last := 0
	for i := range n - 2 {
		from, to := int(float64(i)*size)+1, int(float64(i+1)*size)+1
		next := min(len(s.y), int(float64(i+2)*size)+1)
		mx, my, m := 0.0, 0.0, 0.0
		for k := to; k < next; k++ {
			if !math.IsNaN(s.y[k]) {
				mx, my, m = mx+s.x[k], my+s.y[k], m+1
			}
		}
		best, area := from, -1.0
		for k := from; k < to; k++ {
			if math.IsNaN(s.y[k]) {
				best = k
				break
			}
			a := 0.0
			if m > 0 && !math.IsNaN(s.y[last]) {
				a = math.Abs((s.x[last]-mx/m)*(s.y[k]-s.y[last]) - (s.x[last]-s.x[k])*(my/m-s.y[last]))
			}
			if a > area {
				best, area = k, a
			}
		}
		out.add(s.x[best], s.y[best])
		last = best
	}
	out.add(s.x[len(s.x)-1], s.y[len(s.y)-1])
	return out
}

func ordinal(n int, l locale) string {
	if l == svg.German {
		return fmt.Sprintf("%d.", n)
	}
	suffix, known := map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
	if !known || n%100 >= 11 && n%100 <= 13 {
		suffix = "th"
	}
	return fmt.Sprint(n) + suffix
}
