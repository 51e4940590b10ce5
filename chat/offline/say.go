package offline

import "cmp"

// DrawsEnglish and DrawsGerman list what the offline painter draws, for people.
const (
	DrawsEnglish = "the sea, beaches, mountains, hills, forests, trees, a city, houses, lighthouses, boats, wind turbines, solar panels, " +
		"green buildings, trains, birds, flowers, the sun, the moon, stars, clouds and abstract shapes"
	DrawsGerman = "das Meer, Strände, Berge, Hügel, Wälder, Bäume, eine Stadt, Häuser, Leuchttürme, Boote, Windräder, Solaranlagen, " +
		"begrünte Gebäude, Züge, Vögel, Blumen, die Sonne, den Mond, Sterne, Wolken und abstrakte Formen"
)

func (p wording) who() string {
	return p.Say("I am Atelier's offline model: I follow rules and am no language model, so I cannot hold a real conversation.", "Ich bin Ateliers Offline-Modell: Ich folge Regeln und bin kein Sprachmodell, ein echtes Gespräch kann ich nicht führen.")
}

func (p wording) canDraw() string {
	return p.Say("What I can draw offline: "+DrawsEnglish+", in any light, weather and season.", "Das kann ich offline zeichnen: "+DrawsGerman+", in jedem Licht, bei jedem Wetter und zu jeder Jahreszeit.")
}

func (p wording) canChange() string {
	return p.Say("I can change a whole picture: bluer, warmer, darker, brighter, black and white, night, sunset, winter; and add a boat, birds, a moon and other single things.", "Ein ganzes Bild kann ich ändern: blauer, wärmer, dunkler, heller, schwarz-weiß, Nacht, Sonnenuntergang, Winter; und ein Boot, Vögel, einen Mond und anderes Einzelne hinzufügen.")
}

// pixelWords are the German words for what pixels show.
var pixelWords = map[string]string{
	"red": "Rot", "orange": "Orange", "yellow": "Gelb", "green": "Grün", "turquoise": "Türkis", "blue": "Blau", "violet": "Violett", "pink": "Rosa", "brown": "Braun",
	"black": "Schwarz", "white": "Weiß", "grey": "Grau", "square": "quadratisch", "wide": "breit", "upright": "hoch", "very dark": "sehr dunkel", "dark": "dunkel",
	"of medium brightness": "mittelhell", "bright": "hell", "very bright": "sehr hell", "hardly any": "kaum", "little": "wenig", "medium": "mittlerem", "strong": "starkem",
	"different": "verschieden", "somewhat alike": "etwas ähnlich", "alike": "ähnlich", "nearly the same": "fast gleich",
}

func (p wording) word(english string) string {
	return p.Say(english, cmp.Or(pixelWords[english], english))
}
