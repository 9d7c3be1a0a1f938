import Testing

@testable import TidemarkModel

struct `Aggregations` {
    private func sum(_ values: Value...) -> Value? { figure(.sum(field("v")), values) }
    private func average(_ values: Value...) -> Value? { figure(.average(field("v")), values) }

    private func figure(_ operation: Aggregation.Operator, _ values: [Value]) -> Value? {
        let rows: [MapValue] = values.map { ["v": $0] }
        return Aggregation.evaluate([Aggregation(alias: "x", operation)], over: rows)["x"]
    }

    @Test func `sum integers exactly, whatever the way there`() {
        #expect(sum(.integer(.max), .integer(1), .integer(-101)) == .integer(.max - 100))
        #expect(sum(.integer(.min), .integer(-1), .integer(1)) == .integer(.min))
        #expect(sum(.integer(.max), .integer(1)) == .double(0x1p63))
        #expect(sum(.integer(.min), .integer(.min)) == .double(-0x1p64))
        #expect(sum() == .integer(0))
    }

    @Test func `sum doubles to doubles`() {
        #expect(sum(.integer(1), .double(0.5)) == .double(1.5))
        #expect(sum(.double(1), .double(2)) == .double(3))
        #expect(sum(.double(.infinity), .double(-.infinity)) == .double(.nan))
        #expect(sum(.integer(1), .double(.nan), .integer(2)) == .double(.nan))
        #expect(
            sum(.double(.greatestFiniteMagnitude), .double(.greatestFiniteMagnitude))
                == .double(.infinity))
    }

    @Test func `average to doubles, and nothing to null`() {
        #expect(average() == .null)
        #expect(average(.string("a")) == .null)
        #expect(average(.integer(1), .integer(2)) == .double(1.5))
        #expect(average(.integer(2), .integer(2)) == .double(2))
        #expect(average(.integer(.max), .integer(.max)) == .double(0x1p63))
        #expect(average(.double(.nan), .integer(1)) == .double(.nan))
    }

    @Test func `pass over what is no number`() {
        #expect(sum(.string("9"), .null, .boolean(true), .integer(4)) == .integer(4))
        #expect(average(.string("9"), .integer(4)) == .double(4))
    }

    @Test func `drop rows that lack a field of any of them`() {
        let rows: [MapValue] = [
            ["d": .integer(1), "e": .integer(1)], ["d": .integer(2)], ["e": .integer(3)],
            ["d": .string("no number"), "e": .integer(4)], [:],
        ]
        let count = Aggregation(alias: "n", .count(upTo: nil))
        let d = Aggregation(alias: "d", .sum(field("d")))
        let e = Aggregation(alias: "e", .average(field("e")))
        #expect(Aggregation.evaluate([count], over: rows) == ["n": .integer(5)])
        #expect(
            Aggregation.evaluate([count, d], over: rows) == ["n": .integer(3), "d": .integer(3)])
        #expect(
            Aggregation.evaluate([count, d, e], over: rows)
                == ["n": .integer(2), "d": .integer(1), "e": .double(2.5)])
    }

    @Test func `count no further than asked, and say when they are done`() {
        let bounded = Aggregation(alias: "n", .count(upTo: 2))
        var state = AggregationState([bounded])
        for expected in [0, 1, 2, 2] as [Int64] {
            #expect(state.result == ["n": .integer(expected)])
            #expect(state.isComplete == (expected == 2))
            state.add([:])
        }
        #expect(AggregationState([Aggregation(alias: "n", .count(upTo: 0))]).isComplete)
        #expect(
            !AggregationState([bounded, Aggregation(alias: "m", .count(upTo: nil))]).isComplete)
    }

    @Test func `number only those without a name`() throws {
        let named = try Aggregation.validated([
            Aggregation(alias: "", .count(upTo: nil)), Aggregation(alias: "x", .count(upTo: nil)),
            Aggregation(alias: "", .sum(field("a"))),
        ])
        #expect(named.map(\.alias) == ["field_1", "x", "field_2"])
    }

    @Test(arguments: [
        ([], "Aggregations can not be empty."),
        (
            [
                Aggregation(alias: "x", .count(upTo: nil)),
                Aggregation(alias: "x", .sum(field("a"))),
            ],
            "Aggregation aliases contain duplicate alias: x."
        ),
        (
            [
                Aggregation(alias: "field_1", .count(upTo: nil)),
                Aggregation(alias: "", .count(upTo: 1)),
            ],
            "Aggregation aliases contain duplicate alias: field_1."
        ),
        (
            [Aggregation(alias: "x", .count(upTo: -1))],
            "The `up_to` value in a COUNT aggregation must be greater than or equal to zero."
        ),
        (
            [Aggregation(alias: "__x__", .count(upTo: 1))],
            "The property.name \"__x__\" is reserved."
        ),
        (
            [Aggregation(alias: String(repeating: "a", count: 1_501), .count(upTo: 1))],
            "The property.name is longer than 1500 bytes."
        ),
    ])
    func `are refused in production's words`(aggregations: [Aggregation], text: String) {
        #expect(throws: RPCStatus.invalidArgument(text)) {
            try Aggregation.validated(aggregations)
        }
    }

    @Test func `more than five are refused with a reason for programs`() {
        let six = (0..<6).map { Aggregation(alias: "a\($0)", .count(upTo: nil)) }
        let refusal = RPCStatus(
            .invalidArgument,
            "The maximum number of aggregations allowed in an aggregation query is 5. Received: 6",
            details: [
                .errorInfo(
                    reason: "TOO_MANY_AGGREGATIONS", domain: "firestore.googleapis.com",
                    metadata: [:])
            ])
        #expect(throws: refusal) { try Aggregation.validated(six) }
    }
}
