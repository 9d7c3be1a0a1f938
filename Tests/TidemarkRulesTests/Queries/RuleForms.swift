import TidemarkModel

/// A condition that apps write: its text, its meaning for one document, and the parts of a query
/// that prove it.
struct RuleForm: Sendable {
    typealias Need = @Sendable (inout Query, inout SeededRandom) -> Void

    let text: String
    /// True if the condition is true for a document. An error counts as false.
    let holds: @Sendable (OracleDocument) -> Bool
    /// Filters, orders and a limit. Any element of the list is enough for a proof.
    let needs: [Need]

    static let uid = "ann"
    static let rooms = ["blue", "red"]

    static let all: [RuleForm] = owners + rooms_ + flags + members + ranges + others

    private static func field(_ name: String) -> FieldPath { FieldPath(name: name) }

    static func add(_ filter: Filter, to query: inout Query) {
        switch query.filter {
        case .and(let filters)?: query.filter = .and(filters + [filter])
        case let other?: query.filter = .and([other, filter])
        case nil: query.filter = filter
        }
    }

    private static func filter(
        _ name: String, _ test: Filter.Operator, _ value: Value
    ) -> Need {
        { query, _ in add(.field(field(name), test, value), to: &query) }
    }

    private static func text(_ value: Value?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    private static let owners = [
        "resource.data.owner == request.auth.uid", "request.auth.uid == resource.data.owner",
        "resource.data['owner'] == 'ann'",
        "request.auth != null && resource.data.owner == request.auth.uid",
        "isOwner(resource.data)",
    ].map { condition in
        RuleForm(
            text: condition, holds: { text($0.fields["owner"]) == uid },
            needs: [
                filter("owner", .equal, .string(uid)),
                filter("owner", .isIn, .array([.string(uid)])),
            ])
    }

    private static let rooms_ = [
        "resource.data.room in get(/databases/$(database)/documents/users/$(request.auth.uid)).data.rooms",
        "resource.data.room in ['blue', 'red']",
        "resource.data.room == 'blue' || resource.data.room == 'red'",
    ].map { condition in
        RuleForm(
            text: condition,
            holds: { document in text(document.fields["room"]).map(rooms.contains) ?? false },
            needs: [
                filter("room", .equal, .string("red")),
                filter("room", .isIn, .array([.string("red"), .string("blue")])),
                { query, _ in
                    add(
                        .or([
                            .field(field("room"), .equal, .string("red")),
                            .field(field("room"), .equal, .string("blue")),
                        ]), to: &query)
                },
            ])
    }

    private static let flags = [
        "resource.data.public == true", "resource.data.public", "!(resource.data.public == false)",
    ].map { condition in
        RuleForm(
            text: condition,
            holds: { document in
                // A value that is not a boolean equals neither true nor false.
                if case .boolean(let value)? = document.fields["public"] { return value }
                return condition.hasPrefix("!") && document.fields["public"] != nil
            },
            needs: [filter("public", .equal, .boolean(true))])
    }

    private static let members = [
        "request.auth.uid in resource.data.members", "resource.data.members.hasAny(['ann'])",
        "resource.data.members.hasAll([request.auth.uid])",
    ].map { condition in
        RuleForm(
            text: condition,
            holds: { document in
                QueryOracle.elements(document.fields["members"] ?? .null).contains {
                    text($0) == uid
                }
            },
            needs: [
                filter("members", .arrayContains, .string(uid)),
                filter("members", .arrayContainsAny, .array([.string(uid)])),
            ])
    }

    private static let bounds: [(String, @Sendable (Double) -> Bool)] = [
        ("resource.data.n >= 3", { $0 >= 3 }), ("3 <= resource.data.n", { $0 >= 3 }),
        ("resource.data.n > 3", { $0 > 3 }), ("resource.data.n < 7", { $0 < 7 }),
        ("resource.data.n <= 7", { $0 <= 7 }),
        ("resource.data.n > 2 && resource.data.n < 8", { $0 > 2 && $0 < 8 }),
        ("resource.data.n is number", { _ in true }),
        ("resource.data.n != 9", { $0 != 9 }),
    ]

    private static let ranges: [RuleForm] = bounds.map { pair in
        let (condition, test) = pair
        return RuleForm(
            text: condition,
            holds: { document in
                guard let value = document.fields["n"] else { return false }
                guard let number = QueryOracle.number(value) else {
                    return condition.contains("!=")
                }
                return test(number)
            },
            needs: [
                { query, _ in
                    add(.field(field("n"), .greaterThan, .integer(4)), to: &query)
                    add(.field(field("n"), .lessThanOrEqual, .double(6.5)), to: &query)
                },
                filter("n", .equal, .integer(5)), filter("n", .equal, .double(4.5)),
                { query, random in
                    let isUp = Bool.random(using: &random)
                    query.orders.insert(
                        Order(field("n"), isUp ? .ascending : .descending), at: 0)
                    let low = Cursor(values: [.integer(4)], before: isUp)
                    let high = Cursor(values: [.double(6)], before: !isUp)
                    query.start = isUp ? low : high
                    query.end = isUp ? high : low
                },
            ])
    }

    private static let others: [RuleForm] = [
        RuleForm(
            text: "request.query.limit <= 10", holds: { _ in true },
            needs: [{ query, random in query.limit = .first(.random(in: 1...10, using: &random)) }]
        ),
        RuleForm(
            text: "'state' in resource.data", holds: { $0.fields["state"] != nil },
            needs: [
                filter("state", .equal, .string("open")),
                { query, _ in query.orders.append(Order(field("state"))) },
            ]),
        RuleForm(
            text: "resource.data.state == null",
            holds: { document in document.fields["state"].map { QueryOracle.rank($0) == 0 } ?? false
            },
            needs: [{ query, _ in add(.unary(field("state"), .isNull), to: &query) }]),
        RuleForm(
            text: "resource.data.state != 'closed'",
            holds: { document in
                document.fields["state"].map { text($0) != "closed" } ?? false
            },
            needs: [
                filter("state", .notEqual, .string("closed")),
                filter("state", .notIn, .array([.string("closed"), .string("lost")])),
                filter("state", .equal, .string("open")),
            ]),
        RuleForm(text: "request.auth.uid == 'ann'", holds: { _ in true }, needs: [{ _, _ in }]),
    ]
}
