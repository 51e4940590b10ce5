package question_test

import "testing"

func TestEverydayQuestions(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"books": "ISBN|text,Title|text,Author|text,Pages|integer,Price|number|€,Stock|integer,Published|date\n111,Ice,Moe,200,9.5,0,2001-01-01\n222,Fire,Poe,350,12,4,2010-01-01\n333,Wind,Moe,120,20,7,2020-01-01\n"}).expect([]inquiry{
		{"Which book has the most pages?", "Fire"},
		{"How many books are sold out?", "1"},
		{"Which book is still in stock?", "-"},
		{"What's the ISBN of Fire?", "222"},
		{"Which books by Moe are under 15 euros?", "Ice"},
		{"How many books were sold?", "-"},
	})
	load(t, map[string]string{"trips": "Trip|integer,Date|date,Driver|text,Vehicle|text,km|number|km,Fuel (l)|number|l\n1,2024-01-02,Lou,Van,120,10\n2,2024-01-05,Mia,Van,80,6\n3,2024-02-05,Lou,Car,200,11\n4,2024-02-07,Lou,Car,50,3\n"}).expect([]inquiry{
		{"How many kilometres did Lou drive in total?", "370"},
		{"Who drove the most kilometres?", "Lou"},
		{"How many trips did Mia make?", "1"},
		{"How many litres of fuel did the van use?", "16"},
		{"What was the longest trip?", "3"},
		{"Wie viele Fahrten hat Lou gemacht?", "3"},
		{"How much did Lou pay for fuel?", "-"},
		{"Which vehicle is the fastest?", "-"},
		{"How many kilometres did Max drive?", "-"},
	})
	load(t, map[string]string{"animals": "Tag|text,Name|text,Species|text,Sex|text,Weight_kg|number|kg,Vaccinated|text,Adopted on|date\nA1,Rex,Dog,m,30,yes,2024-01-02\nA2,Mimi,Cat,f,4,no,\nA3,Tom,Cat,m,5.5,yes,\nA4,Bella,Dog,f,22,yes,2024-03-03\n"}).expect([]inquiry{
		{"How many cats are vaccinated?", "1"},
		{"How many female dogs do we have?", "1"},
		{"What's the heaviest cat?", "Tom"},
		{"Which animals are not vaccinated?", "Mimi"},
		{"How many animals were adopted in 2024?", "2"},
		{"How many animals have been adopted?", "2"},
		{"How heavy is Rex?", "30"},
		{"How much do the dogs weigh on average?", "26"},
		{"How many birds do we have?", "-"},
		{"Which animal eats the most?", "-"},
		{"How many animals were returned?", "-"},
	})
	// Words whose folded spelling differs from their usual one.
	load(t, map[string]string{"calls": "Call|text,Date|date,Minutes|number|min,Solved|text\nC1,2023-03-06,10,true\nC2,2023-03-07,20,false\nC3,2023-07-11,30,true\nC4,2023-08-01,50,true\n"}).expect([]inquiry{
		{"How many calls were there on Tuesdays?", "3"},
		{"How many calls were there on Mondays?", "1"},
		{"How many calls were solved?", "3"},
		{"How many minutes were there in the 2nd half of 2023?", "80"},
		{"How many minutes were there in the second half of 2023?", "80"},
		{"How many minutes were there in the 1st quarter of 2023?", "30"},
	})
	load(t, map[string]string{"besucher": "Monat|text,Erwachsene|integer,Kinder|integer,Einnahmen (€)|number|€\n2024-01,100,40,900\n2024-02,80,60,800\n2024-03,120,20,990\n"}).expect([]inquiry{
		{"Wie viele Kinder kamen im Februar 2024?", "60"},
		{"In welchem Monat kamen die meisten Erwachsenen?", "2024-03"},
		{"Wie viele Kinder kamen insgesamt?", "120"},
		{"Wie viele Senioren kamen im Februar 2024?", "-"},
		{"Wie viel Geld haben wir insgesamt eingenommen?", "2.690"},
		{"Wie viel haben wir im Januar 2024 ausgegeben?", "-"},
	})
}

