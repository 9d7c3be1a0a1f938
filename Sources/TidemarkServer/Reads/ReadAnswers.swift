import TidemarkModel
import TidemarkStore

/// A reading call, with its state after a wait for locks.
struct ReadCall {
    let id: CallID
    let request: Request
    let context: CallContext
    var ticket: LockTicket?
    var deadline: Duration?
    var begun: TransactionID?
}

/// Answers reading calls. Long answers are sent in parts.
final class ReadAnswers {
    private let access: ReadAccess
    private let transactions: Transactions
    private let rules: RulesChecks
    private var unfinished = UnfinishedAnswers()

    init(_ access: ReadAccess, transactions: Transactions, rules: RulesChecks) {
        self.access = access
        self.transactions = transactions
        self.rules = rules
    }

    // MARK: Beginning

    /// Answers a call, or parks it.
    func answer(
        _ call: ReadCall, transaction: StoreTransaction, outputs: inout [Output]
    ) {
        defer { access.end() }
        let ticket: LockTicket?
        let pipeline: AdmittedPipeline?
        do throws(RPCStatus) {
            pipeline = try admitted(call)
            ticket = try access.begin(call)
        } catch {
            access.rollback()
            outputs.append(Output(id: call.id, event: .ended(error)))
            return
        }
        if let ticket { return access.park(call, ticket) }
        var status = RPCStatus.ok
        let start = outputs.count
        let before = access.billed
        do {
            if rules.areInForce(in: call.context.database) {
                let scope = try access.judgedScope(
                    call.request.consistency ?? .latest, context: call.context,
                    transaction: transaction)
                if let pipeline {
                    try rules.check(pipeline, context: call.context, scope: scope)
                } else {
                    try rules.check(call.request, context: call.context, scope: scope)
                }
            }
            if let pipeline {
                try run(pipeline, call: call, transaction: transaction, outputs: &outputs)
            } else {
                try reply(
                    call.id, to: call.request, context: call.context, transaction: transaction,
                    outputs: &outputs)
            }
        } catch {
            outputs.removeSubrange(start...)
            status = RPCStatus(storeFailure: error)
            access.rollback()
        }
        endPart(
            call.id, status: status, usage: access.billed - before, context: call.context,
            outputs: &outputs)
    }

    /// Answers the reads that need not wait any longer, until there are too many outputs.
    func answerReady(
        _ transaction: StoreTransaction, _ outputs: inout [Output], upTo limit: Int
    ) {
        let tickets = transactions.takeReady(writes: false)
        for (index, ticket) in tickets.enumerated() {
            if index > 0, outputs.count >= limit {
                return transactions.putBack(tickets[index...])
            }
            if let command = transactions.take(ticket),
                case .call(let id, let request, let context) = command.work
            {
                let call = ReadCall(
                    id: id, request: request, context: context, ticket: ticket,
                    deadline: command.deadline, begun: command.begun)
                answer(call, transaction: transaction, outputs: &outputs)
            }
            transactions.finish(ticket)
        }
    }

    private func reply(
        _ id: CallID, to request: Request, context: CallContext,
        transaction: StoreTransaction, outputs: inout [Output]
    ) throws {
        switch request {
        case .getDocument(let request):
            outputs.append(
                id, .document(try get(request, context: context, transaction: transaction)))
        case .batchGetDocuments(let request):
            try batchGet(
                id, request: request, context: context, transaction: transaction, outputs: &outputs)
        case .runQuery(let request):
            if let (rest, readTime) = try QueryAnswer(access: access).begin(
                id, request, context, transaction, &outputs)
            {
                try wait(id, for: rest, readTime: readTime, context: context)
            }
        case .runAggregationQuery(let request):
            let reply = try AggregationAnswer(access: access).reply(
                request, context: context, transaction: transaction)
            outputs.append(id, .runAggregationQuery(reply))
        case .listDocuments(let request):
            let list = ListAnswer(access: access)
            outputs.append(
                id, try list.documents(request, context: context, transaction: transaction))
        case .listCollectionIDs(let request):
            let list = ListAnswer(access: access)
            outputs.append(
                id, try list.collectionIDs(request, context: context, transaction: transaction))
        case .partitionQuery(let request):
            let partition = PartitionAnswer(access: access)
            outputs.append(
                id, try partition.reply(request, context: context, transaction: transaction))
        case .beginTransaction(let options):
            let begun = try transactions.begin(options, context)
            outputs.append(id, .beginTransaction(begun))
        case .rollback(let transactionID):
            try transactions.rollback(transactionID, context)
            outputs.append(id, .empty)
        case .commit, .createDocument, .updateDocument, .deleteDocument, .batchWrite,
            .executePipeline:
            throw RPCStatus(.internal, "A write was taken for a read.")
        }
    }

    /// Returns the pipeline of a call; nil for another call.
    private func admitted(_ call: ReadCall) throws(RPCStatus) -> AdmittedPipeline? {
        guard case .executePipeline(let request) = call.request else { return nil }
        let database = call.context.database
        return try AdmittedPipeline(
            request, in: database, of: access.editions.edition(of: database))
    }

