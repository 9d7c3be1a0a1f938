import Testing

@testable import TidemarkModel

struct `The rules for writes` {
    private static func set(_ fields: MapValue) -> Mutation {
        Mutation(path: path("c/x"), .set(fields))
    }

    private static func patch(_ mask: [FieldPath]) -> Mutation {
        Mutation(path: path("c/x"), .patch([:], mask: mask))
    }

    private static func transforming(_ operation: FieldTransform.Operation) -> Mutation {
        Mutation(path: path("c/x"), .set([:]), transforms: [FieldTransform(field("t"), operation)])
    }

    private static func nested(_ depth: Int) -> MapValue {
        ["f": (0..<depth).reduce(Value.null) { inner, _ in .map(["m": inner]) }]
    }

    /// Returns a field in a map in a map. The path of the field has `count` bytes.
    private static func nested(pathBytes count: Int) -> MapValue {
        let long = String(repeating: "n", count: count - 1_002)
        return [long: .map([String(repeating: "m", count: 1_000 - 1): .map(["l": .null])])]
    }

    private static func text(_ count: Int) -> Value {
        .string(String(repeating: "x", count: count))
    }

    @Test(arguments: [
        set([:]), set(["a": .array([.map(["b": .array([.null])])])]), set(nested(20)),
        set(["v": text(1_048_487)]), set(["v": .vector(VectorValue([.infinity]))]),
        set(["v": .vector(VectorValue(Array(repeating: 1, count: 2_048)))]),
        set([String(repeating: "n", count: 1_500): .null]), set(["a.b": .null, "__x": .null]),
        set(nested(pathBytes: 1_500)), set(["a": .array([.map(nested(pathBytes: 1_500))])]),
        patch([field("a"), field("b.c"), field("b.d"), field("`a.b`")]), patch([]),
        transforming(.arrayUnion([.map(["a": .array([])])])),
        transforming(.increment(.double(.nan))),
        Mutation(path: path("c/x"), .delete, precondition: .updateTime(Timestamp(microseconds: 5))),
        Mutation(path: path("c/x"), .verify, precondition: .exists(true)),
    ])
    func `let pass what is allowed, unchanged`(mutation: Mutation) throws {
        #expect(try mutation.validated() == mutation)
    }

    @Test(arguments: [
        (set(["": .null]), "must not be empty"),
        (set(["__x__": .null]), "The property.name \"__x__\" is reserved."),
        (set(["a": .map(["__name__": .null])]), "The property.name \"__name__\" is reserved."),
        (set(["a": .array([.map(["____": .null])])]), "The property.name \"____\" is reserved."),
        (
            set(["a": .pendingServerTimestamp(localWriteTime: .epoch, previous: nil)]),
            "The property.name \"__type__\" is reserved."
        ),
        (set([String(repeating: "n", count: 1_501): .null]), "longer than 1500 bytes"),
        (set(nested(pathBytes: 1_501)), "property path is longer than 1500 bytes."),
        (set(["a": .array([.array([])])]), "Cannot convert an array value in an array value."),
        (set(nested(21)), "deeper than 20 levels"),
        (
            set(["v": text(1_048_488)]),
            "The value of property \"v\" is longer than 1048487 bytes."
        ),
        (
            set(["v": .bytes(Array(repeating: 0, count: 1_048_488))]),
            "The value of property \"v\" is longer than 1048487 bytes."
        ),
        (set(["v": .vector(VectorValue([]))]), "0 dimensions"),
        (set(["v": .vector(VectorValue(Array(repeating: 1, count: 2_049)))]), "2049 dimensions"),
        (set(["v": .vector(VectorValue([1, .nan]))]), "NaN"),
        (patch([.documentID]), "Invalid reserved name in field path __name__"),
        (patch([field("a.__b__")]), "Invalid reserved name in field path __b__"),
        (transforming(.increment(.string("1"))), "no number"),
        (transforming(.maximum(.null)), "no number"),
        (transforming(.arrayUnion([.array([])])), "Cannot convert an array value"),
        (transforming(.arrayRemove([.map(["__x__": .null])])), "reserved"),
        (
            Mutation(
                path: path("c/x"), .delete,
                transforms: [FieldTransform(field("t"), .serverTimestamp)]),
            "cannot have transforms"
        ),
        (
            Mutation(
                path: path("c/x"), .set([:]),
                transforms: [FieldTransform(.documentID, .serverTimestamp)]),
            "reserved"
        ),
        (
            Mutation(
                path: path("c/x"), .verify,
                precondition: .updateTime(Timestamp(seconds: 0, nanoseconds: 1))),
            "microsecond"
        ),
        (
            Mutation(
                path: path(Array(repeating: "c/x", count: 101).joined(separator: "/")), .delete),
            "100 deep"
        ),
        (
            Mutation(
                path: path(
                    Array(repeating: "c/" + String(repeating: "x", count: 1_400), count: 5)
                        .joined(separator: "/")), .delete),
            "6144 bytes"
        ),
    ])
    func `refuse the rest with a sentence`(mutation: Mutation, text: String) {
        let status = #expect(throws: RPCStatus.self) { try mutation.validated() }
        #expect(status?.code == .invalidArgument)
        #expect(status?.message.contains(text) == true, "\(String(describing: status?.message))")
    }

