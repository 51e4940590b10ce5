package infographic

import (
	"slices"
	"strings"
)

// icons are line drawings in a square of 24 units, with the parts of words that select them, the most specific first.
var icons = []struct{ name, words, path string }{
	{"wind", "wind turbine", "M2 9h12a3 3 0 1 0-3-3M2 13h17a3 3 0 1 1-3 3M2 17h8a2.500 2.500 0 1 1-2.500 2.500"},
	{"sun", "solar sun photovolt", "M12 7a5 5 0 1 0 0 10a5 5 0 1 0 0-10M12 1.5v2.5M12 20v2.500M1.500 12H4M20 12h2.500M4.600 4.600l1.700 1.700M17.700 17.700l1.700 1.700M4.600 19.400l1.700-1.700M17.700 6.300l1.700-1.700"},
	{"water", "water hydro rain ocean flood drought", "M12 2.500C8.500 7 5.500 10.500 5.500 14.500a6.500 6.500 0 0 0 13 0C18.500 10.500 15.500 7 12 2.500Z"},
	{"leaf", "renewable climate nature bio organic plant", "M4 20C4 10 10 4 21 3C21 14 15 20 8 19M4 21C6 15 10 11 15 9"},
	{"tree", "forest tree wood", "M12 22v-7M12 2L6 10h3l-4 5h14l-4-5h3Z"},
	{"fire", "fire coal heat temperature warm", "M12 2C13 7 18 9 18 15a6 6 0 0 1-12 0c0-3 2-4 2.500-7C10 9 11 10 11 12C12.500 9.500 12.500 6 12 2Z"},
	{"bolt", "electric power energy grid battery", "M13 2L4 14h7l-1 8l9-12h-7Z"},
	{"factory", "factory industr production manufactur emission", "M2 21V10l6 4v-4l6 4V4h6v17ZM6 17h2M12 17h2"},
	{"house", "house home building hous", "M3 11L12 3l9 8M5 9.500V21h14V9.500M10 21v-6h4v6"},
	{"city", "city cities urban town", "M3 21V8h7v13M10 21V3h8v18M18 21h3M6 12h1M6 16h1M13.500 7h1M13.500 11h1M13.500 15h1"},
	{"car", "car vehicle traffic road", "M3 16v-4l2-5.500h14l2 5.500v4ZM3 12h18M6 16v2.500M18 16v2.500"},
	{"train", "train rail", "M6 3h12v13H6ZM6 10h12M9 13.500h.5M14.500 13.500h.5M8 16l-3 5M16 16l3 5"},
	{"plane", "flight plane aviation travel", "M2 13l20-9l-6 17l-4-7ZM12 14l10-10"},
	{"ship", "ship port export", "M3 14h18l-3 6H6ZM6 14V8h12v6M12 8V3"},
	{"people", "people population team customer employ worker job", "M9 4a3.500 3.500 0 1 0 0 7a3.500 3.500 0 1 0 0-7M2.500 20c0-4 3-6 6.500-6s6.500 2 6.500 6M16 4.500a3.200 3.200 0 0 1 0 6M18 14.500c2.300 .8 3.500 2.700 3.500 5.500"},
	{"person", "person user patient", "M12 3.500a4 4 0 1 0 0 8a4 4 0 1 0 0-8M4.500 21c0-4.500 3.500-7 7.500-7s7.500 2.500 7.500 7"},
	{"health", "health hospital medic", "M9 3h6v6h6v6h-6v6H9v-6H3V9h6Z"},
	{"money", "cost price money revenue budget invest profit dollar euro", "M2 6h20v12H2ZM12 9a3 3 0 1 0 0 6a3 3 0 1 0 0-6M5.500 9v.5M18.500 14.500v.5"},
	{"up", "growth grow rise rising increase", "M3 18L10 11l4 4L21 7M15 7h6v6"},
	{"down", "decline fall drop decrease", "M3 6L10 13l4-4L21 17M15 17h6v-6"},
	{"clock", "time hour minute speed", "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M12 7.500V12l3.500 2"},
	{"calendar", "year month date history", "M3 5h18v16H3ZM3 10h18M8 2.500v4M16 2.500v4"},
	{"globe", "world global country countries earth", "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18"},
	{"map", "region location place", "M12 21.500C7 15.500 5 12.500 5 9.500a7 7 0 0 1 14 0c0 3-2 6-7 12ZM12 7a2.500 2.500 0 1 0 0 5a2.500 2.500 0 1 0 0-5"},
	{"book", "study research education school report", "M12 6C9.500 4 6 3.500 3 4v15c3-.5 6.500 0 9 2c2.500-2 6-2.500 9-2V4c-3-.5-6.500 0-9 2v15"},
	{"idea", "idea innovation insight", "M9 18h6M10 21.500h4M12 2.500a6.500 6.500 0 0 0-4 11.500c.7 .7 1 1.500 1 2.500h6c0-1 .3-1.800 1-2.500a6.500 6.500 0 0 0-4-11.500Z"},
	{"gear", "technolog process machine", "M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8M12 2v4M12 18v4M2 12h4M18 12h4M5 5l2.800 2.800M16.200 16.200L19 19M5 19l2.800-2.800M16.200 7.800L19 5"},
	{"shield", "security safe protect", "M12 2.500l8 3v6c0 5-3.500 8.500-8 10c-4.500-1.500-8-5-8-10v-6ZM8.500 12l2.500 2.500l4.500-5"},
	{"warning", "risk warning danger disaster", "M12 3L22 20.500H2ZM12 9.500v5M12 17.500v.5"},
	{"check", "goal result done success", "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M7.500 12.500l3 3l6-7"},
	{"phone", "phone mobile", "M7 2h10v20H7ZM11 18.500h2"},
	{"computer", "computer digital software data", "M3 4h18v12H3ZM8 20.500h8M12 16v4.500"},
	{"cloud", "cloud carbon co2", "M7 19a5 5 0 0 1-.5-10A6 6 0 0 1 18 9.500a4.800 4.800 0 0 1-.5 9.500Z"},
	{"search", "search find", "M10.500 3.500a7 7 0 1 0 0 14a7 7 0 1 0 0-14M15.700 15.700L21.500 21.500"},
	{"cart", "sale shop market retail", "M2 3h3l3 12h10l3-9H6M9 18.500a1.500 1.500 0 1 0 0 3a1.500 1.500 0 1 0 0-3M17 18.500a1.500 1.500 0 1 0 0 3a1.500 1.500 0 1 0 0-3"},
	{"recycle", "recycl waste circular", "M7 8l5-5l5 5M12 3v8M4 13l-1 7l7-1M3 20l6-6M20 13l1 7l-7-1M21 20l-6-6"},
	{"chart", "share percent figure number", "M3 21h18M6 17v-6M11 17V5M16 17v-9"},
	{"heart", "", "M12 20.500C5 15 2.500 11.500 2.500 8a4.800 4.800 0 0 1 9.500-1.500A4.800 4.800 0 0 1 21.500 8c0 3.500-2.500 7-9.500 12.500Z"},
	{"star", "", "M12 2.500l2.900 6.100l6.600 .8l-4.900 4.600l1.300 6.600L12 17.300l-5.900 3.300l1.300-6.600L2.500 9.400l6.600-.8Z"},
	{"flag", "", "M5 22V3h13l-3 4.500l3 4.500H5"},
}

// Icons returns the names of the icons, sorted.
func Icons() []string {
	var out []string
	for _, i := range icons {
		out = append(out, i.name)
	}
	slices.Sort(out)
	return out
}

// iconFor returns the path of an icon by its name or by a word of the text beside it, or "" if none fits.
func iconFor(name, text string) string {
	name = strings.ToLower(name)
	for _, i := range icons {
		if i.name == name {
			return i.path
		}
	}
	for _, t := range []string{name, strings.ToLower(text)} {
		for _, i := range icons {
			if slices.ContainsFunc(strings.Fields(i.words), func(w string) bool { return strings.Contains(t, w) }) {
				return i.path
			}
		}
	}
	return ""
}
