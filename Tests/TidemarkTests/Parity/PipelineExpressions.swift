import Foundation
import Testing
import Tidemark
import TidemarkTesting

/// Tests every function of swift-api 1.6 in its Swift spelling, on one document of a server.
@Suite(.timeLimit(.minutes(2))) struct `Parity 1.6, expressions of pipelines` {
    typealias Row = (name: String, expression: any Tidemark.Expression, value: Value)

    private static let time = Timestamp(seconds: 1_767_323_045, nanoseconds: 0)

    /// Computes all expressions for one document, and compares their values.
    private func check(_ rows: [Row]) async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try local.firestore()
        let room = firestore.document("rooms/blue")
        try await room.setData([
            "n": 7, "d": 2.5, "neg": -3, "s": "Hello", "spaces": "  hi ", "csv": "a,b,c",
            "l": [1, 2, 3], "tags": ["x", "y"], "m": ["a": 1, "b": 2], "b": true,
            "z": NSNull(), "v": VectorValue([1, 0]), "t": Self.time,
        ])
        let selected = rows.map { $0.expression.as($0.name) }
        let snapshot = try await firestore.pipeline().collection("rooms").select(selected)
            .execute()
        let fields = try #require(snapshot.results.first).fields
        for row in rows {
            #expect(fields[row.name] ?? .string("absent") == row.value, "\(row.name)")
        }
        await local.stop()
    }

    private func integers(_ numbers: Int64...) -> Value { .array(numbers.map { .integer($0) }) }
    private func texts(_ texts: String...) -> Value { .array(texts.map { .string($0) }) }

    @Test func `of numbers`() async throws {
        let (n, d) = (Field("n"), Field("d"))
        try await check([
            ("add", n.add(1), .integer(8)), ("add2", n.add(d), .double(9.5)),
            ("subtract", n.subtract(1), .integer(6)),
            ("subtract2", n.subtract(Field("neg")), .integer(10)),
            ("multiply", n.multiply(2), .integer(14)), ("multiply2", n.multiply(n), .integer(49)),
            ("divide", n.divide(2), .integer(3)), ("divide2", n.divide(n), .integer(1)),
            ("mod", n.mod(4), .integer(3)), ("mod2", n.mod(n), .integer(0)),
            ("pow", n.pow(2), .double(49)), ("pow2", n.pow(Constant(1)), .double(7)),
            ("abs", Field("neg").abs(), .integer(3)), ("ceil", d.ceil(), .double(3)),
            ("floor", d.floor(), .double(2)), ("round", d.round(), .double(3)),
            ("trunc", d.trunc(), .double(2)),
            ("places", Constant(3.149).truncToPrecision(2), .double(3.14)),
            ("places2", Constant(3.149).truncToPrecision(Constant(1)), .double(3.1)),
            ("sqrt", Constant(16).sqrt(), .double(4)), ("exp", Constant(0).exp(), .double(1)),
            ("ln", Constant(1).ln(), .double(0)),
            ("greatest", n.logicalMaximum([9, Constant(8)]), .integer(9)),
            ("least", n.logicalMinimum([9, d]), .double(2.5)),
            ("vectorLength", Field("v").vectorLength(), .integer(2)),
            ("cosine", Field("v").cosineDistance([1, 0]), .double(0)),
            ("cosine2", Field("v").cosineDistance(VectorValue([1, 0])), .double(0)),
            ("cosine3", Field("v").cosineDistance(Field("v")), .double(0)),
            ("dot", Field("v").dotProduct([2, 0]), .double(2)),
            ("dot2", Field("v").dotProduct(VectorValue([2, 0])), .double(2)),
            ("dot3", Field("v").dotProduct(Field("v")), .double(1)),
            ("euclidean", Field("v").euclideanDistance([1, 2]), .double(2)),
            ("euclidean2", Field("v").euclideanDistance(VectorValue([1, 2])), .double(2)),
            ("euclidean3", Field("v").euclideanDistance(Field("v")), .double(0)),
        ])
    }

    @Test func `of comparisons, logic and types`() async throws {
        let (n, b) = (Field("n"), Field("b").asBoolean())
        let never = n.lessThan(0)
        try await check([
            ("equal", n.equal(7), .boolean(true)), ("equal2", n.equal(n), .boolean(true)),
            ("notEqual", n.notEqual(7), .boolean(false)),
            ("notEqual2", n.notEqual(Field("d")), .boolean(true)),
            ("lessThan", n.lessThan(8), .boolean(true)),
            ("lessThan2", n.lessThan(Constant(7)), .boolean(false)),
            ("atMost", n.lessThanOrEqual(7), .boolean(true)),
            ("atMost2", n.lessThanOrEqual(n), .boolean(true)),
            ("greaterThan", n.greaterThan(7), .boolean(false)),
            ("greaterThan2", n.greaterThan(Field("d")), .boolean(true)),
            ("atLeast", n.greaterThanOrEqual(7), .boolean(true)),
            ("atLeast2", n.greaterThanOrEqual(n), .boolean(true)),
            ("any", n.equalAny([1, 7]), .boolean(true)),
            ("any2", n.equalAny([Field("d"), n]), .boolean(true)),
            ("any3", Constant(2).equalAny(Field("l")), .boolean(true)),
            ("none", n.notEqualAny([1, 7]), .boolean(false)),
            ("none2", n.notEqualAny([Field("d")]), .boolean(true)),
            ("none3", Constant(9).notEqualAny(Field("l")), .boolean(true)),
            ("and", b && never, .boolean(false)), ("or", b || never, .boolean(true)),
            ("xor", b ^ never, .boolean(true)), ("not", !b, .boolean(false)),
            ("nor", nor(never, never), .boolean(true)), ("nor2", nor([b]), .boolean(false)),
            ("then", ConditionalExpression(b, then: n, else: Constant(0)), .integer(7)),
            ("switch", switchOn(never, Constant(1), b, Constant(2), Constant(3)), .integer(2)),
            ("exists", n.exists(), .boolean(true)),
            ("isAbsent", Field("none").isAbsent(), .boolean(true)),
            ("isError", Field("s").add(1).isError(), .boolean(true)),
            ("ifError", Field("s").add(1).ifError(0), .integer(0)),
            ("ifError2", Field("s").add(1).ifError(n), .integer(7)),
            ("ifAbsent", Field("none").ifAbsent(0), .integer(0)),
            ("ifNull", Field("z").ifNull(0), .integer(0)),
            ("ifNull2", Field("z").ifNull(n), .integer(7)),
            ("coalesce", Field("z").coalesce([Field("none"), n]), .integer(7)),
            ("type", n.type(), .string("int64")), ("isType", n.isType("number"), .boolean(true)),
            ("null", Constant.nil, .null), ("bytes", Constant(Data([1])), .bytes([1])),
            ("date", Constant(Self.time.dateValue()), .timestamp(Self.time)),
            ("point", Constant(GeoPoint(latitude: 1, longitude: 2)).type(), .string("geo_point")),
            ("map", MapExpression(["k": n, "c": 1]), .map(["k": .integer(7), "c": .integer(1)])),
            (
                "array", ArrayExpression([n, "x", [1]]),
                .array([
                    .integer(7), .string("x"), integers(1),
                ])
            ),
            ("raw", FunctionExpression(functionName: "cmp", args: [n, Constant(1)]), .integer(1)),
            ("random", rand().lessThan(1), .boolean(true)),
            ("random2", RandomExpression().greaterThanOrEqual(0), .boolean(true)),
            ("now", CurrentTimestamp().type(), .string("timestamp")),
            ("fails", ErrorExpression("no").isError(), .boolean(true)),
            ("document", CurrentDocument().mapGet("n"), .integer(7)),
        ])
    }

    @Test func `of arrays and maps`() async throws {
        let (l, m, one, two) = (Field("l"), Field("m"), Constant(1), Constant(2))
        let element = Variable("e")
        try await check([
            ("arrayLength", l.arrayLength(), .integer(3)),
            ("arrayReverse", l.arrayReverse(), integers(3, 2, 1)),
            ("arrayConcat", l.arrayConcat([[4], [5]]), integers(1, 2, 3, 4, 5)),
            ("arrayConcat2", l.arrayConcat([l]), integers(1, 2, 3, 1, 2, 3)),
            ("arrayContains", l.arrayContains(2), .boolean(true)),
            ("arrayContains2", l.arrayContains(Field("n")), .boolean(false)),
            ("all", l.arrayContainsAll([1, 2]), .boolean(true)),
            ("all2", l.arrayContainsAll([one, Field("n")]), .boolean(false)),
            ("all3", l.arrayContainsAll(l), .boolean(true)),
            ("some", l.arrayContainsAny([9, 1]), .boolean(true)),
            ("some2", l.arrayContainsAny([Field("n")]), .boolean(false)),
            ("some3", l.arrayContainsAny(l), .boolean(true)),
            ("filter", l.arrayFilter(alias: "e", filter: element.greaterThan(1)), integers(2, 3)),
            (
                "transform", l.arrayTransform(elementAlias: "e", transform: element.add(1)),
                integers(2, 3, 4)
            ),
            (
                "indexed",
                l.arrayTransformWithIndex(
                    elementAlias: "e", indexAlias: "i", transform: element.add(Variable("i"))),
                integers(1, 3, 5)
            ),
            ("slice", l.arraySlice(offset: 1), integers(2, 3)),
            ("slice2", l.arraySlice(offset: one), integers(2, 3)),
            ("slice3", l.arraySlice(offset: 0, length: 2), integers(1, 2)),
            ("slice4", l.arraySlice(offset: one, length: one), integers(2)),
            ("slice5", l.arraySlice(offset: 1, length: one), integers(2)),
            ("slice6", l.arraySlice(offset: one, length: 1), integers(2)),
            ("first", l.arrayFirst(), .integer(1)), ("firstN", l.arrayFirstN(2), integers(1, 2)),
            ("firstN2", l.arrayFirstN(two), integers(1, 2)),
            ("last", l.arrayLast(), .integer(3)), ("lastN", l.arrayLastN(2), integers(2, 3)),
            ("lastN2", l.arrayLastN(two), integers(2, 3)),
            ("get", l.arrayGet(1), .integer(2)), ("get2", l.arrayGet(Constant(-1)), .integer(3)),
            ("indexOf", l.arrayIndexOf(2), .integer(1)),
            ("indexOf2", l.arrayIndexOf(two), .integer(1)),
            ("lastIndexOf", l.arrayConcat([l]).arrayLastIndexOf(2), .integer(4)),
            ("lastIndexOf2", l.arrayLastIndexOf(two), .integer(1)),
            ("indexes", l.arrayConcat([l]).arrayIndexOfAll(2), integers(1, 4)),
            ("indexes2", l.arrayIndexOfAll(two), integers(1)),
            ("greatest", l.arrayMaximum(), .integer(3)), ("least", l.arrayMinimum(), .integer(1)),
            ("greatestN", l.arrayMaximumN(2), integers(3, 2)),
            ("greatestN2", l.arrayMaximumN(one), integers(3)),
            ("leastN", l.arrayMinimumN(2), integers(1, 2)),
            ("leastN2", l.arrayMinimumN(one), integers(1)),
            ("getField", m.getField("a"), .integer(1)),
            ("getField2", m.getField(Constant("b")), .integer(2)),
            ("mapGet", m.mapGet("b"), .integer(2)),
            ("mapRemove", m.mapRemove("a"), .map(["b": .integer(2)])),
            ("mapRemove2", m.mapRemove(Constant("b")), .map(["a": .integer(1)])),
            ("mapMerge", m.mapMerge([["a": 9]]), .map(["a": .integer(9), "b": .integer(2)])),
            ("mapMerge2", m.mapMerge([m]), .map(["a": .integer(1), "b": .integer(2)])),
            (
                "mapSet", m.mapSet("a", 9, "b", Field("n")),
                .map([
                    "a": .integer(9), "b": .integer(7),
                ])
            ),
            ("mapSet2", m.mapSet(Constant("a"), two), .map(["a": .integer(2), "b": .integer(2)])),
            ("mapKeys", m.mapKeys(), texts("a", "b")), ("mapValues", m.mapValues(), integers(1, 2)),
            ("mapEntries", m.mapEntries().arrayLength(), .integer(2)),
        ])
    }

    @Test func `of texts`() async throws {
        let (s, spaces, l) = (Field("s"), Field("spaces"), Constant("l"))
        try await check([
            ("length", s.length(), .integer(5)), ("charLength", s.charLength(), .integer(5)),
            ("byteLength", Constant("é").byteLength(), .integer(2)),
            ("toLower", s.toLower(), .string("hello")), ("toUpper", s.toUpper(), .string("HELLO")),
            ("reverse", s.reverse(), .string("olleH")),
            ("stringReverse", s.stringReverse(), .string("olleH")),
            ("trim", spaces.trim(), .string("hi")), ("trim2", s.trim("Ho"), .string("ell")),
            ("trim3", s.trim(Constant("H")), .string("ello")),
            ("ltrim", spaces.ltrim(), .string("hi ")), ("ltrim2", s.ltrim("H"), .string("ello")),
            ("ltrim3", s.ltrim(Constant("H")), .string("ello")),
            ("rtrim", spaces.rtrim(), .string("  hi")), ("rtrim2", s.rtrim("o"), .string("Hell")),
            ("rtrim3", s.rtrim(Constant("o")), .string("Hell")),
            ("concat", s.concat(["!", Field("csv")]), .string("Hello!a,b,c")),
            ("stringConcat", s.stringConcat([" ", "x"]), .string("Hello x")),
            ("stringConcat2", s.stringConcat([s]), .string("HelloHello")),
            ("repeat", s.stringRepeat(2), .string("HelloHello")),
            ("repeat2", s.stringRepeat(Constant(1)), .string("Hello")),
            ("substring", s.substring(position: 1, length: 2), .string("el")),
            ("substring2", s.substring(position: 3, length: nil), .string("lo")),
            ("substring3", s.substring(position: Constant(1), length: Constant(1)), .string("e")),
            ("split", Field("csv").split(delimiter: ","), texts("a", "b", "c")),
            ("split2", Field("csv").split(delimiter: Constant(",")), texts("a", "b", "c")),
            ("join", Field("tags").join(delimiter: "-"), .string("x-y")),
            ("contains", s.stringContains("ell"), .boolean(true)),
            ("contains2", s.stringContains(l), .boolean(true)),
            ("startsWith", s.startsWith("He"), .boolean(true)),
            ("startsWith2", s.startsWith(l), .boolean(false)),
            ("endsWith", s.endsWith("lo"), .boolean(true)),
            ("endsWith2", s.endsWith(l), .boolean(false)),
            ("indexOf", s.stringIndexOf("l"), .integer(2)),
            ("indexOf2", s.stringIndexOf(l), .integer(2)),
            ("like", s.like("H%o"), .boolean(true)),
            ("like2", s.like(Constant("H_")), .boolean(false)),
            ("regexContains", s.regexContains("l+"), .boolean(true)),
            ("regexContains2", s.regexContains(l), .boolean(true)),
            ("regexMatch", s.regexMatch("H.*"), .boolean(true)),
            ("regexMatch2", s.regexMatch(l), .boolean(false)),
            ("regexFind", s.regexFind("l+"), .string("ll")),
            ("regexFind2", s.regexFind(l), .string("l")),
            ("regexFindAll", s.regexFindAll("l"), texts("l", "l")),
            ("regexFindAll2", s.regexFindAll(l), texts("l", "l")),
            ("replaceAll", s.stringReplaceAll("l", with: "L"), .string("HeLLo")),
            ("replaceAll2", s.stringReplaceAll(l, with: Constant("L")), .string("HeLLo")),
            ("replaceOne", s.stringReplaceOne("l", with: "L"), .string("HeLlo")),
            ("replaceOne2", s.stringReplaceOne(l, with: Constant("L")), .string("HeLlo")),
        ])
    }

    @Test func `of times and documents`() async throws {
        let (t, name) = (Field("t"), Field("__name__"))
        let day = Timestamp(seconds: 1_767_312_000, nanoseconds: 0)
        let later = Timestamp(seconds: Self.time.seconds + 60, nanoseconds: 0)
        let earlier = Timestamp(seconds: Self.time.seconds - 60, nanoseconds: 0)
        let zone = "Europe/Berlin"
        try await check([
            ("micros", t.timestampToUnixMicros(), .integer(Self.time.seconds * 1_000_000)),
            ("millis", t.timestampToUnixMillis(), .integer(Self.time.seconds * 1_000)),
            ("seconds", t.timestampToUnixSeconds(), .integer(Self.time.seconds)),
            ("ofMicros", t.timestampToUnixMicros().unixMicrosToTimestamp(), .timestamp(Self.time)),
            ("ofMillis", t.timestampToUnixMillis().unixMillisToTimestamp(), .timestamp(Self.time)),
            (
                "ofSeconds", t.timestampToUnixSeconds().unixSecondsToTimestamp(),
                .timestamp(Self.time)
            ),
            ("truncate", t.timestampTruncate(granularity: .day), .timestamp(day)),
            ("truncate2", t.timestampTruncate(granularity: "day"), .timestamp(day)),
            (
                "truncate3", t.timestampTruncate(granularity: .hour, timezone: zone).type(),
                .string("timestamp")
            ),
            (
                "truncate4", t.timestampTruncate(granularity: "hour", timezone: zone).type(),
                .string("timestamp")
            ),
            ("extract", t.timestampExtract(part: .hour), .integer(3)),
            ("extract2", t.timestampExtract(part: "hour"), .integer(3)),
            ("extract3", t.timestampExtract(part: .hour, timezone: zone), .integer(4)),
            ("extract4", t.timestampExtract(part: "hour", timezone: zone), .integer(4)),
            ("diff", t.timestampDiff(Constant(earlier), .second), .integer(60)),
            ("diff2", t.timestampDiff(Constant(earlier), "minute"), .integer(1)),
            ("add", t.timestampAdd(1, .minute), .timestamp(later)),
            ("add2", t.timestampAdd(amount: Constant(60), unit: "second"), .timestamp(later)),
            ("subtract", t.timestampSubtract(1, .minute), .timestamp(earlier)),
            (
                "subtract2", t.timestampSubtract(amount: Constant(60), unit: "second"),
                .timestamp(earlier)
            ),
            ("documentId", name.documentId(), .string("blue")),
            ("documentId2", Field(FieldPath.documentID()).documentId(), .string("blue")),
            ("collectionId", name.collectionId(), .string("rooms")),
            ("parent", name.parent(), .null),
        ])
    }

    @Test func `have the names of the protocol`() {
        #expect(TimeUnit.day.rawValue == "day" && TimePart.dayOfYear.rawValue == "dayofyear")
        #expect(TimePart.dayOfWeek.rawValue == "dayofweek")
        #expect(TimePart.weekSunday.rawValue == "week(sunday)")
        #expect(TimeGranularity.weekMonday.rawValue == "week(monday)")
        #expect(TimeGranularity.isoyear.rawValue == "isoyear")
        #expect(DistanceMeasure.dotProduct.rawValue == "dot_product")
        #expect(Field("a.b").fieldName == "a.b" && Field("a.b").alias == "a.b")
        #expect(Field(FieldPath(["a b", "c"])).alias == "`a b`.c")
        #expect(Field("n").ascending().direction == .ascending)
    }
}
