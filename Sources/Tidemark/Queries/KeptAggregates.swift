import TidemarkModel
import TidemarkSync

/// The server's last figures of aggregations, stored in the cache beside the documents: a record of
/// at most ``capacity`` entries, of which the oldest is removed first.
///
/// Figures cannot be computed from a part of the rows, so offline the last figures of the server
/// are shown.
struct KeptAggregates {
    struct Figures: Hashable {
        let values: MapValue
        let readTime: Timestamp
    }

    static let capacity = 64
    private static let recordKey = "aggregates"

    let engine: SyncEngine

    /// Returns nil if no figures are stored under the name, or if they cannot be read.
    func figures(named name: String) async throws(FirestoreError) -> Figures? {
        Self.figures(try await all()[name])
    }

    /// Stores figures, and replaces older figures with that name.
    func keep(_ figures: Figures, named name: String) async throws(FirestoreError) {
        var all = try await all()
        all[name] = .array([.map(figures.values), .timestamp(figures.readTime)])
        while all.count > Self.capacity, let oldest = Self.oldest(of: all) { all[oldest] = nil }
        let bytes = FieldsCodec.encode(all)
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(bytes, forKey: Self.recordKey) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Figures that cannot be read are requested from the server again.
    private func all() async throws(FirestoreError) -> MapValue {
        let bytes: [UInt8]? = try await answer { finish in
            engine.record(forKey: Self.recordKey, completion: finish)
        }
        return bytes.flatMap { try? FieldsCodec.decode($0) } ?? MapValue()
    }

    private static func figures(_ value: Value?) -> Figures? {
        guard case .array(let parts)? = value, parts.count == 2, case .map(let values) = parts[0],
            case .timestamp(let time) = parts[1]
        else { return nil }
        return Figures(values: values, readTime: time)
    }

    /// An entry that cannot be read is removed first.
    private static func oldest(of all: MapValue) -> String? {
        let times = all.map { (key: $0.key, time: figures($0.value)?.readTime) }
        return
            (times.first { $0.time == nil }
            ?? times.min { ($0.time ?? .epoch) < ($1.time ?? .epoch) })?.key
    }
}

extension AggregateQuery {
    /// Runs like ``getAggregation(source:within:)`` with the default source, and stores its figures
    /// under a name. Use a name for a repeated question with changing bounds, such as a rank.
    package func raced(
        within deadline: Duration?, keptAs name: String? = nil
    ) async throws(FirestoreError) -> AggregateQuerySnapshot {
        let name = if let name { name } else { try keptName() }
        do throws(FirestoreError) {
            let answer = try await getAggregation(source: .server, within: deadline)
            if let values = answer.reply.values {
                // A failed store does not matter: the caller gets the figures in any case.
                try? await KeptAggregates(engine: query.firestore.engine).keep(
                    .init(values: values, readTime: answer.reply.readTime), named: name)
            }
            return answer
        } catch {
            guard let reason = Self.reason(error),
                let kept = try await kept(as: name, because: reason)
            else { throw error }
            return kept
        }
    }

    /// Returns the server's last figures under a name, and sends nothing; nil if there are none.
    package func kept(
        as name: String, because reason: StaleReason = .askedForCache
    ) async throws(FirestoreError) -> AggregateQuerySnapshot? {
        let kept = KeptAggregates(engine: query.firestore.engine)
        guard let figures = try await kept.figures(named: name) else { return nil }
        let age = query.firestore.environment.now().duration(since: figures.readTime)
        return AggregateQuerySnapshot(
            query: self,
            reply: AggregationReply(values: figures.values, readTime: figures.readTime),
            freshness: .stale(age: max(.zero, age), reason: reason))
    }

    private func keptName() throws(FirestoreError) -> String {
        let value = try query.runnable()
        return "\(value.canonicalID) \(fields.count)" + fields.map { " \($0)" }.joined()
    }

    /// Returns the reason to show the last figures; nil for an error that they do not answer, such
    /// as a wrong query.
    private static func reason(_ error: FirestoreError) -> StaleReason? {
        if let budget = error.readBudget { return .overBudget(budget) }
        if error.storageFault != nil { return nil }
        switch error.code {
        case .deadlineExceeded: return .deadlinePassed
        case .unavailable: return .offline
        case .unknown, .internal, .resourceExhausted, .aborted, .unauthenticated:
            let code = RPCStatus.Code(rawValue: Int32(error.code.rawValue)) ?? .unknown
            return .failed(RPCStatus(code, error.detail))
        default: return nil
        }
    }
}
