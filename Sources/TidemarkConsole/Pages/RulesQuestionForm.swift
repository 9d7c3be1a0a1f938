import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// The form with a question to the rules, and the answer.
struct RulesQuestionForm {
    static let operations = ["get", "list", "create", "update", "set", "delete"]

    let uid: String
    let token: String
    let operation: String
    let path: String
    let data: String
    let project: String
    let database: String
    /// The answer; nil if there was no question.
    private(set) var answer: Result<RulesAnswer, RulesQuestionError>?

    init(_ request: PageRequest, _ server: FirestoreServer) {
        uid = request["as"] ?? ""
        token = request["token"] ?? ""
        operation = request["do"] ?? "get"
        path = request["path"] ?? ""
        data = request["data"] ?? ""
        let first = server.databases().first
        project = request["project"] ?? first?.project ?? "demo"
        database = request["database"] ?? first?.database ?? "(default)"
        guard !path.isEmpty else { return }
        answer = Result { () throws(RulesQuestionError) in try ask(server) }
    }

    private func ask(_ server: FirestoreServer) throws(RulesQuestionError) -> RulesAnswer {
        do {
            let test = try JSONValueDecoder().decode(RulesCase.self, from: .object(try json()))
            return try server.judge(
                try test.operation.question(), as: test.person.caller,
                in: try DatabaseID(project: project, database: database))
        } catch let error as RulesCaseError {
            throw RulesQuestionError(message: error.message)
        } catch let error as InvalidPath {
            throw RulesQuestionError(message: error.message)
        } catch let error as RPCStatus {
            throw RulesQuestionError(message: error.message)
        } catch let error as RulesQuestionError {
            throw error
        } catch {
            throw RulesQuestionError(message: "The form is not valid.")
        }
    }

    /// Returns the question in the form of a case of `tidemark rules test`.
    private func json() throws -> JSONObject {
        func parsed(_ text: String, _ name: String) throws -> JSONValue {
            guard let value = try? JSONValue(Array(text.utf8)) else {
                throw RulesQuestionError(message: "\(name) must be JSON, as in {\"open\": true}.")
            }
            return value
        }
        // The path of a query over a collection group begins with `**/`.
        let isGroup = operation == "list" && path.hasPrefix("**/")
        var fields: JSONObject = [operation: .text(isGroup ? String(path.dropFirst(3)) : path)]
        if isGroup { fields["group"] = .bool(true) }
        if !uid.isEmpty {
            fields["as"] =
                token.isEmpty
                ? .text(uid)
                : .object(["uid": .text(uid), "token": try parsed(token, "The token")])
        }
        if ["create", "update", "set"].contains(operation) {
            fields["data"] = try parsed(data.isEmpty ? "{}" : data, "The fields")
        } else if operation == "list", !data.isEmpty {
            guard case .object(let rest) = try parsed(data, "The query") else {
                throw RulesQuestionError(
                    message: "The query must be {\"where\": […], \"limit\": …}.")
            }
            for (name, value) in rest where fields[name] == nil { fields[name] = value }
        }
        return fields
    }

    @HTMLBuilder var form: HTML {
        Tag.form(.class("query"), .action(PagePath(["rules"]))) {
            Tag.input(.type(.hidden), .name("project"), .value(project))
            Tag.input(.type(.hidden), .name("database"), .value(database))
            Tag.label(.for("as")) { "Account" }
            Tag.input(
                .id("as"), .name("as"), .value(uid),
                .placeholder(
                    """
                    uid; empty if not signed in
                    """))
            Tag.label(.for("token")) { "Claims" }
            Tag.input(
                .id("token"), .name("token"), .value(token), .placeholder("{\"admin\": true}"))
            Tag.label(.for("do")) { "Does" }
            Tag.select(.id("do"), .name("do")) {
                for name in Self.operations {
                    if name == operation {
                        Tag.option(.value(name), .selected) { name }
                    } else {
                        Tag.option(.value(name)) { name }
                    }
                }
            }
            Tag.label(.for("path")) { "Path" }
            Tag.input(.id("path"), .name("path"), .value(path), .placeholder("rooms/blue"))
            Tag.label(.for("data")) { "Fields, or the filters of a query" }
            Tag.input(
                .id("data"), .name("data"), .value(data),
                .placeholder("{\"where\": [[\"owner\", \"==\", \"ann\"]]}"))
            Tag.button(.type(.submit)) { "Evaluate" }
        }
    }

    @HTMLBuilder var result: HTML {
        switch answer {
        case nil: HTML()
        case .failure(let error)?: Tag.p(.role("alert")) { error.message }
        case .success(let answer)?:
            Tag.section(.label("Verdict")) {
                Tag.p {
                    Tag.strong { answer.isAllowed ? "Allowed" : "Denied" }
                    answer.isAllowed ? "." : ". " + answer.reason
                }
                if !answer.trace.isEmpty {
                    Tag.details {
                        Tag.summary { "Each expression and its value" }
                        Tag.pre { answer.trace.joined(separator: "\n") }
                    }
                }
            }
        }
    }
}

/// The error of an invalid question.
struct RulesQuestionError: Error {
    let message: String
}

extension Console {
    func rulesPage(_ request: PageRequest, _ form: PageForm) -> PageAnswer {
        let question = RulesQuestionForm(request, server)
        let (watch, id) =
            databaseRules.isEmpty
            ? (rules, nil) : (databaseRules[question.database] ?? rules, question.database)
        return form.answer(
            RulesPage(
                rules: server.rules(of: nil, database: id)?.rules, file: watch?.name,
                problems: watch?.problems ?? [], coverage: server.rulesCoverage(database: id),
                requests: server.judgedRequests().reversed(), question: question,
                databases: rulesDatabases(question.database)))
    }

    /// Returns the ids of the databases whose rules can differ; empty if none has its own rules.
    private func rulesDatabases(_ chosen: String) -> [String] {
        if databaseRules.isEmpty { return [] }
        let known = server.databases().prefix(50).map(\.database)
        return Set(databaseRules.keys).union(known).union([chosen, "(default)"]).sorted()
    }
}
