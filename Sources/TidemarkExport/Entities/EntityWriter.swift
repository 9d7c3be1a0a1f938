import TidemarkModel

/// Converts a document to an export's entity.
///
/// Timestamps keep their microseconds. The form has no times of creation and change.
struct EntityWriter {
    private let app: String
    private let database: String

    /// - Parameter database: The database of the documents.
    init(_ database: DatabaseID) {
        app = Self.app(database.project)
        self.database = database.database
    }

    /// Returns a project's name in the form of the official local server.
    private static func app(_ project: String) -> String { "dev~" + project }

    func entity(_ document: Document) -> [UInt8] {
        var writer = WireWriter(capacity: document.contents.bytes.count * 2)
        let segments = document.path.segments
        writer.message(EntityFields.Entity.key) { key in
            key.text(EntityFields.Key.app, app)
            key.message(EntityFields.Key.path) { Self.path(segments[...], into: &$0) }
            Self.database(database, EntityFields.Key.database, into: &key)
        }
        Self.properties(of: document.fields, into: &writer)
        writer.message(EntityFields.Entity.group) { Self.path(segments.prefix(2), into: &$0) }
        return writer.bytes
    }

    /// Writes the database's name, except for the default database.
    private static func database(_ name: String, _ field: UInt64, into writer: inout WireWriter) {
        if name != "(default)" { writer.text(field, name) }
    }

    private static func path(_ segments: ArraySlice<String>, into writer: inout WireWriter) {
        elements(
            segments, group: EntityFields.Key.element, type: EntityFields.Key.type,
            id: EntityFields.Key.id, name: EntityFields.Key.name, into: &writer)
    }

    private static func elements(
        _ segments: ArraySlice<String>, group: UInt64, type: UInt64, id: UInt64, name: UInt64,
        into writer: inout WireWriter
    ) {
        for index in stride(from: segments.startIndex, to: segments.endIndex, by: 2) {
            writer.tag(group, EntityFields.WireType.groupStart)
            writer.text(type, segments[index])
            let document = segments[index + 1]
            if let number = PathRules.numericID(document.utf8) {
                writer.tag(id, EntityFields.WireType.varint)
                writer.varint(UInt64(bitPattern: number))
            } else {
                writer.text(name, document)
            }
            writer.tag(group, EntityFields.WireType.groupEnd)
        }
    }

    /// Writes the properties, empty arrays first, because their field has the smaller number.
    private static func properties(of fields: MapValue, into writer: inout WireWriter) {
        for entry in fields.entries {
            guard case .array(let elements) = entry.value, elements.isEmpty else { continue }
            writer.message(EntityFields.Entity.property) { property in
                meaning(EntityFields.Meaning.emptyArray, into: &property)
                name(entry.key, isMultiple: true, into: &property)
                property.message(EntityFields.Property.value) { _ in }
            }
        }
        for entry in fields.entries {
            if case .array(let elements) = entry.value {
                for element in elements {
                    property(entry.key, value: element, isMultiple: true, into: &writer)
                }
            } else {
                property(entry.key, value: entry.value, isMultiple: false, into: &writer)
            }
        }
    }

    private static func property(
        _ key: String, value: Value, isMultiple: Bool, into writer: inout WireWriter
    ) {
        writer.message(EntityFields.Entity.rawProperty) { property in
            if let meaning = meaning(of: value) { Self.meaning(meaning, into: &property) }
            name(key, isMultiple: isMultiple, into: &property)
            property.message(EntityFields.Property.value) { scalar(value, into: &$0) }
        }
    }

    private static func meaning(_ meaning: UInt64, into writer: inout WireWriter) {
        writer.tag(EntityFields.Property.meaning, EntityFields.WireType.varint)
        writer.varint(meaning)
    }

    private static func name(_ key: String, isMultiple: Bool, into writer: inout WireWriter) {
        writer.text(EntityFields.Property.name, key)
        writer.tag(EntityFields.Property.multiple, EntityFields.WireType.varint)
        writer.varint(isMultiple ? 1 : 0)
    }

    private static func meaning(of value: Value) -> UInt64? {
        switch value {
        case .timestamp, .pendingServerTimestamp: EntityFields.Meaning.timestamp
        case .geoPoint: EntityFields.Meaning.point
        case .bytes: EntityFields.Meaning.bytes
        case .map, .vector: EntityFields.Meaning.map
        case .null, .boolean, .integer, .double, .string, .reference, .array: nil
        }
    }

    private static func scalar(_ value: Value, into writer: inout WireWriter) {
        switch value {
        case .null: break
        case .boolean(let value): varint(EntityFields.Scalar.boolean, value ? 1 : 0, into: &writer)
        case .integer(let value):
            varint(EntityFields.Scalar.integer, UInt64(bitPattern: value), into: &writer)
        case .double(let value): double(EntityFields.Scalar.double, value, into: &writer)
        case .timestamp(let time), .pendingServerTimestamp(let time, _):
            let microseconds = UInt64(bitPattern: time.microseconds)
            varint(EntityFields.Scalar.integer, microseconds, into: &writer)
        case .string(let text): writer.text(EntityFields.Scalar.bytes, text)
        case .bytes(let bytes):
            writer.tag(EntityFields.Scalar.bytes, EntityFields.WireType.bytes)
            writer.data(bytes)
        case .reference(let reference): Self.reference(reference, into: &writer)
        case .geoPoint(let point):
            writer.tag(EntityFields.Scalar.point, EntityFields.WireType.groupStart)
            double(EntityFields.Scalar.latitude, point.latitude, into: &writer)
            double(EntityFields.Scalar.longitude, point.longitude, into: &writer)
            writer.tag(EntityFields.Scalar.point, EntityFields.WireType.groupEnd)
        case .map(let fields): nested(fields, into: &writer)
        case .vector(let vector):
            nested(
                [EntityFields.vector: .array(vector.array.map(Value.double))], into: &writer)
        case .array: preconditionFailure("an array in an array: no document holds one")
        }
    }

    private static func varint(_ field: UInt64, _ value: UInt64, into writer: inout WireWriter) {
        writer.tag(field, EntityFields.WireType.varint)
        writer.varint(value)
    }

    private static func double(_ field: UInt64, _ value: Double, into writer: inout WireWriter) {
        writer.tag(field, EntityFields.WireType.fixed64)
        writer.fixed64(value.bitPattern)
    }

    /// Writes a map as an entity without a name.
    private static func nested(_ fields: MapValue, into writer: inout WireWriter) {
        writer.message(EntityFields.Scalar.bytes) { entity in
            entity.message(EntityFields.Entity.key) { key in
                key.text(EntityFields.Key.app, "")
                key.message(EntityFields.Key.path) { _ in }
            }
            properties(of: fields, into: &entity)
            entity.message(EntityFields.Entity.group) { _ in }
        }
    }

    private static func reference(_ reference: ReferenceValue, into writer: inout WireWriter) {
        writer.tag(EntityFields.Scalar.reference, EntityFields.WireType.groupStart)
        writer.text(EntityFields.Reference.app, app(reference.database.project))
        elements(
            reference.path.segments[...], group: EntityFields.Reference.element,
            type: EntityFields.Reference.type, id: EntityFields.Reference.id,
            name: EntityFields.Reference.name, into: &writer)
        database(reference.database.database, EntityFields.Reference.database, into: &writer)
        writer.tag(EntityFields.Scalar.reference, EntityFields.WireType.groupEnd)
    }
}
