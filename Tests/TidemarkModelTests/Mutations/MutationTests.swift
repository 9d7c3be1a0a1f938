import Testing

@testable import TidemarkModel

struct `Mutations` {
    private let now = Value.timestamp(Timestamp(microseconds: 1_700_000_000_000_000))

    private func apply(
        _ operation: Mutation.Operation, _ transforms: [FieldTransform] = [], to fields: MapValue?
    ) -> Mutation.Outcome {
        Mutation(path: path("c/x"), operation, transforms: transforms)
            .applied(to: fields) { _ in now }
    }

    private func transform(_ operation: FieldTransform.Operation, _ value: Value?) -> Value? {
        var fields = MapValue()
        fields["f"] = value
        return apply(.patch([:], mask: []), [FieldTransform(field("f"), operation)], to: fields)
            .fields?["f"]
    }

    @Test func `set, delete and verify`() {
        #expect(apply(.set(["a": .integer(1)]), to: ["b": .null]).fields == ["a": .integer(1)])
        #expect(apply(.delete, to: ["b": .null]).fields == nil)
        #expect(apply(.delete, to: nil).fields == nil)
        #expect(apply(.verify, to: ["b": .null]).fields == ["b": .null])
        #expect(apply(.verify, to: nil).fields == nil)
    }

