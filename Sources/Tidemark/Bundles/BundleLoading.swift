import Foundation

// A bundle is JSON objects, each after its length, as a server's library makes it. Its documents and
// query results are put into the cache in parts, 200 documents or 256 KiB each; what the cache has in
// a newer version stays. Results count as such only once the bundle is whole: a kill or an error half
// way leaves documents that are true, and no query that claims to know its rows. A bundle that was
// loaded before, or is older than one of its id that was, changes nothing.

/// Brings a bundle into the cache, part by part, so that a bundle of any size takes the memory of one
/// part.
struct BundleLoading {
    /// A part is stored in one transaction, some milliseconds long.
    private static let documentsOfPart = 200
    private static let bytesOfPart = 256 * 1024

    let firestore: Firestore
    /// Told when a part is stored.
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

    /// - Returns: Whether to go on: not with a bundle that was loaded before.
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

/// Data in pieces, so that no more than one is copied at a time.
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
