package chart

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"atelier/draw/svg"
	"atelier/media"
)

// chartOf draws a chart from the JSON of its parameters and returns the SVG and the alt text.
func chartOf(tb testing.TB, params string) (svgText, alt string) {
	tb.Helper()
	b, alt := render(parsed(tb, params))
	return string(b), alt
}

// TestMonthsHaveNoDay: a month is described as it was given, however it was written.
func TestMonthsHaveNoDay(t *testing.T) {
	t.Parallel()
	for _, labels := range []string{`"January 2024","February 2024","September 2024"`, `"2024/01","2024/02","2024/09"`} {
		_, alt := chartOf(t, `{"ChartType":"line","Title":"T","Labels":[`+labels+`],"Series":[{"name":"s","values":[1,2,3]}]}`)
		if !strings.Contains(alt, "lowest 1 (Jan 2024), highest 3 (Sep 2024)") {
			t.Error(alt)
		}
	}
}

// TestLabelsOfValues: labels may stand beside their values.
func TestLabelsOfValues(t *testing.T) {
	t.Parallel()
	for labels, want := range map[string]string{"": "lowest 3 (Ada), highest 4 (Ben).", `"Labels":["x","y"],`: "lowest 3 (x), highest 4 (y)."} {
		if _, alt := chartOf(t, `{"ChartType":"bar","Title":"T",`+labels+`"Series":[{"name":"s","values":[{"label":"Ada","value":3},{"name":"Ben","value":4}]}]}`); !strings.HasSuffix(alt, want) {
			t.Error(alt)
		}
	}
}

// TestGapsAreNoPoints: the description counts the points that are drawn.
func TestGapsAreNoPoints(t *testing.T) {
	t.Parallel()
	if _, alt := chartOf(t, `{"ChartType":"scatter","Title":"T","Series":[{"name":"s","points":[[1,2],[3,4],[9,null]]}]}`); !strings.HasSuffix(alt, "s: 2 points, x from 1 to 3, y from 2 to 4.") {
		t.Error(alt)
	}
}

// TestFlatChartsHaveOneLayout: a second layout of the same proportions would have no room for the chart.
func TestFlatChartsHaveOneLayout(t *testing.T) {
	t.Parallel()
	for height, want := range map[int]bool{400: false, 675: true} {
		d, err := Draw(map[string]any{"ChartType": "bar", "Title": "T", "Width": 1200, "Height": height, "Labels": "a,b", "Series": "[1,2]"})
		if got := bytes.Contains(d.Data, []byte("narrow")); err != nil || got != want || d.Adaptive != want {
			t.Errorf("1200 × %d: adaptive %t, second layout %t, want %t; %v", height, d.Adaptive, got, want, err)
		}
	}
}

// TestNamesOfPartsAreLegible: a pie gives way to the names beside it.
func TestNamesOfPartsAreLegible(t *testing.T) {
	t.Parallel()
	for _, size := range []string{`"Width":400,"Height":400`, `"Width":480,"Height":270`, `"Width":300,"Height":240`} {
		out, _ := chartOf(t, `{"ChartType":"pie","Title":"T",`+size+`,"Unit":"TWh","Labels":["Germany","France","Luxembourg"],"Series":[{"name":"s","values":[800,700,100]}]}`)
		for _, name := range []string{">Germany<", ">France<", ">Luxembourg<"} {
			if !strings.Contains(out, name) {
				t.Errorf("%s: %s is cut off", size, name)
			}
		}
	}
}

// TestNarrowLayoutTurnsBars: the layout for narrow pages has horizontal bars if its labels do not fit below them.
func TestNarrowLayoutTurnsBars(t *testing.T) {
	t.Parallel()
	out, _ := chartOf(t, `{"ChartType":"bar","Title":"T","Labels":["A very long name of a company, the number one","A very long name of a company, the number two","Three"],"Series":[{"name":"s","values":[3,2,1]}]}`)
	for _, end := range []string{"one<", "two<"} {
		if n := strings.Count(out, end); n != 2 {
			t.Errorf("%d labels end with %s want one in each layout", n, end)
		}
	}
}

