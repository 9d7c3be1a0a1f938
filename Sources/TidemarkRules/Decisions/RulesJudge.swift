public import TidemarkModel

/// The operation that a caller asks for.
public enum RulesQuestion: Sendable {
    case get(DocumentPath)
    case list(Query)
    /// A commit of several writes. All are allowed, or none.
    case write([Mutation])
}

/// Provides the documents as they were before a request.
public protocol RulesDatabase {
    /// - Returns: The fields; nil if the document does not exist.
    func fields(of document: DocumentPath) throws -> MapValue?
}

/// Judges one request of one caller: reads, queries, or the writes of a commit.
///
/// The judge sees the documents of a ``RulesDatabase`` and, for writes, the effects of the writes
/// before.
public struct RulesJudge {
    /// Decides when the values of expressions are recorded, which costs time. The server's
    /// `isRecorded` states how much.
    public enum Tracing: Hashable, Sendable {
        case never
        /// Only refusals are recorded, by a second evaluation.
        case refusals
        case always
    }

    private let rules: Ruleset
    private let base: any RulesDatabase
    private let asker: RulesJudgement.Asker
    private let tracing: Tracing
    /// The documents that the request's rules have read so far.
    public private(set) var reads: RulesReads

    /// - Parameters:
    ///   - rules: The rules.
    ///   - caller: The caller; nil if not signed in.
    ///   - time: The value of `request.time`.
    ///   - database: The name of the database, for example `(default)`.
    ///   - base: The documents.
    ///   - operations: The number of documents or writes in the request. More than one raises the
    ///     limit of reads.
    ///   - tracing: Decides when the values of expressions are recorded.
    public init(
        _ rules: Ruleset, as caller: RulesCaller?, at time: Timestamp,
        in database: String = "(default)", of base: any RulesDatabase, operations: Int = 1,
        tracing: Tracing = .never
    ) {
        self.rules = rules
        self.base = base
        self.tracing = tracing
        asker = RulesJudgement.Asker(caller: caller, time: time, database: database)
        reads = RulesReads(operations: operations)
    }

    /// Judges the operation up to the first refusal.
    ///
    /// - Returns: A judgement for each judged document, query or write. Only the last one can be a
    ///   refusal.
    /// - Throws: The database's errors.
    public mutating func judge(_ question: RulesQuestion) throws -> [RulesJudgement] {
        switch question {
        case .get(let path): return [try judge(get: path)]
        case .list(let query): return [judge(query)]
        case .write(let mutations): return try judge(mutations)
        }
    }

    /// Judges the read of one document.
    ///
    /// - Throws: The database's errors.
    public mutating func judge(get path: DocumentPath) throws -> RulesJudgement {
        let request = RulesRequest(
            .get, path, in: asker.database, as: asker.caller, at: asker.time,
            before: try base.fields(of: path))
        return decide(.document(request), after: [:])
    }

    /// Judges a query: the rules must allow every possible result.
    public mutating func judge(_ query: Query) -> RulesJudgement {
        decide(.query(query), after: [:])
    }

    /// Judges each write on top of the effects of the writes before it. `getAfter` sees the effects
    /// of all.
    ///
    /// - Returns: A judgement for each write up to the first refusal.
    /// - Throws: The database's errors.
    public mutating func judge(_ mutations: [Mutation]) throws -> [RulesJudgement] {
        var states: [DocumentPath: MapValue?] = [:]
        var requests: [RulesRequest] = []
        for mutation in mutations {
            let path = mutation.path
            let before = try states[path] ?? base.fields(of: path)
            let (method, after) = mutation.asked(of: before, at: asker.time)
            requests.append(
                RulesRequest(
                    method, path, in: asker.database, as: asker.caller, at: asker.time,
                    before: before, after: method == .create || method == .update ? after : nil))
            if method != .get { states[path] = .some(after) }
        }
        var judgements: [RulesJudgement] = []
        for request in requests {
            let judgement = decide(.document(request), after: states)
            judgements.append(judgement)
            if !judgement.decision.isAllowed { break }
        }
        return judgements
    }

    private mutating func decide(
        _ subject: RulesJudgement.Subject, after states: [DocumentPath: MapValue?]
    ) -> RulesJudgement {
        let documents = StagedDocuments(base: base, database: asker.database, after: states)
        var trace = tracing == .always ? RulesTrace() : nil
        var decision = subject.decision(
            under: rules, asker, reading: documents, reads: reads, trace: trace)
        if !decision.isAllowed, tracing == .refusals {
            let second = RulesTrace()
            decision = subject.decision(
                under: rules, asker, reading: documents, reads: reads, trace: second)
            trace = second
        }
        reads = decision.reads
        return RulesJudgement(subject: subject, asker: asker, decision: decision, trace: trace)
    }
}

extension Mutation {
    /// Returns the method of a write, and the resulting fields. A precondition about existence
    /// decides between create and update; without one, the existing document decides.
    fileprivate func asked(
        of before: MapValue?, at time: Timestamp
    ) -> (method: RulesMethod, after: MapValue?) {
        let after = applied(to: before) { _ in .timestamp(time) }.fields
        switch (operation, precondition) {
        case (.verify, _): return (.get, after)
        case (.delete, _): return (.delete, after)
        case (_, .exists(let exists)): return (exists ? .update : .create, after)
        case (_, .updateTime): return (.update, after)
        case (_, .none): return (before == nil ? .create : .update, after)
        }
    }
}

/// The documents as they are, and as a commit will leave them.
private struct StagedDocuments: RulesDocuments {
    let base: any RulesDatabase
    let database: String
    let after: [DocumentPath: MapValue?]

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        guard let document = path.document(in: database) else {
            return .refused("The path is not a document of this database.")
        }
        let isAfter = function == .getAfter || function == .existsAfter
        if isAfter, let fields = after[document] { return lookup(fields, path) }
        do { return lookup(try base.fields(of: document), path) } catch {
            return .refused("The store failed.")
        }
    }

    private func lookup(_ fields: MapValue?, _ path: RulesPath) -> RulesLookup {
        fields.map { .document(.document(RulesMap($0), at: path)) } ?? .missing
    }
}
