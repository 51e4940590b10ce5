package question_test

import (
	"strings"
	"testing"
)

// inquiry is a question with a part of its answer, or "-" if it must be refused.
type inquiry struct{ ask, want string }

func (f *folder) expect(cases []inquiry) {
	f.t.Helper()
	for _, c := range cases {
		if got := f.answerTo(c.ask); !strings.Contains(strings.ToLower(got), strings.ToLower(c.want)) || strings.HasPrefix(c.want, "-") != strings.HasPrefix(got, "-") {
			f.t.Errorf("%s\n got %s\nwant %s", c.ask, got, c.want)
		}
	}
}

func TestLightVerbsAndUnits(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"pledges": "Pledge|integer,Backer|text,Day|date,Amount (USD)|number|USD\n" +
		"1,Ida,2024-01-02,50\n2,Jon,2024-01-09,120\n3,Kay,2024-02-11,300\n4,Ida,2024-02-20,30\n"}).expect([]inquiry{
		{"How many pledges were above 100 dollars?", "2 of 4"},
		{"How many dollars did people pledge altogether?", "500"},
		{"How many different backers do we have?", "3"},
		{"How many euros did people pledge altogether?", "-"},
		{"How much did Max give us in total?", "-"},
	})
	load(t, map[string]string{"charging": "Session|text,Started|datetime,Energy (kWh)|number|kWh,Duration_min|integer|min,Driver|text\n" +
		"S1,2024-07-01 08:00:00,10.5,60,Lou\nS2,2024-07-03 09:00:00,20,90,Mia\nS3,2024-08-03 09:00:00,5,30,Lou\n"}).expect([]inquiry{
		{"How many kWh did people charge in July 2024?", "30.5 kWh"},
		{"How many litres did people charge in July 2024?", "-"},
	})
	load(t, map[string]string{"hives": "Hive|text,Year|integer,Honey|number\nOak,2022,11\nOak,2023,14\nElm,2022,20\nElm,2023,9\n"}).expect([]inquiry{
		{"Which hive gave the most honey in 2023?", "Oak"},
		{"Welcher Hive brachte 2022 den meisten Honey?", "Elm"},
		{"Which hive gave the most wax in 2023?", "-"},
	})
	load(t, map[string]string{"umzug": "Posten|text,Betrag (€)|number|€\nTransporter,120.5\nKartons,40\nPizza,39.5\n"}).expect([]inquiry{
		{"Wie viel hat unser Umzug insgesamt gekostet?", "200"},
		{"How much did the Transporter cost?", "120.50"},
		{"Was hat uns der Transporter gekostet?", "120,50"},
	})
}

func TestCodedValuesAndAdjectives(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"rechnungen": "Nr|text,Kunde|text,Betrag|number|€,Status|text\nR1,Abel,100,offen\nR2,Bock,50,bezahlt\nR3,Abel,70,offen\n"}).expect([]inquiry{
		{"Wie hoch ist die Summe der offenen Rechnungen?", "170"},
		{"Wie viele offene Rechnungen gibt es?", "2"},
		{"Wie viele bezahlte Rechnungen haben wir?", "1"},
		{"Wie hoch ist die Summe der stornierten Rechnungen?", "-"},
	})
	load(t, map[string]string{"run": "Place|integer,Bib|integer,Name|text,Sex|text,Finish time|text,Club|text\n1,77,Max Ode,M,0:31:10,Hill\n2,12,Eva Lin,F,0:33:40,Lake\n3,15,Ron Ash,M,0:35:02,Lake\n4,40,Una Fox,F,0:36:00,Hill\n"}).expect([]inquiry{
		{"How many women ran?", "2 of 4"},
		{"Who was the oldest woman?", "-"},
		{"Which club did Una Fox run for?", "Hill"},
	})
	load(t, map[string]string{"survey": "Respondent|integer,Satisfaction (1-10)|integer,Recommend|text,Workload rating|integer\n1,8,yes,3\n2,6,no,4\n3,10,yes,5\n4,8,yes,2\n"}).expect([]inquiry{
		{"How satisfied are our customers on average?", "8"},
		{"What percentage of respondents would recommend us?", "75"},
		{"How happy are our neighbours with the weather on average?", "-"},
	})
	load(t, map[string]string{"umfrage": "Nr|integer,Zufriedenheit (1-10)|integer,Weiterempfehlung|text\n1,8,ja\n2,6,nein\n3,10,ja\n4,8,ja\n"}).expect([]inquiry{
		{"Wie zufrieden sind unsere Kunden im Durchschnitt?", "8"},
		{"Wie viel Prozent der Befragten würden uns weiterempfehlen?", "75"},
		{"Wie viele Befragte würden uns nicht weiterempfehlen?", "1"},
	})
	load(t, map[string]string{"fines": "Fine|text,Reason|text,Amount|number|€\nF1,Expired meter,20\nF2,Double parking,55\nF3,Expired meter,25\n"}).expect([]inquiry{
		{"How many fines were given for double parking?", "1"},
		{"What do the fines for speeding add up to?", "-"},
	})
}

