import Testing
import TidemarkModel

@testable import TidemarkServer

/// The requirements in server-protocol 2.2, server-production-facts 4 and Firestore's documentation
/// of indexes, case by case.
struct IndexRequirementTests {
    static let automatic: [PlanCase] = [
        PlanCase("the whole collection", uses: ["(__name__ ASC)"]),
        PlanCase("by name", orders: "__name__", uses: ["(__name__ ASC)"]),
        PlanCase("a range of names", above("__name__", name("x")), uses: ["(__name__ ASC)"]),
        PlanCase("one equality", equal("a"), uses: ["(a ASC, __name__ ASC)"]),
        PlanCase("is null", .unary(field("a"), .isNull), uses: ["(a ASC, __name__ ASC)"]),
        PlanCase("is NaN", .unary(field("a"), .isNaN), uses: ["(a ASC, __name__ ASC)"]),
        PlanCase("one range", above("a"), uses: ["(a ASC, __name__ ASC)"]),
        PlanCase(
            "two bounds of a range", above("a"), .field(field("a"), .lessThan, .integer(9)),
            uses: ["(a ASC, __name__ ASC)"]),
        PlanCase(
            "not equal", .field(field("a"), .notEqual, .integer(1)),
            uses: ["(a ASC, __name__ ASC)"]),
        PlanCase(
            "not in", .field(field("a"), .notIn, .array([.integer(1)])),
            uses: ["(a ASC, __name__ ASC)"]),
        PlanCase("not null", .unary(field("a"), .isNotNull), uses: ["(a ASC, __name__ ASC)"]),
        PlanCase("one order", orders: "a", uses: ["(a ASC, __name__ ASC)"]),
        PlanCase("one order down", orders: "a DESC", uses: ["(a DESC, __name__ DESC)"]),
        PlanCase(
            "range and its order down", above("a"), orders: "a DESC",
            uses: ["(a DESC, __name__ DESC)"]),
        PlanCase(
            "order and the name in its direction", orders: "a DESC", "__name__ DESC",
            uses: ["(a DESC, __name__ DESC)"]),
        PlanCase("a field in a map", equal("m.a"), uses: ["(m.a ASC, __name__ ASC)"]),
        PlanCase(
            "equalities are merged", equal("b"), equal("a"),
            uses: ["(a ASC, __name__ ASC)", "(b ASC, __name__ ASC)"]),
        PlanCase("array-contains", contains("t"), uses: ["(t CONTAINS, __name__ ASC)"]),
        PlanCase(
            "array-contains and equalities", contains("t"), equal("a"),
            uses: ["(a ASC, __name__ ASC)", "(t CONTAINS, __name__ ASC)"]),
        PlanCase("in", isIn("a", 1, 2, 3), uses: ["(a ASC, __name__ ASC)"]),
        PlanCase(
            "in and equality", isIn("a", 1, 2), equal("b"),
            uses: ["(a ASC, __name__ ASC)", "(b ASC, __name__ ASC)"]),
        PlanCase(
            "array-contains-any",
            .field(field("t"), .arrayContainsAny, .array([.integer(1), .integer(2)])),
            uses: ["(t CONTAINS, __name__ ASC)"]),
        PlanCase(
            "or, each alone", .or([equal("a"), equal("b")]),
            uses: ["(a ASC, __name__ ASC)", "(b ASC, __name__ ASC)"]),
        PlanCase(
            "an order by what is equal is none", equal("a"), orders: "a DESC",
            uses: ["(a DESC, __name__ DESC)"]),
        PlanCase(
            "a range of what is equal is none", equal("a"), above("a"),
            uses: ["(a ASC, __name__ ASC)"]),
        PlanCase(
            "names down behind an equality", equal("a"), orders: "__name__ DESC",
            uses: ["(a DESC, __name__ DESC)"]),
        PlanCase(
            "names in a range behind an equality", equal("a"), above("__name__", name("x")),
            uses: ["(a ASC, __name__ ASC)"]),
        PlanCase("a name", equal("__name__", name("x")), uses: ["(__name__ ASC)"]),
        PlanCase(
            "some names", .field(.documentID, .isIn, .array([name("x"), name("y")])),
            uses: ["(__name__ ASC)"]),
        PlanCase("a sum", sum: ["d"], uses: ["(d ASC, __name__ ASC)"]),
        PlanCase(
            "a sum of the order", orders: "d DESC", sum: ["d"],
            uses: ["(d DESC, __name__ DESC)"]),
        PlanCase("a sum of the range", above("d"), sum: ["d"], uses: ["(d ASC, __name__ ASC)"]),
        PlanCase(
            "a sum of what is equal", equal("d"), sum: ["d"],
            uses: ["(d ASC, __name__ ASC)"]),
    ]