// TestEverydayCounts: how often asks for rows that something is said of; what has no date of closing is open; a value
// may be called by a word of its column's name.
func TestEverydayCounts(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"visits": "day|date,pet|text,species|text,fee|number|€\n2024-01-02,Mo,cat,30\n2024-01-05,Bo,dog,45\n2024-02-01,Mo,cat,20\n"}).expect([]inquiry{
		{"How many times did a cat come in?", "2 of 3"},
		{"Wie oft war eine cat da?", "2 "},
		{"How often did they come in January 2024?", "-"},
		{"Wie oft waren sie im Januar 2024 da?", "-"},
	})
	load(t, map[string]string{"tickets": "id|text,opened|date,closed|date,priority|text\nT1,2024-10-01,2024-10-02,high\nT2,2024-10-03,,low\nT3,2024-10-04,,high\n"}).expect([]inquiry{
		{"How many tickets are still open?", "2 of 3"},
		{"How many high tickets are still open?", "1 of 3"},
	})
	load(t, map[string]string{"registrations": "reg_id|integer,name|text,ticket_type|text,country|text\n1,Alma,student,Ireland\n2,Ben,standard,Ireland\n3,Cy,student,Spain\n"}).expect([]inquiry{
		{"How many student tickets went to Ireland?", "1 of 3"},
	})
	load(t, map[string]string{"sightings": "date|date,species|text,count|integer\n2025-01-04,Wren,2\n2025-01-05,Wren,3\n2025-01-05,Robin,1\n"}).expect([]inquiry{
		{"How many wrens have we counted so far?", "5"},
	})
	load(t, map[string]string{"shop": "date|date,item|text,qty|integer,unit_price|number\n2024-05-01,Butter croissant,17,2.1\n2024-05-02,Butter croissant,20,2.1\n2024-05-02,Rye loaf,9,4\n"}).expect([]inquiry{
		{"How many croissants did we sell altogether?", "37"},
	})
	load(t, map[string]string{"feedback": "respondent|integer,course|text,satisfaction_1_to_5|integer\n1,Yoga,2\n2,Yoga,4\n3,Art,5\n"}).expect([]inquiry{
		{"What was the average satisfaction for the Yoga course?", "3"},
	})
	load(t, map[string]string{"staff": "employee_id|integer,name|text,department|text,salary|integer\n1,A,Sales,40000\n2,B,Sales,50000\n3,C,Support,39000\n"}).expect([]inquiry{
		{"What do people earn on average in Sales versus Support?", "45,000"},
	})
	load(t, map[string]string{"usage": "month|date,kwh|integer|kWh\n2023-11-01,300\n2023-12-01,320\n2024-01-01,310\n2024-02-01,290\n"}).expect([]inquiry{
		{"On average how many kWh do we get through a month in 2024?", "-"},
	})
}

