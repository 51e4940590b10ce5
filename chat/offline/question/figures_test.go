package question_test

import (
	"fmt"
	"testing"
	"time"
)

// TestTablesOfFigures: in a table whose rows are the figures of groups, a share, a change or a comparison is of the
// figures; the rows themselves are not counted, and the row of all groups is in no share.
func TestTablesOfFigures(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"electricity": "year|integer,source|text,net_generation|integer\n2001,Coal,100\n2001,Wind,25\n2001,Nuclear Energy,50\n2017,Coal,60\n2017,Wind,120\n2017,Nuclear Energy,60\n"}).expect([]inquiry{
		{"What is the share of wind in 2017?", "50 %: 120 of 240"},
		{"Wie hoch ist der Anteil von Wind im Jahr 2017?", "50 %: 120 von 240"},
		{"How has the share of wind changed?", "-"},
		{"How did nuclear energy change over time?", "rose from 50 in 2001 to 60 in 2017"},
		{"How did wind change between 2001 and 2017?", "rose from 25 in 2001 to 120 in 2017"},
		{"Compare coal and wind", "Coal: 160; Wind: 145"},
		{"Make a chart of net generation by source", "Coal: 160; Wind: 145; Nuclear Energy: 110"},
	})
	load(t, map[string]string{"disasters": "Entity|text,Year|integer,Deaths|integer\nAll natural disasters,1931,1000\nFlood,1931,900\nDrought,1931,100\nAll natural disasters,1932,300\nFlood,1932,100\nDrought,1932,200\nFlood,1960,5\nAll natural disasters,1960,5\n"}).expect([]inquiry{
		{"How many people died in natural disasters in 1931?", "1,000"},
		{"How many people were killed by floods between 1931 and 1932?", "1,000"},
		{"Total deaths from floods between 1931 and 1960", "1,005"},
		{"What percentage of deaths in 1931 were from floods?", "90 %: 900 of 1,000"},
		{"What was the deadliest disaster?", "Flood has"},
		{"Which disaster killed the most people?", "Flood has"},
		{"How many droughts were there?", "-"},
	})
}

// TestRowsThatAreThings: in a table of things that nothing names or numbers, a share is of the rows.
func TestRowsThatAreThings(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"staff": "gender|text,department|text,hours|integer\nfemale,Sales,40\nfemale,Sales,20\nmale,Support,30\nmale,Support,38\nfemale,Support,10\n"}).expect([]inquiry{
		{"What is the share of women?", "60 %: 3 of 5"},
	})
	load(t, map[string]string{"sales": "region|text,revenue|integer\nNorth,100\nSouth,300\nTotal,400\n"}).expect([]inquiry{
		{"What percentage of the total is North?", "-"},
		{"What share of the total revenue comes from the South?", "75 %: 300 of 400"},
	})
	load(t, map[string]string{"orders": "date|date,status|text,amount|number\n2024-01-02,open,20\n2024-01-03,returned,200\n2024-01-05,open,30\n2024-01-05,paid,30\n2024-01-08,paid,20\n"}).expect([]inquiry{
		{"What percentage was returned?", "20 %: 1 of 5"},
	})
}