// TestValuesBelowBars: the value of the lowest bar does not cover its label.
func TestValuesBelowBars(t *testing.T) {
	t.Parallel()
	for _, lowest := range []string{"800", "780"} {
		out, _ := chartOf(t, `{"ChartType":"bar","Title":"T","Labels":["North","South"],"Series":[{"name":"s","values":[-`+lowest+`,-400]}]}`)
		y := map[string]float64{}
		for _, m := range regexp.MustCompile(`y="([0-9.]+)" class="(?:v i|k m)" text-anchor="middle">([^<]+)<`).FindAllStringSubmatch(out, -1) {
			y[m[2]], _ = strconv.ParseFloat(m[1], 64)
		}
		if value, ok := y["−"+lowest]; !ok || y["North"]-value < 14 {
			t.Errorf("%s: %v", lowest, y)
		}
	}
}

// TestValuesNeedRoom: values are written only if none runs into the next one.
func TestValuesNeedRoom(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"12": 14, "1234567": 0} {
		c := parsed(t, `{"ChartType":"bar","Title":"T","Width":860,"Unit":"US$","Labels":"`+strings.Repeat("a,", 13)+`a","Series":[`+strings.Repeat(value+",", 13)+value+`]}`)
		var s svg.Canvas
		c.draw(&s)
		if n := strings.Count(s.String(), `class="v i"`); n != want {
			t.Errorf("%s: %d values, want %d", value, n, want)
		}
	}
}

// TestTicksOfMonths: a few months have ticks at their starts, where their values are, not at days between.
func TestTicksOfMonths(t *testing.T) {
	t.Parallel()
	out, _ := chartOf(t, `{"ChartType":"area","Title":"T","Labels":["2024-01","2024-02","2024-03"],"Series":[3,2,5]}`)
	for _, month := range []string{">Jan 2024<", ">Feb 2024<", ">Mar 2024<"} {
		if strings.Count(out, month) != 2 {
			t.Errorf("%s is not in both layouts", month)
		}
	}
}

// TestAmericanDates: days after the name of a month are days.
func TestAmericanDates(t *testing.T) {
	t.Parallel()
	for _, labels := range []string{`"Mar 1 2024","Mar 2 2024","Mar 15 2024"`, `"Mar 1, 2024","Mar 2, 2024","Mar 15, 2024"`, `"Mar 1 2024","Mar 2 2024","Mar 9 2024","Mar 15 2024"`} {
		values := strings.TrimSuffix(strings.Repeat("1,", strings.Count(labels, "2024")-1), ",")
		_, alt := chartOf(t, `{"ChartType":"line","Title":"T","Labels":[`+labels+`],"Series":[{"name":"s","values":[`+values+`,3]}]}`)
		if !strings.Contains(alt, "lowest 1 (1 Mar 2024), highest 3 (15 Mar 2024)") {
			t.Error(alt)
		}
	}
	if at, _ := dayOf("Mar 9 2024"); at != 19791 {
		t.Errorf("9 March 2024 is day %g", at)
	}
}

func parsed(tb testing.TB, params string) *chart {
	tb.Helper()
	var p map[string]any
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		tb.Fatal(err)
	}
	c, err := parse(p)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// kinds holds the parameters of each kind, with the features that the tests check.
