package question_test

import "testing"

const finishers = "bib|integer,name|text,club|text,category|text,finish time|text,country|text\n" +
	"12,Anna Berg,Fjord Runners,W35,2:58:41,NO\n7,Tom Ellis,,M40,2:41:09,GB\n33,Lucia Ramos,Sol AC,W20,3:12:55,ES\n41,Jan Novak,Praha RC,M20,2:39:58,CZ\n" +
	"58,Mia Wong,Sol AC,W35,3:31:20,HK\n64,Pete Shaw,Fjord Runners,M50,DNF,GB\n71,Olu Ade,Praha RC,M20,2:45:00,NG\n80,Karin Falk,Fjord Runners,W50,3:48:13,SE\n"

func TestFreshFolders(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"finishers": finishers}).expect([]inquiry{
		{"How many runners finished?", "-"},
		{"Which club had the most runners?", "Fjord Runners has the most rows: 3."},
		{"What is the mean finish time?", "-"},
	})
	load(t, map[string]string{"weather": "date|date,town|text,snow_cm|integer|cm\n2025-01-01,Oslo,5\n2025-01-01,Zermatt,2\n2025-01-02,Oslo,0\n2025-01-02,Zermatt,12\n"}).expect([]inquiry{
		{"How much snow fell in Zermatt in total?", "14 cm"},
		{"How much snow fell in Zermatt?", "14 cm"},
	})
	load(t, map[string]string{"members": "Name|text,Joined|integer,Membership|text\nAda,2019,Full\nBen,2021,Junior\nCleo,2020,Full\nEve,2018,Senior\n"}).expect([]inquiry{
		{"Who joined first?", "Eve has the earliest joined: 2018"},
	})
	load(t, map[string]string{"turnout": "constituency|text,year|integer,turnout|number|%\nNorthgate,2015,61.2\nSouthgate,2015,58.9\nNorthgate,2024,59.4\nSouthgate,2024,57\n"}).expect([]inquiry{
		{"How did turnout change in Northgate between 2015 and 2024?", "(−1.8 percentage points, −2.94 %)"},
	})
	load(t, map[string]string{"shopping": "dish|text,ingredient|text,price|number|€\nPancakes,Flour,0.89\nPancakes,Eggs,2.49\nBolognese,Beef,5.99\nBolognese,Tomatoes,1.58\nBolognese,Parmesan,3.79\nSalmon,Fish,8.49\nSalmon,Rice,0.75\n"}).expect([]inquiry{
		{"How much does each dish cost?", "-"},
		{"What is the mean price of each dish?", "Salmon: 4.62 €"},
	})
	load(t, map[string]string{"counts": "timestamp|datetime,station|text,in|integer,out|integer\n2025-02-01 07:00:00,Docks,100,50\n2025-02-01 08:00:00,Docks,300,80\n2025-02-02 07:00:00,Docks,90,40\n2025-02-02 08:00:00,Docks,310,90\n"}).expect([]inquiry{
		{"Which hour is the busiest at Docks?", "-"},
	})
	load(t, map[string]string{"meter": "Date|date,Reading kWh|integer|kWh,Note|text\n2024-01-01,10250,\n2024-02-01,10580,\n2024-03-01,10860,new fridge\n2024-04-01,11075,\n2024-05-01,11230,\n"}).expect([]inquiry{
		{"How much electricity did we use between January and May?", "-"},
		{"In which month did we use the most power?", "-"},
	})
	load(t, map[string]string{"harvest": "crop|text,bed|text,planted|date,harvested|date,kg|number|kg\nTomato,A,2024-04-20,2024-07-28,14.5\nCarrot,C,2024-03-30,2024-07-01,8.75\nLettuce,A,2024-03-15,2024-05-20,4.1\n"}).expect([]inquiry{
		{"When was bed C planted?", "30 March 2024"},
	})
}

