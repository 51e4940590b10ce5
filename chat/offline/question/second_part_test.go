package question_test

import "testing"

func TestSecondPartsAreAnsweredOrRefuseAll(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"books": "title|text,author|text,year|integer,pages|integer\nCopper and Rain,Noah Boyd,1968,340\nLow Tide,Peter Ellis,1966,176\nEleven Doors,Zoe Kemp,1996,405\n"}).expect([]inquiry{
		{"Who wrote Low Tide and in which country is it set?", "-"},
		{"Who wrote Low Tide and who published it?", "-"},
		{"Who wrote Low Tide and where is it set?", "-"},
		{"Which book has the most pages and what year did it come out?", "-"},
		{"Which book has the most pages, and who wrote it?", "-"},
	})
	load(t, map[string]string{"runs": "date|date,distance_km|number,time|text\n2023-09-03,11.1,1:02:42\n2023-11-30,18.5,1:56:14\n2023-12-02,5.2,0:26:40\n"}).expect([]inquiry{
		{"What was my longest run, and on which weekday was it?", "-"},
		{"What was my longest run, and where did I do it?", "-"},
		{"What was my fastest run?", "-"}, // the shortest time is that of the shortest run
	})
	load(t, map[string]string{"harvest": "year|integer,hive|text,honey_kg|number\n2021,Elm,9\n2021,Oak,6\n2022,Elm,1\n2022,Oak,7\n"}).expect([]inquiry{
		{"Which hive has given the most honey over all the years, and how many kilos?", "Oak has the highest total honey: 13 kg"},
		{"Which hive has given the most honey?", "-"},
		{"Overall, what is the average honey?", "5.75"},
	})
	load(t, map[string]string{"antworten": "Nr|integer,Bevorzugtes Essen|text\n1,vegan\n2,Fleisch\n3,vegan\n4,egal\n"}).expect([]inquiry{
		{"Wie viel Prozent der Befragten essen am liebsten vegan?", "50"},
		{"Wie viel Prozent der Befragten essen am liebsten Fisch?", "-"},
	})
}

// TestAMeanIsNoTotal: the mean that a second part asks for is not the total by which the first part ranks.
func TestAMeanIsNoTotal(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"sales": "date|date,region|text,revenue|number|€\n2024-01-01,North,100\n2024-01-02,North,200\n2024-01-03,South,150\n"}).expect([]inquiry{
		{"Which region had the highest average revenue and how high was it?", "North (150 €) and South (150 €) have the highest mean revenue."},
		{"Welche Region hat den höchsten Umsatz und wie hoch ist der durchschnittliche Umsatz?", "North hat insgesamt bei revenue den höchsten Wert: 300 €. / -unclear"},
	})
}
