/// A value as Firestore's REST interface writes it: `{"integerValue": "7"}`.
package struct ValueJSON: Codable {
    package let value: Value

    package init(_ value: Value) { self.value = value }

    private enum Key: String, CodingKey, CaseIterable {
        case nullValue, booleanValue, integerValue, doubleValue, timestampValue, stringValue
        case bytesValue, referenceValue, geoPointValue, arrayValue, mapValue
    }

    private struct GeoPointJSON: Codable { let latitude, longitude: Double }
    private struct ArrayJSON: Codable { let values: [ValueJSON]? }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch value {
        case .null: try container.encodeNil(forKey: .nullValue)
        case .boolean(let value): try container.encode(value, forKey: .booleanValue)
        case .integer(let value): try container.encode(String(value), forKey: .integerValue)
        case .double(let value) where value.isFinite:
            try container.encode(value, forKey: .doubleValue)
        case .double(let value): try container.encode(Self.name(of: value), forKey: .doubleValue)
        case .timestamp(let time): try container.encode(time.rfc3339, forKey: .timestampValue)
        case .pendingServerTimestamp(let time, _):
            try container.encode(time.rfc3339, forKey: .timestampValue)
        case .string(let value): try container.encode(value, forKey: .stringValue)
        case .bytes(let value):
            try container.encode(Base64Form.text(of: value), forKey: .bytesValue)
        case .reference(let value): try container.encode(value.name, forKey: .referenceValue)
        case .geoPoint(let point):
            let json = GeoPointJSON(latitude: point.latitude, longitude: point.longitude)
            try container.encode(json, forKey: .geoPointValue)
        case .array(let values):
            try container.encode(ArrayJSON(values: values.map(ValueJSON.init)), forKey: .arrayValue)
        case .vector(let vector):
            let form: MapValue = [
                "__type__": .string("__vector__"), "value": .array(vector.array.map(Value.double)),
            ]
            try container.encode(FieldsJSON(form), forKey: .mapValue)
        case .map(let fields): try container.encode(FieldsJSON(fields), forKey: .mapValue)
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard container.allKeys.count == 1, let key = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "a value must have one key, such as stringValue"))
        }
        value = try Self.value(key, container)
    }

    private static func value(
        _ key: Key, _ container: KeyedDecodingContainer<Key>
    ) throws -> Value {
        func refuse(_ reason: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: reason)
        }
        switch key {
        case .nullValue: return .null
        case .booleanValue: return .boolean(try container.decode(Bool.self, forKey: key))
        case .integerValue:
            return .integer(try container.decode(IntegerJSON.self, forKey: key).value)
        case .doubleValue:
            if let number = try? container.decode(Double.self, forKey: key) {
                return .double(number)
            }
            guard let number = double(named: try container.decode(String.self, forKey: key))
            else { throw refuse("not a number") }
            return .double(number)
        case .timestampValue:
            let text = try container.decode(String.self, forKey: key)
            guard let time = Timestamp(rfc3339: text) else { throw refuse("no RFC 3339 time") }
            return .timestamp(time)
        case .stringValue: return .string(try container.decode(String.self, forKey: key))
        case .bytesValue:
            let text = try container.decode(String.self, forKey: key)
            guard let bytes = Base64Form.bytes(in: text) else { throw refuse("no base64") }
            return .bytes(bytes)
        case .referenceValue:
            let name = try container.decode(String.self, forKey: key)
            guard let reference = try? ReferenceValue(name: name) else {
                throw refuse("not a document name")
            }
            return .reference(reference)
        case .geoPointValue:
            let point = try container.decode(GeoPointJSON.self, forKey: key)
            guard GeoPoint.isValid(latitude: point.latitude, longitude: point.longitude) else {
                throw refuse("not a geo point")
            }
            return .geoPoint(GeoPoint(latitude: point.latitude, longitude: point.longitude))
        case .arrayValue:
            let array = try container.decode(ArrayJSON.self, forKey: key)
            return .array((array.values ?? []).map(\.value))
        case .mapValue: return try container.decode(FieldsJSON.self, forKey: key).value
        }
    }

    private static func name(of value: Double) -> String {
        value.isNaN ? "NaN" : (value > 0 ? "Infinity" : "-Infinity")
    }

    private static func double(named name: String) -> Double? {
        switch name {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: nil
        }
    }
}

/// Fields as REST writes them: `{"fields": {…}}`.
package struct FieldsJSON: Codable {
    package let fields: MapValue

    package init(_ fields: MapValue) { self.fields = fields }

    private enum Key: String, CodingKey { case fields }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The map, or the kind that travels as one.
    package var value: Value {
        let bytes = FieldsCodec.encode(Value.map(fields))
        return (try? FieldsCodec.decodeValue(bytes)) ?? .map(fields)
    }

    package func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Key.self)
        var inner = outer.nestedContainer(keyedBy: Name.self, forKey: .fields)
        for entry in fields {
            try inner.encode(ValueJSON(entry.value), forKey: Name(stringValue: entry.key))
        }
    }

    package init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Key.self)
        var fields = MapValue()
        if outer.contains(.fields) {
            let inner = try outer.nestedContainer(keyedBy: Name.self, forKey: .fields)
            for key in inner.allKeys {
                fields[key.stringValue] = try inner.decode(ValueJSON.self, forKey: key).value
            }
        }
        self.fields = fields
    }
}

/// A 64-bit integer: protobuf's JSON writes it as text, and others as a number.
package struct IntegerJSON: Decodable {
    package let value: Int64

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self.value = value
            return
        }
        guard let value = Int64(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "no 64-bit integer")
        }
        self.value = value
    }
}
