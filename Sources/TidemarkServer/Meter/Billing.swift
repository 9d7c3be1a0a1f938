package import TidemarkModel

/// What Firestore bills in reads, Standard edition. Source: server-protocol 2.3.
///
/// The numbers that Google documents are in the functions. What it does not document is a property: the
/// default is the assumption that the meter makes, to be changed where someone knows better.
public struct Billing: Hashable, Sendable {
    /// For a listen that resumes within ``resumeWindow`` and finds nothing changed. People measure
    /// both nothing and the minimum of a query; nothing is published.
    public var unchangedResumeReads = 0
    /// For a name that was looked up, or listed with `show_missing`, and has no document.
    public var missingDocumentReads = 1
    /// For a name that one batch of lookups has again: it is answered once.
    public var repeatedLookupReads = 0
    /// For a `verify` among the writes of a commit.
    public var verifyReads = 0
    /// How long a listener may be away and still be billed for the changes only. Documented: 30
    /// minutes.
    public var resumeWindow = Duration.seconds(30 * 60)

    public init() {}

    /// One for each document looked up.
    func lookups(found: Int, missing: Int, repeated: Int = 0) -> Int {
        found + missing * missingDocumentReads + repeated * repeatedLookupReads
    }
}

extension Billing {
    /// Index entries that one read covers in an aggregation, and in a query over several range fields.
    static let entriesPerRead = 1_000
    /// Entries of a vector index that one read covers.
    static let vectorEntriesPerRead = 100

    /// A query: its documents and those skipped, at least one; with several range fields its index
    /// entries too.
    static func reads(
        of query: Query, returned: Int, skipped: Int, entriesScanned: Int
    ) -> Int {
        let entries = query.hasSeveralRangeFields ? batches(entriesScanned, entriesPerRead) : 0
        return max(1, returned + skipped) + entries
    }

    /// An aggregation: one for each 1,000 index entries begun, at least one.
    static func aggregation(entries: Int) -> Int { max(1, batches(entries, entriesPerRead)) }

    /// A search for the nearest vectors: 1,550 entries and 5 documents are 16 and 5.
    static func nearest(vectorEntries: Int, returned: Int) -> Int {
        max(1, batches(vectorEntries, vectorEntriesPerRead) + returned)
    }

    /// A request that is about no documents: a page of collection ids, a partition, a plan.
    static let withoutDocuments = 1

    private static func batches(_ entries: Int, _ size: Int) -> Int {
        entries / size + (entries % size > 0 ? 1 : 0)
    }
}

extension Query {
    /// What the meter counts a query under: its collection, with `**` for any depth.
    package var meterTarget: String {
        if let collection { return collection.text }
        let parent = parent.map { $0.text + "/" } ?? ""
        return parent + (allDescendants ? "**" : "*") + (collectionID.map { "/" + $0 } ?? "")
    }
}
