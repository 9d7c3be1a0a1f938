// Google's Go client against a server: each check says on a line of its own how it went.
//
// FIRESTORE_EMULATOR_HOST names the server. A check has a collection that no other one uses.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"sort"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// room is a document as an app declares it.
type room struct {
	Name  string    `firestore:"name"`
	Seats int64     `firestore:"seats"`
	Tags  []string  `firestore:"tags"`
	Since time.Time `firestore:"since"`
}

type check struct {
	name string
	run  func(context.Context, *firestore.Client, *firestore.CollectionRef) error
}

var checks = []check{
	{"every kind of value comes back", values},
	{"a struct is written and read", structs},
	{"create, update, delete and their preconditions", preconditions},
	{"set with merge", merges},
	{"transforms", transforms},
	{"a batch is written whole or not at all", batches},
	{"get all, with one that is missing", getAll},
	{"filters, orders, limits and cursors", queries},
	{"a collection group", groups},
	{"collections and missing documents are listed", lists},
	{"a transaction reads, then writes", transactions},
	{"a read-only transaction at a time", pastReads},
	{"fifty goroutines count to fifty", contention},
	{"a document is listened to", documentListens},
	{"a query is listened to", queryListens},
	{"a listener hears 2,000 documents", largeListens},
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	client, err := firestore.NewClient(ctx, "interop-go")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer client.Close()
	lines := json.NewEncoder(os.Stdout)
	for number, check := range checks {
		collection := client.Collection("go-" + strconv.Itoa(number))
		problem := ""
		if err := check.run(ctx, client, collection); err != nil {
			problem = err.Error()
		}
		lines.Encode(map[string]string{"name": check.name, "problem": problem})
	}
}

func equal(what string, found, expected interface{}) error {
	if !reflect.DeepEqual(found, expected) {
		return fmt.Errorf("%s: %v (%T), not %v (%T)", what, found, found, expected, expected)
	}
	return nil
}

func failsWith(what string, err error, code codes.Code) error {
	if status.Code(err) != code {
		return fmt.Errorf("%s: %v, not %v", what, err, code)
	}
	return nil
}

// first gives the first error of several.
func first(problems ...error) error {
	for _, problem := range problems {
		if problem != nil {
			return problem
		}
	}
	return nil
}

func ids(documents []*firestore.DocumentSnapshot) []string {
	found := []string{}
	for _, document := range documents {
		found = append(found, document.Ref.ID)
	}
	return found
}

func values(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	other := rooms.Doc("other")
	written := map[string]interface{}{
		"nothing": nil, "yes": true, "least": int64(math.MinInt64), "most": int64(math.MaxInt64),
		"third": 1.0 / 3, "infinite": math.Inf(-1), "text": "naïve 🏝️", "empty": "",
		"bytes": []byte{0, 255, 128},
		"time":  time.Unix(-1, 123456000).UTC(),
		"list":  []interface{}{int64(1), nil, map[string]interface{}{"deep": 2.0}},
		"map":   map[string]interface{}{"a": map[string]interface{}{}, "b": []interface{}{}},
	}
	document := rooms.Doc("all")
	if _, err := document.Set(ctx, written); err != nil {
		return err
	}
	snapshot, err := document.Get(ctx)
	if err != nil {
		return err
	}
	for name, expected := range written {
		if err := equal(name, snapshot.Data()[name], expected); err != nil {
			return err
		}
	}
	zero := map[string]interface{}{
		"zero": math.Copysign(0, -1), "nan": math.NaN(), "reference": other,
		"place": &latlng.LatLng{Latitude: -90, Longitude: 179.5},
	}
	if _, err := document.Set(ctx, zero); err != nil {
		return err
	}
	snapshot, err = document.Get(ctx)
	if err != nil {
		return err
	}
	data := snapshot.Data()
	place := data["place"].(*latlng.LatLng)
	return first(
		equal("a place", []float64{place.Latitude, place.Longitude}, []float64{-90, 179.5}),
		equal("minus zero", math.Signbit(data["zero"].(float64)), true),
		equal("NaN", math.IsNaN(data["nan"].(float64)), true),
		equal("a reference", data["reference"].(*firestore.DocumentRef).Path, other.Path))
}

