package question_test

import "testing"

func dated(t *testing.T) *folder {
	t.Helper()
	return load(t, map[string]string{"orders": `order_id|integer,order_date|date,customer|text,city|text,amount|number|€,status|text,pieces|integer,paid|boolean
1,2021-01-05,Anna,Berlin,100,shipped,3,yes
2,2021-02-10,Ben,Paris,50,returned,2,yes
3,2022-02-11,Cara,Berlin,30,shipped,1,no
4,2023-01-20,Anna,Berlin,70,shipped,5,yes
5,2023-03-02,Anna,Berlin,40,pending,2,no
6,2024-03-02,Ben,Paris,20,pending,2,no
7,2024-05-02,Dan,Rome,10,shipped,2,yes
8,2025-05-02,Dan,Rome,10,shipped,1,yes
`})
}

// TestTwoTimesWithBounds: a time before or after another one is no comparison of the two.
func TestTwoTimesWithBounds(t *testing.T) {
	t.Parallel()
	dated(t).expect([]inquiry{
		{"How many orders were placed after 2021 and before 2024?", "3 of 8"},
		{"Wie viele orders nach 2021 und vor 2024?", "3 orders"},
		{"How many orders were placed before 2022 and after 2024?", "-"},
		{"How many orders were placed before 2022 or after 2024?", "-"},
		{"How many orders were placed in 2021 and after 2023?", "-"},
		{"How many orders were placed in 2021 and since 2024?", "-"},
		{"How many orders were placed until 2021 and since 2024?", "-"},
		{"What is the total amount before 2024 but after 2021?", "-"},
		{"Wie viele orders vor 2022 und nach 2024?", "-"},
		{"How many orders were placed between 2022 and 2021?", "-"},
		{"What is the total amount by 2023?", "-"},
	})
}

// TestConditionsJoinedByOr: rows that meet one of two conditions are not those that meet both.
func TestConditionsJoinedByOr(t *testing.T) {
	t.Parallel()
	dated(t).expect([]inquiry{
		{"How many orders by Anna or in 2024?", "-"},
		{"How many orders are shipped or over 50?", "-"},
		{"How many orders in 2023 from Berlin or with status pending?", "-"},
		{"How many orders have more than 2 pieces or an amount over 60?", "-"},
		{"How many orders with an amount under 20 or over 60?", "-"},
		{"How many orders do not have 2 pieces?", "-"},
		{"How many orders are paid or shipped?", "-"},
		{"How many orders are paid and shipped?", "4 of 8"},
		{"How many orders are not from Berlin or Paris?", "2 of 8"},
		{"Did Anna or Ben have more orders?", "Anna"},
		{"What is the total amount excluding shipped orders from Berlin?", "-"},
	})
}

// TestMeasuresOfAnotherTable: rows that share a row of another table do not multiply its amounts.
func TestMeasuresOfAnotherTable(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{
		"employees":   "employee_id|integer,name|text,department_id|integer,role|text,salary|number|€\n1,Ann,1,Engineer,100\n2,Bob,1,Engineer,200\n3,Cid,2,Engineer,300\n4,Dee,2,Clerk,100\n5,Eve,1,Clerk,100\n",
		"departments": "department_id|integer,department_name|text,budget|number|€\n1,Tech,1000\n2,Sales,500\n",
	}).expect([]inquiry{
		{"What is the total budget of Tech?", "1,000"},
		{"What is the total budget?", "1,500"},
		{"What is the total salary in Tech?", "400"},
		{"What is the total budget of departments with engineers?", "-"},
		{"What is the average budget of the Engineers?", "-"},
		{"What is the total budget by role?", "-"},
		{"Which role has the highest total budget?", "-"},
		{"What share of the budget is Engineer?", "-"},
	})
}

// TestOneOrAThousand: a number that may be one or a thousand is not read as one of them.
func TestOneOrAThousand(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"bills": "bill|text,amount|number|€\nA1,500\nA2,1500\nA3,0.5\n"}).expect([]inquiry{
		{"How many bills were below 1.000 €?", "-"},
		{"How many bills were below 1,000 €?", "2 of 3"},
		{"Wie viele Rechnungen lagen unter 1.000 €?", "2 Rechnungen"},
		{"Wie viele Rechnungen lagen unter 1,000 €?", "-"},
	})
}

// TestSeasonsAndEnds: a word that restricts the time is not ignored.
func TestSeasonsAndEnds(t *testing.T) {
	t.Parallel()
	dated(t).expect([]inquiry{
		{"How many orders in summer 2023?", "-"},
		{"How many orders at the end of 2023?", "-"},
		{"How many orders by the end of 2023?", "5 of 8"},
		{"What is the cumulative amount by 2023?", "-"},
	})
}

