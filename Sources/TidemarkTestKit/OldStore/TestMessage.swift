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

    /// - Precondition: The value has no estimate of a server's time, which no store has.
    package static func value(_ value: Value) -> [UInt8] {
        switch value {
        case .boolean(let flag): field(1, flag ? 1 : 0)
        case .integer(let number): field(2, number)
        case .double(let number): double(3, number)
        case .reference(let reference): field(5, reference.path.name(in: reference.database))
        case .map(let map): field(6, entries(map.entries.map { ($0.key, $0.value) }, of: 1))
        case .geoPoint(let point): field(8, place(point))
        case .array(let values): field(9, values.flatMap { field(1, self.value($0)) })
        case .timestamp(let time): field(10, self.time(time))
        case .null: field(11, 0)
        case .string(let text): field(17, text)
        case .bytes(let bytes): field(18, bytes)
        case .vector(let vector):
            field(
                6,
                entries(
                    [
                        ("__type__", .string("__vector__")),
                        ("value", .array(vector.array.map { .double($0) })),
                    ], of: 1))
        case .pendingServerTimestamp: preconditionFailure("no store has an estimate")
        }
    }

    private static func entries(_ fields: [(String, Value)], of number: Int64) -> [UInt8] {
        fields.flatMap { field(number, field(1, $0.0) + field(2, value($0.1))) }
    }

    private static func double(_ number: Int64, _ value: Double) -> [UInt8] {
        varint(number << 3 | 1) + WrittenStore.fixed(value.bitPattern, 8)
    }

    /// A zero is left out.
    private static func place(_ point: GeoPoint) -> [UInt8] {
        (point.latitude == 0 ? [] : double(1, point.latitude))
            + (point.longitude == 0 ? [] : double(2, point.longitude))
    }

    /// Returns a document of `remote_document`.
    package static func document(
        _ name: String, fields: [(String, Value)], updateTime: Timestamp,
        committed: Bool = false
    ) -> [UInt8] {
        field(2, field(1, name) + entries(fields, of: 2) + field(4, time(updateTime)))
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
