public import TidemarkModel

/// Firestore's bill in reads, which is that of the Standard edition. Source: server-protocol 2.3.
/// The bill of the Enterprise edition is ``UnitBilling``.
///
/// The numbers that Google documents are in the functions. Undocumented numbers are properties: the
/// default is the meter's assumption, and a user with better knowledge can change it.
public struct Billing: Hashable, Sendable {
    /// The reads for a listen that resumes within ``resumeWindow`` without changes. Measurements by
    /// others show both 0 and the minimum of a query; there is no documentation.
    public var unchangedResumeReads = 0
    /// The reads for a name without a document that was looked up, or listed with `show_missing`.
    public var missingDocumentReads = 1
    /// The reads for a name that a batch of lookups repeats; the batch answers it once.
    public var repeatedLookupReads = 0
    /// The reads for a `verify` among the writes of a commit.
    public var verifyReads = 0
    /// The maximum absence of a listener that is billed only for the changes. The documented value
    /// is 30 minutes.
    public var resumeWindow = Duration.seconds(30 * 60)
    /// The assumptions for databases of the Enterprise edition.
    public var units = UnitBilling()

    public init() {}

    /// Returns the reads for lookups: one for each existing document.
    func lookups(found: Int, missing: Int, repeated: Int = 0) -> Int {
        found + missing * missingDocumentReads + repeated * repeatedLookupReads
    }
}

extension Billing {
    /// The number of index entries per read, in an aggregation and in a query over several range
    /// fields.
    static let entriesPerRead = 1_000
    /// The number of entries of a vector index per read.
    static let vectorEntriesPerRead = 100

    /// Returns the reads for a query: its documents and those skipped, at least one, plus its index
    /// entries if it has several range fields.
    static func reads(
        of query: Query, returned: Int, skipped: Int, entriesScanned: Int
    ) -> Int {
        let entries = query.hasSeveralRangeFields ? batches(entriesScanned, entriesPerRead) : 0
        return max(1, returned + skipped) + entries
    }

    /// Returns the reads for an aggregation: one for each 1,000 index entries or part of them, at
    /// least one.
    static func aggregation(entries: Int) -> Int { max(1, batches(entries, entriesPerRead)) }

    /// Returns the reads for a search for the nearest vectors: for 1,550 entries and 5 documents,
    /// 16 and 5.
    static func nearest(vectorEntries: Int, returned: Int) -> Int {
        max(1, batches(vectorEntries, vectorEntriesPerRead) + returned)
    }

    /// The reads for a request without documents: a page of collection ids, a partition, a plan.
    static let withoutDocuments = 1

    private static func batches(_ entries: Int, _ size: Int) -> Int {
        entries / size + (entries % size > 0 ? 1 : 0)
    }
}

extension Query {
    /// The meter's name for a query: its collection, with `**` for any depth.
    package var meterTarget: String {
        if let collection { return collection.text }
        let parent = parent.map { $0.text + "/" } ?? ""
        return parent + (allDescendants ? "**" : "*") + (collectionID.map { "/" + $0 } ?? "")
    }
}
