import TidemarkModel
import TidemarkRules
import TidemarkStore

/// Asks the rules about one request: reads, queries, or the writes of a commit, of one caller.
///
/// The rules see the database as it is in the transaction that the request is performed in.
struct RulesGate {
    private let settings: RulesSettings
    private let caller: RulesCaller?
    private let context: CallContext
    private let time: Timestamp
    private let table: DocumentTable
    /// What the rules of the request have read.
    private(set) var reads: RulesReads

    /// - Parameter operations: How many documents or writes the request has.
    /// - Returns: Nil for an administrator, who may do everything.
    /// - Throws: `invalidArgument` for a token that is none.
    init?(
        _ settings: RulesSettings, _ context: CallContext, at time: Timestamp,
        _ transaction: StoreTransaction, operations: Int = 1
    ) throws(RPCStatus) {
        switch try RulesIdentity(context.token, administrators: settings.administrators) {
        case .administrator: return nil
        case .caller(let caller): self.caller = caller
        }
        self.settings = settings
        self.context = context
        self.time = time
        table = transaction.documents(of: context.database)
        reads = RulesReads(operations: operations)
    }

    private var database: String { context.database.database }

    private func stored(_ path: DocumentPath) throws(StoreError) -> MapValue? {
        try table.document(at: path)?.document?.fields
    }

    // MARK: Reads

    /// - Throws: ``RPCStatus`` `permissionDenied`; ``StoreError``.
    mutating func check(get path: DocumentPath) throws {
        let request = RulesRequest(
            .get, path, in: database, as: caller, at: time, before: try stored(path))
        try decide(documents(after: [:])) { rules, documents, reads, trace in
            rules.decide(request, reading: documents, reads: reads, trace: trace)
        }
    }

    mutating func check(_ query: Query) throws {
        let (database, caller, time) = (database, caller, time)
        try decide(documents(after: [:])) { rules, documents, reads, trace in
            rules.decide(
                query, in: database, as: caller, at: time, reading: documents, reads: reads,
                trace: trace)
        }
    }

    /// What only administrators may do, as listing the ids of collections.
    func refuseOthers() throws(RPCStatus) {
        throw refusal("Only administrators may do this where rules are in force.")
    }

    // MARK: Writes

    /// Checks each write against what those before it made, and what all of them make.
    mutating func check(_ mutations: [Mutation], _ requestTime: Timestamp) throws {
        var states: [DocumentPath: MapValue?] = [:]
        var requests: [RulesRequest] = []
        for mutation in mutations {
            let path = mutation.path
            let before = try states[path] ?? stored(path)
            let after = mutation.applied(to: before) { _ in .timestamp(requestTime) }.fields
            let method: RulesMethod =
                switch mutation.operation {
                case .verify: .get
                case .delete: .delete
                case .set, .patch: before == nil ? .create : .update
                }
            let isWrite = method == .create || method == .update
            requests.append(
                RulesRequest(
                    method, path, in: database, as: caller, at: requestTime, before: before,
                    after: isWrite ? after : nil))
            if method != .get { states[path] = .some(after) }
        }
        for request in requests {
            try decide(documents(after: states)) { rules, documents, reads, trace in
                rules.decide(request, reading: documents, reads: reads, trace: trace)
            }
        }
    }

    // MARK: Decisions

    private func documents(after states: [DocumentPath: MapValue?]) -> CommitDocuments {
        CommitDocuments(table: table, database: database, after: states)
    }

    /// Decides; when the answer is no, decides again with a trace, to say why.
    private mutating func decide(
        _ documents: CommitDocuments,
        _ ask: (Ruleset, CommitDocuments, RulesReads, RulesTrace?) -> RulesDecision
    ) throws(RPCStatus) {
        let decision = ask(settings.rules, documents, reads, nil)
        if decision.isAllowed {
            reads = decision.reads
            return
        }
        guard settings.errors == .explained else { throw refusal("") }
        let trace = RulesTrace()
        let again = ask(settings.rules, documents, reads, trace)
        reads = again.reads
        throw refusal(again.reason(in: settings.rules.source, trace: trace))
    }

    private func refusal(_ reason: String) -> RPCStatus {
        let text = "Missing or insufficient permissions."
        let isExplained = settings.errors == .explained && !reason.isEmpty
        return RPCStatus(.permissionDenied, isExplained ? text + " " + reason : text)
    }
}

/// The documents as they are, and as a commit will leave them.
private struct CommitDocuments: RulesDocuments {
    let table: DocumentTable
    let database: String
    let after: [DocumentPath: MapValue?]

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        guard let document = path.document(in: database) else {
            return .refused("The path names no document of this database.")
        }
        let isAfter = function == .getAfter || function == .existsAfter
        if isAfter, let fields = after[document] { return lookup(fields, path) }
        do throws(StoreError) {
            return lookup(try table.document(at: document)?.document?.fields, path)
        } catch {
            return .refused("The store failed.")
        }
    }

    private func lookup(_ fields: MapValue?, _ path: RulesPath) -> RulesLookup {
        fields.map { .document(.document(RulesMap($0), at: path)) } ?? .missing
    }
}