    @Test func `cut times before anything else, at any depth`() throws {
        let fine = Value.timestamp(Timestamp(seconds: 1, nanoseconds: 1_999))
        let stored = Value.timestamp(Timestamp(seconds: 1, nanoseconds: 1_000))
        let mutation = Mutation(
            path: path("c/x"), .set(["t": fine, "m": .map(["l": .array([fine, .null])])]),
            transforms: [
                FieldTransform(field("u"), .arrayUnion([fine, stored])),
                FieldTransform(field("u"), .arrayRemove([.map(["t": fine])])),
            ])
        let validated = try mutation.validated()
        #expect(
            validated.operation
                == .set(["t": stored, "m": .map(["l": .array([stored, .null])])]))
        #expect(validated.transforms[0].operation == .arrayUnion([stored, stored]))
        #expect(validated.transforms[1].operation == .arrayRemove([.map(["t": stored])]))
        #expect(try validated.validated() == validated)
    }

    @Test func `bound the transforms of a document in a commit`() throws {
        func mutation(_ text: String, _ count: Int) -> Mutation {
            let one = FieldTransform(field("t"), .increment(.integer(1)))
            return Mutation(
                path: path(text), .set([:]), transforms: Array(repeating: one, count: count))
        }
        #expect(
            try Mutation.validated([mutation("c/x", 500), mutation("c/y", 500)]).count == 2)
        #expect(throws: RPCStatus.self) { try Mutation.validated([mutation("c/x", 501)]) }
        #expect(throws: RPCStatus.self) {
            try Mutation.validated([mutation("c/x", 300), mutation("c/x", 201)])
        }
    }

    /// The example of Firestore's documentation of storage sizes: 32 bytes, 16 bytes, and the bytes
    /// of the name and of the fields.
    @Test func `reckon sizes as Firestore's documentation does`() {
        let document = path("users/jeff/tasks/my_task_id")
        #expect(document.storageSize == 16 + 6 + 5 + 6 + 11)
        let fields: MapValue = [
            "type": .string("Personal"), "done": .boolean(false), "priority": .integer(1),
            "description": .string("Learn Cloud Firestore"),
        ]
        #expect(fields.storageSize == 71)
        #expect(Document.storageSize(of: fields, at: document) == 147)
    }

    @Test func `know the size of every kind`() {
        #expect(Value.null.storageSize == 1)
        #expect(Value.double(1).storageSize == 8)
        #expect(Value.string("é").storageSize == 3)
        #expect(Value.bytes([1, 2, 3]).storageSize == 3)
        #expect(Value.geoPoint(GeoPoint(latitude: 0, longitude: 0)).storageSize == 16)
        #expect(reference("c/x").storageSize == 20)
        #expect(Value.array([.integer(1), .null]).storageSize == 9)
        #expect(Value.map(["ab": .integer(1)]).storageSize == 11)
        #expect(Value.vector(VectorValue([1, 2])).storageSize == 16)
    }

    @Test func `refuse a document over a mebibyte`() throws {
        let overhead = Document.storageSize(of: ["v": .string(""), "w": .null], at: path("c/x"))
        func fields(_ size: Int) -> MapValue { ["v": Self.text(size - overhead), "w": .null] }
        try Document.validateSize(of: fields(1_048_576), at: path("c/x"), in: database)
        #expect(
            throws: RPCStatus.invalidArgument(
                "Document 'projects/p/databases/(default)/documents/c/x' cannot be written because "
                    + "its size (1,048,577 bytes) exceeds the maximum allowed size of 1,048,576 "
                    + "bytes.")
        ) { try Document.validateSize(of: fields(1_048_577), at: path("c/x"), in: database) }
    }

    @Test func `of paths of a mask that overlap, the shorter wins`() throws {
        func mask(_ paths: String...) throws -> [FieldPath] {
            let fields: MapValue = ["owner": .map(["name": .string("n")])]
            let mutation = Mutation(
                path: DocumentPath(unchecked: "c/a"), .patch(fields, mask: paths.map(field)))
            guard case .patch(_, let mask) = try mutation.validated().operation else { return [] }
            return mask
        }
        #expect(try mask("owner.name", "owner") == [field("owner")])
        #expect(
            try mask("b", "owner", "a", "owner.x.y", "owner") == ["b", "owner", "a"].map(field))
        #expect(try mask("a.b", "a.c", "ab") == ["a.b", "a.c", "ab"].map(field))
        let whole = Mutation(
            path: DocumentPath(unchecked: "c/a"),
            .patch(
                ["owner": .map(["name": .string("n")])], mask: ["owner.name", "owner"].map(field)))
        let before: MapValue = ["owner": .map(["age": .integer(1)]), "b": .null]
        #expect(
            try whole.validated().applied(to: before) { _ in .null }.fields
                == ["owner": .map(["name": .string("n")]), "b": .null])
    }

    @Test func `some writes of one document cannot follow each other`() {
        let path = DocumentPath(unchecked: "c/a")
        let set = Mutation(path: path, .set([:]))
        let patch = Mutation(path: path, .patch([:], mask: []))
        let update = Mutation(path: path, .patch([:], mask: []), precondition: .exists(true))
        let insert = Mutation(path: path, .set([:]), precondition: .exists(false))
        let delete = Mutation(path: path, .delete)
        let verify = Mutation(path: path, .verify, precondition: .exists(true))
        func code(_ mutations: Mutation...) -> RPCStatus.Code? {
            do throws(RPCStatus) { _ = try Mutation.validated(mutations) } catch {
                return error.code
            }
            return nil
        }
        for first in [set, patch, update, insert] {
            #expect(code(first, insert) == .invalidArgument)
            #expect(code(first, verify, insert) == .invalidArgument)
            #expect(code(first, update) == nil)
            #expect(code(first, delete, insert) == nil)
            #expect(code(first, delete, update) == .invalidArgument)
        }
        #expect(code(delete, update) == .invalidArgument)
        #expect(code(delete, set, update) == nil)
        for next in [set, patch, insert, delete, verify] { #expect(code(delete, next) == nil) }
        var other = update
        other.path = DocumentPath(unchecked: "c/b")
        #expect(code(delete, other) == nil, "another document")
    }
}
