import Foundation
import Synchronization
public import Tidemark
public import TidemarkModel
public import TidemarkRules
public import TidemarkServer

/// Asks the security rules of a ``LocalFirestore`` which operations they allow for a user.
///
/// ```swift
/// let local = try LocalFirestore.start(rules: text)
/// let rules = local.rules
/// #expect(await rules.allows(.get("rooms/blue"), as: .user("ann")), "\(rules.why)")
/// #expect(await rules.denies(.delete("rooms/blue"), as: .user("bob")), "\(rules.why)")
/// ```
///
/// The rules see the documents that the server holds. A question executes, records and bills
/// nothing: a write is evaluated but not applied. Thread-safe.
public struct LocalRules: Sendable {
    private final class Last: Sendable {
        let text = Mutex("")
    }

    private let server: FirestoreServer
    private let projectID: String
    private let last = Last()

    init(_ server: FirestoreServer, projectID: String) {
        self.server = server
        self.projectID = projectID
    }

    /// The explanation of the last answer: the reason, and the value of each expression. Use it as
    /// the comment of `#expect`, so a failure shows it.
    public var why: String { last.text.withLock { $0 } }

    /// The denied requests among the last 500 requests that the rules evaluated, oldest first, one
    /// sentence each. A test of an app that ends with `#expect(local.rules.refusals.isEmpty)` shows
    /// that production would allow all that the app did.
    public var refusals: [String] {
        server.judgedRequests().filter { !$0.isAllowed }
            .map { "\($0.method) \($0.path): \($0.reason)" }
    }

    /// Returns true if the rules let `person` do the operation. Costs no reads.
    ///
    /// - Parameters:
    ///   - operation: A read, a query, or writes.
    ///   - person: The user who asks.
    /// - Returns: False for a path that names no document, too; ``why`` states the case.
    public func allows(_ operation: RulesOperation, as person: RulesPerson) async -> Bool {
        do throws(RPCStatus) { return try answer(operation, as: person).isAllowed } catch {
            last.text.withLock { $0 = error.message }
            return false
        }
    }

    /// Returns true if the rules deny the operation to `person`. Costs no reads.
    ///
    /// - Parameters:
    ///   - operation: A read, a query, or writes.
    ///   - person: The user who asks.
    /// - Returns: False for a path that names no document, too; ``why`` states the case.
    public func denies(_ operation: RulesOperation, as person: RulesPerson) async -> Bool {
        do throws(RPCStatus) { return try !answer(operation, as: person).isAllowed } catch {
            last.text.withLock { $0 = error.message }
            return false
        }
    }

    /// Returns true if the rules let `person` run a query, listen to it, or aggregate it. Costs no
    /// reads.
    ///
    /// - Parameters:
    ///   - query: A query of any client.
    ///   - person: The user who asks.
    /// - Returns: False for an invalid query, too; ``why`` states the case.
    public func allows(_ query: Tidemark.Query, as person: RulesPerson) async -> Bool {
        do throws(FirestoreError) {
            return await allows(.list(try query.runnable()), as: person)
        } catch {
            last.text.withLock { $0 = error.detail }
            return false
        }
    }

    /// Returns true if the rules deny a query to `person`. Costs no reads.
    ///
    /// - Parameters:
    ///   - query: A query of any client.
    ///   - person: The user who asks.
    /// - Returns: False for an invalid query, too; ``why`` states the case.
    public func denies(_ query: Tidemark.Query, as person: RulesPerson) async -> Bool {
        do throws(FirestoreError) {
            return await denies(.list(try query.runnable()), as: person)
        } catch {
            last.text.withLock { $0 = error.detail }
            return false
        }
    }

    /// Returns the answer of the rules, with the reason and the value of each expression. Costs no
    /// reads.
    ///
    /// - Parameters:
    ///   - operation: A read, a query, or writes.
    ///   - person: The user who asks.
    /// - Throws: `invalidArgument` for a path that names no document; `unavailable` if the data
    ///   cannot be read.
    public func answer(
        _ operation: RulesOperation, as person: RulesPerson
    ) throws(RPCStatus) -> RulesAnswer {
        let question: RulesQuestion
        let database: DatabaseID
        do throws(InvalidPath) {
            question = try operation.question()
            database = try DatabaseID(project: projectID)
        } catch { throw RPCStatus(error) }
        let answer = try server.judge(question, as: person.caller, in: database)
        let verdict = answer.isAllowed ? "Allowed." : "Denied. \(answer.reason)"
        let text = ([verdict] + answer.trace.map { "  " + $0 }).joined(separator: "\n")
        last.text.withLock { $0 = text }
        return answer
    }

    /// The parts of the rules that no call has tested yet, each with its position in the file.
    ///
    /// Calls of clients count here, and questions do not.
    public var untested: [RulesIssue] { server.rulesCoverage()?.untested ?? [] }
}

extension LocalFirestore {
    /// Starts a server that obeys security rules.
    ///
    /// - Parameters:
    ///   - rules: The text of a `firestore.rules`.
    ///   - projectID: The project of every client that names no other.
    ///   - now: The initial time of the clock.
    ///   - configuration: The configuration of the server, like the options of `tidemark serve`.
    /// - Throws: `invalidArgument` with all errors of the file, or an error of
    ///   ``start(projectID:now:configuration:)``.
    public static func start(
        rules: String, projectID: String = "local",
        now: Timestamp = Timestamp(seconds: 1_700_000_000, nanoseconds: 0),
        configuration: FirestoreServer.Configuration = FirestoreServer.Configuration()
    ) throws(RPCStatus) -> LocalFirestore {
        let ruleset: Ruleset
        do throws(InvalidRules) { ruleset = try Ruleset(rules) } catch {
            throw RPCStatus(.invalidArgument, error.description)
        }
        let local = try start(projectID: projectID, now: now, configuration: configuration)
        local.server.setRules(RulesSettings(ruleset))
        return local
    }

    /// The server's security rules, for questions about permissions.
    public var rules: LocalRules { LocalRules(server, projectID: projectID) }

    /// Creates a client with a signed-in user, as the rules see the user.
    ///
    /// - Parameters:
    ///   - person: The signed-in user.
    ///   - label: The label under which ``meter()`` counts it.
    ///   - cache: A cache in memory, or in a folder. In a folder, the next client finds the data of
    ///     this client.
    /// - Throws: `FirestoreError` when the cache cannot be opened.
    public func firestore(
        as person: RulesPerson, label: String? = nil, cache: FirestoreSettings.Cache = .memory
    ) throws(FirestoreError) -> Firestore {
        try firestore(label: label, cache: cache, token: person.unsignedToken)
    }
}
