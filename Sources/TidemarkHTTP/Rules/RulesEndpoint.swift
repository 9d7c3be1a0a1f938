import Foundation
import TidemarkModel
public import TidemarkRules
public import TidemarkServer

/// Serves a server's security rules over HTTP, with Tidemark's own requests and the emulator's.
///
/// - `GET /tidemark/v1/rules` returns the file, its errors, and whether rules are in force. `PUT`
///   with the emulator's body puts rules in force for all projects until the server's file changes.
///   The parameter `database` selects the databases of one id, here and for coverage.
/// - `POST /tidemark/v1/rules/explain` takes a case of `tidemark rules test`, such as
///   `{"as": "ann", "get": "rooms/blue"}`. It returns whether the request is allowed, the reason,
///   and the value of each expression. The parameters `project` and `database` select the database;
///   the default is `local` and `(default)`.
/// - `POST /tidemark/v1/rules/try` takes `{"source": TEXT}`. It returns the errors of the rules,
///   and the requests, among the last 500, whose results the rules change. The rules are not put in
///   force. The parameter `database` selects the database whose rules they would replace.
/// - `GET /tidemark/v1/rules/requests` returns the last 500 requests. `DELETE` removes them and the
///   coverage.
/// - `GET /tidemark/v1/rules/coverage` returns the results of each `allow`, and the expressions
///   that were not tested. Here and for the file, the parameter `project` selects the rules of one
///   project.
/// - `PUT /emulator/v1/projects/P:securityRules` with `{"rules": {"files": [{"content": TEXT}]}}`
///   puts rules in force for project P until the server's file changes. `GET …:ruleCoverage` and
///   `…:ruleCoverage.html` return the coverage of P's rules. Google's libraries for rules tests use
///   these requests.
public struct RulesEndpoint: WebPages {
    private let server: FirestoreServer
    private let watch: RulesFileWatch?
    private let databases: [String: RulesFileWatch]
    private let settings: @Sendable (Ruleset) -> RulesSettings

    /// - Parameters:
    ///   - server: The server whose rules are served.
    ///   - watch: The watched rules file; nil if there is none.
    ///   - databases: The watched rules files of databases with their own rules, by id.
    ///   - settings: Makes the settings of new rules; nil keeps the other settings in force.
    public init(
        _ server: FirestoreServer, watch: RulesFileWatch? = nil,
        databases: [String: RulesFileWatch] = [:],
        settings: (@Sendable (Ruleset) -> RulesSettings)? = nil
    ) {
        self.server = server
        self.watch = watch
        self.databases = databases
        self.settings =
            settings
            ?? { rules in
                var next = server.rules ?? RulesSettings(rules)
                next.rules = rules
                return next
            }
    }

    /// Returns true if the endpoint answers at the path, even with an error.
    public static func isPath(_ path: String) -> Bool {
        path == "/tidemark/v1/rules" || path.hasPrefix("/tidemark/v1/rules/")
            || path.hasPrefix("/emulator/v1/projects/") && path.contains(":")
    }

    /// - Returns: The answer; nil if the endpoint does not know the path.
    public func answer(_ request: PageRequest) async -> PageAnswer? {
        let path = request.path
        if path.count == 4, path[0] == "emulator", path[1] == "v1", path[2] == "projects",
            let colon = path[3].lastIndex(of: ":")
        {
            return emulator(
                request, String(path[3][path[3].index(after: colon)...]),
                of: String(path[3][..<colon]))
        }
        guard path.starts(with: ["tidemark", "v1", "rules"]) else { return nil }
        switch (request.method, path.dropFirst(3).joined(separator: "/")) {
        case ("GET", ""): return .rules(state(request))
        case ("PUT", ""): return put(request, of: nil)
        case ("POST", "explain"): return explain(request)
        case ("POST", "try"): return attempt(request)
        case ("GET", "requests"): return .rules(server.judgedRequests().map(JudgedRequestJSON.init))
        case ("DELETE", "requests"):
            server.clearRulesRecord()
            return .rules(["status": "cleared"])
        case ("GET", "coverage"):
            guard
                let coverage = server.rulesCoverage(
                    of: request["project"], database: request["database"])
            else { return .noRules }
            return .rules(CoverageJSON(coverage))
        case (_, ""), (_, "explain"), (_, "try"), (_, "requests"), (_, "coverage"):
            return .refusal(405, "This path does not support the method \(request.method).")
        default: return nil
        }
    }

    private func state(_ request: PageRequest) -> RulesState {
        let database = request["database"]
        return RulesState(
            server.rules(of: request["project"], database: database),
            database.flatMap { databases[$0] } ?? watch, databases: databases)
    }