    private func run(
        _ pipeline: AdmittedPipeline, call: ReadCall, transaction: StoreTransaction,
        outputs: inout [Output]
    ) throws {
        let answer = PipelineAnswer(access: access)
        if let (rest, readTime) = try answer.begin(
            call.id, pipeline: pipeline, context: call.context, transaction: transaction,
            outputs: &outputs)
        {
            try wait(call.id, for: .pipeline(rest), readTime: readTime, context: call.context)
        }
    }

    private func get(
        _ request: GetDocumentRequest, context: CallContext, transaction: StoreTransaction
    ) throws -> Document {
        try request.mask?.validateAsMask()
        let scope = try access.scope(
            request.consistency, context: context, transaction: transaction)
        let document = try scope.document(at: request.path)
        access.record(scope, path: request.path, document: document)
        let reads = access.billing.lookups(
            found: document == nil ? 0 : 1, missing: document == nil ? 1 : 0)
        access.countReads(
            reads, by: .getDocument, context, on: request.path.parent.text,
            readUnits: access.pointUnits(document, in: context.database),
            of: ReadSubject(.documents(request.path)))
        guard let document else {
            let name = request.path.name(in: context.database)
            throw RPCStatus(.notFound, "Document \"\(name)\" not found.")
        }
        return document.projected(to: request.mask)
    }

    private func batchGet(
        _ id: CallID, request: BatchGetDocumentsRequest, context: CallContext,
        transaction: StoreTransaction, outputs: inout [Output]
    ) throws {
        try request.mask?.validateAsMask()
        let scope = try access.scope(
            request.consistency, context: context, transaction: transaction)
        let batch = BatchAnswer(access: access)
        if let rest = try batch.begin(id, request, scope, context, &outputs) {
            try wait(id, for: .batch(rest), readTime: scope.readTime, context: context)
        }
    }

    // MARK: Continuing

    /// Sends the next part of an answer. The end follows the last part.
    ///
    /// - Returns: False if there is no such answer.
    func proceed(
        _ id: CallID, transaction: StoreTransaction, outputs: inout [Output]
    ) -> Bool {
        guard let answer = unfinished.remove(id) else { return false }
        var status = RPCStatus.ok
        let start = outputs.count
        let before = access.billed
        do {
            let scope = try access.scope(continuing: answer, transaction)
            if let rest = try sendPart(of: answer, scope: scope, id: id, outputs: &outputs) {
                try wait(id, for: rest, readTime: scope.readTime, context: answer.context)
            }
        } catch {
            outputs.removeSubrange(start...)
            status = RPCStatus(storeFailure: error)
        }
        var usage = answer.usage
        usage += access.billed - before
        endPart(id, status: status, usage: usage, context: answer.context, outputs: &outputs)
        return true
    }

    private func sendPart(
        of answer: UnfinishedAnswer, scope: ReadScope, id: CallID, outputs: inout [Output]
    ) throws -> UnfinishedAnswer.Rest? {
        switch answer.rest {
        case .query(let rows, let left):
            return try QueryAnswer(access: access).sendPart(
                of: rows, left: left, scope: scope, id: id, context: answer.context,
                outputs: &outputs)
        case .batch(var batch):
            let isWhole = try BatchAnswer(access: access).sendPart(
                of: &batch, scope: scope, id: id, context: answer.context, outputs: &outputs)
            return isWhole ? nil : .batch(batch)
        case .pipeline(var rest):
            let isWhole = PipelineAnswer(access: access).sendPart(
                of: &rest, readTime: scope.readTime, id: id, outputs: &outputs)
            return isWhole ? nil : .pipeline(rest)
        }
    }

    /// Keeps the rest of an answer until the call's reader has room.
    private func wait(
        _ id: CallID, for rest: UnfinishedAnswer.Rest, readTime: Timestamp,
        context: CallContext
    ) throws(RPCStatus) {
        try unfinished.add(UnfinishedAnswer(context: context, readTime: readTime, rest: rest), id)
    }

    /// Ends the call, or the current part of its answer.
    ///
    /// - Parameter usage: The bill for this part.
    private func endPart(
        _ id: CallID, status: RPCStatus, usage: Usage, context: CallContext,
        outputs: inout [Output]
    ) {
        if unfinished.contains(id) {
            unfinished.addUsage(usage, id)
            outputs.append(Output(id: id, event: .unfinished))
        } else {
            outputs.append(Output(id: id, event: .ended(status.reporting(usage, to: context))))
        }
    }

    // MARK: Ending

    /// Ends an unfinished answer.
    ///
    /// - Returns: False if there is no such answer.
    func refuse(_ id: CallID, status: RPCStatus, outputs: inout [Output]) -> Bool {
        guard unfinished.remove(id) != nil else { return false }
        outputs.append(Output(id: id, event: .ended(status)))
        return true
    }

    /// Ends an unfinished answer like ``refuse(_:status:outputs:)``, and reports the bill to the
    /// caller.
    func cancel(_ id: CallID, status: RPCStatus, outputs: inout [Output]) {
        guard let answer = unfinished.remove(id) else { return }
        let ending = status.reporting(answer.usage, to: answer.context)
        outputs.append(Output(id: id, event: .ended(ending)))
    }

    /// - Returns: The calls with unfinished answers.
    func forgetAll() -> [CallID] {
        defer { unfinished = UnfinishedAnswers() }
        return unfinished.ids
    }
}

extension [Output] {
    mutating func append(_ id: CallID, _ reply: Reply) {
        append(Output(id: id, event: .reply(reply)))
    }
}
