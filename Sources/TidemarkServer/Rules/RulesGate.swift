import TidemarkModel
import TidemarkRules
import TidemarkStore

/// Asks the rules about one request: reads, queries, or the writes of a commit, of one caller.
///
/// The rules see the documents that the request itself sees: of the same transaction, and of the same time.
struct RulesGate {
    private let settings: RulesSettings
    private var judge: RulesJudge
    /// What was decided, for the record; empty where none is kept.
    private(set) var judgements: [RulesJudgement] = []

    /// - Parameters:
    ///   - documents: What the rules judge, and what their `get()` reads.
    ///   - operations: How many documents or writes the request has.
    /// - Returns: Nil for an administrator, who may do everything.
    /// - Throws: `invalidArgument` for a token that is none.
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

    /// How many documents the rules of the request have read.
    var reads: Int { judge.reads.count }

    /// The documents that the rules of the request have read, missing ones too.
    func documentsRead(in database: DatabaseID) -> Set<DocumentPath> {
        judge.reads.documents(in: database.database)
    }

    /// - Throws: ``RPCStatus`` `permissionDenied`; ``StoreError``.
    mutating func check(get path: DocumentPath) throws {
        try allow([try judge.judge(get: path)])
    }

    mutating func check(_ query: Query) throws { try allow([judge.judge(query)]) }

    /// What only administrators may do, as listing the ids of collections.
    func refuseOthers() throws(RPCStatus) {
        throw refusal("Only administrators may do this where rules are in force.")
    }

    /// Checks each write against what those before it made, and what all of them make.
    mutating func check(_ mutations: [Mutation]) throws { try allow(try judge.judge(mutations)) }

    private mutating func allow(_ judged: [RulesJudgement]) throws(RPCStatus) {
        if settings.isRecorded { judgements += judged }
        guard let last = judged.last, !last.isAllowed else { return }
        throw refusal(
            settings.errors == .explained ? last.reason(in: settings.rules.source) : "")
    }

    private func refusal(_ reason: String) -> RPCStatus {
        let text = "Missing or insufficient permissions."
        let isExplained = settings.errors == .explained && !reason.isEmpty
        return RPCStatus(.permissionDenied, isExplained ? text + " " + reason : text)
    }
}

/// The documents of a database as of the time that a read is made of.
struct ScopedDocuments: RulesDatabase {
    private let scope: ReadScope

    init(_ scope: ReadScope) { self.scope = scope }

    func fields(of document: DocumentPath) throws -> MapValue? {
        try scope.document(at: document)?.fields
    }
}

/// The documents of a database, as a transaction of the store sees them.
struct StoredDocuments: RulesDatabase {
    private let table: DocumentTable

    init(_ table: DocumentTable) { self.table = table }

    func fields(of document: DocumentPath) throws(StoreError) -> MapValue? {
        try table.document(at: document)?.document?.fields
    }
}
