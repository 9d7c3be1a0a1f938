import TidemarkModel

/// A target as a client stores it: the held documents, and the points from which it can resume.
final class CheckedTarget {
    /// A state that was complete once, with the server's token for it.
    struct Point {
        var token: [UInt8]
        /// The time of the state; nil if the state does not match a single time.
        var readTime: Timestamp?
        var held: [DocumentPath: Document]
    }

    let id: Int32
    let kind: ListenTarget.Kind
    /// The documents as of the last boundary.
    var held: [DocumentPath: Document] = [:]
    /// The last few points, oldest first.
    var points: [Point] = []

    // The properties below belong to the current listen and are reset with every stream.

    /// The number of requests that the server has not answered.
    var pendingAcks = 0
    var isListening = false
    var isCurrent = false
    var isOnce = false
    /// True if the listen resumes. If the server accepts, a boundary follows the `ADD`.
    var resumes = false
    /// True if the target has an invented token, which the server must refuse.
    var expectsRefusal = false
    /// The changes since the last boundary; nil for removed documents.
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

    /// Forgets the documents and the points.
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

    /// Applies the changes at a boundary.
    func settle(token: [UInt8], _ readTime: Timestamp) {
        held = heldWithChanges
        changes = [:]
        // Clients use a boundary's token for every active target.
        guard !token.isEmpty else { return }
        points.append(Point(token: token, readTime: isCurrent ? readTime : nil, held: held))
        if points.count > 8 { points.removeFirst() }
    }

    /// - Returns: True if the held documents agree with the server's count, perhaps after the
    ///   removal of documents that the filter does not contain.
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
