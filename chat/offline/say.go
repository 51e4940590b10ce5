package offline

import (
	"cmp"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// phrases are the texts of this model about pictures, in one language.
type phrases struct{ speech.Language }

// DrawsEnglish and DrawsGerman list what the offline painter draws, for people.
const (
	DrawsEnglish = "the sea, beaches, mountains, hills, forests, trees, fields, deserts, rivers, roads, a city, houses, lighthouses, boats, wind turbines, solar panels, power lines, " +
		"factories, green buildings, trains, balloons, birds, flowers, the sun, the moon, stars, clouds and abstract shapes"
	DrawsGerman = "das Meer, Strände, Berge, Hügel, Wälder, Bäume, Felder, Wüsten, Flüsse, Straßen, eine Stadt, Häuser, Leuchttürme, Boote, Windräder, Solaranlagen, Stromleitungen, " +
		"Fabriken, begrünte Gebäude, Züge, Ballons, Vögel, Blumen, die Sonne, den Mond, Sterne, Wolken und abstrakte Formen"
)

func (p phrases) who() string {
	return p.Say("I am Atelier's offline model: I follow rules and am no language model, so I cannot hold a real conversation.", "Ich bin Ateliers Offline-Modell: Ich folge Regeln und bin kein Sprachmodell, ein echtes Gespräch kann ich nicht führen.")
}

func (p phrases) canDraw() string {
	return p.Say("What I can draw offline: "+DrawsEnglish+", in any light, weather and season.", "Das kann ich offline zeichnen: "+DrawsGerman+", in jedem Licht, bei jedem Wetter und zu jeder Jahreszeit.")
}

func (p phrases) canChange() string {
	return p.Say("I can change a whole picture: bluer, warmer, darker, brighter, black and white, night, sunset, winter; and add a boat, birds, a moon and other single things.", "Ein ganzes Bild kann ich ändern: blauer, wärmer, dunkler, heller, schwarz-weiß, Nacht, Sonnenuntergang, Winter; und ein Boot, Vögel, einen Mond und anderes Einzelne hinzufügen.")
}

// pixelWords are the German words for what pixels show.
var pixelWords = map[string]string{
	"red": "Rot", "orange": "Orange", "yellow": "Gelb", "green": "Grün", "turquoise": "Türkis", "blue": "Blau", "violet": "Violett", "pink": "Rosa", "brown": "Braun",
	"black": "Schwarz", "white": "Weiß", "grey": "Grau", "square": "quadratisch", "wide": "breit", "upright": "hoch", "very dark": "sehr dunkel", "dark": "dunkel",
	"of medium brightness": "mittelhell", "bright": "hell", "very bright": "sehr hell", "hardly any": "kaum", "little": "wenig", "medium": "mittlerem", "strong": "starkem",
	"different": "verschieden", "somewhat alike": "etwas ähnlich", "alike": "ähnlich", "nearly the same": "fast gleich",
}

var (
	germanWord  = pattern.Lazy(`(?i)[äöüß]|\b(?:der|die|das|den|dem|ein|eine|einen|einem|und|ist|sind|im|am|auf|mit|von|vom|zum|zur|für|bitte|mir|mich|mein|meine|zeichne|male|mal|mach|mache|zeig|zeige|welche|was|wer|wie|warum|wo|nicht|kein|keine|hast|hat|es|bild|bilder|bei|hallo|guten)\b`)
	englishWord = pattern.Lazy(`(?i)\b(?:the|a|an|and|is|are|of|in|on|at|with|please|me|my|draw|make|paint|show|what|who|how|why|where|which|it|you|have|add|to|for|into|picture|pictures)\b`)
)

// speak returns the phrases in the language of a text: German if it has more German words than English ones.
func speak(text string) phrases {
	if len(germanWord().FindAllString(text, -1)) > len(englishWord().FindAllString(text, -1)) {
		return phrases{speech.German}
	}
	return phrases{speech.English}
}

func (p phrases) word(english string) string {
	return p.Say(english, cmp.Or(pixelWords[english], english))
}
