import TidemarkModel

/// Estimates the memory that a request takes once it is decoded, from its bytes.
///
/// A value takes 24 bytes in memory, and as few as 4 on the wire; bytes of one letter take 72, and
/// 6 on the wire. The estimate is made in one pass that takes no memory itself, so a request can
/// be refused before it is decoded.
struct DecodedMemory {
    /// A message whose values are counted.
    private enum Kind {
        case writes(field: UInt64), document(field: UInt64)
        case query, aggregated, aggregation, listen, target
        case write, transforms, transform
        case structured, nearest, filter, composite, condition, cursor
        case fields, value, array, map, entry
    }

    /// The length below which a request is not counted: thousands of them take no more than one
    /// large request.
    static let least = 1 << 12
    /// The memory for each byte of a pipeline, whose every part is an object.
    private static let pipelineBytes = 12

    private static let valueBytes = 24
    /// A key, a value, and a place in the order of the keys.
    private static let entryBytes = 46
    /// The header of an array, rounded as the allocator does.
    private static let arrayBytes = 48
    /// The names of a database and of a document.
    private static let referenceBytes = 176
    /// The length up to which a text needs no memory of its own.
    private static let inlineText = 15

    private var bytes = 0

    /// Returns the estimate in bytes. Malformed parts count nothing: their decoder reports them.
    static func estimate(of method: RPCMethod, _ bytes: [UInt8]) -> Int {
        if case .executePipeline = method { return bytes.count * pipelineBytes }
        guard let kind = kind(of: method) else { return bytes.count }
        var memory = DecodedMemory()
        bytes.withUnsafeBufferPointer { memory.add($0, kind, depth: 0) }
        // The parts that are no values, such as names, take about as much as on the wire.
        return memory.bytes + bytes.count
    }

    private static func kind(of method: RPCMethod) -> Kind? {
        switch method {
        case .commit, .batchWrite: .writes(field: 2)
        case .write: .writes(field: 3)
        case .createDocument: .document(field: 4)
        case .updateDocument: .document(field: 1)
        case .runQuery, .partitionQuery: .query
        case .runAggregationQuery: .aggregated
        case .listen: .listen
        default: nil
        }
    }

    /// Counts the messages inside a message. Stops where their decoder will: at bytes that are no
    /// message, and at its bound of nested values.
    private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>, _ kind: Kind, depth: Int) {
        guard depth <= 2 * FieldsCodec.maxDepth + 10 else { return }
        var reader = WireReader(bytes)
        while !reader.isAtEnd, let tag = try? reader.tag() {
            guard tag & 7 == 2 else {
                guard (try? reader.skip(tag)) != nil else { return }
                continue
            }
            guard let content = try? reader.lengthDelimited() else { return }
            if case .value = kind { addContents(tag >> 3, length: content.count) }
            guard let inner = Self.inner(tag >> 3, of: kind) else { continue }
            switch (kind, inner) {
            case (_, .entry): self.bytes += Self.entryBytes
            case (.entry, .value): break
            case (_, .value): self.bytes += Self.valueBytes
            default: break
            }
            add(content, inner, depth: depth + 1)
        }
    }

    /// Adds what a value keeps behind a reference.
    private mutating func addContents(_ field: UInt64, length: Int) {
        switch field {
        case 17 where length > Self.inlineText: bytes += Self.arrayBytes + length
        case 18 where length > 0: bytes += Self.arrayBytes + length
        case 5: bytes += Self.referenceBytes + length
        case 6 where length > 0, 9 where length > 0: bytes += Self.arrayBytes
        default: break
        }
    }

    private static func inner(_ field: UInt64, of kind: Kind) -> Kind? {
        switch (kind, field) {
        case (.writes(let writes), _): field == writes ? .write : nil
        case (.document(let document), _): field == document ? .fields : nil
        case (.write, 1): .fields
        case (.write, 6): .transforms
        case (.write, 7), (.transforms, 2): .transform
        case (.transform, 3...5): .value
        case (.transform, 6...7): .array
        case (.query, 2), (.aggregation, 1): .structured
        case (.aggregated, 2): .aggregation
        case (.listen, 2): .target
        case (.target, 2): .query
        case (.structured, 3): .filter
        case (.structured, 7...8): .cursor
        case (.structured, 9): .nearest
        case (.filter, 1): .composite
        case (.filter, 2): .condition
        case (.composite, 2): .filter
        case (.condition, 3), (.cursor, 1), (.nearest, 2): .value
        case (.fields, 2), (.map, 1): .entry
        case (.entry, 2), (.array, 1): .value
        case (.value, 6): .map
        case (.value, 9): .array
        default: nil
        }
    }
}

extension BodyBudget {
    /// Returns the share of a request that is decoded next; nil for a small request.
    ///
    /// - Throws: `UNAVAILABLE` if the budget has no room for it.
    func share(for method: RPCMethod, _ bytes: [UInt8]) throws(RPCStatus) -> Share? {
        if bytes.count < DecodedMemory.least { return nil }
        let share = share()
        guard share.grow(by: DecodedMemory.estimate(of: method, bytes)) else { throw .bodiesHeld }
        return share
    }
}
