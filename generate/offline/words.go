package offline

import (
	"strings"
	"unicode"
)

// motif is a thing that can be drawn.
type motif string

const (
	mMountain   motif = "mountain"
	mHill       motif = "hill"
	mSea        motif = "sea"
	mBeach      motif = "beach"
	mRiver      motif = "river"
	mForest     motif = "forest"
	mField      motif = "field"
	mDesert     motif = "desert"
	mIce        motif = "ice"
	mCity       motif = "city"
	mFuture     motif = "future"
	mEco        motif = "eco"
	mHouse      motif = "house"
	mFactory    motif = "factory"
	mNuclear    motif = "nuclear"
	mTurbine    motif = "turbine"
	mSolar      motif = "solar"
	mPylon      motif = "pylon"
	mDam        motif = "dam"
	mRoad       motif = "road"
	mBoat       motif = "boat"
	mLighthouse motif = "lighthouse"
	mHurricane  motif = "hurricane"
	mSpace      motif = "space"
	mEarth      motif = "earth"
	mFlower     motif = "flower"
	mTree       motif = "tree"
	mBird       motif = "bird"
	mPeople     motif = "people"
	mPortrait   motif = "portrait"
	mCloud      motif = "cloud"
	mSun        motif = "sun"
	mMoon       motif = "moon"
	mStar       motif = "star"
	mBalloon    motif = "balloon"
	mAurora     motif = "aurora"
	mSmoke      motif = "smoke"
	mChart      motif = "chart"
	mData       motif = "data"
	mEnergy     motif = "energy"
	mChange     motif = "change"
	mAbstract   motif = "abstract"
	mBauhaus    motif = "bauhaus"
	mPaper      motif = "paper"
	mFlow       motif = "flow"
	mOrb        motif = "orb"
)

// lexicon says which words name which motif, in the singular.
var lexicon = lexiconOf(map[motif]string{
	mMountain: "mountain peak summit alp alpine himalaya ridge cliff canyon glacier volcano", mHill: "hill valley countryside meadow landscape rolling scenery nature pastoral",
	mSea: "sea ocean wave coast coastal offshore island bay harbor harbour maritime water lake tide surf marine", mBeach: "beach shore sand seaside coastline",
	mRiver: "river stream creek waterfall brook delta", mForest: "forest wood woodland jungle rainforest pine taiga", mField: "field farm agriculture crop wheat rural prairie grassland vineyard harvest corn cornfield ethanol biomass",
	mDesert: "desert dune sahara arid drought oasis", mIce: "ice iceberg arctic antarctic polar snow glacier frozen winter", mCity: "city skyline town urban downtown skyscraper metropolis street cityscape tower office",
	mFuture: "future futuristic utopia tomorrow scifi cyberpunk smart", mEco: "eco ecological greenery garden vertical green-roof sustainable biophilic ecofriendly",
	mHouse: "house home cabin cottage village hut barn farmhouse building", mFactory: "factory coal plant refinery industry industrial chimney smokestack fossil gas oil emission pollution furnace steel",
	mNuclear: "nuclear reactor uranium", mTurbine: "turbine windmill windfarm wind", mSolar: "solar photovoltaic pv", mPylon: "pylon grid transmission powerline electricity voltage",
	mDam: "dam hydro hydropower hydroelectric reservoir", mRoad: "road highway car vehicle ev traffic path journey street motorway truck", mBoat: "boat ship sail sailboat sailing yacht ferry vessel",
	mLighthouse: "lighthouse beacon", mHurricane: "hurricane cyclone typhoon", mSpace: "space galaxy planet nebula cosmos cosmic universe astronaut saturn orbit asteroid mars", mEarth: "earth globe world global planetary",
	mFlower: "flower wildflower rose tulip blossom bouquet daisy poppy sunflower lavender bloom floral", mTree: "tree oak", mBird: "bird gull seagull eagle crane flock", mPeople: "people person crowd worker family child man woman engineer team human hiker",
	mPortrait: "portrait face headshot selfie profile", mCloud: "cloud cloudy", mSun: "sun sunshine", mMoon: "moon moonlight moonlit", mStar: "star starry", mBalloon: "balloon", mAurora: "aurora",
	mSmoke: "smoke smog steam", mChart: "chart graph growth statistic economy market finance stock price trend", mData: "data network ai digital technology algorithm blockchain software computer internet cyber quantum neural robot machine circuit",
	mEnergy: "energy power renewable", mChange: "transition transformation change evolution shift progress", mAbstract: "abstract concept conceptual metaphor idea symbol pattern texture background wallpaper",
	mBauhaus: "bauhaus geometric geometry cubist shape mosaic tile", mPaper: "papercut paper layered origami", mFlow: "flow fluid ribbon swirl wavy music sound jazz", mOrb: "orb sphere gradient bubble glass",
})