    @Test func `a patch writes what its mask names and removes what it names in vain`() {
        let mask = [field("a"), field("m.x"), field("gone")]
        let patch = Mutation.Operation.patch(
            ["a": .integer(1), "m": .map(["x": .integer(2), "y": .integer(9)]), "n": .integer(9)],
            mask: mask)
        #expect(
            apply(patch, to: ["gone": .null, "m": .map(["z": .integer(3)]), "k": .null]).fields
                == ["a": .integer(1), "m": .map(["x": .integer(2), "z": .integer(3)]), "k": .null])
        #expect(
            apply(patch, to: nil).fields == ["a": .integer(1), "m": .map(["x": .integer(2)])])
    }

    @Test func `a nested field that is set and then deleted leaves its map`() {
        let set = apply(.patch(["a": .map(["b": .integer(1)])], mask: [field("a.b")]), to: [:])
        let deleted = apply(.patch([:], mask: [field("a.b")]), to: set.fields)
        #expect(deleted.fields == ["a": .map([:])])
        #expect(apply(.patch([:], mask: [field("a.b")]), to: [:]).fields == [:])
    }

    @Test func `doing it twice is doing it once, transforms aside`() {
        var generator = Generator(seed: 19)
        for _ in 0..<2_000 {
            let mask = generator.list(upTo: 3) { $0.fieldPath() }
            let operation: Mutation.Operation =
                switch generator.number(0...2) {
                case 0: .set(generator.fields(depth: 1))
                case 1: .patch(generator.fields(depth: 2), mask: mask)
                default: .delete
                }
            let once = apply(operation, to: generator.fields(depth: 2))
            #expect(apply(operation, to: once.fields) == once, "\(operation)")
        }
    }

    @Test func `increments add, and stop at the ends of integers`() {
        #expect(transform(.increment(.integer(2)), .integer(3)) == .integer(5))
        #expect(transform(.increment(.integer(1)), .integer(.max)) == .integer(.max))
        #expect(transform(.increment(.integer(-1)), .integer(.min)) == .integer(.min))
        #expect(transform(.increment(.integer(.min)), .integer(-5)) == .integer(.min))
        #expect(transform(.increment(.double(0.5)), .integer(3)) == .double(3.5))
        #expect(transform(.increment(.integer(1)), .double(0.5)) == .double(1.5))
        #expect(transform(.increment(.integer(7)), nil) == .integer(7))
        #expect(transform(.increment(.integer(7)), .string("3")) == .integer(7))
        #expect(transform(.increment(.integer(7)), .double(.nan)) == .double(.nan))
    }

    @Test func `extremes keep the stored one of equals, and NaN wins`() {
        #expect(transform(.maximum(.integer(2)), .integer(3)) == .integer(3))
        #expect(transform(.maximum(.double(3)), .integer(3)) == .integer(3))
        #expect(transform(.maximum(.integer(4)), .double(3.5)) == .integer(4))
        #expect(transform(.minimum(.integer(2)), .double(3.5)) == .integer(2))
        #expect(transform(.minimum(.double(-0.0)), .integer(0)) == .integer(0))
        #expect(transform(.maximum(.integer(0)), .double(-0.0)) == .double(-0.0))
        #expect(transform(.maximum(.double(.nan)), .integer(3)) == .double(.nan))
        #expect(transform(.minimum(.integer(3)), .double(.nan)) == .double(.nan))
        #expect(transform(.minimum(.integer(3)), nil) == .integer(3))
        #expect(transform(.maximum(.integer(3)), .string("z")) == .integer(3))
    }

    @Test func `unions add each once, removals take all`() {
        let stored = Value.array([.integer(3), .double(.nan), .integer(3)])
        #expect(
            transform(
                .arrayUnion([.double(3), .null, .double(.nan), .null, .string("a")]), stored)
                == .array([.integer(3), .double(.nan), .integer(3), .null, .string("a")]))
        #expect(
            transform(.arrayRemove([.double(3), .null]), stored) == .array([.double(.nan)]))
        #expect(transform(.arrayUnion([.integer(1), .double(1)]), nil) == .array([.integer(1)]))
        #expect(transform(.arrayRemove([.integer(1)]), .string("no array")) == .array([]))
        #expect(
            transform(.arrayUnion([.map(["a": .double(1)])]), .array([.map(["a": .integer(1)])]))
                == .array([.map(["a": .integer(1)])]))
    }

    @Test func `a great union takes no time`() {
        let many = (0..<50_000).map { Value.integer(Int64($0)) }
        let result = transform(.arrayUnion(many), .array(many.reversed()))
        #expect(result == .array(many.reversed()))
        #expect(transform(.arrayRemove(many), result) == .array([]))
    }

    @Test func `server times are given the value before them`() {
        let mutation = Mutation(
            path: path("c/x"), .set(["a": .integer(1)]),
            transforms: [
                FieldTransform(field("a"), .serverTimestamp),
                FieldTransform(field("m.t"), .serverTimestamp),
            ])
        let outcome = mutation.applied(to: nil) { previous in
            .pendingServerTimestamp(localWriteTime: .epoch, previous: previous)
        }
        let first = Value.pendingServerTimestamp(localWriteTime: .epoch, previous: .integer(1))
        let second = Value.pendingServerTimestamp(localWriteTime: .epoch, previous: nil)
        #expect(outcome.fields == ["a": first, "m": .map(["t": second])])
        #expect(outcome.transformResults == [first, second])
    }

    @Test func `transforms follow the operation, in order, and see each other`() {
        let outcome = apply(
            .set(["n": .integer(10)]),
            [
                FieldTransform(field("n"), .increment(.integer(5))),
                FieldTransform(field("n"), .maximum(.integer(12))),
                FieldTransform(field("n"), .increment(.integer(5))),
                FieldTransform(field("l"), .arrayUnion([.null])),
            ], to: ["n": .integer(100), "gone": .null])
        #expect(outcome.fields == ["n": .integer(20), "l": .array([.null])])
        #expect(
            outcome.transformResults == [.integer(15), .integer(15), .integer(20), .null])
    }

    @Test func `an empty patch with a transform touches nothing else, and makes the document`() {
        let time = [FieldTransform(field("t"), .serverTimestamp)]
        #expect(
            apply(.patch([:], mask: []), time, to: ["a": .null]).fields == ["a": .null, "t": now])
        #expect(apply(.patch([:], mask: []), time, to: nil).fields == ["t": now])
    }

    @Test func `preconditions hold by existence and version`() {
        let time = Timestamp(microseconds: 1)
        #expect(Precondition.none.holds(for: nil) && Precondition.none.holds(for: time))
        #expect(Precondition.exists(true).holds(for: time))
        #expect(!Precondition.exists(true).holds(for: nil))
        #expect(Precondition.exists(false).holds(for: nil))
        #expect(!Precondition.exists(false).holds(for: time))
        #expect(Precondition.updateTime(time).holds(for: time))
        #expect(!Precondition.updateTime(time).holds(for: .epoch))
        #expect(!Precondition.updateTime(time).holds(for: nil))
    }
}
