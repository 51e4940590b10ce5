package question_test

import "testing"

// TestAnswersAreSentences: each kind of answer is a sentence of its language, with verbs and adjectives that fit the
// name of the column.
func TestAnswersAreSentences(t *testing.T) {
	t.Parallel()
	f := load(t, map[string]string{"sales": "Day|date,Region|text,Product|text,Revenue|number|€,Visitors|integer,Temp|number|°C,Paid|boolean\n" +
		"2023-01-05,North,Lamp,100.5,10,1.5,yes\n2023-02-05,South,Lamp,300,40,2.5,no\n2024-01-05,South,Chair,200,20,3.5,yes\n2024-03-05,North,Chair,50,5,0.5,yes\n"})
	for q, want := range map[string]string{
		"In which year were the most visitors?":           "Visitors were highest in 2023: 50.",
		"On which day was temp lowest?":                   "Temp was lowest on 5 March 2024: 0.5 °C.",
		"Which region had the most visitors?":             "South has the most visitors: 60.",
		"Which region had the highest revenue?":           "South has the highest total revenue: 500 €.",
		"Which region has the highest average temp?":      "South has the highest mean temp: 3 °C.",
		"How many visitors were there in 2023?":           "The total number of visitors in 2023 is 50.",
		"How many visitors were there on 5 January 2024?": "The number of visitors on 5 January 2024 is 20.",
		"What is the total revenue in 2024?":              "The total revenue in 2024 is 250 €.",
		"What is the average temp?":                       "The mean temp is 2 °C, from 4 values.",
		"What share of revenue comes from South?":         "Region: South makes up 76.86 %: 500 € of 650.50 € (revenue).",
		"How many rows are paid?":                         "3 of 4 rows match (Paid = yes).",
		"How many rows are not paid?":                     "1 of 4 rows matches (Paid = no).",
		"Wie viele Zeilen sind nicht Paid?":               "Es passt 1 von 4 Zeilen (Paid = nein).",
		"What is the total revenue by region?":            "Total revenue by region – South: 500 €; North: 150.50 €.",
		"What are the visitors by year?":                  "Total visitors by year – 2023: 50; 2024: 25.",
		"What is the revenue by month?":                   "Total revenue by month – January 2023: 100.50 €; February 2023: 300 €; January 2024: 200 €; March 2024: 50 €.",
		"What are the top two regions by visitors?":       "South (60) and North (15) have the most visitors.",
	} {
		if got := f.answerTo(q); got != want {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
	f = load(t, map[string]string{"umsatz": "Datum|date,Filiale|text,Umsatz|number|€,Besucher|integer,Wartezeit|number|min,Xyz|integer,Bezahlt|boolean\n" +
		"2023-01-05,Mitte,100.5,10,1.5,5,yes\n2023-02-05,Nord,300,40,2.5,7,no\n2024-01-05,Nord,200,20,3.5,9,no\n2024-03-05,Mitte,50,5,0.5,1,yes\n"})
	for q, want := range map[string]string{
		"Welche Filiale hat den höchsten Umsatz?":            "Nord hat insgesamt bei Umsatz den höchsten Wert: 500 €.",
		"In welchem Monat war der Umsatz am höchsten?":       "Bei Umsatz liegt der höchste Wert im Februar 2023: 300 €.",
		"In welchem Jahr kamen die meisten Besucher?":        "Bei Besucher liegt insgesamt der höchste Wert im Jahr 2023: 50.",
		"Welche Filiale hat die meisten Besucher?":           "Nord hat insgesamt bei Besucher den höchsten Wert: 60.",
		"Welche Filiale hat die höchste mittlere Wartezeit?": "Nord hat im Mittel bei Wartezeit den höchsten Wert: 3 min.",
		"Welche Filiale hat den höchsten Xyz?":               "Nord hat insgesamt bei Xyz den höchsten Wert: 16.",
		"Wie hoch ist der Umsatz 2024?":                      "Die Summe von Umsatz im Jahr 2024 beträgt 250 €.",
		"Wie hoch ist die durchschnittliche Wartezeit?":      "Der Mittelwert von Wartezeit beträgt 2 min, aus 4 Werten.",
		"Wie viele Besucher kamen 2023?":                     "Die Summe von Besucher im Jahr 2023 beträgt 50.",
		"Wie viele Zeilen sind nicht bezahlt?":               "Es sind 2 Zeilen (Bezahlt = nein), von insgesamt 4.",
		"Wie hoch ist der Anteil von Nord am Umsatz?":        "Auf Filiale: Nord entfallen 76,86 %: 500 € von 650,50 € (Umsatz).",
	} {
		if got := f.answerTo(q); got != want {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
	f = load(t, map[string]string{"shelf": "Item|text,In stock|integer,Built|date,Baujahr|integer\nLamp,5,2020-01-05,1998\nChair,12,2001-01-05,2004\n"})
	for q, want := range map[string]string{
		"Which item has the most in stock?":        "Chair has the highest in stock: 12.",
		"Which item has the earliest built?":       "Chair has the earliest built: 5 January 2001.",
		"Welches Item hat das niedrigste Baujahr?": "Lamp hat bei Baujahr den frühesten Wert: 1998.",
	} {
		if got := f.answerTo(q); got != want {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
	f = load(t, map[string]string{"deaths": "Year|integer,Place|text,Deaths|integer\n1990,A,5\n1990,B,5\n1980,A,100\n1980,B,5\n2000,A,40\n2000,B,5\n"})
	if got, want := f.answerTo("What are the total deaths by year?"), "Total deaths by year – 1980: 105; 1990: 10; 2000: 45."; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	f = load(t, map[string]string{"temps": "Jahr|integer,temp|number\n2022,1.1\n2023,1.2\n"})
	readings := f.ask("In welchem Jahr war temp am höchsten?")
	if len(readings) != 1 || readings[0].Answer == nil || readings[0].Answer.Heading != "Höchster Wert temp nach Jahr" {
		t.Errorf("%+v", readings)
	}
}

// TestDifferencesFitTheirValues: the difference that a sentence states is that of the values that it states.
func TestDifferencesFitTheirValues(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"air": "day|date,co2|number,level|number\n2019-01-05,315.977,12.34\n2019-02-05,315.98633333,12.3502\n2020-01-05,411.49,12.36\n2020-02-05,411.5,12.3804\n"}).expect([]inquiry{
		{"How did the average co2 change from 2019 to 2020?", "rose from 315.982 in 2019 to 411.495 in 2020 (+95.513, +30.23 %)"},
		{"By how much did the average co2 rise from 2019 to 2020?", "rose by 95.513, from 315.982 in 2019 to 411.495 in 2020"},
		{"How did the average level change from 2019 to 2020?", "rose from 12.3451 in 2019 to 12.3702 in 2020 (+0.0251, "},
		{"Wie hat sich der durchschnittliche co2 von 2019 bis 2020 verändert?", "Der Mittelwert von co2 stieg von 315,982 (2019) auf 411,495 (2020) (+95,513, +30,23 %)."},
	})
	load(t, map[string]string{"trips": "car|text,km|number\nA,1.0055\nA,2.0055\nB,0.5012\nB,1.0012\n", "sums": "year|integer,fee|number\n2022,0.1\n2022,0.2\n2023,0.3\n"}).expect([]inquiry{
		{"Compare the average km of A and B.", "A: 1.5055; B: 0.7512. A is 0.7543 above B."},
		{"How did the total fee change from 2022 to 2023?", "was 0.3 at both times"},
	})
}