    @Test(arguments: automatic)
    func `are there without being declared`(_ plan: PlanCase) throws {
        try plan.query.validate()
        #expect(plan.requirement.uses.map(spoken) == plan.uses)
        #expect(plan.requirement.missing.isEmpty)
    }

    /// The queries need indexes that do not exist yet. After the indexes were added, the queries
    /// use them.
    static let composite: [PlanCase] = [
        PlanCase(
            "equality and range", equal("a"), above("b"),
            missing: ["(a ASC, b ASC, __name__ ASC)"]),
        PlanCase(
            "equality and order", equal("a"), orders: "b",
            missing: ["(a ASC, b ASC, __name__ ASC)"]),
        PlanCase(
            "equality and order down", equal("a"), orders: "b DESC",
            missing: ["(a ASC, b DESC, __name__ DESC)"]),
        PlanCase(
            "two equalities and an order", equal("c"), equal("a"), orders: "b DESC",
            missing: ["(a ASC, c ASC, b DESC, __name__ DESC)"]),
        PlanCase(
            "two orders", orders: "a", "b DESC",
            missing: ["(a ASC, b DESC, __name__ DESC)"]),
        PlanCase(
            "two ranges", above("b"), above("a"),
            missing: ["(a ASC, b ASC, __name__ ASC)"]),
        PlanCase(
            "two ranges and an order", above("b"), above("a"), orders: "b DESC",
            missing: ["(b DESC, a DESC, __name__ DESC)"]),
        PlanCase(
            "a range and another order", above("b"), orders: "a",
            missing: ["(a ASC, b ASC, __name__ ASC)"]),
        PlanCase(
            "array-contains and order", contains("t"), orders: "b DESC",
            missing: ["(t CONTAINS, b DESC, __name__ DESC)"]),
        PlanCase(
            "array-contains and range", contains("t"), above("b"),
            missing: ["(t CONTAINS, b ASC, __name__ ASC)"]),
        PlanCase(
            "array-contains and names down", contains("t"), orders: "__name__ DESC",
            missing: ["(t CONTAINS, __name__ DESC)"]),
        PlanCase(
            "in and order", isIn("a", 1, 2), orders: "b",
            missing: ["(a ASC, b ASC, __name__ ASC)"]),
        PlanCase(
            "not equal and order", .field(field("a"), .notEqual, .null), orders: "b",
            missing: ["(b ASC, a ASC, __name__ ASC)"]),
        PlanCase("names down alone", orders: "__name__ DESC", missing: ["(__name__ DESC)"]),
        PlanCase(
            "names against the order", orders: "a", "__name__ DESC",
            missing: ["(a ASC, __name__ DESC)"]),
        PlanCase(
            "equality and names against the order", equal("a"),
            orders: "b DESC", "__name__ ASC",
            missing: ["(a ASC, b DESC, __name__ ASC)"]),
        PlanCase(
            "a sum behind an equality", equal("a"), sum: ["d"],
            missing: ["(a ASC, d ASC, __name__ ASC)"]),
        PlanCase(
            "a sum behind a range", above("a"), sum: ["d"],
            missing: ["(a ASC, d ASC, __name__ ASC)"]),
        PlanCase(
            "a sum behind an order down", orders: "a DESC", sum: ["d"],
            missing: ["(a DESC, d DESC, __name__ DESC)"]),
        PlanCase("two sums", sum: ["e", "d"], missing: ["(d ASC, e ASC, __name__ ASC)"]),
        PlanCase(
            "groups: two equalities", equal("a"), equal("b"), isGroup: true,
            missing: ["group (a ASC, b ASC, __name__ ASC)"]),
        PlanCase(
            "groups: equality and order", equal("a"), orders: "b", isGroup: true,
            missing: ["group (a ASC, b ASC, __name__ ASC)"]),
        PlanCase(
            "groups: names down", orders: "__name__ DESC", isGroup: true,
            missing: ["group (__name__ DESC)"]),
        PlanCase(
            "a disjunct in the order of the other", .or([above("a"), equal("b")]),
            missing: ["(b ASC, a ASC, __name__ ASC)"]),
        PlanCase(
            "every disjunct of its own", .or([equal("a"), equal("b")]), orders: "d",
            missing: ["(a ASC, d ASC, __name__ ASC)", "(b ASC, d ASC, __name__ ASC)"]),
        PlanCase("nearest", nearest: nearest("v"), missing: ["(__name__ ASC, v VECTOR<3>)"]),
        PlanCase(
            "nearest of some", equal("color"), nearest: nearest("v"),
            missing: ["(color ASC, __name__ ASC, v VECTOR<3>)"]),
    ]

