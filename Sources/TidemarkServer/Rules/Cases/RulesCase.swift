import Foundation
import TidemarkModel
package import TidemarkRules

/// A question to rules as JSON: the caller, the request, and the expected decision.
///
/// For example `{"as": "ann", "get": "rooms/blue", "expect": "allow"}`.
/// Documentation/SecurityRules.md lists the keys.
package struct RulesCase: Decodable, Sendable {
    /// The case's name in the file; nil if it has none.
    package let name: String?
    package let person: RulesPerson
    package let operation: RulesOperation
    /// The expected decision; nil if none is expected.
    package let isExpectedAllowed: Bool?

    package init(from decoder: any Decoder) throws {
        guard case .object(let fields) = try JSONValue(from: decoder) else {
            throw RulesCaseError(
                "A case must be an object, as in {\"as\": \"ann\", \"get\": \"a/b\"}.")
        }
        try self.init(fields)
    }

    init(_ fields: JSONObject) throws(RulesCaseError) {
        let known = Self.operations.union(Self.parts).union(["name", "as", "expect"])
        let names = fields.map(\.name).sorted { $0.precedesInBytes($1) }
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw RulesCaseError("A case has no key \"\(unknown)\".")
        }
        name = fields["name"]?.text
        person = try Self.person(fields["as"])
        operation = try Self.operation(fields)
        switch fields["expect"] {
        case nil: isExpectedAllowed = nil
        case .text("allow")?: isExpectedAllowed = true
        case .text("deny")?: isExpectedAllowed = false
        default: throw RulesCaseError("\"expect\" is \"allow\" or \"deny\".")
        }
    }

    /// The case's title in reports.
    package var title: String {
        if let name { return name }
        let who =
            switch person {
            case .nobody: "nobody"
            case .account(let uid, _): uid
            }
        return "\(who) \(operation.title)"
    }

    private static let operations: Set = [
        "get", "list", "create", "update", "set", "delete", "batch",
    ]
    private static let parts: Set = ["data", "group", "where", "orderBy", "limit"]

    /// Returns the caller: null or no value, an account's uid, or `{"uid": …, "token": {claims}}`.
    private static func person(_ value: JSONValue?) throws(RulesCaseError) -> RulesPerson {
        switch value {
        case nil, .null?: return .nobody
        case .text(let uid)?: return .user(uid)
        case .object(let fields)?:
            guard let uid = fields["uid"]?.text else {
                throw RulesCaseError("\"as\" must have a string \"uid\".")
            }
            guard let token = fields["token"] else { return .user(uid) }
            guard case .map(let claims) = try CaseValue.stored(token) else {
                throw RulesCaseError("\"token\" must be an object of claims.")
            }
            return .account(uid: uid, claims: claims)
        default:
            throw RulesCaseError("\"as\" must be null, a uid, or {\"uid\": …, \"token\": {…}}.")
        }
    }

    private static func operation(
        _ fields: JSONObject
    ) throws(RulesCaseError) -> RulesOperation {
        let asked = operations.filter { fields[$0] != nil }
        guard asked.count == 1, let key = asked.first, let subject = fields[key] else {
            throw RulesCaseError(
                "A case must have one of \(operations.sorted().joined(separator: ", ")).")
        }
        if key == "batch" {
            var all: [RulesOperation] = []
            for part in subject.elements {
                guard case .object(let fields) = part else {
                    throw RulesCaseError("\"batch\" must be a list of writes.")
                }
                all.append(try operation(fields))
            }
            return .batch(all)
        }
        guard case .text(let path) = subject else {
            throw RulesCaseError("\"\(key)\" must be a path.")
        }
        if key == "list" { return .list(try CaseQuery.query(path, fields)) }
        let wantsData = ["create", "update", "set"].contains(key)
        var data = MapValue()
        if wantsData {
            guard let value = fields["data"], case .map(let map) = try CaseValue.value(value) else {
                throw RulesCaseError("\"\(key)\" needs the document's fields as \"data\": {…}.")
            }
            if map.holdsServerTimeInArray {
                throw RulesCaseError("A server time cannot be an element of an array.")
            }
            data = map
        }
        let operation: RulesOperation =
            switch key {
            case "get": .get(path)
            case "create": .create(path, data)
            case "update": .update(path, data)
            case "set": .set(path, data)
            default: .delete(path)
            }
        do throws(InvalidPath) { _ = try operation.question() } catch {
            throw RulesCaseError(error.message)
        }
        return operation
    }
}

/// The error for JSON that is not a valid case, as a sentence.
package struct RulesCaseError: Error, Hashable, Sendable {
    package let message: String

    init(_ message: String) { self.message = message }
}

extension RulesOperation {
    /// The operation as a text, such as `get rooms/blue`.
    fileprivate var title: String {
        switch self {
        case .get(let path): "get \(path)"
        case .list(let query): "list \(query.collectionID ?? "")"
        case .create(let path, _): "create \(path)"
        case .update(let path, _): "update \(path)"
        case .set(let path, _): "set \(path)"
        case .delete(let path): "delete \(path)"
        case .batch(let operations): "batch of \(operations.count)"
        case .commit(let mutations): "commit of \(mutations.count)"
        }
    }
}

extension MapValue {
    /// True if an array contains a server time, which no write may contain.
    fileprivate var holdsServerTimeInArray: Bool {
        contains { $0.value.holdsServerTime(isInArray: false) }
    }
}

extension Value {
    /// - Parameter isInArray: True if the value is inside an array.
    func holdsServerTime(isInArray: Bool) -> Bool {
        switch self {
        case .pendingServerTimestamp: isInArray
        case .array(let values): values.contains { $0.holdsServerTime(isInArray: true) }
        case .map(let fields): fields.contains { $0.value.holdsServerTime(isInArray: isInArray) }
        default: false
        }
    }
}
