package question_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestCodesAreNotSmallWords: in, at and is are not the countries IN, AT and IS, and a is not the class A.
func TestCodesAreNotSmallWords(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"orders": "order_id|text,date|date,country|text,amount|integer\n" +
		"O1,2024-03-01,IN,10\nO2,2024-03-02,DE,20\nO3,2024-04-01,IS,30\nO4,2024-04-02,AT,40\nO5,2024-05-01,USA,50\n"}).expect([]inquiry{
		{"How many orders are there in March 2024?", "2 of 5 orders match (March 2024)."},
		{"What is the total amount in 2024?", "The total amount in 2024 is 150."},
		{"How much did customers pay us in 2024?", "150"},
		{"What is the total amount in IN?", "The amount (country: IN) is 10."},
		{"What is the total amount of country at?", "40"},
		{"HOW MANY ORDERS ARE THERE IN MARCH 2024?", "2 of 5"},
	})
	load(t, map[string]string{"students": "name|text,class|text,score|integer\nAnn,A,55\nBen,B,60\nCid,A,40\nDee,B,70\nEli,C,80\n"}).expect([]inquiry{
		{"How many students have a score above 50?", "4 of 5 students match (score > 50)."},
		{"How many students are in class A?", "2 of 5"},
		{"What is the average score in class a?", "47.5"},
		{"What is the average score of D?", "-unknown"}, // not the mean of all
	})
}

// TestWhatIsMissingIsNotZero: a difference needs two values, and rows of one time have not changed.
func TestWhatIsMissingIsNotZero(t *testing.T) {
	t.Parallel()
	f := load(t, map[string]string{"sales": "region|text,year|integer,revenue|integer\nNorth,2023,100\nSouth,2023,80\nEast,2023,50\nNorth,2024,120\nSouth,2024,100\nEast,2024,40\nWest,2023,60\nWest,2024,\n"})
	f.expect([]inquiry{
		{"Which region's revenue grew the most from 2023 to 2024?", "North: the revenue rose from 100 in 2023 to 120 in 2024 (+20, +20 %); South: "}, // both
		{"Which region's revenue fell the most from 2023 to 2024?", "East: the revenue fell from 50 in 2023 to 40 in 2024"},
	})
	if got := f.answerTo("Compare the revenue of North and West in 2024."); strings.Contains(got, "above") || strings.Contains(got, "together") {
		t.Errorf("a missing value is taken for zero: %s", got)
	}
	load(t, map[string]string{"regions": "region|text,revenue|integer\nNorth,100\nSouth,80\n,70\nNorth,20\n,30\n"}).expect([]inquiry{
		{"What is the total revenue by region?", "North: 120; South: 80. Of the 5 values of region in the table, 2 are missing; these are left out."},
		{"What share of the revenue is North?", "60 %: 120 of 200 revenue. Of the 5 values of region in the table, 2 are missing; these are left out."},
	})
}

// TestBetweenTwoNumbers: a unit, a scale and a direction of money are those of both numbers.
func TestBetweenTwoNumbers(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"calls": "call_id|text,date|date,duration|integer|min\nC1,2024-01-01,1\nC2,2024-01-02,2\nC3,2024-01-03,45\nC4,2024-01-04,61\nC5,2024-01-05,119\nC6,2024-01-06,121\n"}).expect([]inquiry{
		{"How many calls lasted between 120 and 60 minutes?", "-unclear"},
	})
	load(t, map[string]string{"bank": "date|date,description|text,amount|integer\n2024-01-02,Salary,2500\n2024-01-05,Rent,-900\n2024-01-08,Shop,-75\n2024-01-09,Refund,60\n2024-01-11,Shop,-55\n2024-01-15,Gift,80\n"}).expect([]inquiry{
		{"What share of the amount was Shop?", "-"}, // of a balance there are no shares
	})
	load(t, map[string]string{"trips": "trip|text,distance|integer|km,duration|number|h\nT1,10,1\nT2,30,2.5\n", "sensors": "sensor|text,value|number\nS1,0.00000000012\nS2,0.000001\n"}).expect([]inquiry{
		{"How many trips were longer than 15000 m?", "-unclear"}, // not hours
		{"What is the value of S1?", "0.00000000012"},            // not 0
	})
	load(t, map[string]string{"quotas": "team|text,quota|integer|%\nRed,140\nBlue,95\nGreen,\n"}).expect([]inquiry{
		{"How many teams have a quota over 100 %?", "1 of 3 teams matches (quota > 100)."},
	})
}