    @Test(arguments: composite)
    func `must be declared, and then serve`(_ plan: PlanCase) throws {
        try plan.query.validate()
        #expect(plan.requirement.missing.map(spoken) == plan.missing)
        var configuration = plan.configuration
        for index in plan.requirement.missing {
            let isAdded = configuration.add(index)
            #expect(isAdded)
        }
        let again = IndexRequirement(plan.query, plan.aggregations, in: configuration.catalog)
        #expect(again.missing.isEmpty)
        for index in plan.missing { #expect(again.uses.map(spoken).contains(index)) }
        // The written configuration can be read back.
        let read = try IndexConfiguration(json: configuration.json)
        #expect(IndexRequirement(plan.query, plan.aggregations, in: read.catalog).missing.isEmpty)
    }

    static let single: [PlanCase] = [
        PlanCase(
            "groups: equality", equal("a"), isGroup: true,
            missing: ["COLLECTION_GROUP_ASC a"]),
        PlanCase("groups: range", above("a"), isGroup: true, missing: ["COLLECTION_GROUP_ASC a"]),
        PlanCase(
            "groups: order down", orders: "a DESC", isGroup: true,
            missing: ["COLLECTION_GROUP_DESC a"]),
        PlanCase(
            "groups: array-contains", contains("t"), isGroup: true,
            missing: ["COLLECTION_GROUP_CONTAINS t"]),
        PlanCase("groups: sum", isGroup: true, sum: ["d"], missing: ["COLLECTION_GROUP_ASC d"]),
        PlanCase(
            "groups: one of two equalities", equal("a"), equal("b"), isGroup: true,
            fields: [("a", ["group x ASC"])], missing: ["COLLECTION_GROUP_ASC b"]),
        PlanCase(
            "exempt: equality", equal("a"), fields: [("a", [])],
            missing: ["COLLECTION_ASC a"]),
        PlanCase(
            "exempt: order down", orders: "a DESC", fields: [("a", ["x ASC"])],
            missing: ["COLLECTION_DESC a"]),
        PlanCase(
            "exempt: array-contains", contains("a"), fields: [("a", ["x ASC", "x DESC"])],
            missing: ["COLLECTION_CONTAINS a"]),
        PlanCase(
            "exempt: a map and what is in it", equal("m.a.b"), fields: [("m", [])],
            missing: ["COLLECTION_ASC m.a.b"]),
        PlanCase(
            "exempt: all fields", above("a"), fields: [("*", [])],
            missing: ["COLLECTION_ASC a"]),
    ]

    @Test(arguments: single)
    func `of single fields must be there too`(_ plan: PlanCase) throws {
        try plan.query.validate()
        #expect(plan.requirement.missing.map(spoken) == plan.missing)
        var configuration = plan.configuration
        for index in plan.requirement.missing {
            let isAdded = configuration.add(index)
            #expect(isAdded)
        }
        let again = IndexRequirement(plan.query, plan.aggregations, in: configuration.catalog)
        #expect(again.missing.isEmpty)
        let read = try IndexConfiguration(json: configuration.json)
        #expect(
            IndexRequirement(plan.query, plan.aggregations, in: read.catalog).uses == again.uses)
    }
}
