import Foundation

// Decodes single values, by the rules of FirebaseFirestore's decoder. A number becomes any number
// type that holds it exactly; no other conversions exist.

extension StoredDecoder {
    private func path(_ key: (any CodingKey)?) -> [any CodingKey] {
        codingPath + (key.map { [$0] } ?? [])
    }

    private func failure(
        _ type: Any.Type, slot: EncodedSlot, key: (any CodingKey)?
    ) -> DecodingError {
        let path = path(key)
        if isNull(slot) {
            return .valueNotFound(
                type,
                .init(codingPath: path, debugDescription: "null, where a \(type) was expected"))
        }
        return .typeMismatch(
            type,
            .init(
                codingPath: path, debugDescription: "a \(slot.kind), where a \(type) was expected"))
    }

    private func unfit(
        _ number: some CustomStringConvertible, type: Any.Type, key: (any CodingKey)?
    ) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: path(key), debugDescription: "\(number) does not fit in \(type)"))
    }

    /// Returns true for null, and for a server timestamp that has no time yet if such a timestamp
    /// is null.
    func isNull(_ slot: EncodedSlot) -> Bool {
        if slot.kind == .null { return true }
        guard slot.kind == .map, let pending = pending(slot) else { return false }
        switch source.serverTimestamps {
        case .none: return true
        case .estimate: return false
        case .previous: return pending.previous == nil || pending.previous == .null
        }
    }

    private func pending(_ slot: EncodedSlot) -> (time: Timestamp, previous: Value?)? {
        guard slot.kind == .map,
            let entries = try? EncodedSlot.entries(of: slot, in: source.bytes),
            EncodedSlot.areSpecial(entries, in: source.bytes),
            case .pendingServerTimestamp(let time, let previous)? = try? slot.value(
                in: source.bytes)
        else { return nil }
        return (time, previous)
    }

    func boolean(_ slot: EncodedSlot, _ key: (any CodingKey)?) throws -> Bool {
        guard slot.kind == .boolean else { throw failure(Bool.self, slot: slot, key: key) }
        return slot.bits != 0
    }

    func text(_ slot: EncodedSlot, _ key: (any CodingKey)?) throws -> String {
        guard slot.kind == .string else { throw failure(String.self, slot: slot, key: key) }
        return slot.text(in: source.bytes)
    }

    func double(_ slot: EncodedSlot, _ key: (any CodingKey)?) throws -> Double {
        switch slot.kind {
        case .double: return Double(bitPattern: slot.bits)
        case .integer: return Double(Int64(bitPattern: slot.bits))
        case .string:
            if let number = nonConforming(slot) { return number }
            throw failure(Double.self, slot: slot, key: key)
        default: throw failure(Double.self, slot: slot, key: key)
        }
    }

    func float(_ slot: EncodedSlot, _ key: (any CodingKey)?) throws -> Float {
        let number = try double(slot, key)
        if number.isFinite, abs(number) > Double(Float.greatestFiniteMagnitude) {
            throw unfit(number, type: Float.self, key: key)
        }
        return Float(number)
    }

    private func nonConforming(_ slot: EncodedSlot) -> Double? {
        guard case .convertFromString(let positive, let negative, let nan) = source.options.floats
        else { return nil }
        let text = slot.text(in: source.bytes)
        if text.hasSameBytes(as: positive) { return .infinity }
        if text.hasSameBytes(as: negative) { return -.infinity }
        return text.hasSameBytes(as: nan) ? .nan : nil
    }

    func integer<T: FixedWidthInteger>(
        _ slot: EncodedSlot, type: T.Type, key: (any CodingKey)?
    ) throws -> T {
        switch slot.kind {
        case .integer:
            let number = Int64(bitPattern: slot.bits)
            guard let value = T(exactly: number) else { throw unfit(number, type: type, key: key) }
            return value
        case .double:
            let number = Double(bitPattern: slot.bits)
            guard let value = T(exactly: number) else { throw unfit(number, type: type, key: key) }
            return value
        default: throw failure(type, slot: slot, key: key)
        }
    }

    /// Decodes a value of this map or array.
    func decode<T: Decodable>(
        _ type: T.Type, _ slot: EncodedSlot, _ key: any CodingKey
    ) throws -> T {
        let inner = StoredDecoder(self, slot: slot, key: key)
        if let native = try native(type, slot: slot, at: inner) { return native }
        return try inner.made(type)
    }

    /// Decodes a type of Firestore's or Foundation's; returns nil for every other type.
    func native<T>(_ type: T.Type, slot: EncodedSlot, at: StoredDecoder) throws -> T? {
        if type == Date.self { return try at.date(slot) as! T? }
        if type == Timestamp.self { return try at.timestamp(slot) as! T? }
        if type == Data.self { return try at.data(slot) as! T? }
        if type == URL.self { return try at.url(slot) as! T? }
        if type == DocumentReference.self { return try at.document(slot) as! T? }
        if type == GeoPoint.self {
            guard slot.kind == .geoPoint, case .geoPoint(let point) = try at.value(slot) else {
                throw at.failure(type, slot: slot, key: nil)
            }
            return point as! T?
        }
        if type == VectorValue.self {
            guard slot.kind == .map, case .vector(let vector) = try at.value(slot) else {
                throw at.failure(type, slot: slot, key: nil)
            }
            return vector as! T?
        }
        if type == Decimal.self {
            let number = try at.double(slot, nil)
            let text = slot.kind == .integer ? "\(Int64(bitPattern: slot.bits))" : "\(number)"
            guard let decimal = Decimal(string: text) else {
                throw unfit(number, type: type, key: nil)
            }
            return decimal as! T?
        }
        return nil
    }

    private func value(_ slot: EncodedSlot) throws -> Value {
        do { return try slot.value(in: source.bytes) } catch { throw corrupted("\(error)") }
    }

    private func timestamp(_ slot: EncodedSlot) throws -> Timestamp {
        if slot.kind == .timestamp {
            do { return try slot.timestamp(in: source.bytes) } catch { throw corrupted("\(error)") }
        }
        if let pending = pending(slot) {
            switch (source.serverTimestamps, pending.previous) {
            case (.estimate, _): return pending.time
            case (.previous, .timestamp(let time)?): return time
            default: break
            }
        }
        throw failure(Timestamp.self, slot: slot, key: nil)
    }

    private func date(_ slot: EncodedSlot) throws -> Date {
        switch source.options.dates {
        case .timestamp: return try timestamp(slot).dateValue()
        case .deferredToDate: return try Date(from: self)
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(slot, nil))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try double(slot, nil) / 1000)
        case .iso8601:
            guard let date = try? Date(text(slot, nil), strategy: .iso8601) else {
                throw corrupted("no ISO 8601 date")
            }
            return date
        case .formatted(let formatter):
            guard let date = formatter.date(from: try text(slot, nil)) else {
                throw corrupted("not a date in the format of the formatter")
            }
            return date
        case .custom(let decode): return try decode(self)
        }
    }

    private func data(_ slot: EncodedSlot) throws -> Data {
        switch source.options.data {
        case .blob:
            guard slot.kind == .bytes else { throw failure(Data.self, slot: slot, key: nil) }
            return Data(source.bytes[slot.payload])
        case .deferredToData: return try Data(from: self)
        case .base64:
            guard let data = Data(base64Encoded: try text(slot, nil)) else {
                throw corrupted("not base64")
            }
            return data
        case .custom(let decode): return try decode(self)
        }
    }

    private func url(_ slot: EncodedSlot) throws -> URL {
        guard let url = URL(string: try text(slot, nil)) else { throw corrupted("no URL") }
        return url
    }

    private func document(_ slot: EncodedSlot) throws -> DocumentReference {
        guard slot.kind == .reference, case .reference(let name) = try value(slot) else {
            throw failure(DocumentReference.self, slot: slot, key: nil)
        }
        guard let firestore = source.firestore, firestore.databaseID == name.database
        else { throw corrupted("a reference to a database that this client does not use") }
        return DocumentReference(firestore, .success(name.path), text: name.path.text)
    }
}
