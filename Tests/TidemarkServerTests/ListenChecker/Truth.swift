import TidemarkModel
import TidemarkTestKit

/// A behavior of the server that clients must never observe.
struct Violation: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// The states of every document, as reported by commits and plain reads. Listens must agree with
/// them.
///
/// The rows of a target are computed by the tests' own filter and sort, without code of the server.
struct Truth {
    private struct Version {
        let time: Timestamp
        let document: Document?
        let fields: MapValue?
    }

    let database: DatabaseID
    /// The states of each document, oldest first.
    private var versions: [DocumentPath: [Version]] = [:]
    /// The times of the commits, oldest first.
    private(set) var commits: [Timestamp] = []

    init(database: DatabaseID) { self.database = database }

    /// - Parameter documents: The documents that the commit named; nil for a missing document.
    mutating func commit(
        at time: Timestamp, _ documents: [(path: DocumentPath, document: Document?)]
    ) throws {
        if let last = commits.last, last >= time { throw Violation("commit times went back") }
        commits.append(time)
        for (path, document) in documents {
            let before = versions[path]?.last?.document
            if before == document { continue }
            if let document, document.updateTime != time {
                throw Violation("\(path) changed at \(time), and says \(document.updateTime)")
            }
            versions[path, default: []].append(
                Version(time: time, document: document, fields: document?.fields))
        }
    }

    func commits(after start: Timestamp, before end: Timestamp) -> [Timestamp] {
        Array(commits.reversed().prefix { $0 > start }.drop { $0 >= end }.reversed())
    }

    private func version(of path: DocumentPath, at time: Timestamp) -> Version? {
        versions[path]?.last { $0.time <= time }
    }

    func document(at path: DocumentPath, _ time: Timestamp) -> Document? {
        version(of: path, at: time)?.document
    }

    /// Returns the documents that a client of the target must hold as of `time`.
    func rows(of kind: ListenTarget.Kind, at time: Timestamp) -> [DocumentPath: Document] {
        switch kind {
        case .documents(let paths):
            return paths.reduce(into: [:]) { rows, path in
                if let document = document(at: path, time) { rows[path] = document }
            }
        case .query(let query): return rows(of: query, at: time)
        }
    }

    private func rows(of query: Query, at time: Timestamp) -> [DocumentPath: Document] {
        var known: [DocumentPath: Document] = [:]
        var all: [QueryOracle.Row] = []
        for path in versions.keys {
            guard let version = version(of: path, at: time), let document = version.document,
                let fields = version.fields
            else { continue }
            known[path] = document
            all.append((path, fields))
        }
        let oracle = QueryOracle(query, in: database)
        // The order has no effect without a limit.
        let rows =
            query.isCutOff
            ? oracle.rows(of: all) : all.filter { oracle.matches($0.path, $0.fields) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.path, known[$0.path]!) })
    }
}

extension Query {
    fileprivate var isCutOff: Bool { limit != nil || offset > 0 }
}
