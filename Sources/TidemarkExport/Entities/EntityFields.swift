/// The numbers of an entity's fields in Datastore's protocol, and the meanings of Firestore's kinds
/// of values in them.
enum EntityFields {
    enum Entity {
        static let key: UInt64 = 13
        static let property: UInt64 = 14
        static let rawProperty: UInt64 = 15
        static let group: UInt64 = 16
    }
    enum Key {
        static let app: UInt64 = 13
        static let path: UInt64 = 14
        static let database: UInt64 = 23
        /// A group, and the fields in it.
        static let element: UInt64 = 1
        static let type: UInt64 = 2
        static let id: UInt64 = 3
        static let name: UInt64 = 4
    }
    enum Property {
        static let meaning: UInt64 = 1
        static let name: UInt64 = 3
        static let multiple: UInt64 = 4
        static let value: UInt64 = 5
    }
    enum Scalar {
        static let integer: UInt64 = 1
        static let boolean: UInt64 = 2
        static let bytes: UInt64 = 3
        static let double: UInt64 = 4
        static let point: UInt64 = 5
        static let latitude: UInt64 = 6
        static let longitude: UInt64 = 7
        static let reference: UInt64 = 12
    }
    /// The fields in a value that is a reference.
    enum Reference {
        static let app: UInt64 = 13
        static let element: UInt64 = 14
        static let type: UInt64 = 15
        static let id: UInt64 = 16
        static let name: UInt64 = 17
        static let database: UInt64 = 23
    }
    enum Meaning {
        static let timestamp: UInt64 = 7
        static let point: UInt64 = 9
        static let bytes: UInt64 = 14
        static let map: UInt64 = 19
        static let emptyArray: UInt64 = 24
    }
    enum WireType {
        static let varint: UInt64 = 0
        static let fixed64: UInt64 = 1
        static let bytes: UInt64 = 2
        static let groupStart: UInt64 = 3
        static let groupEnd: UInt64 = 4
        static let fixed32: UInt64 = 5
    }

    /// The name of a vector's numbers in the map that represents the vector.
    static let vector = "__vector__"
    /// The names of the older form: a map of a type and an array.
    static let vectorType = "__type__"
    static let vectorValue = "value"
}