func TestRanksByVerbsAndAdjectives(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"episodes": "number|integer,title|text,stats.downloads|integer,minutes|integer\n1,Frost,900,30\n2,Rain,1400,44\n3,Heat,1100,51\n"}).expect([]inquiry{
		{"Which episode has been downloaded the most?", "Rain"},
		{"Which episode was downloaded most?", "Rain"},
		{"What is the longest episode?", "Heat"},
		{"Which episode has been shared the most?", "-"},
	})
	load(t, map[string]string{"loans": "Lent on|date,Tool|text,Member|text\n2024-01-01,Saw,Ann\n2024-01-02,Drill,Bo\n2024-01-05,Saw,Cy\n2024-01-09,Drill,Ann\n2024-02-01,Saw,Ann\n2024-02-03,Jack,Bo\n"}).expect([]inquiry{
		{"What are our two most borrowed tools?", "Saw"},
		{"Which tool was borrowed most often?", "Saw"},
		{"Who borrowed the most tools?", "Ann"},
		{"Who broke the most tools?", "-"},
	})
	load(t, map[string]string{"players": "Fide id|integer,Player|text,Federation|text,Rating|integer\n101,Aas,Norway,2600\n102,Bo,Norway,2831\n103,Chen,China,2750\n"}).expect([]inquiry{
		{"Who is the highest rated player from Norway?", "Bo"},
		{"Which player from China has the best rating?", "Chen"},
		{"Who is the best paid player from Norway?", "-"},
	})
	load(t, map[string]string{"staff": "No|integer,First|text,Name|text,Site|text,Salary|integer,Joined|date,Born|date\n11,Al,Roe,Leeds,41000,2019-02-01,1990-01-01\n12,Bea,Sun,York,52000,2021-02-01,1985-05-05\n13,Cas,Tan,York,47000,2015-06-01,1979-09-09\n"}).expect([]inquiry{
		{"Who is the best paid person in York?", "Sun"},
		{"Who is the oldest?", "Tan"},
		{"Who joined last?", "Sun"},
		{"When did Tan join?", "1 June 2015"},
		{"How many people joined after 2018?", "2"},
		{"Who is the tallest person in York?", "-"},
	})
	load(t, map[string]string{"cars": "Model|text,Price|number|€,Top speed|integer|km/h,Weight_kg|integer|kg,0-100 time (s)|number|s\nAria,21000,170,1100,11\nBolt,35000,210,1500,7.5\nCirc,28000,190,1700,9\n"}).expect([]inquiry{
		{"What's the heaviest car?", "Circ"},
		{"Which model is the cheapest?", "Aria"},
		{"Which model weighs the least?", "Aria"},
		{"How much does the Bolt weigh?", "1,500"},
		{"What are the two most expensive models?", "Bolt"},
		{"Which model is the most reliable?", "-"},
	})
}

// TestAdjectivesNameAttributes: the longest bill is one of bill length.
func TestAdjectivesNameAttributes(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"birds": "species|text,island|text,bill_length_mm|number,bill_depth_mm|number,flipper_length_mm|integer\nAdelie,Dream,38.5,18,190\nAdelie,Biscoe,41,19,188\nGentoo,Biscoe,46,14,217\nGentoo,Biscoe,49,15,222\n"}).expect([]inquiry{
		{"Which species has the longest bills on average?", "47.5"},
		{"Which species has the longest flippers on average?", "219.5"},
		{"Which island has the shortest bill on average?", "38.5"},
		{"Which species has the longest wings on average?", "-"},
		{"Which species has the heaviest bill on average?", "-"},
	})
	load(t, map[string]string{"app": "time|date,level|text,component|text,text|text\n2025-02-03,INFO,auth,served\n2025-02-03,WARN,auth,slow\n2025-02-04,WARN,billing,slow\n2025-02-04,ERROR,auth,failed\n"}).expect([]inquiry{
		{"How many warnings were logged?", "2"},
		{"How many warnings came from billing?", "1"},
		{"How many alerts came from billing?", "-"},
	})
}