var kinds = map[string]string{
	"bar":        `{"ChartType":"bar","Title":"T","Labels":["a","b","c"],"Series":[{"name":"s","values":[1,null,-3]}]}`,
	"grouped":    `{"ChartType":"bar","Title":"T","Labels":["a","b"],"Series":[{"name":"s","values":[1,2]},{"name":"r","values":[3,4]}],"Unit":"$"}`,
	"horizontal": `{"ChartType":"bar","Title":"T","Horizontal":true,"Labels":["a","b","c"],"Series":[{"name":"s","values":[1,2,-3]}],"YLabel":"y"}`,
	"lying":      `{"ChartType":"stacked","Title":"T","Horizontal":"true","Labels":["a","b"],"Series":[{"name":"s","values":[1,2]},{"name":"r","values":[3,-4]}]}`,
	"stacked":    `{"ChartType":"stacked","Title":"T","Labels":["a","b"],"Series":[{"name":"s","values":[1,-2]},{"name":"r","values":[3,-4]}]}`,
	"line":       `{"ChartType":"line","Title":"T","Labels":[2001,2002,2003,2004],"Series":[{"name":"s","values":[1,2,null,4]},{"name":"r","values":[2,2,2,2]}],"Source":"Source: EIA"}`,
	"dates":      `{"ChartType":"line","Title":"T","Labels":["2024-01-01","2024-01-15","2024-03-31"],"Series":[{"name":"s","values":[1,2,4]}],"XLabel":"day"}`,
	"months":     `{"ChartType":"area","Title":"T","Labels":["2023-11","2023-12","2024-01","2024-06"],"Series":[{"name":"s","values":[1,2,4,3]}]}`,
	"area":       `{"ChartType":"area","Title":"T","Labels":["a","b","c"],"Series":[{"name":"s","values":[1,2,3]},{"name":"r","values":[3,null,1]}]}`,
	"points":     `{"ChartType":"line","Title":"T","Series":[{"name":"s","points":[[3,1],[1,2],[2,null]]}]}`,
	"pie":        `{"ChartType":"pie","Title":"T","Labels":["a","b"],"Series":[{"name":"s","values":[70,30]}]}`,
	"donut":      `{"ChartType":"donut","Title":"T","Labels":["a","b","c"],"Series":[{"name":"s","values":[1,2,3]}],"Unit":"TWh"}`,
	"whole":      `{"ChartType":"donut","Title":"T","Labels":["a"],"Series":[{"name":"s","values":[5]}]}`,
	"scatter":    `{"ChartType":"scatter","Title":"T","Series":[{"name":"s","points":[[1,2],[3,4]]},{"name":"r","points":[[2,2]]},{"name":"q","points":[[2,3]]},{"name":"p","points":[[3,1]]}]}`,
	"one":        `{"ChartType":"line","Title":"T","Labels":["2020"],"Series":[{"name":"s","values":[42]}]}`,
	"equal":      `{"ChartType":"line","Title":"T","Labels":["a","b","c"],"Series":[{"name":"s","values":[7,7,7]}]}`,
	"zeros":      `{"ChartType":"bar","Title":"T","Labels":["a","b"],"Series":[{"name":"s","values":[0,0]}]}`,
	"small":      `{"ChartType":"bar","Title":"A rather long title that will not fit","Subtitle":"sub","Width":240,"Height":160,"Source":"x","Labels":["a","b"],"Series":[{"name":"s","values":[1,2]},{"name":"r","values":[1,2]}]}`,
	"huge":       `{"ChartType":"bar","Title":"T","Labels":["a","b"],"Series":[{"name":"s","values":[1e149,-1e149]}]}`,
	"tiny":       `{"ChartType":"line","Title":"T","Labels":["a","b"],"Series":[{"name":"s","values":[1e-12,2e-12]}]}`,
	"shorthand":  `{"ChartType":"Column","Title":"T","Labels":"a, b","Series":[1,2]}`,
	"json text":  `{"ChartType":"bar","Title":"T","Labels":"[\"a\",\"b\"]","Series":"[{\"name\":\"s\",\"values\":[\"1,000\",\"12%\"]}]"}`,
	"map":        `{"ChartType":"line","Title":"T","Labels":["a","b"],"Series":{"Gas":[1,2],"Coal":[3,4]}}`,
	"data key":   `{"ChartType":"scatter","Title":"T","Series":[{"Name":"s","data":[{"x":1,"y":2},{"x":2,"y":5}]}]}`,
}

func TestEveryKindIsAWellFormedAccessibleSVG(t *testing.T) {
	t.Parallel()
	for name, params := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, alt := chartOf(t, params)
			checkSVG(t, out)
			for _, want := range []string{`role="img"`, `aria-label="`, `<title>`, `<desc>`, "prefers-color-scheme:dark", "viewBox=", "width=", "height="} {
				if !strings.Contains(out, want) {
					t.Errorf("%s is missing", want)
				}
			}
			if alt == "" || !strings.Contains(out, svg.Escape(alt)) {
				t.Errorf("alt text %q is not in the file", alt)
			}
			again, _ := chartOf(t, params)
			if out != again {
				t.Error("equal input gave different bytes")
			}
		})
	}
}

var badNumber = regexp.MustCompile(`NaN|Inf|e[+-]\d\d`)

