package import TidemarkModel

/// Compares a list of objects with lists of documents that name objects, all in the byte order of
/// the objects' names, and keeps what does not match. Pure.
///
/// Holds one page of each list and the first findings, however long the lists are, and requests the
/// next page when it needs one.
struct ObjectMerge: Sendable {
    enum Demand: Hashable, Sendable {
        /// The next page of objects.
        case objects
        /// The next page of documents with a field, by the number of the field.
        case documents(field: Int)
        case done
    }

    /// The first findings of a kind, and the number of all.
    struct Found<Item: Sendable>: Sendable {
        /// At most ``ObjectMerge/maxKept``.
        var items: [Item] = []
        var count = 0

        mutating func add(_ item: Item) {
            count += 1
            if items.count < ObjectMerge.maxKept { items.append(item) }
        }
    }

    /// The maximum number of findings kept of each kind. Further ones are only counted.
    static let maxKept = 10_000

    private struct List<Item: Sendable>: Sendable {
        var items: [Item] = []
        var next = 0
        var last: String?
        var isEnd = false
        var count = 0

        var first: Item? { next < items.count ? items[next] : nil }
        var wantsPage: Bool { next == items.count && !isEnd }

        mutating func take(
            _ page: [Item], isLast: Bool, mayRepeat: Bool, _ name: (Item) -> String
        ) throws(AuditError) {
            precondition(wantsPage, "no page was asked for")
            for item in page {
                let name = name(item)
                if let last, name.precedesInBytes(last) || !mayRepeat && !last.precedesInBytes(name)
                {
                    throw AuditError("The list is not sorted by the objects' names, at \(name).")
                }
                last = name
            }
            (items, next, isEnd) = (page, 0, isLast)
            count += page.count
        }
    }

    private var objects = List<AuditedObject>()
    private var documents: [List<ObjectNaming>]
    /// The object that was passed last, and true if a document names it.
    private var passed: (object: AuditedObject, isNamed: Bool)?
    private(set) var withoutDocument = Found<AuditedObject>()
    private(set) var withoutObject = Found<ObjectNaming>()
    /// The documents that state another size than their object has.
    private(set) var otherSizes = Found<ObjectNaming>()

    /// - Parameter fields: The number of lists of documents.
    init(fields: Int) { documents = Array(repeating: List(), count: fields) }

    /// The number of objects, and of documents that name an object, so far.
    var counts: (objects: Int, documents: Int) {
        (objects.count, documents.reduce(0) { $0 + $1.count })
    }

    /// - Throws: ``AuditError`` if the objects are not in order, because the comparison would then
    ///   be wrong.
    mutating func take(_ page: [AuditedObject], isLast: Bool) throws(AuditError) {
        try objects.take(page, isLast: isLast, mayRepeat: false, \.name)
    }

    /// - Throws: ``AuditError`` if the documents are not in the order of their objects.
    mutating func take(
        _ page: [ObjectNaming], ofField field: Int, isLast: Bool
    ) throws(AuditError) {
        // Two documents can name one object.
        try documents[field].take(page, isLast: isLast, mayRepeat: true, \.object)
    }

    /// Compares as far as the current pages allow.
    mutating func step() -> Demand {
        while true {
            if objects.wantsPage { return .objects }
            if let field = documents.firstIndex(where: \.wantsPage) {
                return .documents(field: field)
            }
            let field = firstField()
            guard let naming = field.flatMap({ documents[$0].first }) else {
                guard let object = objects.first else {
                    pass(nil)
                    return .done
                }
                objects.next += 1
                pass(object)
                continue
            }
            if let object = objects.first, !naming.object.precedesInBytes(object.name) {
                objects.next += 1
                pass(object)
            } else if let field {
                documents[field].next += 1
                judge(naming)
            }
        }
    }

    /// Returns the field whose next document names the first object in order; nil at the end.
    private func firstField() -> Int? {
        documents.indices.filter { documents[$0].first != nil }.min { left, right in
            guard let first = documents[left].first, let second = documents[right].first else {
                return false
            }
            return first.object.precedesInBytes(second.object)
        }
    }

    /// Continues with the next object. No later document can name the one before.
    private mutating func pass(_ next: AuditedObject?) {
        if let passed, !passed.isNamed { withoutDocument.add(passed.object) }
        passed = next.map { ($0, false) }
    }

    private mutating func judge(_ naming: ObjectNaming) {
        guard let object = passed?.object, object.name.hasSameBytes(as: naming.object) else {
            return withoutObject.add(naming)
        }
        passed?.isNamed = true
        if let size = naming.size, size != object.size { otherSizes.add(naming) }
    }
}

/// An object as Storage lists it.
package struct AuditedObject: Hashable, Sendable {
    package var name: String
    /// The size in bytes.
    package var size: Int64
    /// Seconds since 1970.
    package var createdAt: Int64

    package init(name: String, size: Int64, createdAt: Int64) {
        self.name = name
        self.size = size
        self.createdAt = createdAt
    }
}

/// A document with a field that names an object.
package struct ObjectNaming: Hashable, Sendable {
    package var document: DocumentPath
    /// The number of the field in the audit's list.
    package var field: Int
    /// The object's name.
    package var object: String
    /// The size in bytes by the field; nil if the field has none.
    package var size: Int64?

    package init(document: DocumentPath, field: Int, object: String, size: Int64?) {
        self.document = document
        self.field = field
        self.object = object
        self.size = size
    }
}