// phrases are read before single words.
var phrases = strings.NewReplacer(
	"hot air balloon", "balloon", "northern lights", "aurora", "power line", "powerline", "power station", "coal", "power plant", "coal",
	"wind power", "turbine", "wind energy", "turbine", "wind farm", "turbine", "solar farm", "solar field", "solar power", "solar", "green roof", "eco",
	"eco friendly", "eco", "eco-friendly", "eco", "eco house", "eco", "green building", "eco", "smart grid", "pylon data", "tropical storm", "hurricane",
	"nuclear power station", "nuclear", "nuclear power plant", "nuclear", "nuclear plant", "nuclear", "hydro power", "dam", "wood engraving", "engraving",
	"milky way", "star night", "golden hour", "golden", "blue hour", "dusk", "black and white", "monochrome", "paper cut", "paper", "paper-cut", "paper",
	"flow field", "flow", "line art", "minimalist", "power grid", "pylon", "sky scraper", "skyscraper", "solar system", "space planet", "sci-fi", "scifi",
)

func lexiconOf(m map[motif]string) map[string][]motif {
	out := map[string][]motif{}
	for k, list := range m {
		for w := range strings.FieldsSeq(list) {
			out[w] = append(out[w], k)
		}
	}
	return out
}

// words splits a text into lower-case words.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-'
	})
}

// singular undoes the plural of regular nouns.
func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 3:
		return w[:len(w)-1]
	}
	return w
}

// brief is what a prompt asks for.
type brief struct {
	motifs map[motif]bool
	order  []motif // in order of mention
	tags   map[string]bool
	hues   []rgba
}

func (b brief) has(m ...motif) bool {
	for _, k := range m {
		if b.motifs[k] {
			return true
		}
	}
	return false
}

func (b brief) tag(t string) bool { return b.tags[t] }

// readBrief reads a prompt. What it negates, and what the negative prompt names, is
// left out.
func readBrief(prompt, negative, style string) brief {
	b := brief{motifs: map[motif]bool{}, tags: map[string]bool{}}
	text := phrases.Replace(strings.Join(words(prompt+" "+style), " "))
	var avoid []string
	skip := 0
	for _, w := range strings.Fields(text) {
		switch w {
		case "no", "without", "not", "avoid", "excluding", "except":
			skip = 3
			continue
		case "and", "or", "but", "with", "in", "on", "at", "of":
			skip = max(0, skip-1)
			continue
		}
		if skip > 0 {
			skip--
			avoid = append(avoid, w)
			if len(lexicon[singular(w)]) > 0 {
				skip = 0
			}
			continue
		}
		b.word(w)
	}
	avoid = append(avoid, strings.Fields(phrases.Replace(strings.Join(words(negative), " ")))...)
	for _, w := range avoid {
		b.forget(w)
	}
	return b
}

