import ArgumentParser
import Foundation
import TidemarkHTTPClient
import TidemarkModel
import TidemarkResilience
import TidemarkRules
import TidemarkServer

extension RulesCommand {
    /// Prints the decision of the rules for one request, with the value of each expression.
    struct ExplainCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain", abstract: "Explain why a request is allowed or denied.",
            discussion: """
                Evaluates the request on the server that runs on this machine, with its \
                documents and rules. Changes nothing and bills nothing. With --cases, uses the \
                documents and rules of a file. Exits with 1 if the request is denied.
                """)

        @Argument(help: "get, list, create, update, set or delete.")
        var operation: String

        @Argument(help: "The path of the document; for list, of the collection.")
        var path: String

        @Option(
            name: .customLong("as"),
            help: """
                uid of the caller; omit for an unauthenticated request.
                """)
        var uid: String?

        @Option(help: "The claims of the caller's token as JSON, as in {\"admin\": true}.")
        var token: String?

        @Option(help: "The fields to write, as JSON.")
        var data: String?

        @Option(
            name: .customLong("where"),
            help:
                "A filter of a list as JSON, as in [\"owner\", \"==\", \"ann\"]. Repeatable."
        )
        var conditions: [String] = []

        @Option(help: "The limit of a list request.")
        var limit: Int?

        @Option(help: "A file of cases. Its documents and rules are used.")
        var cases: String?

        @Option(help: "The firestore.rules file, with --cases.")
        var rules: String?

        @Option(help: "The control port of the running server.")
        var controlPort = 4_000

        @Option(help: "The project on the server.")
        var project = "demo"

        @Option(help: "The database of the project.")
        var database = "(default)"

        func run() async throws {
            let question = try question()
            let answer: Answer
            if let cases {
                answer = try judge(question, on: cases)
            } else {
                answer = try await ask(question)
            }
            print(answer.allowed ? "allowed" : "denied: \(answer.reason)")
            for line in answer.trace { print("  \(line)") }
            if !answer.allowed { throw ExitCode.failure }
        }

        private struct Answer: Decodable {
            let allowed: Bool
            let reason: String
            let trace: [String]
        }

        /// Returns the request as JSON, in the form of a case in a file.
        private func question() throws -> Data {
            func json(_ text: String, _ option: String) throws -> JSONValue {
                guard let parsed = try? JSONValue(Array(text.utf8)) else {
                    throw ValidationError("\(option) is not JSON: \(text)")
                }
                return parsed
            }
            var fields: JSONObject = [operation: .text(path)]
            if let uid {
                if let token {
                    fields["as"] = .object(
                        ["uid": .text(uid), "token": try json(token, "--token")])
                } else {
                    fields["as"] = .text(uid)
                }
            }
            if let data { fields["data"] = try json(data, "--data") }
            if !conditions.isEmpty {
                fields["where"] = .list(JSONList(try conditions.map { try json($0, "--where") }))
            }
            if let limit { fields["limit"] = .integer(Int64(limit)) }
            return Data(JSONWriter.bytes(of: .object(fields)))
        }

        private func judge(_ question: Data, on cases: String) throws -> Answer {
            let file = try RulesFiles.cases(cases, command: "explain")
            let ruleset = try RulesFiles.rules(rules, beside: cases, file, command: "explain")
            let test: RulesCase
            do { test = try JSONValueDecoder().decode(RulesCase.self, from: question) } catch let
                error
                as RulesCaseError
            {
                throw RulesFiles.failure(error.message, "explain")
            }
            guard let outcome = file.with([test]).run(ruleset).outcomes.first else {
                throw RulesFiles.failure("There is no request to evaluate.", "explain")
            }
            return Answer(
                allowed: outcome.isAllowed, reason: outcome.reason, trace: outcome.trace)
        }

        private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(10))

        private func ask(_ question: Data) async throws -> Answer {
            let place = "http://127.0.0.1:\(controlPort)/tidemark/v1/rules/explain"
            guard var address = URLComponents(string: place) else { throw ExitCode.failure }
            address.queryItems = [
                URLQueryItem(name: "project", value: project),
                URLQueryItem(name: "database", value: database),
            ]
            let request = HTTPRequest(
                "POST", address.string ?? place, fields: [("content-type", "application/json")],
                data: question)
            let answer: HTTPAnswer
            do {
                answer = try await withTimeout(.seconds(10)) {
                    try await Self.session.answer(to: request, upTo: 16 << 20)
                }
            } catch {
                throw RulesFiles.failure(
                    "No server answers at port \(controlPort). Use --cases to evaluate a file.",
                    "explain")
            }
            let bytes = Data(answer.body)
            if let answer = try? JSONDecoder().decode(Answer.self, from: bytes) { return answer }
            let refusal = try? JSONDecoder().decode([String: String].self, from: bytes)
            throw RulesFiles.failure(
                refusal?["error"] ?? "The server sent an unexpected answer.", "explain")
        }
    }
}
