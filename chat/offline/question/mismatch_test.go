package question_test

import "testing"

// TestFittingWordsOfAnotherQuestion asks questions whose words name columns and values of the tables, and that mean
// something that the tables do not hold.
func TestFittingWordsOfAnotherQuestion(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"claims": "Claim|text,Employee|text,Category|text,Amount|number,Currency|text,Status|text,Filed|date\n" +
		"EX-1,Pia,Travel,100,EUR,approved,2024-01-02\nEX-2,Pia,Travel,50,USD,rejected,2024-01-03\nEX-3,Oskar,Hotel,300,EUR,approved,2024-02-02\nEX-4,Oskar,Hotel,200,EUR,approved,2024-02-09\n"}).expect([]inquiry{
		{"What is the total amount?", "-"},
		{"What is the total amount in EUR?", "600"},
		{"What is the total amount by currency?", "600"},
		{"Which employee has the highest total amount?", "-"},
		{"Who approved the claims?", "-"},
		{"Which hotel did Oskar stay in?", "-"},
		{"What did Pia claim for travel?", "-"},
		{"What was the money spent on?", "-"},
		{"What does EUR in the claims mean?", "-"},
		{"Who filed claim EX-3?", "-"},
		{"How many claims did Oskar file?", "2"},
	})
	load(t, map[string]string{"donors": "Donor|text,Blood group|text,Result|text\nA1,O+,deferred\nA2,O-,deferred\nA3,O+,accepted\nA4,A+,deferred\n"}).expect([]inquiry{
		{"How many donors of group O+ were deferred?", "1 of 4"},
		{"How many donors of group A- were deferred?", "-"},
	})
	load(t, map[string]string{"members": "Member|text,Visits in May|integer\nAnn,3\nBob,5\n"}).expect([]inquiry{
		{"How many visits did we have in June?", "-"},
		{"How many visits did we have in May?", "8"},
	})
	load(t, map[string]string{"stock": "Item|text,Unit cost|number|£\nSpade,27.4\nRake,12\n"}).expect([]inquiry{
		{"What is the selling price of the spade?", "-"},
		{"What is the unit cost of the spade?", "27.40"},
	})
	load(t, map[string]string{"budget": "Item|text,Year|integer,Budget|number\nStaff,2022,500\nShop,2022,300\n"}).expect([]inquiry{
		{"How much was actually spent on staff in 2022?", "-"},
	})
	load(t, map[string]string{"appointments": "id|text,type|text,wait_minutes|integer|min\n1,blood test,20\n2,blood test,30\n3,x-ray,5\n"}).expect([]inquiry{
		{"How long does a blood test take on average?", "-"},
		{"How long is the average wait for a blood test?", "25"},
	})
	load(t, map[string]string{"bank": "Date|date,Description|text,Category|text,Debit|number\n2024-01-03,Rent,Housing,850\n2024-01-07,Amazon,Shopping,95.5\n2024-02-13,Train,Transport,45.9\n"}).expect([]inquiry{
		{"How much did I spend on walks?", "-"},
		{"How much did I spend in January and February 2024?", "-"},
	})
	load(t, map[string]string{"tickets": "id|integer,opened_at|datetime,closed_at|datetime,assignee|text\n1,2024-06-17 05:00:00,,Bo\n2,2024-06-28 20:00:00,2024-07-01 04:00:00,Ann\n3,2024-07-28 20:00:00,,Bo\n"}).expect([]inquiry{
		{"Who closed the most tickets?", "-"},
		{"Which assignee has the most tickets?", "Bo"},
	})
	load(t, map[string]string{"members": "Member|text,Plan|text,Joined|date,Cancelled|date,Min Visits|integer,Max Visits|integer\nM1,Basic,2023-10-02,2024-02-28,3,5\nM2,Premium,2023-10-06,,1,7\nM3,Premium,2023-11-06,2024-03-01,1,9\n"}).expect([]inquiry{
		{"What share of premium members cancelled?", "-"},
		{"What share of members cancelled?", "-"},
		{"How many members cancelled?", "2 of 3"},
		{"How many members cancelled in the year they joined?", "-"},
		{"What is the highest min visits?", "-"},
		{"What is the total max visits?", "-"},
	})
	load(t, map[string]string{"stock": "Item|text,In Stock|integer,Rate|number|€\nBolt,42,3\nSaw,11,4\n"}).expect([]inquiry{
		{"How many bolts do we have?", "42"},
		{"What is the total rate?", "-"},
	})
	load(t, map[string]string{"sales": "Date|date,Region|text,Product|text,Discount|number\n2024-01-02,North,Desk,0\n2024-01-03,North,Lamp,5\n2024-02-03,South,Desk,0\n2024-02-04,South,Lamp,3\n"}).expect([]inquiry{
		{"Does any region sell no desks?", "-"},
		{"Which product has no discount?", "-"},
		{"What is the average discount where there is one?", "-"},
		{"How many terms are there?", "-"},
	})
	load(t, map[string]string{"survey": "Respondent|integer,Gender|text,Ease of Use|integer,Would Recommend|boolean\n1,male,3,1\n2,female,5,0\n3,male,1,1\n"}).expect([]inquiry{
		{"What share of people are male?", "66.67"},
	})
	load(t, map[string]string{"hours": "Date|date,Start month|text,Name|text,Hours|integer\n2024-01-03,January,Ann,1\n2024-01-10,February,Bob,2\n2024-02-03,March,Ann,4\n2024-03-04,January,Bob,8\n"}).expect([]inquiry{
		{"How many hours were worked between January and March?", "-"},
		{"How many hours from January to March?", "-"},
		{"How many hours were worked in January?", "-"},
		{"How many hours were worked in the start month January?", "9"},
	})
	load(t, map[string]string{"readings": "Date|date,Station|text,min temp|number|°C,max temp|number|°C\n2024-01-01,Hill,2,30\n2024-01-02,Hill,1,8\n2024-01-01,Coast,5,21\n2024-01-02,Coast,6,20\n2024-01-01,Town,4,10\n2024-01-02,Town,4,11\n"}).expect([]inquiry{
		{"Which station was the warmest?", "-"}, // by one value, or by the mean
		{"Which station was the coldest?", "Hill has the lowest min temp: 1 °C, a single value"},
		{"Which station was the coldest on average?", "-"},
		{"What was the average max temp in Coast?", "mean max temp"},
	})
	load(t, map[string]string{"log": "Station|text,Temperature|number\nHill,2\nHill,1\nCoast,5\n"}).expect([]inquiry{
		{"Where was it the coldest?", "-"},
	})
	load(t, map[string]string{"sales": "Order|integer,Region|text,Product|text,Units|integer,Revenue|number\n1,North,Sofa,1,600\n2,South,Sofa,5,3000\n3,North,Sofa,1,600\n4,North,Desk,1,800\n"}).expect([]inquiry{
		{"In which region did we sell more sofas, North or South?", "-"},
		{"Which product is the most expensive?", "-"},
	})
	load(t, map[string]string{"staff": "Employee|text,Department|text,Hired|date,Left|date\nAnn,Sales,2018-02-01,2021-02-01\nBob,IT,2018-04-19,\nCleo,Sales,2019-07-05,\n"}).expect([]inquiry{
		{"Who has been here the longest?", "-"},
		{"How many people still work in Sales?", "-"},
		{"How many people do we have?", "-"},
		{"How many people were hired in 2018?", "2 of 3"},
		{"How many employees left?", "1 of 3"},
	})
	load(t, map[string]string{"readings": "Date|date,Station|text,Rain|number|mm\n2024-01-01,Hill,2\n2024-01-01,Coast,5\n2024-01-02,Hill,0\n"}).expect([]inquiry{
		{"How much rain fell in January 2024?", "-"},
		{"On which day did it rain the most?", "-"},
		{"How much rain fell at Hill in January 2024?", "2"},
		{"Which station had the most rain?", "Coast"},
	})
	load(t, map[string]string{"station": "Date|date,Rain|number|mm,Wind|number\n2024-01-01,0,4\n2024-01-02,3.5,5\n2024-01-03,,\n2024-01-04,0,7\n"}).expect([]inquiry{
		{"How many days had no rain?", "-"}, // none fell, or nobody measured it
		{"How many days have no wind?", "1"},
		{"On how many days did more than 2 mm of rain fall?", "1"},
	})
	load(t, map[string]string{"orders": "order|integer,customer|text,status|text\n1201,Ann,open\n1207,Bo,open\n1219,Ann,shipped\n1233,Cy,open\n"}).expect([]inquiry{
		{"How many orders are open?", "3 of 4"},
		{"How many orders did Ann place?", "2 of 4"},
		{"What is the biggest order?", "-"},
	})
	load(t, map[string]string{"rechnungen": "Rechnung|integer,Status|text,Betrag|number\n4010,offen,20\n4029,bezahlt,35\n4033,offen,10\n"}).expect([]inquiry{
		{"Wie viele Rechnungen sind offen?", "2"},
		{"Wie hoch ist die höchste Rechnung?", "35"},
	})
	load(t, map[string]string{"months": "month|text,orders|integer\nJanuary,40\nFebruary,52\n"}).expect([]inquiry{
		{"How many orders were there in total?", "92"},
	})
	load(t, map[string]string{"tickets": "ticket|integer,agent|text,hours|number|h\n11,Lina,4\n15,Lina,9\n19,Ben,2\n"}).expect([]inquiry{
		{"How long does it take to close a ticket?", "-"},
		{"How many hours did Lina work in total?", "13"},
	})
	load(t, map[string]string{"cellar": "wine|text,bottles|integer,unit_value|number\nPoggio,51,12.5\nBarolo,8,40\n"}).expect([]inquiry{
		{"How much is a bottle of Poggio?", "-"},
		{"What is the total value of the wine?", "-"},
		{"How much did we earn?", "-"},
		{"How many bottles of Poggio are there?", "51"},
	})
	load(t, map[string]string{"notes": "Staff|text\nCheck the list\n"}).expect([]inquiry{{"How many staff are there?", "-"}})
	load(t, map[string]string{"tariffs": "Plan|text,price_per_kwh|number,fee|integer\nFlex,0.31,9\nBasis,0.28,12\n"}).expect([]inquiry{
		{"What is the highest price per kWh?", "is 0.31."},
	})
	load(t, map[string]string{"sales": "Date|date,Product|text,Units|integer\n2024-01-02,Desk,2\n2024-01-03,Lamp,5\n2024-02-03,Desk,1\n"}).expect([]inquiry{
		{"How many products do we sell?", "-"},
		{"How many products did we sell?", "8"},
	})
	load(t, map[string]string{"loans": "Loan|integer,Book id|integer,Borrower|text,Loaned|date,Returned|date\n1,1,Ann,2024-01-02,2024-01-09\n2,1,Ann,2024-02-02,2024-02-09\n3,1,Ann,2024-03-02,\n4,1,Bob,2024-03-20,\n5,2,Bob,2024-04-02,\n"}).expect([]inquiry{
		{"How many books did Ann borrow?", "-"},
		{"How many books are on loan?", "-"},
		{"Who borrowed the most books?", "-"}, // Ann three times, Bob two titles
		{"How many loans do we have?", "5"},
	})
	load(t, map[string]string{"auftraege": "Auftrag|text,Kunde|text,Betrag|number\nA1,Huber,10\nA2,Huber,20\nA3,Schmidt,30\n"}).expect([]inquiry{
		{"Was hat Huber bestellt?", "-"},
	})
	load(t, map[string]string{"patients": "Patient|text,Ward|text,Admitted|date,Discharged|date\nP1,A,2024-01-02,2024-01-09\nP2,A,2024-01-03,\nP3,B,2024-01-04,\n"}).expect([]inquiry{
		{"How many patients are in ward A?", "-"},
		{"How many patients were admitted in January 2024?", "3 of 3"},
	})
	load(t, map[string]string{"countries": "Country|text,Year|integer,Population|integer\nAlba,2010,100\nBora,2010,300\nAlba,2020,120\nBora,2020,310\n"}).expect([]inquiry{
		{"What is the total population?", "-"},
		{"What was the total population in 2020?", "430"},
		{"Which country has the largest population?", "Bora has the highest population: 310"},
	})
	load(t, map[string]string{"products": "Product|text,Price|number,Cost|number\nMug,7,2\nJug,17,9\n"}).expect([]inquiry{
		{"What does a jug cost?", "-"},
		{"What is the cost of a jug?", "9"},
	})
}
