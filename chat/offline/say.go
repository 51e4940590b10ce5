package offline

import (
	"strings"

	"atelier/internal/pattern"
)

// phrases are what this model says of pictures, in one language.
type phrases struct {
	who, noAnswer, canDraw, canChange, keys, and, theModel        string
	exact, cannotDraw, cannotChange, wholeOnly, noEditing         string
	made, altered, drawnFrom, unjudged, failed, partly, tooMany   string
	looks, colours, clear, likeness, same, pair, pixelsOnly       string
	words                                                         map[string]string // of pixels, from English; nil leaves them
	nothingToChange, noSuch, nothingYet, one, several, again, see string
}

// DrawsEnglish and DrawsGerman list what the offline painter draws, for people.
const (
	DrawsEnglish = "the sea, beaches, mountains, hills, forests, trees, fields, deserts, rivers, roads, a city, houses, lighthouses, boats, wind turbines, solar panels, power lines, " +
		"factories, green buildings, trains, balloons, birds, flowers, the sun, the moon, stars, clouds and abstract shapes"
	DrawsGerman = "das Meer, Strände, Berge, Hügel, Wälder, Bäume, Felder, Wüsten, Flüsse, Straßen, eine Stadt, Häuser, Leuchttürme, Boote, Windräder, Solaranlagen, Stromleitungen, " +
		"Fabriken, begrünte Gebäude, Züge, Ballons, Vögel, Blumen, die Sonne, den Mond, Sterne, Wolken und abstrakte Formen"
)

func english() phrases {
	return phrases{
		who:       "I am Atelier's offline model: I follow rules and am no language model, so I cannot hold a real conversation.",
		noAnswer:  "Offline, this question cannot be answered.",
		canDraw:   "What I can draw offline: " + DrawsEnglish + ", in any light, weather and season.",
		canChange: "I can change a whole picture: bluer, warmer, darker, brighter, black and white, night, sunset, winter; and add a boat, birds, a moon and other single things.",
		keys:      "Set OPENAI_API_KEY, GEMINI_API_KEY or ANTHROPIC_API_KEY to talk to a language model and to have anything painted.",
		and:       " and ", theModel: "the model",
		exact: "I can only paint here, and a painted chart or diagram shows made-up content. Ask the research-agent for a report with it, " +
			"with your data by --files, --db or in the task, or the infographic-agent for the drawing alone.",
		cannotDraw:   "Offline I cannot draw %s, so I made no picture.",
		cannotChange: "Offline I cannot make this change (%s), so the picture stays as it is.",
		wholeOnly:    "I cannot remove, replace or change a part of a picture.",
		noEditing:    "I cannot change pictures here: %s is not among my actions.",
		made:         "Here is the picture, made by %s.|Here are # pictures, made by %s.",
		altered:      "Here is a changed version, made by %s; the original stays as it was.|Here are # changed versions, made by %s; the original stays as it was.",
		drawnFrom:    "It follows these words: %s.",
		unjudged:     "Whether it shows what you asked for I cannot judge: I see only pixels.",
		failed:       "The picture could not be made: %s", partly: "Not everything came: %s.",
		tooMany:         "You asked for %d: %d are the most of one request.",
		nothingToChange: "There is no picture to change yet: give me one, or ask me to draw one first.",
		noSuch:          "There is no %s in this conversation.", nothingYet: "Nothing yet: there is no picture in this conversation. All pictures that are kept are listed by `atelier media list`.",
		one: "There is one picture", several: "There are %d pictures", again: "Here again:",
		looks: "%s is %d × %d pixels, %s, %s (%.0f of 100), with %s contrast.", colours: "Its colours: %s.", clear: "%.0f %% of it is transparent.",
		likeness: "%s (likeness %.0f of 100)", same: "the same, byte for byte", pair: "%s and %s are %s.",
		pixelsOnly: "I am Atelier's offline model and go by pixels alone: size, colours, brightness and likeness. What a picture shows I cannot tell; a language model with vision can.",
		see:        "I know them by their names and sizes; what they show, a language model that sees pictures can tell.",
	}
}

