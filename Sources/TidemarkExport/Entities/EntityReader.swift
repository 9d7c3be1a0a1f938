import TidemarkModel

/// The contents of an entity of an export.
struct Entity: Hashable {
    /// The project that made the export, without the partition's letter before it.
    var project: String
    /// The database; empty for the default database.
    var database: String
    var path: DocumentPath
    var fields: MapValue
}

/// The reason why bytes are no entity, as a sentence.
struct EntityProblem: Error {
    let text: String

    init(_ text: String) { self.text = text }

    init(_ error: CodecError) { text = error.message }

    init(_ invalid: InvalidPath) { text = invalid.message }
}

/// Converts an export's entity to a document.
struct EntityReader {
    /// The maximum depth of nested maps: the limit of documents, plus the level of the document.
    private static let maxDepth = DocumentLimits.depth + 1

    func entity(_ bytes: [UInt8]) throws(EntityProblem) -> Entity {
        let parts: Parts
        do throws(EntityProblem) { parts = try Self.parts(bytes, depth: 0) } catch { throw error }
        guard let key = parts.key, !key.segments.isEmpty else {
            throw EntityProblem("An entity has no name.")
        }
        let path: DocumentPath
        do throws(InvalidPath) {
            path = try DocumentPath(key.segments.joined(separator: "/"))
        } catch {
            throw EntityProblem(error)
        }
        let fields = parts.fields.map
        do throws(RPCStatus) { try fields.validateForStorage() } catch {
            throw EntityProblem("The document \(path.text) cannot be stored: \(error.message)")
        }
        return Entity(
            project: Self.project(key.app), database: key.database, path: path, fields: fields)
    }

    /// Returns the project without a prefix such as `dev~` or `s~`.
    private static func project(_ app: String) -> String {
        app.split(separator: "~", maxSplits: 1).last.map(String.init) ?? app
    }

    // MARK: Names

    private struct Key {
        var app = ""
        var database = ""
        var segments: [String] = []
    }

    private struct Parts {
        var key: Key?
        var fields = Fields()
    }