// TestThingsAndTheirFigures: a question for one thing's figure, place or age needs no name of the column.
func TestThingsAndTheirFigures(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"marks": "student|text,subject|text,mark|integer\nElif,Science,89\nElif,Maths,70\nTom,Science,60\n"}).expect([]inquiry{
		{"What did Elif get in Science?", "89"},
		{"Was hat Elif in Maths?", "70"},
	})
	load(t, map[string]string{"expenses": "date|date,what|text,amount|number,currency|text,type|text\n2024-05-11,Hotel Lisboa,212,EUR,lodging\n2024-05-12,Train to Porto,51.4,EUR,transport\n2024-05-13,Taxi,18,GBP,transport\n"}).expect([]inquiry{
		{"How much was the train to Porto?", "51.4"},
		{"What did we spend on lodging?", "-ambiguous"},
		{"How much was the ferry to Porto?", "-"},
	})
	load(t, map[string]string{"lager": "Artikelnr|text,Bezeichnung|text,Bestand|integer,Lagerplatz|text\nA1,Holzlasur,3,B2\nA2,Schrauben,9,C4\n"}).expect([]inquiry{
		{"Wo liegt die Holzlasur?", "B2"},
		{"Wo liegt die Wandfarbe?", "-"},
	})
	load(t, map[string]string{"cellar": "wine|text,vintage|integer,bottles|integer\nBarolo,2004,3\nRioja,2011,5\nMerlot,2016,2\n"}).expect([]inquiry{
		{"What is my oldest wine?", "Barolo"},
		{"What is the sum of all the vintages?", "-"},
		{"How many bottles of Rioja were sold?", "-"},
	})
	load(t, map[string]string{"rechnungen": "Rechnungsnr|text,Kunde|text,Betrag|number|€,bezahlt am|date\nR1,Abel,100,2024-02-01\nR2,Bock,50,\nR3,Abel,70,\n"}).expect([]inquiry{
		{"Wie viele Rechnungen sind noch nicht bezahlt?", "2 "},
		{"How much money is still outstanding?", "120"},
		{"What is the average invoice of Abel?", "85"},
	})
	load(t, map[string]string{"stops": "start|datetime,machine|text,minutes_down|integer\n2024-08-01 12:00:00,Press,54\n2024-08-02 12:00:00,Packer,20\n2024-08-03 12:00:00,Packer,10\n"}).expect([]inquiry{
		{"How many minutes was the Packer down?", "30"},
	})
	load(t, map[string]string{"games": "game|text,min_players|integer,max_players|integer,weight|number\nIron Rails,2,5,3.9\nSpice Road,1,4,2.1\n"}).expect([]inquiry{
		{"Which one takes longest to play?", "-"},
	})
	load(t, map[string]string{"wetter": "Tag|date,Temperatur|number|°C\n2024-01-01,-3\n2024-01-02,4\n2024-01-03,-1\n"}).expect([]inquiry{
		{"An wie vielen Tagen war es unter null Grad?", "2 "},
	})
}

