extension Mutation {
    /// Returns the mutation in its stored form after it has passed Firestore's rules for writes. A
    /// server calls this before anything else.
    ///
    /// First cuts timestamps to microseconds, in fields and in the operands of transforms. Does not
    /// check the precondition or the size of the resulting document: the code that applies the
    /// mutation does.
    ///
    /// - Throws: ``RPCStatus`` of code `invalidArgument`, with production's text where it is known.
    public func validated() throws(RPCStatus) -> Mutation {
        try path.validateForStorage()
        var result = self
        switch operation {
        case .set(let fields):
            let stored = fields.normalizedForStorage
            try stored.validateForStorage()
            result.operation = .set(stored)
        case .patch(let fields, let mask):
            let stored = fields.normalizedForStorage
            try stored.validateForStorage()
            try Self.validate(mask: mask)
            result.operation = .patch(stored, mask: mask)
        case .delete, .verify:
            if !transforms.isEmpty {
                throw .invalidArgument("A delete or verify cannot have transforms.")
            }
        }
        result.transforms = try Self.validated(transforms)
        try precondition.validate()
        return result
    }

    /// Validates all mutations of a commit as ``validated()`` does, and the limits on the whole
    /// commit.
    ///
    /// - Throws: The errors of ``validated()``. The whole commit fails.
    public static func validated(_ mutations: [Mutation]) throws(RPCStatus) -> [Mutation] {
        var transforms: [DocumentPath: Int] = [:]
        var result: [Mutation] = []
        result.reserveCapacity(mutations.count)
        for mutation in mutations {
            result.append(try mutation.validated())
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

    private static func validate(mask: [FieldPath]) throws(RPCStatus) {
        for path in mask { try path.validate() }
        // In sorted order, a path comes directly before the paths below it.
        let sorted = mask.sorted()
        for (path, next) in zip(sorted, sorted.dropFirst()) where path.isPrefix(of: next) {
            throw .invalidArgument(
                "The field paths \"\(path.encoded)\" and \"\(next.encoded)\" of the mask overlap.")
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
