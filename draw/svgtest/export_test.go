package svgtest

import (
	"slices"
	"strings"
)

// Rules returns the style of each class in both themes as text, for comparison.
func (d Drawing) Rules() map[string]string {
	out := map[string]string{}
	for theme, rules := range map[string]map[string]map[string]string{"light": d.light, "dark": d.night} {
		for class, props := range rules {
			var list []string
			for k, v := range props {
				list = append(list, k+":"+v)
			}
			slices.Sort(list)
			out[theme+" "+class] = strings.Join(list, ";")
		}
	}
	return out
}
