import Tidemark

/// The live pipelines whose bills are compared.
enum BilledPipeline: CaseIterable {
    case whole, filtered, ranged, newest, newestOfKind, first, figures, figuresOfAll
    case union, unionOfSame, unionOfParts, join, subcollection, group, named, namedTwice, byName
    case search

    func pipeline(_ firestore: Firestore) -> Pipeline {
        let c = firestore.pipeline().collection("c")
        let people = firestore.pipeline().collection("people")
        let ofKind = c.where(Field("kind").equal(1))
        let large = c.where(Field("n").greaterThan(0)).sort([Field("n").descending()])
        let named = firestore.pipeline().documents(["c/d1", "people/p1", "c/d2"])
        switch self {
        case .whole: return c
        case .filtered: return ofKind
        case .ranged: return c.where(Field("n").greaterThan(5)).where(Field("n").lessThan(15))
        case .newest: return large.limit(3).select([Field("n")])
        case .newestOfKind:
            return ofKind.where(Field("n").greaterThan(0)).sort([Field("n").descending()]).limit(2)
        case .first: return c.limit(3)
        case .figures: return ofKind.aggregate([CountAll().as("n")], groups: [Field("by")])
        case .figuresOfAll:
            return c.aggregate([Field("n").sum().as("sum")], groups: [Field("kind")])
        case .union: return ofKind.union(with: people)
        case .unionOfSame: return ofKind.union(with: c)
        case .unionOfParts: return ofKind.union(with: large.limit(2))
        case .join:
            let theirs = c.where(Field("by").equal(Variable("person")))
                .aggregate([CountAll().as("n")])
            return people.define([Field("__name__").documentId().as("person")])
                .select([Field("name"), theirs.toScalarExpression().as("sent")])
        case .subcollection:
            let parts = Subcollection("s").aggregate([CountAll().as("n")]).toScalarExpression()
            return ofKind.select([Field("n"), parts.as("parts")])
        case .group:
            return firestore.pipeline().collectionGroup("s").where(Field("n").greaterThan(5))
        case .named: return named
        case .namedTwice:
            return named.union(with: firestore.pipeline().documents(["c/d2", "c/d3"]))
        case .byName:
            return c.where(Field("__name__").equal(firestore.document("c/d1"))).union(with: people)
        case .search: return c.search(query: "word")
        }
    }

    /// Returns the size of a document's entry in the index of the first conditions, in bytes: its
    /// name, that of its parent, 32, and 8 for each number.
    func entryBytes(of path: DocumentPath) -> Int {
        let name = path.text.utf8.count + 1 + 16
        return switch self {
        case .filtered, .ranged, .newest, .figures, .union, .unionOfSame, .unionOfParts,
            .subcollection:
            name + 16 + 32 + 8
        case .newestOfKind: name + 16 + 32 + 16
        case .group: name + 32 + 8
        case .whole, .first, .figuresOfAll, .join, .named, .namedTwice, .byName, .search: 0
        }
    }
}