// checkSVG parses the file and checks it for forbidden content and for text outside of it.
func checkSVG(t *testing.T, out string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(out))
	var w, h float64
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if strings.EqualFold(e.Name.Local, "script") || e.Name.Local == "foreignObject" {
			t.Errorf("element %s", e.Name.Local)
		}
		at := map[string]float64{}
		for _, a := range e.Attr {
			if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || a.Name.Local == "href" {
				t.Errorf("attribute %s", a.Name.Local)
			}
			if badNumber.MatchString(a.Value) {
				t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}
			at[a.Name.Local], _ = strconv.ParseFloat(a.Value, 64)
		}
		if e.Name.Local == "svg" {
			w, h = at["width"], at["height"]
		}
		if x, y := at["x"], at["y"]; x < -1 || y < -1 || x > w+1 || y > h+1 {
			t.Errorf("%s at %g, %g is outside of %g × %g", e.Name.Local, x, y, w, h)
		}
	}
	if strings.Contains(out, "http") && strings.Count(out, "http") != 1 {
		t.Error("an outside address")
	}
}

func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	evil := `</title><script>alert(1)</script> & "quoted" 'single' <b>`
	p := map[string]any{
		"ChartType": "bar", "Title": evil, "Subtitle": evil, "Source": evil, "XLabel": evil, "YLabel": evil, "Unit": evil, "AltText": evil,
		"Labels": []any{evil, "b\x00\x1b\ufffe"}, "Series": []any{map[string]any{"name": evil, "values": []any{1.0, 2.0}}, map[string]any{"name": "\xff", "values": []any{1.0, 2.0}}},
	}
	for _, k := range Kinds() {
		p["ChartType"] = k
		c, err := parse(p)
		if err != nil {
			continue // pie needs one series, scatter needs numbers
		}
		out, _ := render(c)
		checkSVG(t, string(out))
		if strings.Contains(string(out), "<script") || strings.Contains(string(out), "<b>") {
			t.Errorf("%s: text is not escaped", k)
		}
	}
}

func TestBadInputSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ params, says string }{
		"type":           {`{"ChartType":"radar","Title":"T"}`, "use bar, line"},
		"no title":       {`{"ChartType":"bar","Title":" "}`, "Title is missing"},
		"no series":      {`{"ChartType":"bar","Title":"T"}`, "Series is empty"},
		"empty":          {`{"ChartType":"bar","Title":"T","Series":[]}`, "Series is empty"},
		"broken JSON":    {`{"ChartType":"bar","Title":"T","Series":"[{"}`, "not valid JSON"},
		"lengths":        {`{"ChartType":"bar","Title":"T","Labels":["a","b"],"Series":[{"name":"x","values":[1,2]},{"name":"Coal","values":[1]}]}`, `series "Coal" has 1 values but there are 2 labels`},
		"word":           {`{"ChartType":"bar","Title":"T","Labels":["a"],"Series":[{"name":"Coal","values":["many"]}]}`, `series "Coal", value 1 is "many"`},
		"all gaps":       {`{"ChartType":"line","Title":"T","Labels":["a","b"],"Series":[{"name":"x","values":[null,"NaN"]}]}`, "every value is a gap"},
		"overflow":       {`{"ChartType":"line","Title":"T","Labels":["a"],"Series":[{"name":"x","values":[1e200]}]}`, "value 1"},
		"no values":      {`{"ChartType":"line","Title":"T","Labels":["a"],"Series":[{"name":"x"}]}`, `series "x" has no values`},
		"not objects":    {`{"ChartType":"line","Title":"T","Labels":["a"],"Series":[{"name":"x","values":[1]},3]}`, "Series[1]"},
		"negative share": {`{"ChartType":"pie","Title":"T","Labels":["a","b"],"Series":[{"name":"x","values":[1,-1]}]}`, "negative value of \"b\""},
		"no share":       {`{"ChartType":"donut","Title":"T","Labels":["a"],"Series":[{"name":"x","values":[0]}]}`, "more than zero"},
		"two pies":       {`{"ChartType":"pie","Title":"T","Labels":["a","b"],"Series":[{"name":"x","values":[1,1]},{"name":"y","values":[1,1]}]}`, "one series"},
		"scatter words":  {`{"ChartType":"scatter","Title":"T","Labels":["a","b"],"Series":[{"name":"x","values":[1,1]}]}`, "numbers on both axes"},
		"points in bars": {`{"ChartType":"bar","Title":"T","Series":[{"name":"x","points":[[1,1]]}]}`, "series with points fit scatter"},
		"mixed":          {`{"ChartType":"line","Title":"T","Labels":["a"],"Series":[{"name":"x","points":[[1,1]]},{"name":"y","values":[1]}]}`, "in one form"},
		"triple":         {`{"ChartType":"scatter","Title":"T","Series":[{"name":"x","points":[[1,1,1]]}]}`, "has 3 numbers"},
		"width":          {`{"ChartType":"bar","Title":"T","Width":10,"Series":[1]}`, "Width is 10: give pixels from 240 to 4000"},
		"labels":         {`{"ChartType":"bar","Title":"T","Labels":{"a":1},"Series":[1]}`, "Labels must be"},
		"too many":       {`{"ChartType":"bar","Title":"T","Labels":["a"],"Series":[` + strings.Repeat(`{"name":"x","values":[1]},`, 24) + `{"name":"x","values":[1]}]}`, "at most 24"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p map[string]any
			if err := json.Unmarshal([]byte(c.params), &p); err != nil {
				t.Fatal(err)
			}
			_, err := parse(p)
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error = %v, want invalid with %q", err, c.says)
			}
		})
	}
}

