package question

import (
	"strings"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

const shown = `(?:charts?|graphs?|plots?|diagrams?|infographics?|illustrations?|images?|pictures?|photos?|drawings?|visuals?|visuali[sz]ations?|tables?|\p{L}*diagramm\w*|grafik\w*|bild\w*|illustration\w*|abbildung\w*|schaubild\w*|zeichnung\w*|infografik\w*)`

var sentenceBreak = pattern.Lazy(`[?!]+["”“]?(?:\s+|$)|\.["”“]?(?:\s+|$)|;\s+|\n+`)

// wish matches a sentence about how the report looks.
var wish = pattern.Lazy(`(?i)^(?:please\s+|bitte\s+|also\s+|and\s+|und\s+)*(?:include|add|insert|embed|draw|paint|illustrate|use|make it|keep it|write (?:it|in)|answer in|füge|zeichne|male|illustriere|mit|with|verwende|schreibe|antworte|including|that (?:has|includes)|samt)\b.*|^(?:make|create|produce|give|show|erstelle|mache?|zeige?)\s+(?:me\s+|us\s+|mir\s+|uns\s+)?(?:an?|the|one|ein|eine|einen|das)\s+(?:[\p{L}-]+\s+){0,2}?` + shown + `\b.*|^(?:no|without|keine?n?|ohne)\s+(?:[\p{L}-]+\s+){0,3}?` + shown + `\W*$|^(?:an?\s+|eine?n?\s+)?(?:(?:bar|line|pie|area|column)\s+)?` + shown + `(?:,?\s+(?:please|bitte))?\W*$`)

// withWhom matches a question that begins like a wish.
var withWhom = pattern.Lazy(`(?i)^(?:with|mit)\s+(?:which|what|whom|welche[rmn]?|wem|wie|was)\b`)

// wishTail matches a wish after a question.
var wishTail = pattern.Lazy(`(?i)[,;]?\s+(?:and\s+|und\s+)?(?:with|including|include|add|plus|draw|show|make|create|as|als|mit|samt|inklusive|einschließlich)\s+(?:(?:me|it|this|that|as|mir|das)\s+)*(?:an?\s+|one\s+|some\s+|the\s+|einem\s+|einer\s+|ein\s+|eine\s+|two\s+|three\s+|\d+(?:-\d+)?\s+|zwei\s+)?(?:[\w-]+\s+){0,3}` + shown + `\b[^?]*$`)

var asks = pattern.Lazy(`(?i)\b(?:which|what|who|whom|whose|how|when|where|why|welche[rsnm]?|wie|wer|wen|wem|was|wann|wo|warum)\b`)

// andAsk matches another question in the same sentence.
var andAsk = pattern.Lazy(`(?i)(?:,?\s+(?:and|und|&)\s+((?:in|at|on|zu|seit|since|by|um|für|mit|bei|an|auf|for|from|with|aus|von)?\s*\b(?:how|what|which|who|when|where|why|wie|welche[rsnm]?|was|wer|wann|wo|warum)\b)|,\s+((?:in which|how (?:much|many|did|has|have)|what (?:is|was|were|share|percentage)|which|in welche[mnr]|wie (?:viele?|hoch|hat)|welche[rsnm]?)\b))`)

var order = pattern.Lazy(`(?i)^(?:please\s+|bitte\s+)?(?:(?:can|could|would) you\s+(?:please\s+)?)?(?:create|write|make|prepare|draft|produce|generate|compile|give|erstelle|schreibe|verfasse|mache)\s+(?:me\s+|us\s+|mir\s+|uns\s+)?(?:an?\s+|the\s+|einen\s+|eine\s+|ein\s+)?(?:[\p{L}-]+\s+){0,3}?(?:report|analysis|overview|summary|study|bericht|analyse|überblick|übersicht|zusammenfassung)(?:\s+report)?\s*(?:on|about|of|regarding|that answers|answering|über|zu|zum|zur|von)?:?\s*`)

// bareOrder matches an order without its verb: a report on sales.
var bareOrder = pattern.Lazy(`(?i)^(?:an?|the|one|ein|eine|einen)\s+(?:[\p{L}-]+\s+){0,2}?(?:report|overview|summary|study|bericht|überblick|übersicht|zusammenfassung)\s+(?:on|about|of|regarding|über|zu|zum|zur|von)\s+`)

// chartOf matches a chart whose subject is the question if nothing else is asked.
var chartOf = pattern.Lazy(`(?i)\b(?:charts?|graphs?|plots?|[\p{L}]*diagramme?)\s+(?:of|showing|for|comparing|von|vom|des|der|zum|zur|über|mit)\s+(?:the\s+)?([^,.:;?!]+?)(?:\s+(?:and|with|und|mit)\s|[,.:;?!]|$)`)

// plot matches an order to draw what follows.
var plot = pattern.Lazy(`(?i)^(?:plot|visuali[sz]e)\s+(?:(?:the|our|my)\s+)?`)

var polite = pattern.Lazy(`(?i)^(?:please|bitte|hi|hello|hallo|hey|ok|okay)[,!]?\s+|^(?:can|could|would) you (?:please )?(?:tell me|say|show me|find out|check|calculate|compute)\s+|^(?:tell me|i want to know|i would like to know|i need to know|we need to know|let me know|do you know|kannst du (?:mir )?(?:sagen|zeigen)|können sie (?:mir )?(?:sagen|zeigen)|ich möchte wissen|sag mir|sagen sie mir|weißt du)[,:]?\s+`)

// Parts splits a task into the questions that it asks. It leaves out wishes about charts,
// pictures and the form of the report.
func Parts(task string) []string {
	var out []string
	for _, p := range parts(task) {
		out = append(out, p.text)
	}
	return out
}

// part is one question; follows means that it continues the one before it.
type part struct {
	text    string
	follows bool
}

func parts(task string) []part {
	var out []part
	for _, s := range splitSentences(task) {
		s = strings.TrimSpace(s)
		s = bareOrder().ReplaceAllString(order().ReplaceAllString(s, ""), "")
		for polite().MatchString(s) {
			s = polite().ReplaceAllString(s, "")
		}
		s = plot().ReplaceAllString(s, "list ")
		if s == "" || wish().MatchString(s) && !withWhom().MatchString(s) {
			continue
		}
		s = wishTail().ReplaceAllString(s, "")
		follows := false
		for at := andAsk().FindStringSubmatchIndex(s); at != nil; at = andAsk().FindStringSubmatchIndex(s) {
			head := strings.Trim(s[:at[0]], " ,")
			if head != "" && !asks().MatchString(head) {
				break // on average, how much
			}
			if head != "" {
				out = append(out, part{text: head, follows: follows})
			}
			s, follows = s[max(at[2], at[4]):], true
		}
		if s = strings.Trim(s, " ,.:"); s != "" {
			out = append(out, part{text: s, follows: follows})
		}
	}
	if m := chartOf().FindStringSubmatch(task); m != nil && len(out) == 0 {
		out = append(out, part{text: "list " + m[1]})
	}
	return out
}

// splitSentences splits a text at the ends of sentences, but not within abbreviations and numbers.
func splitSentences(text string) []string {
	var out []string
	from := 0
	for _, at := range sentenceBreak().FindAllStringIndex(text, -1) {
		head := text[from:at[0]]
		if text[at[0]] == '.' && speech.Abbreviated(head, text[at[1]:]) {
			continue
		}
		out = append(out, head)
		from = at[1]
	}
	return append(out, text[from:])
}
