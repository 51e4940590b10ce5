package question_test

import "testing"

func TestNeighboursStayRefused(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"orders": "Order|integer,Date|date,Customer|text,Product|text,Qty|integer,Total (€)|number|€\n1,2024-01-05,Abel,Tea,3,30\n2,2024-02-05,Bock,Mug,1,12.5\n3,2024-02-09,Abel,Mug,2,25\n"}).expect([]inquiry{
		{"How much did we spend on advertising?", "-"},
		{"What did the delivery cost?", "-"},
		{"How many hours did Abel spend?", "-"},
		{"How many dollars did Abel spend?", "-"},
		{"How much did Abel spend?", "55"},
		{"How much money did we make in February 2024?", "37.5"},
		{"Who spent the most?", "Abel"},
		{"Which customer brought in the most money?", "Abel"},
		{"How many pieces of Mug were sold?", "3"},
		{"How satisfied are our customers?", "-"},
		{"Who is the fastest customer?", "-"},
		{"What is the salary of Abel?", "-"},
		{"How many different products did Abel buy?", "2"},
		{"Which product was bought most often?", "Mug"},
		{"How many orders did Clara place?", "-"},
		{"Which product was at number one?", "-"},
		{"How many customers were rated above 3?", "-"},
	})
	load(t, map[string]string{"members": "Member no|integer,Name|text,Joined|date,Fee (€)|number|€,Paid|text,Town|text\n1,Ann Lee,2019-01-01,20,yes,Ulm\n2,Bo Day,2020-05-01,25,no,Ulm\n3,Cy Poe,2021-05-01,20,yes,Bonn\n"}).expect([]inquiry{
		{"How many members have paid?", "2"},
		{"Who has not paid?", "Bo Day"},
		{"How much did the members from Ulm pay?", "-"},
		{"Which member has been with us longest?", "Ann Lee"},
		{"When did Cy Poe join?", "1 May 2021"},
		{"Who joined in 2020?", "Bo Day"},
		{"What share of members has paid?", "66.67"},
		{"How many members left in 2020?", "-"},
		{"Wie viele Mitglieder kommen aus Ulm?", "2"},
		{"What is the highest fee?", "25"},
	})
	load(t, map[string]string{"ausgaben": "Datum|date,Kategorie|text,Geschäft|text,Betrag (EUR)|number|EUR\n2024-01-02,Essen,Lidl,20\n2024-01-03,Miete,Haus,700\n2024-02-03,Essen,Rewe,35.5\n"}).expect([]inquiry{
		{"Wie viel haben wir für Essen ausgegeben?", "55,5"},
		{"Wie viel Geld wurde im Januar 2024 ausgegeben?", "720"},
		{"In welchem Monat haben wir am meisten ausgegeben?", "Januar"},
		{"Wofür haben wir am meisten ausgegeben?", "-"},
		{"Wie viel haben wir für Benzin ausgegeben?", "-"},
		{"How much did we spend on Miete?", "700"},
		{"What did we spend most on?", "-"},
	})
	load(t, map[string]string{"ernte": "Jahr|integer,Sorte|text,Ertrag (kg)|number|kg,Bäume|integer\n2022,Boskoop,120,4\n2022,Elstar,80,5\n2023,Boskoop,90,4\n2023,Elstar,150,5\n"}).expect([]inquiry{
		{"Welche Sorte brachte insgesamt den höchsten Ertrag?", "Elstar"},
		{"Wie viele Kilo Boskoop haben wir 2023 geerntet?", "90"},
		{"Um wie viel Prozent ist der Ertrag von 2022 auf 2023 gestiegen?", "20"},
		{"Wie viele Kilo Birnen haben wir geerntet?", "-"},
	})
	load(t, map[string]string{"tickets": "Ticket|text,Opened|date,Closed|date,Priority|text,Team|text,Hours|number|h\nT1,2024-01-02,2024-01-04,High,Net,5\nT2,2024-01-03,,Low,Net,\nT3,2024-02-05,2024-02-06,High,App,2.5\n"}).expect([]inquiry{
		{"How many tickets were opened in January 2024?", "2"},
		{"How many hours did the Net team spend on tickets?", "5"},
		{"How many high priority tickets are there?", "2"},
		{"Which team closed the most tickets?", "-"},
		{"How many tickets were reopened?", "-"},
	})
	load(t, map[string]string{"stations": "Station|text,City|text,Date|date,Mean temp (°C)|number|°C,Rain (mm)|number|mm\nS1,Oslo,2024-01-01,-4,0\nS1,Oslo,2024-01-02,-2,3\nS2,Rome,2024-01-01,9,0\nS2,Rome,2024-01-02,11,12.5\n"}).expect([]inquiry{
		{"Which city was the warmest on average?", "Rome"},
		{"How much did it rain in Rome?", "12.5"},
		{"How many millimeters of rain fell in Rome?", "12.5"},
		{"What was the coldest day in Oslo?", "1 January 2024"},
		{"How windy was it in Rome?", "-"},
	})
}