// TestTrendsAreWhole: a trend that the rows of a result cut off has no last value, a sentence says how many lines it
// leaves out, and a mean is no median.
func TestTrendsAreWhole(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("date|date,region|text,revenue|integer\n")
	for month := range 24 {
		for region := range 6 {
			fmt.Fprintf(&b, "%d-%02d-01,Region %c,%d\n", 2022+month/12, month%12+1, 'A'+region, 100*region+month)
		}
	}
	f := load(t, map[string]string{"sales": b.String()})
	f.expect([]inquiry{
		{"How did revenue develop by region?", "that of Region C rose from 200 in January 2022 to 223 in December 2023 (+11.5 %); and 2 more."},
		{"How did the median revenue develop by month?", "-unclear"},
		{"What is the total revenue by day?", "; and 12 more."},
	})
	f.most = 40
	f.expect([]inquiry{
		{"How did revenue develop by region?", "-ambiguous"},
	})
	f.most = 20
	f.expect([]inquiry{
		{"What is the total revenue by day?", "; and 12 more."}, // of 24, though the result holds 20
	})
	b.Reset()
	b.WriteString("date|date,region|text,revenue|integer\n")
	for month := range 24 {
		for region := range 20 {
			fmt.Fprintf(&b, "%d-%02d-01,Region %c,%d\n", 2022+month/12, month%12+1, 'A'+region, 100*region+1)
		}
	}
	load(t, map[string]string{"sales": b.String()}).expect([]inquiry{
		{"How did revenue develop by region?", "in 2022 to"}, // 480 months are too many for a result
	})
}

// TestALongStatementIsExecutedOnce: a result whose statement is shortened is still the result of that statement.
func TestALongStatementIsExecutedOnce(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "note %d|text,", i)
	}
	b.WriteString("amount|integer\n")
	for row := range 30 {
		for i := range 12 {
			fmt.Fprintf(&b, "item %d of %d,", row, i)
		}
		fmt.Fprintf(&b, "%d\n", row)
	}
	f := load(t, map[string]string{"notes": b.String()})
	f.expect([]inquiry{{"What is the total amount of Frobnitz Wolverhampton Quantum?", "-unknown"}})
}

// TestHalfAnAnswer: two aggregates are two questions, rows without a key are not per key, and what has no rows is not in
// the rows.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{
		"orders":    "order_id|text,customer_id|text,amount|integer\nO1,C1,10\nO2,C2,20\nO3,C4,40\nO4,,5\nO5,C1,1\n",
		"customers": "customer_id|text,name|text,city|text\nC1,Ann Lee,Rome\nC2,Ben Ray,Oslo\nC3,Cid Fox,Rome\n",
	}).expect([]inquiry{
		{"How many customers have no orders?", "-unclear"},
		{"What is the average amount per customer?", "-unclear"},
		{"What is the total amount and the average amount?", "-unclear"},
		{"What is the average and total amount?", "-unclear"},
		{"Overall, what is the average amount?", "15.2"},
	})
	if r := load(t, nil).ask("How many sick days are there?"); len(r) != 1 || strings.Join(r[0].Unknown, " ") != "sick" {
		t.Errorf("%+v", r)
	}
}

// TestHowManySalesIsNoRevenue: how many sales there were is a number of rows, not an amount of money.
func TestHowManySalesIsNoRevenue(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"sales": "date|date,region|text,units|integer,revenue|number|€\n2023-01-15,North,10,100.5\n2024-01-15,North,12,120.6\n2024-04-15,South,9,270.3\n2024-07-15,East,3,90.1\n"}).expect([]inquiry{
		{"How many sales were there in 2024?", "3 of 4 sales match (2024)."},
		{"How many sales had more than 5 units?", "3 of 4 sales match (units > 5)."},
		{"What were the total sales in 2024?", "481 €"},
		{"How much were the sales in 2024?", "481 €"},
	})
	load(t, map[string]string{"days": "date|date,orders|integer,revenue|number|€\n2023-01-15,10,100.5\n2024-01-15,12,120.6\n2024-04-15,9,270.3\n"}).expect([]inquiry{
		{"How many sales were there in 2024?", "21"}, // not two days
	})
	load(t, map[string]string{"daily": "date|date,store|text,revenue|number|€\n2024-01-01,A,100.1\n2024-01-01,B,200.2\n2024-01-02,A,150.15\n2024-01-02,B,250.25\n"}).expect([]inquiry{
		{"How many sales were there on 2 January 2024?", "-unknown"}, // nothing counts them
		{"What was the total revenue, and which store made the most of it?", "-unclear"},
	})
}
