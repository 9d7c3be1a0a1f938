import Testing
import TidemarkModel

@testable import TidemarkServer

struct IndexMergingTests {
    static let served: [PlanCase] = [
        PlanCase(
            "the documentation's example of merging", equal("category"), equal("city"),
            orders: "rating DESC", indexes: ["category ASC, rating DESC", "city ASC, rating DESC"],
            uses: [
                "(category ASC, rating DESC, __name__ DESC)",
                "(city ASC, rating DESC, __name__ DESC)",
            ]),
        PlanCase(
            "three of them", equal("a"), equal("b"), equal("d"), orders: "o",
            indexes: ["a ASC, o ASC", "b ASC, o ASC", "d DESC, o ASC"],
            uses: [
                "(a ASC, o ASC, __name__ ASC)", "(b ASC, o ASC, __name__ ASC)",
                "(d DESC, o ASC, __name__ ASC)",
            ]),
        PlanCase(
            "the one that has all is enough", equal("a"), equal("b"), orders: "o",
            indexes: ["a ASC, o ASC", "b ASC, a ASC, o ASC"],
            uses: ["(b ASC, a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "equalities in any direction", equal("a"), orders: "o DESC",
            indexes: ["a DESC, o DESC"], uses: ["(a DESC, o DESC, __name__ DESC)"]),
        PlanCase(
            "elements merge with values", contains("t"), equal("a"), orders: "o",
            indexes: ["t CONTAINS, o ASC", "a ASC, o ASC"],
            uses: ["(t CONTAINS, o ASC, __name__ ASC)", "(a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "single fields merge with a declared one", equal("a"), equal("b"), equal("d"),
            indexes: ["a ASC, b ASC"],
            uses: ["(a ASC, b ASC, __name__ ASC)", "(d ASC, __name__ ASC)"]),
        PlanCase(
            "single fields are enough", equal("a"), indexes: ["a ASC, b ASC"],
            uses: ["(a ASC, __name__ ASC)"]),
        PlanCase(
            "a group's own", equal("a"), isGroup: true,
            fields: [("a", ["group x ASC", "x ASC"])], uses: ["group (a ASC, __name__ ASC)"]),
        PlanCase(
            "merging in a group", equal("a"), equal("b"), isGroup: true,
            fields: [("a", ["group x ASC"]), ("b", ["group x ASC"])],
            uses: ["group (a ASC, __name__ ASC)", "group (b ASC, __name__ ASC)"]),
        PlanCase("a whole group", isGroup: true, uses: ["group (__name__ ASC)"]),
        PlanCase(
            "figures in any sequence", sum: ["d", "e"], indexes: ["e ASC, d ASC"],
            uses: ["(e ASC, d ASC, __name__ ASC)"]),
        PlanCase(
            "a name under a wildcard exemption", equal("__name__", name("x")),
            fields: [("*", [])], uses: ["(__name__ ASC)"]),
        PlanCase(
            "names under a wildcard exemption",
            .field(.documentID, .isIn, .array([name("x"), name("y")])), fields: [("*", [])],
            uses: ["(__name__ ASC)"]),
        PlanCase(
            "a field's own setting beats the wildcard", equal("a"),
            fields: [("*", []), ("a", ["x ASC"])], uses: ["(a ASC, __name__ ASC)"]),
        PlanCase(
            "a subfield's own setting beats the map's", equal("m.a"),
            fields: [("m", []), ("m.a", ["x ASC"])], uses: ["(m.a ASC, __name__ ASC)"]),
        PlanCase(
            "the nearest of a color", equal("color"), nearest: nearest("v"),
            indexes: ["color ASC, v VECTOR<3>"],
            uses: ["(color ASC, __name__ ASC, v VECTOR<3>)"]),
        PlanCase(
            "a declared __name__", equal("a"), orders: "b", "__name__ DESC",
            indexes: ["a ASC, b ASC, __name__ DESC"], uses: ["(a ASC, b ASC, __name__ DESC)"]),
    ]

    @Test(arguments: served)
    func `of several indexes`(_ plan: PlanCase) throws {
        try plan.query.validate()
        #expect(plan.requirement.uses.map(spoken) == plan.uses)
        #expect(plan.requirement.missing.isEmpty)
    }

    static let refused: [PlanCase] = [
        PlanCase(
            "another order", equal("a"), orders: "o", indexes: ["a ASC, o DESC"],
            missing: ["(a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "one equality not covered", equal("a"), equal("b"), orders: "o",
            indexes: ["a ASC, o ASC"], missing: ["(a ASC, b ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "a field too many", equal("a"), orders: "o", indexes: ["a ASC, o ASC, p ASC"],
            missing: ["(a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "an equality too many", equal("a"), orders: "o",
            indexes: ["a ASC, b ASC, o ASC"], missing: ["(a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "the order before the equality", equal("a"), orders: "o",
            indexes: ["o ASC, a ASC"], missing: ["(a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "a collection's for a group", equal("a"), orders: "o", isGroup: true,
            indexes: ["a ASC, o ASC"], missing: ["group (a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "a group's for a collection", equal("a"), orders: "o",
            indexes: ["group a ASC, o ASC"], missing: ["(a ASC, o ASC, __name__ ASC)"]),
        PlanCase(
            "a value for an element", contains("t"), orders: "o", indexes: ["t ASC, o ASC"],
            missing: ["(t CONTAINS, o ASC, __name__ ASC)"]),
        PlanCase(
            "a vector of another size", nearest: nearest("v"), indexes: ["v VECTOR<4>"],
            missing: ["(__name__ ASC, v VECTOR<3>)"]),
        PlanCase(
            "a vector without the filter", equal("color"), nearest: nearest("v"),
            indexes: ["v VECTOR<3>"], missing: ["(color ASC, __name__ ASC, v VECTOR<3>)"]),
        PlanCase(
            "a vector with a filter too many", nearest: nearest("v"),
            indexes: ["color ASC, v VECTOR<3>"], missing: ["(__name__ ASC, v VECTOR<3>)"]),
        PlanCase(
            "a map's index for its subfield", equal("m.a"), fields: [("m.a", [])],
            missing: ["COLLECTION_ASC m.a"]),
    ]

    @Test(arguments: refused)
    func `does not stretch`(_ plan: PlanCase) throws {
        try plan.query.validate()
        #expect(plan.requirement.missing.map(spoken) == plan.missing)
    }

    @Test func `a limit to the last rows is one to the first of the flipped order`() throws {
        var plan = PlanCase("last", equal("a"), orders: "b", indexes: ["a ASC, b DESC"])
        #expect(plan.requirement.missing.count == 1)
        plan.query.limit = .last(3)
        #expect(plan.requirement.uses.map(spoken) == ["(a ASC, b DESC, __name__ DESC)"])
    }

    @Test func `the setting for all groups holds where a group has none`() throws {
        let json = """
            {"fieldOverrides": [
                {"collectionGroup": "__default__", "fieldPath": "*", "indexes": []},
                {"collectionGroup": "d", "fieldPath": "*", "indexes": [{"order": "ASCENDING"}]}]}
            """
        let configuration = try IndexConfiguration(json: .init(json.utf8))
        var query = Query(collectionID: "c", filter: equal("a"))
        #expect(
            IndexRequirement(query, [], in: configuration.catalog).missing.map(spoken) == [
                "COLLECTION_ASC a"
            ])
        query.collectionID = "d"
        #expect(IndexRequirement(query, [], in: configuration.catalog).missing.isEmpty)
    }
}