    private static func parts(_ bytes: [UInt8], depth: Int) throws(EntityProblem) -> Parts {
        guard depth <= maxDepth else { throw EntityProblem("Maps are nested too deeply.") }
        var parts = Parts()
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            switch (field.number, field.content) {
            case (EntityFields.Entity.key, .bytes(let bytes)): parts.key = try key(bytes)
            case (EntityFields.Entity.property, .bytes(let bytes)),
                (EntityFields.Entity.rawProperty, .bytes(let bytes)):
                try parts.fields.add(property(bytes, depth: depth))
            default: break
            }
        }
        return parts
    }

    private static func key(_ bytes: [UInt8]) throws(EntityProblem) -> Key {
        var key = Key()
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            switch (field.number, field.content) {
            case (EntityFields.Key.app, .bytes(let bytes)): key.app = try text(bytes)
            case (EntityFields.Key.database, .bytes(let bytes)): key.database = try text(bytes)
            case (EntityFields.Key.path, .bytes(let path)):
                try FieldScan.each(of: path) { element throws(EntityProblem) in
                    guard element.number == EntityFields.Key.element,
                        case .group(let bytes) = element.content
                    else { return }
                    key.segments += try segments(
                        bytes, type: EntityFields.Key.type, id: EntityFields.Key.id,
                        name: EntityFields.Key.name)
                }
            default: break
            }
        }
        return key
    }

    /// Returns a collection's id and a document's id.
    private static func segments(
        _ bytes: [UInt8], type: UInt64, id: UInt64, name: UInt64
    ) throws(EntityProblem) -> [String] {
        var collection: String?
        var document: String?
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            switch (field.number, field.content) {
            case (type, .bytes(let bytes)): collection = try text(bytes)
            case (name, .bytes(let bytes)): document = try text(bytes)
            case (id, .varint(let number)): document = "__id\(Int64(bitPattern: number))__"
            default: break
            }
        }
        guard let collection, let document else {
            throw EntityProblem("A part of an entity's name is missing.")
        }
        guard !collection.utf8.contains(UInt8(ascii: "/")),
            !document.utf8.contains(UInt8(ascii: "/"))
        else { throw EntityProblem("A part of an entity's name contains a slash.") }
        return [collection, document]
    }

    private static func text(_ bytes: [UInt8]) throws(EntityProblem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw EntityProblem("A text is not UTF-8.")
        }
        return text
    }

    // MARK: Values

    private struct Property {
        var meaning: UInt64 = 0
        var name = ""
        var isMultiple = false
        var value = Value.null
    }

    /// The fields in the order of their first property; an array's elements are properties with the
    /// same name.
    private struct Fields {
        private var values: [(String, Value)] = []
        private var places: [ByteString: Int] = [:]

        mutating func add(_ property: Property) throws(EntityProblem) {
            let isEmpty = property.meaning == EntityFields.Meaning.emptyArray
            let name = ByteString(property.name)
            guard property.isMultiple || isEmpty else {
                if places[name] != nil { throw EntityProblem("A field occurs twice.") }
                places[name] = values.count
                values.append((property.name, property.value))
                return
            }
            let place = places[name] ?? values.count
            if place == values.count {
                places[name] = place
                values.append((property.name, .array([])))
            }
            guard case .array(var elements) = values[place].1 else {
                throw EntityProblem("A field occurs twice.")
            }
            if isEmpty { return }
            // The array is removed from its place, so it grows without a copy.
            values[place].1 = .null
            elements.append(property.value)
            values[place].1 = .array(elements)
        }

        var map: MapValue { MapValue(values) }

        /// The vector that these fields represent; nil if they are a map's.
        var vector: VectorValue? {
            if values.count == 1, values[0].0 == EntityFields.vector { return numbers(values[0].1) }
            guard values.count == 2,
                case .string("__vector__")? = map[EntityFields.vectorType],
                let array = map[EntityFields.vectorValue]
            else { return nil }
            return numbers(array)
        }

        private func numbers(_ value: Value) -> VectorValue? {
            guard case .array(let elements) = value else { return nil }
            var numbers: [Double] = []
            for element in elements {
                guard case .double(let number) = element else { return nil }
                numbers.append(number)
            }
            return VectorValue(numbers)
        }
    }

    private static func property(
        _ bytes: [UInt8], depth: Int
    ) throws(EntityProblem) -> Property {
        var property = Property()
        var value: [UInt8] = []
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            switch (field.number, field.content) {
            case (EntityFields.Property.meaning, .varint(let number)): property.meaning = number
            case (EntityFields.Property.name, .bytes(let bytes)): property.name = try text(bytes)
            case (EntityFields.Property.multiple, .varint(let number)):
                property.isMultiple = number != 0
            case (EntityFields.Property.value, .bytes(let bytes)): value = bytes
            default: break
            }
        }
        property.value = try Self.value(value, meaning: property.meaning, depth: depth)
        return property
    }

    private static func value(
        _ bytes: [UInt8], meaning: UInt64, depth: Int
    ) throws(EntityProblem) -> Value {
        var value = Value.null
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            switch (field.number, field.content) {
            case (EntityFields.Scalar.integer, .varint(let number)):
                value = try integer(Int64(bitPattern: number), meaning)
            case (EntityFields.Scalar.boolean, .varint(let number)): value = .boolean(number != 0)
            case (EntityFields.Scalar.double, .fixed64(let bits)):
                value = .double(Double(bitPattern: bits))
            case (EntityFields.Scalar.bytes, .bytes(let bytes)):
                value = try contents(bytes, meaning, depth: depth)
            case (EntityFields.Scalar.point, .group(let bytes)): value = try point(bytes)
            case (EntityFields.Scalar.reference, .group(let bytes)): value = try reference(bytes)
            default: break
            }
        }
        return value
    }

    private static func integer(_ number: Int64, _ meaning: UInt64) throws(EntityProblem) -> Value {
        guard meaning == EntityFields.Meaning.timestamp else { return .integer(number) }
        let range = Timestamp.min.microseconds...Timestamp.max.microseconds
        guard range.contains(number) else {
            throw EntityProblem("A time is not between the years 1 and 9999.")
        }
        return .timestamp(Timestamp(microseconds: number))
    }

    private static func contents(
        _ bytes: [UInt8], _ meaning: UInt64, depth: Int
    ) throws(EntityProblem) -> Value {
        switch meaning {
        case EntityFields.Meaning.bytes: return .bytes(bytes)
        case EntityFields.Meaning.map:
            let fields = try parts(bytes, depth: depth + 1).fields
            return fields.vector.map(Value.vector) ?? .map(fields.map)
        default: return .string(try text(bytes))
        }
    }

    private static func point(_ bytes: [UInt8]) throws(EntityProblem) -> Value {
        var latitude = 0.0
        var longitude = 0.0
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            switch (field.number, field.content) {
            case (EntityFields.Scalar.latitude, .fixed64(let bits)):
                latitude = Double(bitPattern: bits)
            case (EntityFields.Scalar.longitude, .fixed64(let bits)):
                longitude = Double(bitPattern: bits)
            default: break
            }
        }
        guard GeoPoint.isValid(latitude: latitude, longitude: longitude) else {
            throw EntityProblem("A geo point is out of range.")
        }
        return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
    }

    private static func reference(_ bytes: [UInt8]) throws(EntityProblem) -> Value {
        var app = ""
        var database = ""
        var segments: [String] = []
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            switch (field.number, field.content) {
            case (EntityFields.Reference.app, .bytes(let bytes)): app = try text(bytes)
            case (EntityFields.Reference.database, .bytes(let bytes)): database = try text(bytes)
            case (EntityFields.Reference.element, .group(let bytes)):
                segments += try Self.segments(
                    bytes, type: EntityFields.Reference.type, id: EntityFields.Reference.id,
                    name: EntityFields.Reference.name)
            default: break
            }
        }
        do throws(InvalidPath) {
            let database = try DatabaseID(
                project: project(app), database: database.isEmpty ? "(default)" : database)
            let path = try DocumentPath(segments.joined(separator: "/"))
            return .reference(ReferenceValue(database: database, path: path))
        } catch { throw EntityProblem(error) }
    }
}