func TestLookupsByKeysAndAdjacency(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"articles": "Référence|text,Désignation|text,Prix HT|number|€,Stock|integer\n00417,Vis,3.5,0\n00418,Clou,2.25,40\n"}).expect([]inquiry{
		{"What is the Prix HT of the article with Référence 00417?", "3.50"},
		{"Which articles are out of stock?", "Vis"},
		{"How many pieces of 00418 are in stock?", "40"},
		{"What is the Prix HT of the article with Référence 99999?", "-"},
	})
	load(t, map[string]string{"abteilungen": "Abteilung|text,Mitglieder|integer,Beitrag (€)|number|€\nTurnen,80,9\nSchach,20,6.5\n"}).expect([]inquiry{
		{"Wie viele Mitglieder hat die Abteilung Turnen?", "80"},
		{"Wie hoch ist der Beitrag für Schach?", "6,50"},
		{"Wie viele Mitglieder hat die Abteilung Fußball?", "-"},
	})
	load(t, map[string]string{"urlaub": "Vorname|text,Nachname|text,Urlaubstage|integer,Resturlaub|integer\nAyşe,Kühn,30,12\nTom,Beck,28,3\n"}).expect([]inquiry{
		{"Wie viele Urlaubstage hat Tom Beck?", "28"},
	})
	load(t, map[string]string{"ponds": "Site|text,Date|date,pH|number,Temp (°C)|number|°C\nMill Creek,2024-01-01,7.1,4\nMill Creek,2024-02-01,7.3,5\nFar Pond,2024-01-01,6.5,3\n"}).expect([]inquiry{
		{"What's the average pH at Mill Creek?", "7.2"},
		{"What's the pH of Mill Creek in February 2024?", "7.3"},
		{"What's the average salinity at Mill Creek?", "-"},
	})
}

func TestSharesTimesAndDifferences(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"canteen": "Date|date,Menu|text,Meals served|integer\n2024-01-02,Meat,60\n2024-01-02,Vegetarian,20\n2024-01-03,Meat,80\n2024-01-03,Vegetarian,40\n"}).expect([]inquiry{
		{"What percentage of the meals served were vegetarian?", "30 %"},
		{"What percentage of the meals served were vegan?", "-"},
	})
	load(t, map[string]string{"weather": "Date|date,Low (°C)|number|°C,High (°C)|number|°C\n2024-01-01,-3,4\n2024-01-02,1,6\n2024-01-03,-1,2\n"}).expect([]inquiry{
		{"On how many days was the low below 0?", "2"},
		{"An wie vielen Tagen lag der Low unter 0 Grad?", "2"},
	})
	load(t, map[string]string{"sales": "Date|date,Shop|text,Bottles|integer,Revenue|number|€\n2024-01-05,A,3,30\n2024-05-05,A,5,50\n2024-08-05,B,7,70\n2024-09-30,B,1,10\n"}).expect([]inquiry{
		{"How many bottles were sold in the third quarter of 2024?", "8"},
		{"How much revenue did we make in the first half of 2024?", "80"},
		{"Wie hoch war der Umsatz im 3. Quartal 2024?", "80"},
		{"Which shop brought in the most money?", "A"},
	})
	load(t, map[string]string{
		"stays_2021": "Guest|text,Nights|integer,Price|number|€\nA,3,100\nB,2,90\n",
		"stays_2022": "Guest|text,Nights|integer,Price|number|€\nA,5,120\nC,4,80\nD,1,60\n",
	}).expect([]inquiry{
		{"How many nights were booked in 2022?", "10"},
		{"How many stays were there in 2021?", "2"},
		{"How many nights were booked in 2023?", "-"},
	})
	load(t, map[string]string{"votes": "District|text,Greens|integer,Labour|integer,Civic|integer\nNorth,10,30,20\nSouth,40,5,20\n"}).expect([]inquiry{
		{"How many votes did the Pirates get in the North?", "-"},
	})
	load(t, map[string]string{"leute": "LeserNr|integer,Datum|date,Titel|text\n5,2024-01-01,Faust\n5,2024-01-02,Emma\n9,2024-01-03,Faust\n"}).expect([]inquiry{
		{"Wie viele verschiedene Leser gab es?", "2"},
	})
}
