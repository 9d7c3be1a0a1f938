import TidemarkModel

/// One target as a client keeps it: what it holds, and from where it could go on.
final class CheckedTarget {
    /// A state that was once complete, and the word of the server for it.
    struct Point {
        var token: [UInt8]
        /// Nil where the state is not that of any one time.
        var readTime: Timestamp?
        var held: [DocumentPath: Document]
    }

    let id: Int32
    let kind: ListenTarget.Kind
    /// As of the last boundary.
    var held: [DocumentPath: Document] = [:]
    /// The newest last, a few.
    var points: [Point] = []

    // What follows is of the current listen, and begins anew with every stream.

    /// Requests that the server has not answered.
    var pendingAcks = 0
    var isListening = false
    var isCurrent = false
    var isOnce = false
    /// A resume that is accepted begins with a boundary.
    var resumes = false
    /// The answer to a token that nobody made.
    var expectsRefusal = false
    /// Since the last boundary; nil for what left.
    var changes: [DocumentPath: Document?] = [:]

    init(id: Int32, kind: ListenTarget.Kind) {
        self.id = id
        self.kind = kind
    }

    var isActive: Bool { isListening && pendingAcks == 0 }

    func drop() {
        pendingAcks = 0
        isListening = false
        isCurrent = false
        isOnce = false
        resumes = false
        expectsRefusal = false
        changes = [:]
    }

    /// Forgets all it knew.
    func reset() {
        held = [:]
        points = []
        changes = [:]
        isCurrent = false
    }

    var heldWithChanges: [DocumentPath: Document] {
        var result = held
        for (path, document) in changes { result[path] = document }
        return result
    }

    func add(_ document: Document) throws {
        let path = document.path
        if changes[path] != nil { throw Violation("\(path) told twice of target \(id)") }
        if isCurrent, held[path]?.updateTime == document.updateTime {
            throw Violation("\(path) told of target \(id), and it has not changed")
        }
        changes.updateValue(document, forKey: path)
    }

    func remove(_ path: DocumentPath) throws {
        if changes[path] != nil { throw Violation("\(path) told twice of target \(id)") }
        if held[path] == nil, isCurrent {
            throw Violation("\(path) left target \(id), where it was not")
        }
        changes.updateValue(nil, forKey: path)
    }

    /// A boundary: what was told is now so.
    func settle(token: [UInt8], _ readTime: Timestamp) {
        held = heldWithChanges
        changes = [:]
        // As clients do: a boundary's token is every active target's.
        guard !token.isEmpty else { return }
        points.append(Point(token: token, readTime: isCurrent ? readTime : nil, held: held))
        if points.count > 8 { points.removeFirst() }
    }

    /// - Returns: Whether all is well; if not, what is held is not what the server counts.
    func agrees(with filter: ExistenceFilter, in database: DatabaseID) throws -> Bool {
        if isCurrent { throw Violation("a filter for target \(id), which is current") }
        let now = heldWithChanges
        if now.count == Int(filter.count) { return true }
        guard let bits = filter.unchangedNames else { return false }
        guard let bloom = BloomFilter(bits) else { throw Violation("a filter that is none") }
        let gone = now.keys.filter { !bloom.mightContain($0.name(in: database)) }
        guard now.count - gone.count == Int(filter.count) else { return false }
        for path in gone { changes.updateValue(nil, forKey: path) }
        return true
    }
}