func TestGapsBreakLines(t *testing.T) {
	t.Parallel()
	out, _ := chartOf(t, `{"ChartType":"line","Title":"T","Width":600,"Labels":["a","b","c","d","e"],"Series":[{"name":"s","values":[1,2,null,4,5]}]}`)
	if n := strings.Count(out, `class="l s0"`); n != 2 {
		t.Errorf("%d lines, want 2 with a gap between", n)
	}
}

func TestTenThousandPoints(t *testing.T) {
	t.Parallel()
	var labels, values []any
	for i := range 10_000 {
		labels, values = append(labels, float64(i)), append(values, math.Sin(float64(i)/500))
	}
	values[5000] = 99.0 // a peak that must remain visible
	for _, k := range []string{"line", "area", "bar", "stacked", "scatter"} {
		c, err := parse(map[string]any{"ChartType": k, "Title": "T", "Labels": labels, "Series": []any{map[string]any{"name": "s", "values": values}}})
		if err != nil {
			t.Fatal(err)
		}
		out, alt := render(c)
		checkSVG(t, string(out))
		if len(out) > 250_000 {
			t.Errorf("%s: %d bytes", k, len(out))
		}
		if !strings.Contains(alt, "10,000") {
			t.Errorf("%s: the alt text does not say that points were omitted: %s", k, alt)
		}
		if _, hi := c.span(); (k == "line" || k == "area") && hi != 99 {
			t.Errorf("%s: the peak is lost: highest is %g", k, hi)
		}
	}
}

// TestTheDescriptionKnowsEveryValue has an extreme value that is not drawn as itself.
func TestTheDescriptionKnowsEveryValue(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"bar": "lowest 1 (1001), highest 900 (1002); from 1 in 1001 to 1 in 1600", "scatter": "3000 points, x from 1 to 3,000, y from 1 to 900",
	} {
		var labels, values, points []string
		for i := range 600 {
			labels, values = append(labels, fmt.Sprint(1001+i)), append(values, map[bool]string{true: "900", false: "1"}[i == 1])
		}
		for i := range 3000 {
			points = append(points, fmt.Sprintf("[%d,%s]", i+1, map[bool]string{true: "900", false: "1"}[i == 1]))
		}
		series := `"Labels":[` + strings.Join(labels, ",") + `],"Series":[{"name":"s","values":[` + strings.Join(values, ",") + `]}]`
		if kind == "scatter" {
			series = `"Series":[{"name":"s","points":[` + strings.Join(points, ",") + `]}]`
		}
		if _, alt := chartOf(t, `{"ChartType":"`+kind+`","Title":"T",`+series+`}`); !strings.Contains(alt, want) {
			t.Errorf("%s: %s", kind, alt)
		}
	}
}

// TestThePointsOfAllSeriesAreCounted thins out a scatter chart of two series.
func TestThePointsOfAllSeriesAreCounted(t *testing.T) {
	t.Parallel()
	series := `{"name":"s","points":[` + strings.TrimSuffix(strings.Repeat("[1,2],", 1500), ",") + `]}`
	if _, alt := chartOf(t, `{"ChartType":"scatter","Title":"T","Series":[`+series+","+series+`]}`); !strings.Contains(alt, "Every 2nd point of 3,000 is drawn.") {
		t.Error(alt)
	}
}

