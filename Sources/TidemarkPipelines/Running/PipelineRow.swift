package import TidemarkModel

/// A row of a pipeline: fields, and the document that they come from.
package struct PipelineRow: Sendable {
    /// The values of variables, by their slots.
    var variables: [Outcome] = []
    package private(set) var contents: Contents
    /// The document of the row. Every stage copies rows, and a reference keeps them small.
    private var origin: Origin?

    private final class Origin: Sendable {
        let name: ReferenceValue?
        let createTime: Timestamp?
        let updateTime: Timestamp?
        let score: Double?

        init(
            name: ReferenceValue?, createTime: Timestamp?, updateTime: Timestamp?, score: Double?
        ) {
            (self.name, self.createTime) = (name, createTime)
            (self.updateTime, self.score) = (updateTime, score)
        }
    }

    package enum Contents: Sendable {
        case encoded(EncodedFields)
        case decoded(MapValue)
    }

    package init(fields: MapValue) { contents = .decoded(fields) }

    /// Makes a row without a document.
    init(contents: EncodedFields) { self.contents = .encoded(contents) }

    init(_ document: Document, in database: DatabaseID) {
        origin = Origin(
            name: ReferenceValue(database: database, path: document.path),
            createTime: document.createTime, updateTime: document.updateTime, score: nil)
        contents = .encoded(document.contents)
    }

    /// The document; nil after a stage that makes new rows, for example `select` or `aggregate`.
    package var name: ReferenceValue? { origin?.name }
    package var createTime: Timestamp? { origin?.createTime }
    package var updateTime: Timestamp? { origin?.updateTime }
    /// The rank in a search; nil outside of a search.
    var score: Double? { origin?.score }

    /// The parts of a document that a row keeps.
    struct Parts: OptionSet {
        let rawValue: Int

        static let name = Parts(rawValue: 1)
        static let createTime = Parts(rawValue: 2)
        static let updateTime = Parts(rawValue: 4)
    }

    /// Takes parts of the document of another row.
    mutating func take(_ parts: Parts, from row: PipelineRow) {
        origin = Origin(
            name: parts.contains(.name) ? row.name : nil,
            createTime: parts.contains(.createTime) ? row.createTime : nil,
            updateTime: parts.contains(.updateTime) ? row.updateTime : nil, score: row.score)
    }

    mutating func setScore(_ score: Double) {
        origin = Origin(
            name: name, createTime: createTime, updateTime: updateTime, score: score)
    }

    /// The row that answers a pipeline that writes.
    package static func documentsModified(_ count: Int) -> PipelineRow {
        PipelineRow(fields: ["documents_modified": .integer(Int64(count))])
    }

    /// The fields, decoded. Keep the result: a row that no stage has changed decodes at each call.
    package var fields: MapValue {
        get {
            switch contents {
            case .encoded(let fields): fields.decoded
            case .decoded(let fields): fields
            }
        }
        set { contents = .decoded(newValue) }
    }

    /// Returns the value at a path without decoding other fields.
    subscript(path: FieldPath) -> Value? {
        switch contents {
        case .encoded(let fields): fields[path]
        case .decoded(let fields): fields[path]
        }
    }

    /// Changes the fields in place.
    mutating func change(_ body: (inout MapValue) -> Void) {
        var fields = fields
        contents = .decoded(MapValue())
        body(&fields)
        contents = .decoded(fields)
    }

    /// Drops the document. The row is new then.
    mutating func dropDocument() { origin = nil }

    /// The bytes that the row counts for while a stage holds it: about its storage size, and not
    /// much more than `bound` if it is larger.
    func size(upTo bound: Int) -> Int {
        let fields =
            switch contents {
            case .encoded(let fields): fields.bytes.count
            case .decoded(let fields): fields.size(upTo: bound)
            }
        return variables.reduce(fields + 96) { $0 + $1.size(upTo: bound) }
    }

    /// - Throws: ``PipelineError`` if the fields are larger than `bound` bytes.
    func checkSize(upTo bound: Int) throws(PipelineError) {
        guard case .decoded(let fields) = contents, fields.size(upTo: bound) > bound else {
            return
        }
        throw PipelineError(
            .resourceExhausted, "A row of the pipeline is larger than \(bound) bytes.")
    }

    /// The row as a map with its name, the value of `current_document`.
    var asMap: MapValue {
        var map = fields
        if let name { map["__name__"] = .reference(name) }
        if let createTime { map["__create_time__"] = .timestamp(createTime) }
        if let updateTime { map["__update_time__"] = .timestamp(updateTime) }
        return map
    }
}
