import TidemarkModel

/// Firestore's limits on the index entries of writes. Source: server-production-facts 9, which
/// corrects the published 7.5 KiB per entry, 6 KiB per name and 8 MiB per document. Sizes between
/// the largest that production accepted and the smallest that it refused are refused here, so
/// accepted writes are also accepted there.
enum IndexLimits {
    /// The maximum number of index entries of a document.
    static let entries = 40_000
    /// The maximum bytes of an entry of a single field in its collection: 5,529 were accepted,
    /// 5,531 refused.
    static let singleFieldBytes = 5_529
    /// The maximum bytes of any other entry, for which production was not observed: the published
    /// limit.
    static let otherBytes = 7_680
    /// The bytes of the indexed part of a value.
    static let valueBytes = 1_500
    /// The maximum bytes of a document's path in its database: 4,622 were accepted, 5,000 refused.
    static let nameBytes = 4_622
    /// The maximum bytes that a commit stores, including its index entries: 29,650,337 were
    /// accepted, 29,654,463 refused.
    static let commitBytes = 29_650_337

    static let entryTooLarge = RPCStatus.invalidArgument("Index entry is too large.")
    static let commitTooLarge = RPCStatus.invalidArgument(
        "Transaction too big. Decrease transaction size.")

    static func tooManyEntries(_ path: DocumentPath) -> RPCStatus {
        RPCStatus(
            .invalidArgument, "too many index entries for entity /\(path.text)",
            details: [.reason("INDEX_ENTRIES_COUNT_LIMIT_EXCEEDED")])
    }
}

extension CommitDraft {
    /// Checks the index entries of all writes of the commit. Costs a pass over those documents.
    ///
    /// - Throws: ``RPCStatus`` of code `invalidArgument`.
    func validateIndexEntries(_ configuration: IndexConfiguration) throws(RPCStatus) {
        let bytes = try indexBytes(configuration, isExact: false)
        guard bytes > IndexLimits.commitBytes else { return }
        // Repeated elements were counted several times.
        if try indexBytes(configuration, isExact: true) > IndexLimits.commitBytes {
            throw IndexLimits.commitTooLarge
        }
    }

    private func indexBytes(
        _ configuration: IndexConfiguration, isExact: Bool
    ) throws(RPCStatus) -> Int {
        var total = 0
        for entry in entries where entry.isTouched {
            guard let fields = entry.fields else { continue }
            if entry.path.text.utf8.count > IndexLimits.nameBytes {
                throw IndexLimits.entryTooLarge
            }
            var tally = IndexEntryTally(entry.path, configuration, isExact: isExact)
            tally.add(fields)
            if tally.count > IndexLimits.entries, !isExact {
                tally = IndexEntryTally(entry.path, configuration, isExact: true)
                tally.add(fields)
            }
            if tally.count > IndexLimits.entries {
                throw IndexLimits.tooManyEntries(entry.path)
            }
            if tally.hasTooLargeEntry { throw IndexLimits.entryTooLarge }
            total += tally.bytes
        }
        return total
    }
}
