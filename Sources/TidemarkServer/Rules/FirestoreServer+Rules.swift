import Synchronization
public import TidemarkModel
public import TidemarkRules
import TidemarkStore

/// The decision of rules on a question, and its reason.
public struct RulesAnswer: Sendable {
    public let isAllowed: Bool
    /// The reason for a refusal, with the values that decided; empty if the request is allowed.
    public let reason: String
    /// The value of each evaluated expression, in order: `5:22 resource.data.owner → 'ann'`.
    public let trace: [String]
    /// The number of documents that the rules have read.
    public let reads: Int

    package init(isAllowed: Bool, reason: String, trace: [String], reads: Int) {
        self.isAllowed = isAllowed
        self.reason = reason
        self.trace = trace
        self.reads = reads
    }
}

extension FirestoreServer {
    /// Puts rules in force for all projects; nil removes all rules. The rules apply to every later
    /// call. The separate rules of single projects and databases are removed. Listens are checked
    /// again, and refused listens end with `permissionDenied`.
    public func setRules(_ settings: RulesSettings?) {
        core.withLock { $0.rules.set(settings) }
        judgeListensAgain()
    }

    /// Puts rules in force for some databases of all projects; nil allows every call to them. Other
    /// databases keep their rules. The separate rules of single projects are removed.
    ///
    /// - Throws: `resourceExhausted` if 1,000 databases have their own rules already.
    public func setRules(
        _ settings: RulesSettings?, of scope: DatabaseScope
    ) throws(RPCStatus) {
        guard core.withLock({ $0.rules.set(settings, of: scope) }) else { throw .tooManyDatabases }
        judgeListensAgain()
    }

    /// Puts rules in force for one project, until the next ``setRules(_:)``. Other projects keep
    /// their rules.
    ///
    /// - Throws: `resourceExhausted` if 1,000 projects have their own rules already.
    public func setRules(_ settings: RulesSettings, of project: String) throws(RPCStatus) {
        guard core.withLock({ $0.rules.set(settings, of: project) }) else {
            throw RPCStatus(
                .resourceExhausted,
                "Already \(RulesChecks.maxProjects) projects have their own rules.")
        }
        judgeListensAgain()
    }

    private func judgeListensAgain() {
        executor.async { [self] in
            // If the store cannot be read, no listen ends here. Its next message reports the error.
            deliver((try? core.withLock { core throws in try core.judgeListensAgain() }) ?? [])
        }
    }

    /// The rules for projects and databases without their own rules; nil if every call is allowed.
    public var rules: RulesSettings? { rules(of: nil) }

    /// Returns the rules in force; nil if every call is allowed.
    ///
    /// - Parameters:
    ///   - project: The project; nil for the projects without their own rules.
    ///   - database: The id of the database; nil for the databases without their own rules.
    public func rules(of project: String?, database: String? = nil) -> RulesSettings? {
        core.withLock { $0.rules.inForce(project, database: database)?.settings }
    }

    /// Returns the decision of the rules on a question. The request is not performed, recorded or
    /// billed.
    ///
    /// - Parameters:
    ///   - question: The request to judge.
    ///   - caller: The account that requests; nil for an unauthenticated caller.
    ///   - database: The database with the documents.
    ///   - rules: The rules to ask; nil asks the rules in force.
    /// - Returns: The decision. If there are no rules, the request is allowed.
    /// - Throws: `unavailable` if the store cannot be read.
    public func judge(
        _ question: RulesQuestion, as caller: RulesCaller?, in database: DatabaseID,
        under rules: Ruleset? = nil
    ) throws(RPCStatus) -> RulesAnswer {
        do {
            let judged = try core.withLock { core throws in
                try core.store.read {
                    try core.rules.judge(question, as: caller, in: database, under: rules, $0)
                }
            }
            guard let (judgements, reads, source) = judged else {
                return RulesAnswer(isAllowed: true, reason: "", trace: [], reads: 0)
            }
            let last = judgements.last
            return RulesAnswer(
                isAllowed: last?.isAllowed ?? true, reason: last?.reason(in: source) ?? "",
                trace: judgements.flatMap { $0.lines(of: source) }, reads: reads)
        } catch {
            throw RPCStatus(storeFailure: error)
        }
    }

    /// Returns the last 500 reads, queries and writes that the rules have judged, oldest first.
    public func judgedRequests() -> [JudgedRequest] {
        core.withLock { $0.rules.requests.latest }
    }

    /// Returns the last 500 judged requests, and a stream of all later ones. The stream ends when
    /// it is dropped. A reader that is 500 requests behind misses the oldest.
    package func watchJudgedRequests() -> (
        latest: [JudgedRequest], news: AsyncStream<JudgedRequest>
    ) {
        let (news, input) = AsyncStream.makeStream(
            of: JudgedRequest.self, bufferingPolicy: .bufferingNewest(RulesRecord.capacity))
        return core.withLock { core in
            let number = core.rules.addReader(input)
            // A separate task is needed. Here, the cancellation holds a lock of the reader's task.
            // The core takes the same lock to resume that task, while the core itself is locked.
            input.onTermination = { [weak self] _ in
                Task { self?.core.withLock { $0.rules.removeReader(number) } }
            }
            return (core.rules.requests.latest, news)
        }
    }

    /// Returns the requests, among the last 500, that other rules decide differently. Requests with
    /// more than 64 KB of documents are excluded, because their documents are not kept. Requests of
    /// projects with their own rules are excluded too.
    ///
    /// - Parameters:
    ///   - rules: The other rules.
    ///   - database: The id of the database whose rules would be replaced; nil for the databases
    ///     without their own rules.
    /// - Throws: `unavailable` if the store cannot be read.
    public func flips(
        under rules: Ruleset, database: String? = nil
    ) throws(RPCStatus) -> [RulesFlip] {
        do {
            // The requests are judged one by one. Other calls are performed between them.
            return try judgedRequests().compactMap { request in
                try core.withLock { core throws in
                    try core.store.read {
                        core.rules.flip(of: request, under: rules, database: database, $0)
                    }
                }
            }
        } catch {
            throw RPCStatus(storeFailure: error)
        }
    }

    /// Returns the results of each part of the rules since they are in force; nil if there are no
    /// rules, or if nothing is recorded.
    ///
    /// - Parameters:
    ///   - project: The project of the rules; nil for the projects without their own rules.
    ///   - database: The id of the database; nil for the databases without their own rules.
    public func rulesCoverage(
        of project: String? = nil, database: String? = nil
    ) -> RulesCoverage? {
        core.withLock { $0.rules.inForce(project, database: database)?.coverage }
    }

    /// Removes the last requests and the coverage.
    public func clearRulesRecord() { core.withLock { $0.rules.clearRecord() } }
}

extension RPCStatus {
    static let tooManyDatabases = RPCStatus(
        .resourceExhausted,
        "Already \(ByDatabase<Bool>.maxIDs) databases have their own settings.")
}