func TestSmallSectorsArePutTogether(t *testing.T) {
	t.Parallel()
	_, alt := chartOf(t, `{"ChartType":"pie","Title":"T","Labels":["a","b","c","d","e","f","g","h","i","j"],"Series":[{"name":"s","values":[1,2,3,4,5,6,7,8,9,10]}]}`)
	if !strings.Contains(alt, "3 others") || !strings.Contains(alt, "j 18.2%") {
		t.Error(alt)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"line":    "Line chart: T. s: lowest 1 (2001), highest 4 (2004); from 1 in 2001 to 4 in 2004 (+300%). r: every value is 2.",
		"bar":     "Bar chart: T. s: lowest −3 (c), highest 1 (a).",
		"pie":     "Pie chart: T. Of 100 in total: a 70%, b 30%.",
		"months":  "Area chart: T. s: lowest 1 (Nov 2023), highest 4 (Jan 2024); from 1 in Nov 2023 to 3 in Jun 2024 (+200%).",
		"scatter": "Scatter plot: T. s: 2 points, x from 1 to 3, y from 2 to 4. r: 1 points, x from 2 to 2, y from 2 to 2. q: 1 points, x from 2 to 2, y from 3 to 3. p: 1 points, x from 3 to 3, y from 1 to 1.",
	} {
		if _, alt := chartOf(t, kinds[name]); alt != want {
			t.Errorf("%s:\n got %s\nwant %s", name, alt, want)
		}
	}
}

func TestTheDescriptionClaimsNoMoreThanTheDataSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ params, want string }{
		{`{"ChartType":"bar","Title":"T","Labels":["22","35","6"],"Series":[{"name":"age","values":[80,76,74]}]}`, "age: lowest 74 (6), highest 80 (22)."},
		{`{"ChartType":"bar","Title":"T","Labels":["07","08","09"],"Series":[{"name":"rows","values":[7,7,7]}]}`, "rows: every value is 7."},
		{`{"ChartType":"line","Title":"T","Unit":"%","Labels":["2015","2024"],"Series":[{"name":"turnout","values":[60,57]}]}`, "from 60% in 2015 to 57% in 2024."},
		{`{"ChartType":"line","Title":"T","Labels":["2015","2024"],"Series":[{"name":"votes","values":[60,57]}]}`, "from 60 in 2015 to 57 in 2024 (−5%)."},
	} {
		if _, alt := chartOf(t, c.params); !strings.HasSuffix(alt, c.want) {
			t.Errorf("got %s\nwant … %s", alt, c.want)
		}
	}
}

func FuzzChart(f *testing.F) {
	for _, p := range kinds {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, params string) {
		var p map[string]any
		if json.Unmarshal([]byte(params), &p) != nil {
			return
		}
		c, err := parse(p)
		if err != nil {
			if media.CodeOf(err) != media.CodeInvalid {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		out, _ := render(c)
		if err := xml.Unmarshal(out, &struct{}{}); err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		body := string(out)
		if i := strings.Index(body, "</style>"); badPath.MatchString(body[i:]) {
			t.Fatal("a coordinate is not a number")
		}
	})
}

var badPath = regexp.MustCompile(`(x|y|x1|y1|cx|cy|width|height|d)="[^"]*(NaN|Inf)`)

func BenchmarkChart(b *testing.B) {
	c := parsed(b, kinds["line"])
	b.ReportAllocs()
	for b.Loop() {
		render(c)
	}
	_ = fmt.Sprint(c.count())
}

func TestChangeIsNotRoundedToAllOrNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{100, 129, " (+29%)"},
		{1_267_360, 2087, " (−99.8%)"},
		{100, 0, " (−100%)"},
		{1000, 1001, " (+0.1%)"},
		{7, 7, " (+0%)"},
		{0, 7, ""},
		{1, 1e9, ""},
	} {
		if got := change(c.from, c.to); got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

func TestCountsHaveNoHalves(t *testing.T) {
	t.Parallel()
	whole := &dataset{series: []series{{y: []float64{1, math.NaN(), 3}}}}
	_, _, ticks := valueAxis(1, 3, zeroAlways, whole.steps(7, 1, 3), "")
	for _, k := range ticks {
		if k.v != math.Trunc(k.v) {
			t.Errorf("the axis has a tick at %v", k.v)
		}
	}
	if parts := (&dataset{series: []series{{y: []float64{0.5, 3}}}}); parts.steps(7, 0, 3) != 7 {
		t.Error("an axis of measures has fewer steps than fit")
	}
}
