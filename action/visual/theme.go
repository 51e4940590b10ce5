package visual

import (
	"fmt"
	"strings"
)

// theme is one set of colours.
type theme struct {
	back, ink, soft, grid, axis string
	series                      [8]string
}

// The themes. Every series colour has a contrast of at least 3:1 with its background
// and stays apart from the others for people who see no red or no green.
var (
	lightTheme = theme{
		back: "#ffffff", ink: "#1a212b", soft: "#56606e", grid: "#e6e9ee", axis: "#8a94a2",
		series: [8]string{"#0b6fb8", "#da6021", "#0a8a66", "#953090", "#8a6a00", "#cf564c", "#3b4a5e", "#128a9c"},
	}
	darkTheme = theme{
		back: "#14181f", ink: "#eef1f5", soft: "#a3adba", grid: "#2a313c", axis: "#6d7885",
		series: [8]string{"#58b2f5", "#ff9350", "#52d19a", "#cf70cf", "#e6b02f", "#fa49a1", "#aab6c6", "#5cdcea"},
	}
)

const fontStack = `system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Liberation Sans",sans-serif`

// css is the style of a chart: light, then what dark changes.
func css() string {
	var b strings.Builder
	fmt.Fprintf(&b, "text{font-family:%s}.t{font-size:20px;font-weight:650}.u{font-size:14px}.k{font-size:12.5px}.v{font-size:12px;font-weight:600}.d{font-size:13px;font-weight:600}.c{font-size:11px}.big{font-size:26px;font-weight:650}", fontStack)
	b.WriteString(".g{stroke-width:1;shape-rendering:crispEdges}.a{stroke-width:1.2;shape-rendering:crispEdges}.l{fill:none;stroke-width:2.4;stroke-linejoin:round;stroke-linecap:round}.o{fill-opacity:.16}.z{fill-opacity:.6}.p{stroke-width:1.4}.cut{stroke-width:1.6;stroke-linejoin:round}")
	lightTheme.write(&b)
	b.WriteString("@media (prefers-color-scheme:dark){")
	darkTheme.write(&b)
	b.WriteString("}")
	return b.String()
}

func (t theme) write(b *strings.Builder) {
	fmt.Fprintf(b, ".b{fill:%s}.i{fill:%s}.m{fill:%s}.g{stroke:%s}.a{stroke:%s}.p,.cut{stroke:%s}", t.back, t.ink, t.soft, t.grid, t.axis, t.back)
	for i, c := range t.series {
		fmt.Fprintf(b, ".f%d{fill:%s}.s%d{stroke:%s}", i, c, i, c)
	}
}

// dashes tell the ninth and later series from those whose colour they share.
var dashes = []string{"", "7 4", "2 4"}

func fillClass(i int) string {
	class := fmt.Sprintf("f%d", i%len(lightTheme.series))
	if i >= len(lightTheme.series) {
		class += " z" // paler: the colour has been used before
	}
	return class
}

func strokeClass(i int) string { return fmt.Sprintf("s%d", i%len(lightTheme.series)) }

func dash(i int) string {
	if d := dashes[i/len(lightTheme.series)%len(dashes)]; d != "" {
		return ` stroke-dasharray="` + d + `"`
	}
	return ""
}
