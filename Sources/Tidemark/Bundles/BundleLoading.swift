import Foundation

// A bundle is a sequence of JSON objects, each after its length, as a server's library creates it.
// Its documents and query results are stored in the cache in parts of 200 documents or 256 KiB; a
// newer version in the cache stays. Query results are valid only after the whole bundle is loaded:
// a kill or an error before the end leaves correct documents, and no query that claims to know its
// rows. A bundle has no effect if it was loaded before, or if a newer bundle with its id was.

/// Loads a bundle into the cache, part by part, so a bundle of any size needs the memory of a
/// single part.
struct BundleLoading {
    /// A part is stored in one transaction, some milliseconds long.
    private static let documentsOfPart = 200
    private static let bytesOfPart = 256 * 1024

    let firestore: Firestore
    /// Called when a part is stored.
    let report: (LoadBundleTaskProgress) -> Void
    private var reader: BundleReader
    private var load: BundleLoad?
    private var part: [BundledDocument] = []
    private var storedBytes = 0

    init(_ firestore: Firestore, _ report: @escaping (LoadBundleTaskProgress) -> Void) {
        self.firestore = firestore
        self.report = report
        reader = BundleReader(firestore.databaseID)
    }

    /// - Parameter next: The bundle's next bytes; nil at its end.
    /// - Returns: The last progress.
    mutating func run(
        isolation: isolated (any Actor)? = #isolation,
        _ next: () async throws(FirestoreError) -> [UInt8]?
    ) async throws(FirestoreError) -> LoadBundleTaskProgress {
        do throws(FirestoreError) {
            var isEnd = false
            while !isEnd {
                let bytes = try await next()
                isEnd = bytes == nil
                reader.append(bytes ?? [])
                while let event = try reader.nextEvent(isEnd: isEnd) {
                    if try await take(event) { continue }
                    return finished(isWhole: false)
                }
            }
            try await storePart()
            if let load {
                let _: Bool = try await answer { firestore.engine.finish(load, completion: $0) }
            }
            return finished(isWhole: true)
        } catch {
            if let load { firestore.engine.abandon(load) }
            var progress = reader.progress
            progress.state = .error
            report(progress)
            throw error
        }
    }

    /// - Returns: True if the load continues; false for a bundle that was loaded before.
    private mutating func take(
        _ event: BundleReader.Event, isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) -> Bool {
        switch event {
        case .began(let id, let createTime):
            load = try await answer { finish in
                firestore.engine.beginBundle(id, createTime: createTime, completion: finish)
            }
            report(reader.progress)
            return load != nil
        case .query(let query): try load?.add(query)
        case .document(let document):
            part.append(document)
            let bytes = reader.progress.bytesLoaded - storedBytes
            if part.count >= Self.documentsOfPart || bytes >= Self.bytesOfPart {
                try await storePart()
            }
        }
        return true
    }

    private mutating func storePart(
        isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        guard let load, !part.isEmpty else { return }
        let documents = part
        part = []
        storedBytes = reader.progress.bytesLoaded
        let _: Bool = try await answer { finish in
            firestore.engine.store(documents, of: load, completion: finish)
        }
        report(reader.progress)
    }

    private func finished(isWhole: Bool) -> LoadBundleTaskProgress {
        var progress = reader.progress
        progress.state = .success
        if !isWhole {
            progress.documentsLoaded = progress.totalDocuments
            progress.bytesLoaded = progress.totalBytes
        }
        report(progress)
        return progress
    }
}

extension BundleLoad {
    fileprivate mutating func add(_ query: NamedQuery) throws(FirestoreError) {
        guard queries.count < Self.maxQueries else {
            throw .invalidArgument("The bundle has more than \(Self.maxQueries) named queries.")
        }
        queries.append(query)
    }
}

/// Data in pieces, so at most one piece is copied at a time.
struct Chunks {
    static let size = 64 * 1024

    private var rest: Data

    init(_ data: Data) { rest = data }

    mutating func next() -> [UInt8]? {
        if rest.isEmpty { return nil }
        defer { rest = rest.dropFirst(Self.size) }
        return Array(rest.prefix(Self.size))
    }
}
