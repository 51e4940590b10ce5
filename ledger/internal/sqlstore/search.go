package sqlstore

import (
	"context"
	"slices"
	"strconv"

	"atelier/ledger"
)

// Finder returns a query, with a column id, for the records of media that may contain a text in label, description or
// file name: all that contain it, and possibly others. An empty query means that the index cannot find this text.
type Finder func(ctx context.Context, text string) (query string, args []any, err error)

const (
	// newestRows is how many of an owner's newest records a search reads before it queries the index: for frequent
	// words, these fill a page.
	newestRows = 500
	// manyItems is the maximum number of records from the index that are read by id.
	manyItems = 20_000
	// idsAtOnce is the maximum number of ids in one statement.
	idsAtOnce = 200
)

// searchMedia lists the records that contain a text: from the newest ones, or with the index if these do not fill a
// page.
func (s items) searchMedia(ctx context.Context, owner string, q ledger.MediaQuery) (ledger.List[ledger.Record], error) {
	none := ledger.List[ledger.Record]{}
	oldest, err := s.oldestOfNewest(ctx, owner, q.After)
	if err != nil {
		return none, err
	}
	if oldest == "" { // there are no older records
		return page(ctx, s.db, listMedia, recordColumns, s.mediaQuery(owner, q))
	}
	list, err := page(ctx, s.db, listMedia, recordColumns, s.mediaQuery(owner, q).where("id >= ?", oldest))
	if err != nil || list.Next != "" {
		return list, err
	}
	found, args, err := s.find(ctx, q.Text)
	if err != nil {
		return none, err
	}
	if found == "" {
		return page(ctx, s.db, listMedia, recordColumns, s.mediaQuery(owner, q))
	}
	ids, many, err := s.candidates(ctx, q.After, found, args)
	if err != nil {
		return none, err
	}
	if many {
		return page(ctx, s.db, listMedia, recordColumns, s.mediaQuery(owner, q))
	}
	list = ledger.List[ledger.Record]{Items: []ledger.Record{}}
	for some := range slices.Chunk(ids, idsAtOnce) {
		l, err := page(ctx, s.db, listMedia, recordColumns, s.mediaQuery(owner, q).whereIn("id", some))
		if err != nil {
			return l, err
		}
		list.Items = append(list.Items, l.Items...)
		if most := q.EffectiveLimit(); l.Next != "" || len(list.Items) > most {
			list.Items = list.Items[:most]
			list.Next = list.Items[most-1].ID
			break
		}
	}
	return list, nil
}

// oldestOfNewest returns the id of the last of the newest records after a cursor; empty if there are fewer.
func (s items) oldestOfNewest(ctx context.Context, owner, after string) (id string, err error) {
	sel := from("media").where("owner = ?", owner).orderBy("id DESC")
	if after != "" {
		sel.where("id < ?", after)
	}
	sel.limit = 1
	err = s.read.QueryRowContext(ctx, sel.sql("id")+" OFFSET "+strconv.Itoa(newestRows-1), sel.args...).Scan(&id)
	return id, optional(err)
}

// candidates returns the ids after a cursor that the query of the index finds, newest first; many reports that there
// are more than manyItems.
func (s items) candidates(ctx context.Context, after, found string, args []any) (ids []string, many bool, err error) {
	q := from("("+found+" LIMIT "+strconv.Itoa(manyItems+1)+") found", args...).orderBy("found.id DESC")
	isAfter := "1"
	if after != "" {
		q.args = append(q.args, after)
		isAfter = "CASE WHEN found.id < $" + strconv.Itoa(len(q.args)) + " THEN 1 ELSE 0 END"
	}
	type candidate struct {
		id      string
		isAfter bool
	}
	rows, err := all(ctx, s.read, func(c *candidate) columns { return columns{{"found.id", &c.id}, {isAfter, &c.isAfter}} }, q)
	for _, c := range rows {
		if c.isAfter {
			ids = append(ids, c.id)
		}
	}
	return slices.Compact(ids), len(rows) > manyItems, err
}
