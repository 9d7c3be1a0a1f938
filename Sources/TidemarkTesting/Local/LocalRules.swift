import Foundation
import Synchronization
public import Tidemark
public import TidemarkModel
public import TidemarkRules
public import TidemarkServer

/// Asks the security rules of a ``LocalFirestore`` what they would let somebody do.
///
/// ```swift
/// let local = try LocalFirestore.start(rules: text)
/// let rules = local.rules
/// #expect(await rules.allows(.get("rooms/blue"), as: .user("ann")), "\(rules.why)")
/// #expect(await rules.denies(.delete("rooms/blue"), as: .user("bob")), "\(rules.why)")
/// ```
///
/// The rules see the documents that the server holds. Nothing is done, recorded or billed: a write is
/// judged and not made. Thread-safe.
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

    /// What the last question came to: the reason, and the value of each expression. A comment for
    /// `#expect`, so that a failure shows it.
    public var why: String { last.text.withLock { $0 } }

    /// What the rules have refused of the last 500 requests that they were asked about, the oldest first: a
    /// sentence each. A test of an app that ends with `#expect(local.rules.refusals.isEmpty)` shows that
    /// production would let the app do all that it did.
    public var refusals: [String] {
        server.judgedRequests().filter { !$0.isAllowed }
            .map { "\($0.method) \($0.path): \($0.reason)" }
    }

    /// Whether the rules let `person` do it. Costs no reads.
    ///
    /// - Parameters:
    ///   - operation: A read, a query, or writes.
    ///   - person: Who asks.
    /// - Returns: False for a path that names no document, too; ``why`` says which it was.
    public func allows(_ operation: RulesOperation, as person: RulesPerson) async -> Bool {
        do throws(RPCStatus) { return try answer(operation, as: person).isAllowed } catch {
            last.text.withLock { $0 = error.message }
            return false
        }
    }

    /// Whether the rules keep `person` from it. Costs no reads.
    ///
    /// - Parameters:
    ///   - operation: A read, a query, or writes.
    ///   - person: Who asks.
    /// - Returns: False for a path that names no document, too; ``why`` says which it was.
    public func denies(_ operation: RulesOperation, as person: RulesPerson) async -> Bool {
        do throws(RPCStatus) { return try !answer(operation, as: person).isAllowed } catch {
            last.text.withLock { $0 = error.message }
            return false
        }
    }

    /// Whether the rules let `person` run a query, listen to it, or aggregate it. Costs no reads.
    ///
    /// - Parameters:
    ///   - query: A query of whatever client.
    ///   - person: Who asks.
    /// - Returns: False for a query that makes no sense, too; ``why`` says which it was.
    public func allows(_ query: Tidemark.Query, as person: RulesPerson) async -> Bool {
        do throws(FirestoreError) {
            return await allows(.list(try query.runnable()), as: person)
        } catch {
            last.text.withLock { $0 = error.detail }
            return false
        }
    }

    /// Whether the rules keep `person` from a query. Costs no reads.
    ///
    /// - Parameters:
    ///   - query: A query of whatever client.
    ///   - person: Who asks.
    /// - Returns: False for a query that makes no sense, too; ``why`` says which it was.
    public func denies(_ query: Tidemark.Query, as person: RulesPerson) async -> Bool {
        do throws(FirestoreError) {
            return await denies(.list(try query.runnable()), as: person)
        } catch {
            last.text.withLock { $0 = error.detail }
            return false
        }
    }

    /// What the rules say, with the reason and the value of each expression. Costs no reads.
    ///
    /// - Parameters:
    ///   - operation: A read, a query, or writes.
    ///   - person: Who asks.
    /// - Throws: `invalidArgument` for a path that names no document; `unavailable` when the data cannot
    ///   be read.
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

    /// What no question and no call has tested yet: each with its place in the file.
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
    ///   - now: What its clock reads.
    ///   - configuration: As of `tidemark serve`.
    /// - Throws: `invalidArgument` with every error of the file; what ``start(projectID:now:configuration:)``
    ///   throws.
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

    /// What its security rules would let somebody do.
    public var rules: LocalRules { LocalRules(server, projectID: projectID) }

    /// A client that somebody uses, as the rules see it.
    ///
    /// - Parameters:
    ///   - person: Who is signed in.
    ///   - label: The label under which ``meter()`` counts it.
    ///   - cache: In memory, or in a folder, where the next client finds what this one held.
    /// - Throws: `FirestoreError` when the cache cannot be opened.
    public func firestore(
        as person: RulesPerson, label: String? = nil, cache: FirestoreSettings.Cache = .memory
    ) throws(FirestoreError) -> Firestore {
        try firestore(label: label, cache: cache, token: person.unsignedToken)
    }
}