func structs(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	blue := room{"Blue", 12, []string{"north", "quiet"}, time.Unix(1_700_000_000, 1000).UTC()}
	document, result, err := rooms.Add(ctx, blue)
	if err != nil {
		return err
	}
	snapshot, err := document.Get(ctx)
	if err != nil {
		return err
	}
	var read room
	if err := snapshot.DataTo(&read); err != nil {
		return err
	}
	return first(
		equal("the room", read, blue),
		equal("its id's length", len(document.ID), 20),
		equal("its time", snapshot.UpdateTime, result.UpdateTime),
		equal("its creation", snapshot.CreateTime, result.UpdateTime))
}

func preconditions(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	document := rooms.Doc("blue")
	_, missing := document.Get(ctx)
	_, noUpdate := document.Update(ctx, []firestore.Update{{Path: "seats", Value: 1}})
	made, err := document.Create(ctx, map[string]interface{}{"seats": 1, "old": true})
	if err != nil {
		return err
	}
	_, twice := document.Create(ctx, map[string]interface{}{"seats": 2})
	_, err = document.Update(ctx, []firestore.Update{
		{Path: "seats", Value: 3}, {Path: "old", Value: firestore.Delete},
		{FieldPath: []string{"a.b", "c"}, Value: "deep"},
	}, firestore.LastUpdateTime(made.UpdateTime))
	if err != nil {
		return err
	}
	_, stale := document.Delete(ctx, firestore.LastUpdateTime(made.UpdateTime))
	snapshot, err := document.Get(ctx)
	if err != nil {
		return err
	}
	expected := map[string]interface{}{
		"seats": int64(3), "a.b": map[string]interface{}{"c": "deep"}}
	_, deleted := document.Delete(ctx, firestore.Exists)
	_, again := document.Delete(ctx)
	_, gone := document.Delete(ctx, firestore.Exists)
	return first(
		failsWith("a missing document", missing, codes.NotFound),
		failsWith("an update of it", noUpdate, codes.NotFound),
		failsWith("a second creation", twice, codes.AlreadyExists),
		failsWith("an old time", stale, codes.FailedPrecondition),
		equal("the document", snapshot.Data(), expected),
		deleted, again,
		failsWith("a deletion of what is gone", gone, codes.NotFound))
}

func merges(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	document := rooms.Doc("blue")
	_, one := document.Set(ctx, map[string]interface{}{
		"name": "Blue", "at": map[string]interface{}{"floor": 1, "wing": "north"}})
	_, two := document.Set(ctx, map[string]interface{}{
		"at": map[string]interface{}{"floor": 2}, "seats": 12}, firestore.MergeAll)
	_, three := document.Set(ctx, map[string]interface{}{
		"name": "Green", "seats": 13}, firestore.Merge([]string{"seats"}))
	if err := first(one, two, three); err != nil {
		return err
	}
	snapshot, err := document.Get(ctx)
	if err != nil {
		return err
	}
	return equal("the document", snapshot.Data(), map[string]interface{}{
		"name": "Blue", "seats": int64(13),
		"at": map[string]interface{}{"floor": int64(2), "wing": "north"}})
}

