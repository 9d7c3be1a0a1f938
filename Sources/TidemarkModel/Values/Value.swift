/// A Firestore value.
///
/// `==` compares the *stored* form: strings by their bytes, `3` and `3.0` are different, `NaN`
/// equals itself. ``isEquivalent(to:)`` is the equality of queries, and ``compare(_:_:)`` is their
/// order.
///
/// A copy is cheap: a tag and at most 16 bytes; larger contents are behind a reference.
public enum Value: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case timestamp(Timestamp)
    /// A server timestamp that has not been sent to the server. Exists only in a client's local
    /// view.
    indirect case pendingServerTimestamp(localWriteTime: Timestamp, previous: Value?)
    case string(String)
    case bytes([UInt8])
    indirect case reference(ReferenceValue)
    case geoPoint(GeoPoint)
    case array([Value])
    case vector(VectorValue)
    case map(MapValue)
}

/// A place on Earth.
public struct GeoPoint: Sendable {
    /// Degrees north, `-90 ... 90`.
    public let latitude: Double
    /// Degrees east, `-180 ... 180`.
    public let longitude: Double

    /// - Precondition: Both are in range, and neither is NaN.
    public init(latitude: Double, longitude: Double) {
        precondition(Self.isValid(latitude: latitude, longitude: longitude), "out of range")
        self.latitude = latitude
        self.longitude = longitude
    }

    public static func isValid(latitude: Double, longitude: Double) -> Bool {
        (-90...90).contains(latitude) && (-180...180).contains(longitude)
    }
}

extension GeoPoint: Hashable {
    public static func == (left: GeoPoint, right: GeoPoint) -> Bool {
        Value.sameStoredDouble(left.latitude, right.latitude)
            && Value.sameStoredDouble(left.longitude, right.longitude)
    }

    public func hash(into hasher: inout Hasher) {
        Value.hash(storedDouble: latitude, into: &hasher)
        Value.hash(storedDouble: longitude, into: &hasher)
    }
}

/// An embedding: numbers that are compared and searched as a point in space.
public struct VectorValue: Sendable {
    public let array: [Double]

    public init(_ array: [Double]) { self.array = array }
}

extension VectorValue: Hashable {
    public static func == (left: VectorValue, right: VectorValue) -> Bool {
        left.array.elementsEqual(right.array, by: Value.sameStoredDouble)
    }

    public func hash(into hasher: inout Hasher) {
        for component in array { Value.hash(storedDouble: component, into: &hasher) }
    }
}

/// A value that names a document, possibly of another database.
public struct ReferenceValue: Hashable, Sendable {
    public let database: DatabaseID
    public let path: DocumentPath

    public init(database: DatabaseID, path: DocumentPath) {
        self.database = database
        self.path = path
    }
}

extension Value: Hashable {
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)): sameStoredDouble(a, b)
        case (.timestamp(let a), .timestamp(let b)): a == b
        case (.pendingServerTimestamp(let a, let p), .pendingServerTimestamp(let b, let q)):
            a == b && p == q
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.reference(let a), .reference(let b)): a == b
        case (.geoPoint(let a), .geoPoint(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.vector(let a), .vector(let b)): a == b
        case (.map(let a), .map(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(typeRank)
        switch self {
        case .null: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): Self.hash(storedDouble: value, into: &hasher)
        case .timestamp(let value): hasher.combine(value)
        case .pendingServerTimestamp(let time, _): hasher.combine(time)
        case .string(let value): value.hashBytes(into: &hasher)
        case .bytes(let value): hasher.combine(value)
        case .reference(let value): hasher.combine(value)
        case .geoPoint(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .vector(let value): hasher.combine(value)
        case .map(let value): hasher.combine(value)
        }
    }

    /// Returns true if two doubles are stored alike: equal bits, or both NaN.
    static func sameStoredDouble(_ a: Double, _ b: Double) -> Bool {
        a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
    }

    static func hash(storedDouble value: Double, into hasher: inout Hasher) {
        hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
    }
}

extension Value {
    /// A text that two values share only if they are stored alike.
    package var canonicalID: String {
        var text = CanonicalText()
        text.append(self)
        return text.text
    }

    public var isNumber: Bool { typeRank == 2 }

    public var isNaN: Bool {
        if case .double(let value) = self { value.isNaN } else { false }
    }

    /// The elements of an array; empty for any other kind.
    package var arrayElements: [Value] {
        if case .array(let values) = self { values } else { [] }
    }

    /// False if a comparison with this operand never matches.
    var isMatchable: Bool { self != .null && !isNaN }

    func containsElement(_ operand: Value) -> Bool {
        arrayElements.contains { $0.isEquivalent(to: operand) }
    }
}
