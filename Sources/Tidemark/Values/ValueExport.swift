import Foundation

/// The value of a server timestamp that the server has not set yet.
public enum ServerTimestampBehavior: Hashable, Sendable {
    /// The value is null.
    case none
    /// The value is the device's time at the write.
    case estimate
    /// The value is the field's previous value; null if there was none.
    case previous
}

/// Converts values to the types that FirebaseFirestore returns: `NSNumber`, which casts to every
/// Swift number that holds it exactly, `String`, `Data`, ``Timestamp``, ``GeoPoint``,
/// ``VectorValue``, ``DocumentReference``, `NSNull`, and arrays and dictionaries of these.
struct ValueExport {
    let firestore: Firestore
    let serverTimestamps: ServerTimestampBehavior

    /// Returns a map as a dictionary. If several names are one key of a Swift dictionary, the first
    /// name is kept with its value; the log names the others.
    func any(_ map: MapValue) -> [String: Any] {
        let entries = SameKeys.first(of: map.entries, in: nil, name: \.key)
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, any($0.value)) })
    }

    func any(_ value: Value) -> Any {
        switch value {
        case .null: return NSNull()
        case .boolean(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .double(let value): return NSNumber(value: value)
        case .timestamp(let value): return value
        case .pendingServerTimestamp(let localWriteTime, let previous):
            switch serverTimestamps {
            case .none: return NSNull()
            case .estimate: return localWriteTime
            case .previous: return previous.map(any) ?? NSNull()
            }
        case .string(let value): return value
        case .bytes(let value): return Data(value)
        case .reference(let value):
            // A reference to another database stays a value, because this client cannot read there.
            guard value.database == firestore.databaseID else { return value }
            return DocumentReference(firestore, .success(value.path), text: value.path.text)
        case .geoPoint(let value): return value
        case .array(let values): return values.map(any)
        case .vector(let value): return value
        case .map(let value): return any(value)
        }
    }
}