func transforms(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	document := rooms.Doc("blue")
	_, one := document.Set(ctx, map[string]interface{}{"seats": 1, "tags": []string{"a", "b"}})
	result, two := document.Update(ctx, []firestore.Update{
		{Path: "seats", Value: firestore.Increment(41)},
		{Path: "weight", Value: firestore.Increment(0.5)},
		{Path: "since", Value: firestore.ServerTimestamp},
	})
	_, three := document.Update(ctx, []firestore.Update{
		{Path: "tags", Value: firestore.ArrayUnion("b", "c")}})
	_, four := document.Update(ctx, []firestore.Update{
		{Path: "tags", Value: firestore.ArrayRemove("a")}})
	if err := first(one, two, three, four); err != nil {
		return err
	}
	snapshot, err := document.Get(ctx)
	if err != nil {
		return err
	}
	data := snapshot.Data()
	return first(
		equal("seats", data["seats"], int64(42)), equal("weight", data["weight"], 0.5),
		equal("tags", data["tags"], []interface{}{"b", "c"}),
		equal("since", data["since"].(time.Time).Sub(result.UpdateTime) <= time.Millisecond, true))
}

func batches(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	batch := client.Batch()
	for number := 0; number < 500; number++ {
		batch.Set(rooms.Doc(fmt.Sprintf("r%03d", number)), map[string]interface{}{"n": number})
	}
	results, err := batch.Commit(ctx)
	if err != nil {
		return err
	}
	_, refused := client.Batch().
		Set(rooms.Doc("r000"), map[string]interface{}{"n": -1}).
		Update(rooms.Doc("missing"), []firestore.Update{{Path: "n", Value: 1}}).
		Commit(ctx)
	snapshot, err := rooms.Doc("r000").Get(ctx)
	if err != nil {
		return err
	}
	documents, err := rooms.Documents(ctx).GetAll()
	return first(
		err, equal("results", len(results), 500), equal("documents", len(documents), 500),
		failsWith("the second batch", refused, codes.NotFound),
		equal("what it would have written", snapshot.Data()["n"], int64(0)))
}

func getAll(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	if _, err := rooms.Doc("a").Set(ctx, map[string]interface{}{"n": 1}); err != nil {
		return err
	}
	found, err := client.GetAll(
		ctx, []*firestore.DocumentRef{rooms.Doc("b"), rooms.Doc("a"), rooms.Doc("b")})
	if err != nil {
		return err
	}
	exist := []bool{found[0].Exists(), found[1].Exists(), found[2].Exists()}
	return first(
		equal("which exist", exist, []bool{false, true, false}),
		equal("in the order asked for", ids(found), []string{"b", "a", "b"}))
}

func queries(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	for number := 0; number < 20; number++ {
		_, err := rooms.Doc(fmt.Sprintf("r%02d", number)).Set(ctx, map[string]interface{}{
			"n": number, "odd": number%2 == 1, "tags": []int{number % 3, number % 5}})
		if err != nil {
			return err
		}
	}
	last, err := rooms.Doc("r07").Get(ctx)
	if err != nil {
		return err
	}
	cases := []struct {
		name  string
		query firestore.Query
		ids   []string
	}{
		{"a range", rooms.Where("n", ">", 16).Where("n", "<=", 18), []string{"r17", "r18"}},
		{"descending", rooms.OrderBy("n", firestore.Desc).Limit(2), []string{"r19", "r18"}},
		{"an equality", rooms.Where("odd", "==", true).Limit(2), []string{"r01", "r03"}},
		{"in", rooms.Where("n", "in", []int{3, 1, 99}), []string{"r01", "r03"}},
		{"array contains", rooms.Where("tags", "array-contains", 4).Limit(2), []string{"r04", "r09"}},
		{"array contains any", rooms.Where("tags", "array-contains-any", []int{3, 4}).Limit(2),
			[]string{"r03", "r04"}},
		{"offset", rooms.OrderBy("n", firestore.Asc).Offset(5).Limit(1), []string{"r05"}},
		{"after values", rooms.OrderBy("n", firestore.Asc).StartAfter(17), []string{"r18", "r19"}},
		{"between values", rooms.OrderBy("n", firestore.Asc).StartAt(3).EndBefore(5),
			[]string{"r03", "r04"}},
		{"after a document", rooms.OrderBy("odd", firestore.Desc).StartAfter(last).Limit(1),
			[]string{"r05"}},
	}
	for _, one := range cases {
		documents, err := one.query.Documents(ctx).GetAll()
		if err := first(err, equal(one.name, ids(documents), one.ids)); err != nil {
			return err
		}
	}
	selected, err := rooms.Where("n", "==", 4).Select("odd").Documents(ctx).GetAll()
	if err != nil {
		return err
	}
	return equal("selected", selected[0].Data(), map[string]interface{}{"odd": false})
}

