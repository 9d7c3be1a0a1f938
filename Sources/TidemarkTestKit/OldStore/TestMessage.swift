package import TidemarkModel

/// Messages of FirebaseFirestore's store, written here apart from the reader.
package enum TestMessage {
    package static func varint(_ value: Int64) -> [UInt8] {
        WrittenStore.varint(UInt64(bitPattern: value))
    }

    package static func field(_ number: Int64, _ value: Int64) -> [UInt8] {
        varint(number << 3) + varint(value)
    }

    package static func field(_ number: Int64, _ bytes: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + WrittenStore.sized(bytes)
    }

    package static func field(_ number: Int64, _ text: String) -> [UInt8] {
        field(number, Array(text.utf8))
    }

    package static func time(_ time: Timestamp) -> [UInt8] {
        (time.seconds == 0 ? [] : field(1, time.seconds))
            + (time.nanoseconds == 0 ? [] : field(2, Int64(time.nanoseconds)))
    }

    package static func value(_ value: Value) -> [UInt8] {
        switch value {
        case .integer(let number): field(2, number)
        case .string(let text): field(17, text)
        case .boolean(let flag): field(1, flag ? 1 : 0)
        case .timestamp(let time): field(10, self.time(time))
        case .null: field(11, 0)
        default: preconditionFailure("no test has \(value)")
        }
    }

    /// Returns a document of `remote_document`.
    package static func document(
        _ name: String, fields: [(String, Value)], updateTime: Timestamp,
        committed: Bool = false
    ) -> [UInt8] {
        let entries = fields.flatMap { field(2, field(1, $0.0) + field(2, value($0.1))) }
        return field(2, field(1, name) + entries + field(4, time(updateTime)))
            + (committed ? field(4, 1) : [])
    }

    /// - Parameter number: 1 for a missing document, 3 for an unknown one.
    package static func noDocument(_ number: Int64, name: String, version: Timestamp) -> [UInt8] {
        field(number, field(1, name) + field(2, time(version))) + (number == 3 ? field(4, 1) : [])
    }

    /// Returns the message of a query on a collection.
    package static func query(
        _ collection: String, where filter: [UInt8]? = nil,
        orders: [(field: String, isDescending: Bool)] = [("__name__", false)], limit: Int64? = nil
    ) -> [UInt8] {
        var bytes = field(2, field(2, collection))
        if let filter { bytes += field(3, filter) }
        for order in orders {
            bytes += field(
                4, field(1, field(2, order.field)) + field(2, order.isDescending ? 2 : 1))
        }
        if let limit { bytes += field(5, field(1, limit)) }
        return bytes
    }

    /// Returns an equality of a field.
    package static func equal(_ name: String, _ value: Value) -> [UInt8] {
        field(2, field(1, field(2, name)) + field(2, 5) + field(3, self.value(value)))
    }

    package static func and(_ filters: [[UInt8]]) -> [UInt8] {
        field(1, field(1, 1) + filters.flatMap { field(2, $0) })
    }

    package static func target(
        _ id: Int, parent: String, _ query: [UInt8], version: Timestamp, token: [UInt8],
        lastUse: Int
    ) -> [UInt8] {
        target(id, version: version, token: token, lastUse: lastUse)
            + field(5, field(1, parent) + field(2, query))
    }

    package static func target(
        _ id: Int, document name: String, version: Timestamp, token: [UInt8], lastUse: Int
    ) -> [UInt8] {
        target(id, version: version, token: token, lastUse: lastUse) + field(6, field(2, name))
    }

    private static func target(
        _ id: Int, version: Timestamp, token: [UInt8], lastUse: Int
    ) -> [UInt8] {
        field(1, Int64(id)) + (version == .epoch ? [] : field(2, time(version)))
            + (token.isEmpty ? [] : field(3, token)) + field(4, Int64(lastUse))
    }
}
