extension Mutation {
    /// Returns the mutation in its stored form after it has passed Firestore's rules for writes. A
    /// server calls this before anything else.
    ///
    /// First cuts timestamps to microseconds, in fields and in the operands of transforms. Does not
    /// check the precondition or the size of the resulting document: the code that applies the
    /// mutation does.
    ///
    /// - Parameter edition: The edition of the database, which has the limit of a value.
    /// - Throws: ``RPCStatus`` of code `invalidArgument`, with production's text where it is known.
    public func validated(edition: DatabaseEdition = .standard) throws(RPCStatus) -> Mutation {
        try path.validateForStorage()
        var result = self
        switch operation {
        case .set(let fields):
            let stored = fields.normalizedForStorage
            try stored.validateForStorage(edition: edition)
            result.operation = .set(stored)
        case .patch(let fields, let mask):
            let stored = fields.normalizedForStorage
            try stored.validateForStorage(edition: edition)
            for path in mask { try path.validate() }
            result.operation = .patch(stored, mask: Self.outermost(mask))
        case .delete, .verify:
            if !transforms.isEmpty {
                throw .invalidArgument("A delete or verify cannot have transforms.")
            }
        }
        result.transforms = try Self.validated(transforms)
        try precondition.validate()
        return result
    }

    /// Validates all mutations of a commit as ``validated(edition:)`` does, and the limits on the
    /// whole commit: the number of transforms of a document, and the order of its writes.
    ///
    /// - Parameter edition: The edition of the database, which has the limit of a value.
    /// - Throws: The errors of ``validated(edition:)``. The whole commit fails.
    public static func validated(
        _ mutations: [Mutation], edition: DatabaseEdition = .standard
    ) throws(RPCStatus) -> [Mutation] {
        var transforms: [DocumentPath: Int] = [:]
        var sequences = WriteSequences()
        var result: [Mutation] = []
        result.reserveCapacity(mutations.count)
        for mutation in mutations {
            result.append(try mutation.validated(edition: edition))
            if mutations.count > 1 { try sequences.add(mutation) }
            if mutation.transforms.isEmpty { continue }
            transforms[mutation.path, default: 0] += mutation.transforms.count
            try validate(transformCount: transforms[mutation.path]!)
        }
        return result
    }

    private static func validate(transformCount: Int) throws(RPCStatus) {
        if transformCount > DocumentLimits.transforms {
            throw .invalidArgument(
                "A document can have at most \(DocumentLimits.transforms) field transforms in a "
                    + "commit.")
        }
    }

    private static func validated(
        _ transforms: [FieldTransform]
    ) throws(RPCStatus) -> [FieldTransform] {
        try validate(transformCount: transforms.count)
        var result: [FieldTransform] = []
        result.reserveCapacity(transforms.count)
        for transform in transforms { result.append(try transform.validated()) }
        return result
    }

    /// The paths of a mask that lie below no other of its paths, each once: the shorter path wins,
    /// as in production.
    private static func outermost(_ mask: [FieldPath]) -> [FieldPath] {
        // In their order a path stands right before what lies below it.
        var kept: [FieldPath] = []
        for path in mask.sorted() where kept.last.map({ !$0.isPrefix(of: path) }) ?? true {
            kept.append(path)
        }
        if kept.count == mask.count { return mask }
        var left = Set(kept)
        return mask.filter { left.remove($0) != nil }
    }

    /// True where the write says that its document exists.
    fileprivate var isUpdate: Bool { changesFields && precondition == .exists(true) }
    /// True where the write says that its document does not exist.
    fileprivate var isInsert: Bool { changesFields && precondition == .exists(false) }

    private var changesFields: Bool {
        switch operation {
        case .set, .patch: true
        case .delete, .verify: false
        }
    }
}

/// What a commit has done to each document so far, to refuse what cannot follow.
///
/// Source: Datastore's commits, whose sequences for one entity are documented: no insert after an
/// insert, an update or an upsert, and no update after a delete.
private struct WriteSequences {
    private enum Last { case write, delete }
    private var last: [DocumentPath: Last] = [:]

    mutating func add(_ mutation: Mutation) throws(RPCStatus) {
        switch (last[mutation.path], mutation.operation) {
        case (.delete?, _) where mutation.isUpdate:
            throw .invalidArgument(
                "A commit cannot update a document that it has deleted: \(mutation.path.text)")
        case (.write?, _) where mutation.isInsert:
            throw .invalidArgument(
                "A commit cannot create a document that it has written: \(mutation.path.text)")
        case (_, .delete): last[mutation.path] = .delete
        case (_, .set), (_, .patch): last[mutation.path] = .write
        case (_, .verify): break
        }
    }
}

extension FieldTransform {
    fileprivate func validated() throws(RPCStatus) -> FieldTransform {
        try field.validate()
        let name = field.encoded
        switch operation {
        case .serverTimestamp: return self
        case .increment(let operand), .maximum(let operand), .minimum(let operand):
            guard operand.isNumber else {
                throw .invalidArgument("The operand of the transform of \"\(name)\" is no number.")
            }
            return self
        case .arrayUnion(let elements):
            return FieldTransform(field, .arrayUnion(try Self.validated(elements, of: name)))
        case .arrayRemove(let elements):
            return FieldTransform(field, .arrayRemove(try Self.validated(elements, of: name)))
        }
    }

    private static func validated(
        _ elements: [Value], of name: String
    ) throws(RPCStatus) -> [Value] {
        let stored = Value.array(elements).normalizedForStorage
        try stored.validate(as: name, depth: 0)
        return stored.arrayElements
    }
}

extension Precondition {
    /// Firestore's versions have whole microseconds, so a caller cannot mean any other time.
    fileprivate func validate() throws(RPCStatus) {
        if case .updateTime(let time) = self, time != time.truncatedToMicroseconds {
            throw .invalidArgument("The required update_time must be microsecond aligned.")
        }
    }
}

extension DocumentPath {
    /// Checks the limits on the whole name. Every path satisfies the limits on segments.
    ///
    /// - Throws: ``RPCStatus`` of code `invalidArgument`.
    public func validateForStorage() throws(RPCStatus) {
        if text.utf8.count > DocumentLimits.nameBytes {
            throw .invalidArgument(
                "A document name can have at most \(DocumentLimits.nameBytes) bytes; this one has "
                    + "\(text.utf8.count).")
        }
        let slash = UInt8(ascii: "/")
        if (text.utf8.count { $0 == slash } + 1) / 2 > DocumentLimits.collectionDepth {
            throw .invalidArgument(
                "Collections can lie in each other at most \(DocumentLimits.collectionDepth) deep.")
        }
    }
}