func (b *brief) word(w string) {
	for part := range strings.SplitSeq(w, "-") {
		for _, v := range []string{part, singular(part)} {
			for _, m := range lexicon[v] {
				if !b.motifs[m] {
					b.order = append(b.order, m)
				}
				b.motifs[m] = true
			}
			if t, ok := tagWords[v]; ok {
				b.tags[t] = true
			}
			if c, ok := hueWords[v]; ok {
				b.hues = append(b.hues, hex(c))
				break
			}
		}
	}
}

func (b *brief) forget(w string) {
	for _, v := range []string{w, singular(w)} {
		for _, m := range lexicon[v] {
			delete(b.motifs, m)
			b.tags["no-"+string(m)] = true
		}
		delete(b.tags, tagWords[v])
	}
}

// tagWords are words of light, weather, season, mood and finish.
var tagWords = map[string]string{
	"sunrise": "sunrise", "dawn": "sunrise", "morning": "sunrise", "daybreak": "sunrise", "sunset": "sunset", "evening": "sunset", "dusk": "dusk", "twilight": "dusk",
	"night": "night", "midnight": "night", "nocturnal": "night", "starry": "night", "moonlit": "night", "moonlight": "night", "aurora": "night", "dark": "night",
	"golden": "golden", "afternoon": "golden", "noon": "day", "day": "day", "daylight": "day", "sunny": "day", "bright": "day", "blue-sky": "day", "summer": "summer",
	"storm": "storm", "stormy": "storm", "thunder": "storm", "lightning": "lightning", "thunderstorm": "lightning", "tempest": "storm", "rain": "rain", "rainy": "rain", "hurricane": "storm", "dramatic": "storm",
	"fog": "fog", "foggy": "fog", "mist": "fog", "misty": "fog", "haze": "fog", "hazy": "fog", "smog": "fog", "overcast": "fog", "gloomy": "fog", "smoky": "fog",
	"snow": "snow", "snowy": "snow", "winter": "snow", "snowfall": "snow", "autumn": "autumn", "fall": "autumn", "october": "autumn", "spring": "spring",
	"warm": "warm", "cozy": "warm", "hot": "warm", "heat": "warm", "cold": "cool", "cool": "cool", "calm": "cool", "pastel": "pastel", "soft": "pastel", "gentle": "pastel",
	"vibrant": "vivid", "vivid": "vivid", "colorful": "vivid", "colourful": "vivid", "neon": "vivid", "natural": "natural", "muted": "pastel",
	"monochrome": "mono", "grayscale": "mono", "greyscale": "mono", "noir": "mono", "sepia": "sepia", "vintage": "sepia", "retro": "sepia",
	"minimalist": "minimal", "minimal": "minimal", "simple": "minimal", "clean": "minimal", "flat": "flat", "vector": "flat",
	"watercolor": "watercolor", "watercolour": "watercolor", "painting": "watercolor", "painterly": "watercolor", "aquarelle": "watercolor", "film": "grain", "grainy": "grain", "photo": "grain",
}

// hueWords are the colours that people name.
var hueWords = map[string]uint32{
	"red": 0xd7263d, "crimson": 0xb0122f, "orange": 0xf5803e, "amber": 0xffb000, "yellow": 0xf7c948, "gold": 0xe0a526, "green": 0x3f9b57, "emerald": 0x109b6b, "lime": 0x9ccc3c,
	"mint": 0x8fd9b6, "teal": 0x1a8f8f, "turquoise": 0x2cc4c0, "cyan": 0x28b9d8, "blue": 0x2f6fd0, "navy": 0x1d2f6f, "indigo": 0x4b3fb5, "purple": 0x7d3fb0, "violet": 0x8e5bd6,
	"magenta": 0xc9309b, "pink": 0xf07fa8, "rose": 0xe06f86, "brown": 0x8a5a3b, "copper": 0xb8693d, "white": 0xf0f0ea, "grey": 0x8c9196, "gray": 0x8c9196, "black": 0x20242c, "lavender": 0xa08fe0, "coral": 0xff7f66,
}