// TestEveryday: what people ask first about their own tables.
func TestEveryday(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"countries": "country|text,continent|text,year|integer,population|integer,gdp_billion_usd|integer,life_expectancy|number\nGermany,Europe,2010,77900000,3240,79.5\nGermany,Europe,2020,86100000,3960,80.5\nJapan,Asia,2010,120650000,4500,83.5\nJapan,Asia,2020,133350000,5500,84.5\nIndia,Asia,2010,1235000000,2250,68.5\nIndia,Asia,2020,1365000000,2750,69.5\n"}).expect([]inquiry{
		{"How many countries are in the data?", "3 "},
		{"How many countries are in Asia?", "2 "},
		{"Which country has the highest life expectancy?", "Japan has the highest life expectancy: 84.5"},
		{"What was the GDP of Japan in 2020?", "5,500"},
	})
	load(t, map[string]string{"sales": "order_id|integer,order_date|date,customer|text,product|text,revenue|number\n1,2024-01-03,Acme,Desk,250\n2,2024-01-09,Acme,Desk,250\n3,2024-02-02,Globex,Lamp,40\n4,2024-02-20,Acme,Lamp,40\n5,2024-02-28,Globex,Desk,250\n"}).expect([]inquiry{
		{"Which customers bought desks?", "2 values of customer match (product: Desk): Acme; Globex"},
		{"Plot the revenue per month", "January 2024: 500; February 2024: 330"},
	})
	load(t, map[string]string{"expenses": "Date|date,Category|text,Amount|number|€\n2025-01-03,Rent,700\n2025-02-03,Rent,700\n2025-02-05,Food,90\n2025-02-09,Food,80\n2025-03-03,Rent,900\n"}).expect([]inquiry{
		{"Which month was the most expensive?", "-"}, // not the one with the most rows
	})
	load(t, map[string]string{"movies": "title|text,year|integer,director|text,runtime_min|integer\nDune,2021,Villeneuve,155\nTenet,2020,Nolan,150\nBarbie,2023,Gerwig,114\n"}).expect([]inquiry{
		{"How many movies are longer than 120 minutes?", "2 "},
		{"How many movies were released after 2020?", "2 "},
	})
	load(t, map[string]string{"fussball": "Spieltag|integer,Heim|text,Gast|text,Zuschauer|integer\n1,Köln,Mainz,20000\n2,Mainz,Köln,30000\n2,Union,Bayern,22000\n"}).expect([]inquiry{
		{"Wie viele Spiele gab es?", "-"}, // the sum of the match days is none
		{"Erstelle ein Diagramm der Zuschauer nach Heim", "Mainz: 30.000"},
	})
	load(t, map[string]string{"zaehler": "Monat|date,Strom (kWh)|integer|kWh,Gas (kWh)|integer|kWh\n2023-01-01,300,2000\n2023-02-01,200,1000\n"}).expect([]inquiry{
		{"Wie viel Strom und Gas haben wir 2023 verbraucht?", "500 kWh, und die Summe von Gas"},
	})
	load(t, map[string]string{"issues": "number|integer,state|text,author|text\n1,open,mona\n2,closed,mona\n3,open,octo\n"}).expect([]inquiry{
		{"How many issues did mona open?", "-"}, // closed ones, too
		{"How many issues are open?", "2 "},
	})
	load(t, map[string]string{"grades": "student|text,class|text,maths|integer,absences|integer\nAnn,7a,80,1\nBen,7b,60,2\nCid,7b,50,0\nDan,7a,40,3\n"}).expect([]inquiry{
		{"Compare 7a and 7b in maths", "-"}, // their totals compare nothing
		{"How many absences were there in 7a?", "4"},
	})
	load(t, map[string]string{"survey": "Timestamp|datetime,Age|integer,How satisfied are you? (1-5)|integer\n2025-01-03 10:00:00,44,5\n2025-01-04 10:00:00,30,2\n2025-01-04 11:00:00,61,1\n"}).expect([]inquiry{
		{"How many are over 40?", "-"}, // not more satisfied than 40
		{"How satisfied are people on average?", "2.67"},
	})
}

// TestAPeriodThatHasJustBegun: a total of a month of which the data hold a day is no end of a trend, and no minimum.
func TestAPeriodThatHasJustBegun(t *testing.T) {
	t.Parallel()
	visits := "day|date,page|text,visitors|integer\n"
	for d := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); d.Before(time.Date(2025, 4, 2, 0, 0, 0, 0, time.UTC)); d = d.AddDate(0, 0, 1) {
		visits += d.Format(time.DateOnly) + fmt.Sprintf(",/,%d\n", 10*int(d.Month()))
	}
	load(t, map[string]string{"visits": visits}).expect([]inquiry{
		{"How did the number of visitors develop?", "rose from 310 in January 2025 to 930 in March 2025"},
		{"How did the number of visitors develop?", "April 2025 is left out: the data cover only a part."},
		{"Which month had the fewest visitors?", "-"},
		{"Which month had the most visitors?", "March 2025: 930"},
		{"Which day had the most visitors?", "1 April 2025: 40"},
	})
}

// TestTheCourseOfOneNumber: a number whose rows are months is told by the means of the years, and an order to show it is
// a question for its course.
func TestTheCourseOfOneNumber(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"co2": "Date|date,CO2|number\n1958-03-01,315\n1958-04-01,317\n1959-03-01,316\n1959-04-01,318\n1963-03-01,320\n1963-04-01,322\n"}).expect([]inquiry{
		{"How has CO2 changed over time?", "The mean CO2 rose from 316 in 1958 to 321 in 1963"},
		{"Draw a chart of CO2 over time", "The mean CO2 rose from 316 in 1958 to 321 in 1963"},
		{"Show me CO2 since 1959", "since 1959 rose from 317 in 1959 to 321 in 1963"},
	})
	load(t, map[string]string{"co2": "Date|date,CO2|number\n1958-11-01,315\n1958-12-01,317\n1959-01-01,316\n1959-02-01,318\n"}).expect([]inquiry{
		{"Which month has the highest CO2 on average?", "-"},
		{"Which month has the highest CO2?", "February 1959"},
	})
	load(t, map[string]string{"couriers": "courier|text,joined|date,drops|number\nAnn,2019-02-01,518\nBen,2020-05-04,602.5\nCid,2024-01-02,521\n"}).expect([]inquiry{
		{"How did drops develop over time?", "-"}, // not by the dates on which couriers joined
		{"How did the average number of drops change over the years?", "-"},
		{"How many couriers joined in 2020?", "1 "},
		{"Plot the drops", "Ben: 602.5; Cid: 521; Ann: 518"},
	})
}