func TestWishesForAChartAreNoQuestions(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"visits": "month|date,branch|text,visits|integer\n2024-01-01,Centre,10\n2024-02-01,Centre,20\n2024-01-01,Harbour,5\n2024-02-01,Harbour,6\n"}).expect([]inquiry{
		{"Show visits per month as a line chart.", "January 2024: 15; February 2024: 26."},
		{"What are the total visits by branch? Bar chart please.", "Total visits by branch – Centre: 30; Harbour: 11."},
		{"What are the total visits by branch? A pie chart, please", "Total visits by branch – Centre: 30; Harbour: 11."},
		{"Zeige die Summe visits pro Monat als Balkendiagramm.", "Januar 2024: 15; Februar 2024: 26."},
	})
}

func TestAGroupedTimeKeepsItsCondition(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"visits": "month|date,branch|text,visits|integer\n2023-01-01,Centre,10\n2023-02-01,Centre,20\n2023-01-01,Harbour,5\n2023-02-01,Harbour,6\n2024-01-01,Centre,10\n2024-02-01,Centre,20\n2024-01-01,Harbour,5\n2024-02-01,Harbour,6\n"}).expect([]inquiry{
		{"What are the total visits by month in 2024?", "in 2024 – January 2024: 15; February 2024: 26."},
		{"What are the total visits by month?", "– January 2023: 15; February 2023: 26; January 2024"},
		{"What are the total visits in 2024 by month?", "in 2024 – January 2024: 15; February 2024: 26."},
	})
	load(t, map[string]string{"visits_2023": "month|date,branch|text,visits|integer\n2023-01-01,Centre,10\n2023-02-01,Centre,20\n2023-01-01,Harbour,5\n2023-02-01,Harbour,6\n", "visits_2024": "month|date,branch|text,visits|integer\n2024-01-01,Centre,10\n2024-02-01,Centre,20\n2024-01-01,Harbour,5\n2024-02-01,Harbour,6\n"}).expect([]inquiry{
		{"Show visits per month in 2024.", "in 2024 – January 2024: 15; February 2024: 26."},
		{"What are the total visits per month in 2024?", "in 2024 – January 2024: 15; February 2024: 26."},
		{"What are the total visits by month in 2024?", "in 2024 – January 2024: 15; February 2024: 26."},
		{"What are the total visits by branch in 2024?", "Centre: 30"},
	})
}

func TestRowsThatCountThingsAreNotCounted(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"loans": "title|text,year|integer,count|integer\nSalt,2022,31\nSalt,2023,19\nGlass,2022,8\nGlass,2023,11\nPines,2022,40\n"}).expect([]inquiry{
		{"How many loans were there in total by year?", "-"},
		{"Which title has the most loans?", "-"},
		{"What is the total count by year?", "2022: 79; 2023: 30"},
		{"Which title is the newest?", "2023"},
	})
}

func TestNoWordOfTheQuestionIsLost(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"flights": "flight|text,airline|text,scheduled|datetime,delay_min|integer|min\nJE1,Jetta,2024-06-01 10:00:00,0\nJE2,Jetta,2024-06-02 10:00:00,40\nNO1,Nordair,2024-06-02 11:00:00,5\n"}).expect([]inquiry{
		{"How many Jetta flights arrived on time?", "-"},
		{"How many Jetta flights are there?", "2 of 3"},
	})
	load(t, map[string]string{"answers": "respondent|integer,city|text,comment|text\n1,Leeds,good\n2,Leeds,\n3,York,loud\n4,York,\n5,Leeds,slow\n6,Hull,\n7,Hull,\n8,Hull,\n9,Hull,\n10,Hull,\n11,Hull,\n12,Hull,\n"}).expect([]inquiry{
		{"What share of people said no?", "-"},
	})
	load(t, map[string]string{"vet": "pet|text,species|text,owner|text,born|date\nBello,dog,Kim Lee,2017-03-01\nMinka,cat,Ana Gomez,2020-07-09\nRex,dog,Kim Lee,2019-01-20\nFelix,cat,Joe Park,2016-02-14\nTweety,bird,Joe Park,2022-05-05\n"}).expect([]inquiry{
		{"Who was born first?", "-"},
		{"Which pet was born first?", "Felix"},
	})
}