func groups(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	for _, id := range []string{"a", "b"} {
		_, err := rooms.Doc(id).Collection("go-notes").Doc("of-"+id).Set(
			ctx, map[string]interface{}{"room": id})
		if err != nil {
			return err
		}
	}
	all, err := client.CollectionGroup("go-notes").Documents(ctx).GetAll()
	if err != nil {
		return err
	}
	one, err := client.CollectionGroup("go-notes").Where("room", "==", "b").Documents(ctx).GetAll()
	return first(
		err, equal("all", ids(all), []string{"of-a", "of-b"}),
		equal("one", ids(one), []string{"of-b"}))
}

func lists(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	_, one := rooms.Doc("there").Set(ctx, map[string]interface{}{})
	_, two := rooms.Doc("missing").Collection("below").Doc("x").Set(ctx, map[string]interface{}{})
	if err := first(one, two); err != nil {
		return err
	}
	references, err := rooms.DocumentRefs(ctx).GetAll()
	if err != nil {
		return err
	}
	found := []string{}
	for _, reference := range references {
		found = append(found, reference.ID)
	}
	sort.Strings(found)
	below, err := rooms.Doc("missing").Collections(ctx).GetAll()
	if err != nil {
		return err
	}
	return first(
		equal("documents", found, []string{"missing", "there"}),
		equal("collections below", len(below), 1), equal("its name", below[0].ID, "below"))
}

func transactions(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	from, to := rooms.Doc("from"), rooms.Doc("to")
	_, one := from.Set(ctx, map[string]interface{}{"n": 10})
	_, two := to.Set(ctx, map[string]interface{}{"n": 0})
	if err := first(one, two); err != nil {
		return err
	}
	err := client.RunTransaction(ctx, func(ctx context.Context, t *firestore.Transaction) error {
		snapshot, err := t.Get(from)
		if err != nil {
			return err
		}
		documents, err := t.Documents(rooms.Where("n", ">=", 0)).GetAll()
		if err != nil {
			return err
		}
		if err := equal("documents", len(documents), 2); err != nil {
			return err
		}
		n := snapshot.Data()["n"].(int64)
		return first(
			t.Update(from, []firestore.Update{{Path: "n", Value: n - 4}}),
			t.Set(to, map[string]interface{}{"n": 4}))
	})
	if err != nil {
		return err
	}
	stopped := errors.New("stopped")
	undone := client.RunTransaction(ctx, func(ctx context.Context, t *firestore.Transaction) error {
		return first(t.Set(to, map[string]interface{}{"n": 99}), stopped)
	})
	found, err := client.GetAll(ctx, []*firestore.DocumentRef{from, to})
	if err != nil {
		return err
	}
	return first(
		equal("the error of the second", undone, stopped),
		equal("from", found[0].Data()["n"], int64(6)), equal("to", found[1].Data()["n"], int64(4)))
}

func pastReads(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	document := rooms.Doc("blue")
	if _, err := document.Set(ctx, map[string]interface{}{"n": 1}); err != nil {
		return err
	}
	return client.RunTransaction(ctx, func(ctx context.Context, t *firestore.Transaction) error {
		before, err := t.Get(document)
		if err != nil {
			return err
		}
		if _, err := document.Set(ctx, map[string]interface{}{"n": 2}); err != nil {
			return err
		}
		after, err := t.Get(document)
		if err != nil {
			return err
		}
		return first(
			equal("before", before.Data()["n"], int64(1)), equal("after", after.Data()["n"], int64(1)))
	}, firestore.ReadOnly)
}

