import TidemarkModel
import TidemarkRules
import TidemarkStore

/// Checks the rules for one request of one caller: reads, queries, or the writes of a commit.
///
/// The rules see the same documents as the request: in the same transaction, and at the same time.
struct RulesGate {
    private let settings: RulesSettings
    private var judge: RulesJudge
    /// The decisions, for the record; empty if nothing is recorded.
    private(set) var judgements: [RulesJudgement] = []

    /// - Parameters:
    ///   - documents: The documents that the rules judge and that their `get()` reads.
    ///   - operations: The number of documents or writes in the request.
    /// - Returns: The gate; nil for an administrator, to whom no rules apply.
    /// - Throws: `invalidArgument` for an invalid token.
    init?(
        _ settings: RulesSettings, _ context: CallContext, at time: Timestamp,
        of documents: any RulesDatabase, operations: Int = 1
    ) throws(RPCStatus) {
        let caller: RulesCaller?
        switch try RulesIdentity(context.token, administrators: settings.administrators) {
        case .administrator: return nil
        case .caller(let found): caller = found
        }
        self.settings = settings
        let tracing: RulesJudge.Tracing =
            settings.isRecorded ? .always : settings.errors == .explained ? .refusals : .never
        judge = RulesJudge(
            settings.rules, as: caller, at: time, in: context.database.database,
            of: documents, operations: operations, tracing: tracing)
    }

    /// The number of documents that the rules of the request have read.
    var reads: Int { judge.reads.count }

    /// Returns the documents that the rules of the request have read, including missing documents.
    func documentsRead(in database: DatabaseID) -> Set<DocumentPath> {
        judge.reads.documents(in: database.database)
    }

    /// - Throws: ``RPCStatus`` `permissionDenied`; ``StoreError``.
    mutating func check(get path: DocumentPath) throws {
        try allow([try judge.judge(get: path)])
    }

    mutating func check(_ query: Query) throws { try allow([judge.judge(query)]) }

    /// Refuses a request that only administrators may make, such as a list of collection ids.
    func refuseOthers() throws(RPCStatus) {
        throw refusal("While rules are in force, only administrators may do this.")
    }

    /// Checks each write on the documents after the earlier writes, and also on the documents after
    /// all writes.
    mutating func check(_ mutations: [Mutation]) throws { try allow(try judge.judge(mutations)) }

    private mutating func allow(_ judged: [RulesJudgement]) throws(RPCStatus) {
        if settings.isRecorded { judgements += judged }
        guard let last = judged.last, !last.isAllowed else { return }
        throw refusal(
            settings.errors == .explained ? last.reason(in: settings.rules.source) : "")
    }

    func refusal(_ reason: String) -> RPCStatus {
        let text = "Missing or insufficient permissions."
        let isExplained = settings.errors == .explained && !reason.isEmpty
        return RPCStatus(.permissionDenied, isExplained ? text + " " + reason : text)
    }
}

/// The documents of a database at a read's time.
struct ScopedDocuments: RulesDatabase {
    private let scope: ReadScope

    init(_ scope: ReadScope) { self.scope = scope }

    func fields(of document: DocumentPath) throws -> MapValue? {
        try scope.document(at: document)?.fields
    }
}

/// The documents of a database, in a transaction of the store.
struct StoredDocuments: RulesDatabase {
    private let table: DocumentTable

    init(_ table: DocumentTable) { self.table = table }

    func fields(of document: DocumentPath) throws(StoreError) -> MapValue? {
        try table.document(at: document)?.document?.fields
    }
}
