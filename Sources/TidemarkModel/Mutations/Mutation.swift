/// A change to one document.
public struct Mutation: Hashable, Sendable {
    public enum Operation: Hashable, Sendable {
        /// Replaces the document.
        case set(MapValue)
        /// Writes the fields of the mask. Removes a field that is in the mask and not in `fields`.
        case patch(MapValue, mask: [FieldPath])
        case delete
        /// Checks the precondition and changes nothing.
        case verify
    }

    public var path: DocumentPath
    public var operation: Operation
    /// The transforms to apply after the operation, in order. Empty for `delete` and `verify`.
    public var transforms: [FieldTransform]
    public var precondition: Precondition

    public init(
        path: DocumentPath, _ operation: Operation, transforms: [FieldTransform] = [],
        precondition: Precondition = .none
    ) {
        self.path = path
        self.operation = operation
        self.transforms = transforms
        self.precondition = precondition
    }
}

/// A change to a field that depends on what the server holds.
public struct FieldTransform: Hashable, Sendable {
    public enum Operation: Hashable, Sendable {
        case serverTimestamp
        /// Adds a number. Integers saturate; a current value that is not a number counts as
        /// missing.
        case increment(Value)
        case maximum(Value)
        case minimum(Value)
        case arrayUnion([Value])
        case arrayRemove([Value])
    }

    public var field: FieldPath
    public var operation: Operation

    public init(_ field: FieldPath, _ operation: Operation) {
        self.field = field
        self.operation = operation
    }
}

/// The condition under which a mutation is applied.
public enum Precondition: Hashable, Sendable {
    case none
    case exists(Bool)
    case updateTime(Timestamp)
}

/// The server's result for one mutation of a commit.
public struct MutationResult: Hashable, Sendable {
    /// The version after the write; nil after a delete; the old version if nothing changed.
    public var updateTime: Timestamp?
    /// The result of each transform; null for array transforms.
    public var transformResults: [Value]

    public init(updateTime: Timestamp?, transformResults: [Value] = []) {
        self.updateTime = updateTime
        self.transformResults = transformResults
    }
}
