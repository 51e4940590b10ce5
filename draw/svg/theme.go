package svg

import (
	"fmt"
	"strconv"
)

// Theme is one set of colours, each as #rrggbb.
type Theme struct {
	Back, Ink, Soft, Grid, Axis string
	Series                      [8]string
}

// Light returns the light theme. In both themes, every series colour has a contrast of at least 4.5:1 with the
// background, so that text can use it, and is distinguishable from the others for people who do not see red or green.
func Light() Theme {
	return Theme{
		Back: "#ffffff", Ink: "#1a212b", Soft: "#56606e", Grid: "#e6e9ee", Axis: "#8a94a2",
		Series: [8]string{"#0b6fb8", "#c3511d", "#07805d", "#8c2991", "#8a6a00", "#c2463f", "#3b4a5e", "#0f8385"},
	}
}

// Dark returns the dark theme.
func Dark() Theme {
	return Theme{
		Back: "#14181f", Ink: "#eef1f5", Soft: "#a3adba", Grid: "#2a313c", Axis: "#6d7885",
		Series: [8]string{"#58b2f5", "#ff9350", "#52d19a", "#cf70cf", "#e6b02f", "#fa49a1", "#aab6c6", "#5cdcea"},
	}
}

const fontStack = `system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Liberation Sans",sans-serif`

// CSS returns the style that every page has: the light theme, then the changes of the dark theme.
// Its classes: t title, u subtitle, k v d c small text from 12.5 down to 11 pixels; b background, i
// ink, m soft ink; g grid, a axis, l lines; f0…f7 and s0…s7 fill and stroke in the series colours.
func CSS() string { return css }

var css = "text{font-family:" + fontStack + "}.t{font-size:20px;font-weight:650}.u{font-size:14px}.k{font-size:12.5px}.v{font-size:12px;font-weight:600}.d{font-size:13px;font-weight:600}.c{font-size:11px}.big{font-size:26px;font-weight:650}" +
	".g{stroke-width:1;shape-rendering:crispEdges}.a{stroke-width:1.2;shape-rendering:crispEdges}.l{fill:none;stroke-width:2.4;stroke-linejoin:round;stroke-linecap:round}.fine{stroke-width:1.5}.o{fill-opacity:.16}.z{fill-opacity:.75}.p{stroke-width:1.4}.cut{stroke-width:1.6;stroke-linejoin:round}" +
	inBoth(func(t Theme) string {
		out := fmt.Sprintf(".b{fill:%s}.i{fill:%s}.m{fill:%s}.g{stroke:%s}.a{stroke:%s}.p,.cut{stroke:%s}", t.Back, t.Ink, t.Soft, t.Grid, t.Axis, t.Back)
		for i, c := range t.Series {
			out += fmt.Sprintf(".f%d{fill:%s}.s%d{stroke:%s}", i, c, i, c)
		}
		return out
	})

// ShapeCSS returns the additional style of pages with nodes: shapes n0…n7 in tints of the series
// colours, wires e, their heads h, a halo around text y, and a frame r.
func ShapeCSS() string { return shapeCSS }

var shapeCSS = ".n{stroke-width:1.6;stroke-linejoin:round}.e{fill:none;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}.y{font-size:12px;paint-order:stroke;stroke-width:4px;stroke-linejoin:round}.x{stroke-dasharray:5 4}.w{stroke-width:3}.r{fill:none;stroke-width:1.2}" +
	inBoth(func(t Theme) string {
		out := fmt.Sprintf(".e.b,.r.b{fill:%s}.e{stroke:%s}.h{fill:%s}.y{stroke:%s}.r{stroke:%s}", t.Back, t.Soft, t.Soft, t.Back, t.Axis)
		for i, c := range t.Series {
			out += fmt.Sprintf(".n%d{fill:%s;stroke:%s}", i, t.Tint(i, 0.13), c)
		}
		return out
	})

// inBoth returns a style for the light and the dark theme.
func inBoth(style func(Theme) string) string {
	return style(Light()) + "@media (prefers-color-scheme:dark){" + style(Dark()) + "}"
}

// Tint mixes share of the series colour i into the background.
func (t Theme) Tint(i int, share float64) string {
	out := "#"
	c := t.Series[i%len(t.Series)]
	for k := 1; k < 7; k += 2 {
		back, _ := strconv.ParseUint(t.Back[k:k+2], 16, 8) // the themes are constants: a test parses every colour
		over, _ := strconv.ParseUint(c[k:k+2], 16, 8)      // likewise
		out += fmt.Sprintf("%02x", int(float64(back)*(1-share)+float64(over)*share+0.5))
	}
	return out
}

// colours is the number of series colours.
const colours = len(Theme{}.Series)

// FillClass returns the fill class of a series. From the ninth on, fills are paler, because colours repeat.
func FillClass(i int) string {
	class := fmt.Sprintf("f%d", i%colours)
	if i >= colours {
		class += " z"
	}
	return class
}

// StrokeClass returns the stroke class of a series.
func StrokeClass(i int) string { return fmt.Sprintf("s%d", i%colours) }

// NodeClass returns the classes of the tinted shape of a group.
func NodeClass(i int) string { return fmt.Sprintf("n n%d", i%colours) }

// Dash returns an attribute that distinguishes the ninth and later lines from those whose colour
// they share; it is empty for the first eight.
func Dash(i int) string {
	return []string{"", ` stroke-dasharray="7 4"`, ` stroke-dasharray="2 4"`}[i/colours%3]
}