// TestFiguresThatAreAskedForPlainly: totals of durations, codes, zeros, and what stands for an amount.
func TestFiguresThatAreAskedForPlainly(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"till": "receipt_id|integer,date|date,product|text,pieces|integer,revenue|number|€\n1,2023-03-01,Croissant,4,8\n2,2023-03-01,Rye bread,2,7\n3,2023-03-02,Croissant,5,10\n"}).expect([]inquiry{
		{"How many pieces of Croissant were sold in total?", "9"},
		{"What is the largest single revenue?", "10"},
	})
	load(t, map[string]string{"calls": "start|datetime,queue|text,duration_s|integer\n2025-10-06 08:22:00,Service,81\n2025-10-06 09:22:00,Complaints,19\n2025-10-07 09:22:00,Complaints,100\n"}).expect([]inquiry{
		{"What is the total duration of the Complaints calls in seconds?", "119"},
	})
	load(t, map[string]string{"budget": "category|text,planned|integer,actual|integer\nRent,4940,4260\nPrinting,400,770\n"}).expect([]inquiry{
		{"How much did we actually spend in total?", "5,030"},
		{"How much did we spend on Printing?", "770"},
	})
	load(t, map[string]string{"access": "time|datetime,path|text,status|integer\n2024-09-03 08:02:36,/login,200\n2024-09-03 08:03:36,/login,404\n2024-09-03 08:04:36,/items,404\n"}).expect([]inquiry{
		{"How many requests ended in a 404?", "-"},
		{"How many entries have a 404?", "2 of 3"},
	})
	load(t, map[string]string{"hall": "date|date,visitors|integer,complaints|integer\n2024-01-01,40,0\n2024-01-02,52,3\n2024-01-03,12,0\n"}).expect([]inquiry{
		{"How many days had zero complaints?", "2 "},
		{"On how many days were there zero visitors?", "0 "},
	})
	load(t, map[string]string{"commute": "id|integer,transport|text,distance_km|number,gender|text\n1,train,30,d\n2,car,0.9,f\n3,car,25,m\n"}).expect([]inquiry{
		{"How many people travel more than 20 km?", "2 of 3"},
		{"What is the longest distance?", "30"},
	})
	load(t, map[string]string{"orders": "Order ID|integer,Order Date|date,Country|text,Amount|number|$\n7001,2023-01-05,Norway,1317.46\n7002,2023-01-06,Spain,20\n7003,2023-01-07,Norway,400\n"}).expect([]inquiry{
		{"Which two orders were the biggest?", "7001"},
		{"Which country has the biggest order?", "-"},
	})
	load(t, map[string]string{"fleet": "Plate|text,Fuel|text,Mileage|integer|km\nKX-C 427,diesel,180802\nKX-A 11,electric,20100\nKX-B 12,diesel,9000\n"}).expect([]inquiry{
		{"How many electric cars are in the fleet?", "1 of 3"},
		{"Which car has the highest mileage?", "KX-C 427"},
	})
	load(t, map[string]string{"mitglieder": "Name|text,Sparte|text,Beitrag|number|€,bezahlt|boolean\nOscar,Tennis,120,yes\nUte,Judo,80,no\nIda,Judo,80,no\n"}).expect([]inquiry{
		{"Wie viele Mitglieder haben noch nicht bezahlt?", "2 "},
	})
	load(t, map[string]string{"cashbook": "Date|date,Type|text,Purpose|text,Amount|number|€\n2024-01-08,expense,hall rent,69.5\n2024-02-08,income,fees,200\n2025-02-09,income,fees,40\n"}).expect([]inquiry{
		{"What was our total income in 2024?", "200"},
		{"How much did we have in 2024?", "-"},
	})
	load(t, map[string]string{"projects": "project|text,client|text,deadline|date,started|date\nQuartz,Acme,2025-05-11,2024-01-01\nOpal,Bolt,2025-06-01,2024-02-02\n"}).expect([]inquiry{
		{"What is the deadline of the Quartz project?", "11 May 2025"},
	})
	load(t, map[string]string{"station": "date|date,rain_mm|number|mm,gust|integer\n2024-04-01,0,29\n2024-04-02,11.4,67\n2024-04-03,2,30\n"}).expect([]inquiry{
		{"On how many days did it rain at all?", "2 days"},
	})
	load(t, map[string]string{"budget_2025": "Category|text,Planned|integer,Actual|integer\nRent,8300,9000\nHeating,400,390\nPaint,100,101\n"}).expect([]inquiry{
		{"How many categories went over budget?", "2 of 3"},
		{"Which categories are under budget?", "Heating"},
	})
	load(t, map[string]string{"responses": "respondent_id|integer,channel|text,satisfaction (1-5)|integer\n300,Email,1\n301,Phone,5\n302,Phone,4\n303,Email,3\n"}).expect([]inquiry{
		{"Which channel has the best average satisfaction?", "Phone"},
	})
	load(t, map[string]string{"stock": "sku|text,item|text,warehouse|text,quantity|integer,unit_cost|number|£\nA,Bolt,Leeds,10,2.5\nB,Nut,Leeds,4,1\nC,Saw,York,2,20\n"}).expect([]inquiry{
		{"What is the stock in the Leeds warehouse worth in total?", "£29"},
		{"What is the total value of the stock?", "£69"},
		{"Which warehouse is worth a visit?", "-"},
	})
	load(t, map[string]string{"shop": "item|text,in stock|integer,cost price|number|£,retail price|number|£\nBolt,10,2,3\nNut,5,1,2\n"}).expect([]inquiry{
		{"What is the stock worth at retail price?", "£40"},
		{"What is the stock worth at cost price?", "£25"},
		{"What is the stock worth?", "-ambiguous"},
		{"How many bolts are in stock?", "10"},
		{"How many bolts do we stock?", "-"},
	})
	load(t, map[string]string{"tickets": "order_no|integer,date|date,ticket_type|text,quantity|integer,amount|number\n4001,2024-01-03,Senior,5,8.24\n4002,2024-03-05,Adult,2,11.89\n4003,2024-03-06,Adult,4,20\n"}).expect([]inquiry{
		{"How many tickets did we sell in March 2024?", "6"},
		{"How much of the amount has been paid?", "-"},
	})
}
