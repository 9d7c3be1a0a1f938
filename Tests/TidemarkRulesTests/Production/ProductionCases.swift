import Foundation
import TestSupport
import TidemarkModel

@testable import TidemarkRules

/// Production's answers to cases of its Rules Test API, with one file per scenario.
enum ProductionCases {
    /// The path in `TIDEMARK_RULES_CASES`, or the folder beside the repository.
    static let corpus = SharedCorpus(
        "rules-tests", variable: "TIDEMARK_RULES_CASES", tests: "production's verdicts on rules")

    struct Scenario: Decodable {
        let name: String
        let rules: String
        let cases: [Case]
    }

    struct Case: Decodable {
        let description: String
        let method: String
        let path: String
        /// The caller's `auth`. The API treats an absent value and null alike.
        let auth: JSON?
        /// The document before a request.
        let resource: JSON?
        /// The document after a write.
        let data: JSON?
        let requestTime: String?
        let functionMocks: [Mock]?
        let production: String
        let notes: [String]
    }

    struct Mock: Decodable {
        let function: String
        let path: String
        let result: JSON
    }

    static func all() throws -> [Scenario] {
        try corpus.files().map { file in
            let data = try Data(contentsOf: corpus.folder.appendingPathComponent(file))
            return try JSONDecoder().decode(Scenario.self, from: data)
        }
    }
}

/// Any JSON, as a value of the rules language.
struct JSON: Decodable {
    let value: RulesValue

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Key.self) {
            value = .map(
                RulesMap(
                    try members.allKeys.map { key in
                        (key.stringValue, try members.decode(JSON.self, forKey: key).value)
                    }))
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            value = .null
        } else if let bool = try? single.decode(Bool.self) {
            value = .boolean(bool)
        } else if let whole = try? single.decode(Int64.self) {
            value = .integer(whole)
        } else if let number = try? single.decode(Double.self) {
            value = .float(number)
        } else if let text = try? single.decode(String.self) {
            value = .string(text)
        } else {
            value = .list(try single.decode([JSON].self).map(\.value))
        }
    }

    var map: RulesMap? {
        if case .map(let map) = value { map } else { nil }
    }
}

/// Evaluates a case as the Rules Test API does, with mocks. The API has no ids and names, and no
/// `auth` without a signed-in user. A missing document cannot even be compared, and a function
/// without a mock does not exist.
extension ProductionCases.Case {
    private var root: [String] { ["databases", "(default)", "documents"] }

    var request: RulesRequest? {
        guard let method = RulesMethod(rawValue: method) else { return nil }
        let path = RulesPath(root + path.split(separator: "/").map(String.init))
        var request: [(key: String, value: RulesValue)] = [
            ("method", .string(method.rawValue)), ("path", .path(path)),
            ("time", .timestamp(time)),
        ]
        if let auth = auth?.map {
            request.append(
                ("auth", .map(RulesMap([("token", .map(RulesMap([])))] + auth.entries))))
        }
        if let data { request.append(("resource", Self.document(data.value))) }
        let resource: RulesRequest.Resource =
            resource.map { .value(Self.document($0.value)) } ?? .failure(.nullValue)
        return RulesRequest(method, at: path, request: RulesMap(request), resource: resource)
    }

    private var time: Timestamp {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let date = requestTime.flatMap { try? format.parse($0) } ?? Date(timeIntervalSince1970: 0)
        return Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1_000))
    }

    fileprivate static func document(_ data: RulesValue) -> RulesValue {
        .map(RulesMap([("data", data)]))
    }
}

/// The mocks of a case. The document after a write needs no mock.
struct MockedDocuments: RulesDocuments {
    let test: ProductionCases.Case

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        let name = path.segments.dropFirst(3).joined(separator: "/")
        let isAfter = function == .getAfter || function == .existsAfter
        if isAfter, name == test.path {
            guard let data = test.data, test.method != "delete" else { return .missing }
            return .document(RulesMap([("data", data.value)]))
        }
        let wanted = function == .existsAfter || function == .exists ? "exists" : "get"
        guard
            let mock = test.functionMocks?.first(where: { $0.path == name && $0.function == wanted }
            )
        else { return .unavailable }
        if wanted == "exists", case .boolean(let exists) = mock.result.value {
            return exists ? .document(RulesMap([])) : .missing
        }
        return .document(RulesMap([("data", mock.result.value)]))
    }
}