// TestConditionsOnOtherRows: what some rows say is not said of all rows of a name, of a pair of values or of a time.
func TestConditionsOnOtherRows(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"sales": `date|date,region|text,product|text,units|integer,revenue|number|€,channel|text
2022-01-10,North,Tea,10,100,web
2022-03-10,North,Coffee,5,150,shop
2022-06-10,South,Tea,8,80,web
2023-01-15,South,Coffee,4,120,shop
2023-02-15,West,Tea,20,200,web
2023-07-15,North,Coffee,1,30,web
2024-01-20,West,Tea,2,20,shop
2024-02-20,South,Cocoa,7,70,web
`}).expect([]inquiry{
		{"Which regions did not sell Coffee?", "-"},
		{"Which regions never sold Cocoa?", "-"},
		{"How many different regions did not sell Coffee?", "-"},
		{"Which products are only sold in South?", "-"},
		{"Which products were sold in South?", "Cocoa; Coffee; Tea"},
		{"What was the revenue of Tea in North and Coffee in South?", "-"},
		{"What was the revenue of Tea in North and South?", "together 180"},
		{"How many units of Tea and Coffee were sold in 2023?", "together 25"},
		{"What was the revenue of all products but Tea?", "-"},
		{"How many sales have no date?", "0 of 8"},
		{"How many sales had between 5 and 10 units?", "4 of 8"},
		{"How many sales were there with more than 5 units in 2022?", "2 of 8"},
		{"Revenue of tea and number of sales", "-"},
		{"What percentage of Tea units were sold in 2023?", "-"},
		{"What percentage of units sold in 2023 was Tea?", "80"},
		{"What percentage of revenue came from North in 2022?", "75.76"},
	})
}

// TestNamesThatAreCounted: names are counted once, whatever the number of their rows, and an end of something counts.
func TestNamesThatAreCounted(t *testing.T) {
	t.Parallel()
	dated(t).expect([]inquiry{
		{"How many customers other than Anna are there?", "-"},
		{"How many cities other than Berlin are there?", "-"},
	})
	load(t, map[string]string{"students": `name|text,class|text,maths|integer,english|integer,joined|date,left|date
Ann,5a,90,80,2020-09-01,
Bob,5a,60,70,2020-09-01,2023-07-31
Cid,5b,75,85,2021-09-01,
Dee,5b,55,95,2022-09-01,
`}).expect([]inquiry{
		{"How many students left?", "1 of 4"},
		{"How many students are still there?", "-"},
		{"Which students scored over 70 in maths or english?", "-"},
		{"How many students scored below 70 in maths or english?", "-"},
		{"Which students scored over 70 in maths and over 80 in english?", "Cid"},
		{"How many students joined before 2021?", "2 of 4"},
	})
}

// TestNumbersAreNotRows: a number is that of a row only after the word for it: sale 3, but not 3 units or 3 stores.
func TestNumbersAreNotRows(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"sales": "id|text,date|date,store|text,quantity|integer,revenue|integer\n" +
		"1,2024-03-01,Bonn,4,120\n2,2024-03-02,Kiel,1,30\n3,2024-03-04,Ulm,5,150\n4,2024-09-03,Bonn,2,60\n5,2024-09-04,Kiel,3,90\n6,2023-09-05,Ulm,2,61\n"}).expect([]inquiry{
		{"How many sales had 2 or 3 units?", "-"},
		{"Wie viele Verkäufe hatten 2 oder 3 Stück?", "-"},
		{"How many sales on 3 September 2024?", "1 of 6"},
		{"What was the revenue on 4 March 2024?", "150"},
		{"Which 3 stores had the highest revenue?", "Ulm (211), Bonn (180) and Kiel (120)"},
		{"Top 2 stores by revenue", "Ulm (211) and Bonn (180)"},
		{"What was the revenue of sale 3?", "The revenue (id: 3) is 150."},
		{"What was the revenue of sales 2 and 3?", "3: 150; 2: 30."},
	})
}

// TestNumberOfSales: sales are counted after every phrase for a number, and compared with an amount by their revenue.
func TestNumberOfSales(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"sales": "id|text,date|date,store|text,quantity|integer,revenue|integer\n" +
		"1,2024-03-01,Bonn,4,120\n2,2024-03-02,Kiel,1,30\n3,2024-03-04,Ulm,5,150\n4,2024-09-03,Bonn,2,70\n5,2024-09-04,Kiel,3,90\n6,2023-09-05,Ulm,2,61\n7,2024-12-05,Bonn,9,200\n"}).expect([]inquiry{
		{"How many more sales were there in 2024 than in 2023?", "from 1 in 2023 to 6 in 2024"},
		{"How many fewer sales did Kiel have than Bonn?", "Bonn: 3; Kiel: 2"},
		{"By how much did the number of sales change from 2023 to 2024?", "-"},
		{"Top 2 stores by number of sales", "-"},
		{"Welcher Monat 2024 hatte den höchsten Umsatz?", "März 2024"},
		{"Which month 2024 had the highest revenue?", "March 2024"},
	})
}