func contention(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	document := rooms.Doc("counter")
	if _, err := document.Set(ctx, map[string]interface{}{"n": 0}); err != nil {
		return err
	}
	var group sync.WaitGroup
	problems := make(chan error, 50)
	for number := 0; number < 50; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			problems <- client.RunTransaction(ctx, func(ctx context.Context, t *firestore.Transaction) error {
				snapshot, err := t.Get(document)
				if err != nil {
					return err
				}
				n := snapshot.Data()["n"].(int64)
				return t.Set(document, map[string]interface{}{"n": n + 1})
			}, firestore.MaxAttempts(200))
		}()
	}
	group.Wait()
	close(problems)
	for problem := range problems {
		if problem != nil {
			return problem
		}
	}
	snapshot, err := document.Get(ctx)
	if err != nil {
		return err
	}
	return equal("the counter", snapshot.Data()["n"], int64(50))
}

func documentListens(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	document := rooms.Doc("blue")
	snapshots := document.Snapshots(ctx)
	defer snapshots.Stop()
	missing, err := snapshots.Next()
	if err != nil {
		return err
	}
	if _, err := document.Set(ctx, map[string]interface{}{"n": 1}); err != nil {
		return err
	}
	there, err := snapshots.Next()
	if err != nil {
		return err
	}
	if _, err := document.Delete(ctx); err != nil {
		return err
	}
	gone, err := snapshots.Next()
	return first(
		err, equal("first", missing.Exists(), false), equal("then", there.Data()["n"], int64(1)),
		equal("last", gone.Exists(), false))
}

func queryListens(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	for _, id := range []string{"a", "b", "c"} {
		if _, err := rooms.Doc(id).Set(ctx, map[string]interface{}{"id": id}); err != nil {
			return err
		}
	}
	snapshots := rooms.Where("id", ">=", "b").OrderBy("id", firestore.Asc).Snapshots(ctx)
	defer snapshots.Stop()
	opening, err := snapshots.Next()
	if err != nil {
		return err
	}
	batch := client.Batch().
		Delete(rooms.Doc("b")).
		Set(rooms.Doc("a"), map[string]interface{}{"id": "z"}).
		Set(rooms.Doc("c"), map[string]interface{}{"id": "c", "more": true})
	if _, err := batch.Commit(ctx); err != nil {
		return err
	}
	next, err := snapshots.Next()
	if err != nil {
		return err
	}
	kinds := map[string]firestore.DocumentChangeKind{}
	for _, change := range next.Changes {
		kinds[change.Doc.Ref.ID] = change.Kind
	}
	documents, err := next.Documents.GetAll()
	return first(
		err, equal("opening", opening.Size, 2),
		equal("after one commit", ids(documents), []string{"c", "a"}),
		equal("its changes", kinds, map[string]firestore.DocumentChangeKind{
			"a": firestore.DocumentAdded, "b": firestore.DocumentRemoved,
			"c": firestore.DocumentModified,
		}))
}

func largeListens(ctx context.Context, client *firestore.Client, rooms *firestore.CollectionRef) error {
	for start := 0; start < 2000; start += 500 {
		batch := client.Batch()
		for number := start; number < start+500; number++ {
			batch.Set(rooms.Doc(fmt.Sprintf("r%04d", number)), map[string]interface{}{"n": number})
		}
		if _, err := batch.Commit(ctx); err != nil {
			return err
		}
	}
	snapshots := rooms.OrderBy("n", firestore.Asc).Snapshots(ctx)
	defer snapshots.Stop()
	snapshot, err := snapshots.Next()
	if err != nil {
		return err
	}
	for number := int64(0); ; number++ {
		document, err := snapshot.Documents.Next()
		if err == iterator.Done {
			return equal("documents", number, int64(2000))
		}
		if err != nil {
			return err
		}
		if err := equal("in order", document.Data()["n"], number); err != nil {
			return err
		}
	}
}