func german() phrases {
	return phrases{
		who:       "Ich bin Ateliers Offline-Modell: Ich folge Regeln und bin kein Sprachmodell, ein echtes Gespräch kann ich nicht führen.",
		noAnswer:  "Offline, this question cannot be answered. Offline lässt sich diese Frage nicht beantworten.",
		canDraw:   "Das kann ich offline zeichnen: " + DrawsGerman + ", in jedem Licht, bei jedem Wetter und zu jeder Jahreszeit.",
		canChange: "Ein ganzes Bild kann ich ändern: blauer, wärmer, dunkler, heller, schwarz-weiß, Nacht, Sonnenuntergang, Winter; und ein Boot, Vögel, einen Mond und anderes Einzelne hinzufügen.",
		keys:      "Mit OPENAI_API_KEY, GEMINI_API_KEY oder ANTHROPIC_API_KEY spricht hier ein Sprachmodell, und es lässt sich alles malen.",
		and:       " und ", theModel: "dem Modell",
		exact: "Ich kann hier nur malen, und ein gemaltes Diagramm zeigt erfundene Inhalte. Bitte den research-agent um einen Bericht damit, " +
			"mit Daten über --files, --db oder im Auftrag, oder den infographic-agent um die Zeichnung allein.",
		cannotDraw:   "Offline kann ich das nicht zeichnen: %s. Ich habe kein Bild gemacht.",
		cannotChange: "Offline kann ich diese Änderung nicht machen (%s); das Bild bleibt, wie es ist.",
		wholeOnly:    "Einen Teil eines Bildes entfernen, ersetzen oder ändern kann ich nicht.",
		noEditing:    "Ich kann hier keine Bilder ändern: %s gehört nicht zu meinen Aktionen.",
		made:         "Hier ist das Bild, gemacht von %s.|Hier sind # Bilder, gemacht von %s.",
		altered:      "Hier ist eine geänderte Fassung, gemacht von %s; das Original bleibt, wie es war.|Hier sind # geänderte Fassungen, gemacht von %s; das Original bleibt, wie es war.",
		drawnFrom:    "Es folgt diesen Wörtern: %s.",
		unjudged:     "Ob es das Gewünschte zeigt, kann ich nicht beurteilen: Ich sehe nur Pixel.",
		failed:       "Das Bild ließ sich nicht machen: %s", partly: "Nicht alles kam: %s.",
		tooMany:         "Gewünscht waren %d: Mehr als %d gehen nicht auf einmal.",
		nothingToChange: "Noch gibt es kein Bild, das ich ändern könnte: Gib mir eins, oder lass mich zuerst eins zeichnen.",
		noSuch:          "In diesem Gespräch gibt es kein %s.", nothingYet: "Noch nichts: In diesem Gespräch gibt es kein Bild. Alle aufbewahrten Bilder listet `atelier media list`.",
		one: "Es gibt ein Bild", several: "Es gibt %d Bilder", again: "Hier noch einmal:",
		looks: "%s hat %d × %d Pixel, ist %s, %s (%.0f von 100), mit %s Kontrast.", colours: "Seine Farben: %s.", clear: "%.0f %% davon sind durchsichtig.",
		likeness: "%s (Ähnlichkeit %.0f von 100)", same: "dasselbe, Byte für Byte", pair: "%s und %s sind %s.",
		pixelsOnly: "Ich bin Ateliers Offline-Modell und sehe nur Pixel: Größe, Farben, Helligkeit und Ähnlichkeit. Was ein Bild zeigt, kann ein Sprachmodell sagen, das Bilder sieht.",
		words: map[string]string{
			"red": "Rot", "orange": "Orange", "yellow": "Gelb", "green": "Grün", "turquoise": "Türkis", "blue": "Blau", "violet": "Violett", "pink": "Rosa", "brown": "Braun",
			"black": "Schwarz", "white": "Weiß", "grey": "Grau", "square": "quadratisch", "wide": "breit", "upright": "hoch", "very dark": "sehr dunkel", "dark": "dunkel",
			"of medium brightness": "mittelhell", "bright": "hell", "very bright": "sehr hell", "hardly any": "kaum", "little": "wenig", "medium": "mittlerem", "strong": "starkem",
			"different": "verschieden", "somewhat alike": "etwas ähnlich", "alike": "ähnlich", "nearly the same": "fast gleich",
		},
		see: "Ich kenne sie nach Namen und Größe; was sie zeigen, kann ein Sprachmodell sagen, das Bilder sieht.",
	}
}

var (
	germanWord  = pattern.Lazy(`(?i)[äöüß]|\b(?:der|die|das|den|dem|ein|eine|einen|einem|und|ist|sind|im|am|auf|mit|von|vom|zum|zur|für|bitte|mir|mich|mein|meine|zeichne|male|mal|mach|mache|zeig|zeige|welche|was|wer|wie|warum|wo|nicht|kein|keine|hast|hat|es|bild|bilder|bei|hallo|guten)\b`)
	englishWord = pattern.Lazy(`(?i)\b(?:the|a|an|and|is|are|of|in|on|at|with|please|me|my|draw|make|paint|show|what|who|how|why|where|which|it|you|have|add|to|for|into|picture|pictures)\b`)
)

// speak chooses the language of a text: German where it has more German words than English ones.
func speak(text string) phrases {
	if len(germanWord().FindAllString(text, -1)) > len(englishWord().FindAllString(text, -1)) {
		return german()
	}
	return english()
}

// word is a word for what pixels tell.
func (p phrases) word(english string) string {
	if w, ok := p.words[english]; ok {
		return w
	}
	return english
}

// list joins words: cats, sofa and piano.
func (p phrases) list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + p.and + words[last]
}
