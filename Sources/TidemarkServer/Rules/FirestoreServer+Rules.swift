import Synchronization
public import TidemarkModel
public import TidemarkRules
import TidemarkStore

/// What rules say to a question, and why.
public struct RulesAnswer: Sendable {
    public let isAllowed: Bool
    /// Why not, with the values that decided; empty where it is allowed.
    public let reason: String
    /// The value of each expression that was evaluated, in order: `5:22 resource.data.owner → 'ann'`.
    public let trace: [String]
    /// Documents that the rules read.
    public let reads: Int

    package init(isAllowed: Bool, reason: String, trace: [String], reads: Int) {
        self.isAllowed = isAllowed
        self.reason = reason
        self.trace = trace
        self.reads = reads
    }
}

extension FirestoreServer {
    /// Puts rules in force for all projects, or none with nil: for every call from now on. Rules that
    /// a project had of its own are gone. Listens are asked about again, and those that the new rules
    /// refuse end with `permissionDenied`.
    public func setRules(_ settings: RulesSettings?) {
        core.withLock { $0.rules.set(settings) }
        judgeListensAgain()
    }

    /// Puts rules in force for one project, beside those of all others, until ``setRules(_:)``.
    ///
    /// - Throws: `resourceExhausted` where 1,000 projects have rules of their own.
    public func setRules(_ settings: RulesSettings, of project: String) throws(RPCStatus) {
        guard core.withLock({ $0.rules.set(settings, of: project) }) else {
            throw RPCStatus(
                .resourceExhausted,
                "\(RulesChecks.maxProjects) projects have rules of their own already.")
        }
        judgeListensAgain()
    }

    private func judgeListensAgain() {
        executor.async { [self] in
            // A store that cannot be read refuses nobody: the next message of the listen meets it too.
            deliver((try? core.withLock { core throws in try core.judgeListensAgain() }) ?? [])
        }
    }

    /// The rules in force for projects without rules of their own; nil where everything is allowed.
    public var rules: RulesSettings? { core.withLock { $0.rules.settings(of: nil) } }

    /// The rules in force for a project; nil where everything is allowed.
    public func rules(of project: String) -> RulesSettings? {
        core.withLock { $0.rules.settings(of: project) }
    }

    /// What the rules in force would say. Nothing is done, recorded or billed.
    ///
    /// - Parameters:
    ///   - question: What is asked.
    ///   - caller: Who asks; nil for nobody.
    ///   - database: Where its documents are.
    ///   - rules: Others than those in force; nil for these.
    /// - Returns: Where there are no rules, that it is allowed.
    /// - Throws: `unavailable` when the store cannot be read.
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

    /// The last 500 reads, queries and writes that rules were asked about, the oldest first.
    public func judgedRequests() -> [JudgedRequest] {
        core.withLock { $0.rules.requests.latest }
    }

    /// The last 500 requests that rules were asked about, and then each as it is judged, until the
    /// stream is dropped. A reader that is 500 behind misses the oldest.
    package func watchJudgedRequests() -> (
        latest: [JudgedRequest], news: AsyncStream<JudgedRequest>
    ) {
        let (news, input) = AsyncStream.makeStream(
            of: JudgedRequest.self, bufferingPolicy: .bufferingNewest(RulesRecord.capacity))
        return core.withLock { core in
            let number = core.rules.addReader(input)
            // In a task of its own: a cancellation holds a lock of the reader's task here, and the
            // core takes that lock, to resume the task, while it is locked itself.
            input.onTermination = { [weak self] _ in
                Task { self?.core.withLock { $0.rules.removeReader(number) } }
            }
            return (core.rules.requests.latest, news)
        }
    }

    /// Which of the last 500 requests other rules decide otherwise. Those whose documents were too large
    /// to keep, over 64 KB, and those of projects with rules of their own are left out.
    ///
    /// - Throws: `unavailable` when the store cannot be read.
    public func flips(under rules: Ruleset) throws(RPCStatus) -> [RulesFlip] {
        do {
            // One after the other, so that calls go on between them.
            return try judgedRequests().compactMap { request in
                try core.withLock { core throws in
                    try core.store.read { core.rules.flip(of: request, under: rules, $0) }
                }
            }
        } catch {
            throw RPCStatus(storeFailure: error)
        }
    }

    /// What calls have asked of each part of the file since it is in force; nil without rules, and where
    /// nothing is recorded.
    ///
    /// - Parameter project: Whose rules; nil for those of projects that have none of their own.
    public func rulesCoverage(of project: String? = nil) -> RulesCoverage? {
        core.withLock { $0.rules.coverage(of: project) }
    }

    /// Forgets the last requests and the coverage.
    public func clearRulesRecord() { core.withLock { $0.rules.clearRecord() } }
}