    private func explain(_ request: PageRequest) -> PageAnswer {
        do {
            let test = try JSONValueDecoder().decode(RulesCase.self, from: request.body)
            let database = try DatabaseID(
                project: request["project"] ?? "local", database: request["database"] ?? "(default)"
            )
            let answer = try server.judge(
                try test.operation.question(), as: test.person.caller, in: database)
            return .rules(RulesAnswerJSON(answer))
        } catch let error as RulesCaseError {
            return .refusal(400, error.message)
        } catch let error as InvalidPath {
            return .refusal(400, error.message)
        } catch let error as RPCStatus {
            return .refusal(503, error.message)
        } catch {
            return .refusal(400, "The body is not JSON.")
        }
    }

    private func attempt(_ request: PageRequest) -> PageAnswer {
        struct Attempt: Decodable { let source: String }
        guard let attempt = try? JSONDecoder().decode(Attempt.self, from: Data(request.body)) else {
            return .refusal(400, "The body must be {\"source\": TEXT}.")
        }
        do throws(InvalidRules) {
            let rules = try Ruleset(attempt.source)
            do throws(RPCStatus) {
                let flips = try server.flips(under: rules, database: request["database"])
                return .rules(AttemptJSON(issues: rules.advice, flips: flips))
            } catch { return .refusal(503, error.message) }
        } catch { return .rules(AttemptJSON(issues: error.issues, flips: [])) }
    }

    // MARK: The emulator's requests

    private func emulator(
        _ request: PageRequest, _ verb: String, of project: String
    ) -> PageAnswer? {
        switch (request.method, verb) {
        case ("PUT", "securityRules"): return put(request, of: project)
        case ("GET", "ruleCoverage"):
            guard let coverage = server.rulesCoverage(of: project) else { return .noRules }
            return .rules(RulesCoverageReport(coverage))
        case ("GET", "ruleCoverage.html"):
            guard let coverage = server.rulesCoverage(of: project) else { return .noRules }
            return PageAnswer(
                type: "text/html; charset=utf-8", body: .bytes(Array(coverage.html.utf8)))
        case (_, "securityRules"), (_, "ruleCoverage"), (_, "ruleCoverage.html"):
            return .emulatorRefusal(405, "Method not allowed.")
        default: return nil
        }
    }

    /// - Parameter project: The project that gets the rules; nil for all projects, as in the
    ///   console's requests.
    private func put(_ request: PageRequest, of project: String?) -> PageAnswer {
        if let project, (try? DatabaseID(project: project)) == nil {
            return .emulatorRefusal(400, "The path names no project.")
        }
        guard let order = try? JSONDecoder().decode(EmulatorRules.self, from: Data(request.body)),
            let file = order.rules.files.first
        else {
            return .emulatorRefusal(
                400, "The body must be {\"rules\": {\"files\": [{\"content\": TEXT}]}}.")
        }
        do throws(InvalidRules) {
            let rules = try Ruleset(file.content)
            do throws(RPCStatus) {
                if let project {
                    try server.setRules(settings(rules), of: project)
                } else if let database = request["database"] {
                    try server.setRules(settings(rules), of: .database(database))
                } else {
                    server.setRules(settings(rules))
                }
            } catch { return .emulatorRefusal(429, error.message) }
            return .rules(EmulatorIssues(rules.warnings))
        } catch {
            if order.ignoreErrors == true { return .rules(EmulatorIssues(error.issues)) }
            return .emulatorRefusal(400, "Error compiling rules:\n\(error.description)")
        }
    }
}

extension PageAnswer {
    fileprivate static func rules(_ value: some Encodable, status: Int = 200) -> PageAnswer {
        let encoder = JSONValueEncoder(isSorted: true, namesNumbers: true)
        let bytes = (try? encoder.encode(value)) ?? []
        return PageAnswer(status: status, type: "application/json", body: .bytes(bytes))
    }

    fileprivate static func refusal(_ status: Int, _ sentence: String) -> PageAnswer {
        .rules(["error": sentence], status: status)
    }

    fileprivate static var noRules: PageAnswer {
        refusal(404, "No rules are in force, or they have no record.")
    }

    /// An error in the form that Google's libraries read.
    fileprivate static func emulatorRefusal(_ status: Int, _ message: String) -> PageAnswer {
        .rules(
            EmulatorError(
                error: EmulatorError.Body(
                    code: status, message: message, status: "INVALID_ARGUMENT")),
            status: status)
    }
}
