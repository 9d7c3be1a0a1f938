import TidemarkModel

/// A batch of the queue, with the facts that the order of sending needs. A batch that was read from
/// the disk keeps its encoded mutations until it is sent or shown, so that a long queue opens
/// quickly.
struct WaitingBatch: Sendable {
    let id: Int64
    let localWriteTime: Timestamp
    /// The paths of all mutations, each once, in the order of their first mutation. Never empty.
    let paths: Paths
    /// The turn of a batch that waits, or has waited, for files; nil for all others.
    var turn: BatchTurn?
    private var contents: Contents

    private enum Contents {
        case decoded(MutationBatch)
        /// The form of ``MutationCodec``, which was checked.
        case encoded(base: [UInt8], mutations: [UInt8])
    }

    init(_ batch: MutationBatch, turn: BatchTurn? = nil) {
        id = batch.id
        localWriteTime = batch.localWriteTime
        paths = Paths(of: batch.mutations)
        self.turn = turn
        contents = .decoded(batch)
    }

    /// Checks the encoded mutations, and does not decode them.
    ///
    /// - Throws: ``DamagedRecord`` if they cannot be decoded or if there are none.
    init(
        id: Int64, localWriteTime: Timestamp, encodedBase base: UnsafeBufferPointer<UInt8>,
        encoded mutations: UnsafeBufferPointer<UInt8>, turn: BatchTurn?
    ) throws(DamagedRecord) {
        let hasBase = try MutationCodec.paths(base) != nil
        guard let paths = try MutationCodec.paths(mutations) else {
            throw DamagedRecord(what: MutationCodec.what)
        }
        self.id = id
        self.localWriteTime = localWriteTime
        self.turn = turn
        self.paths = paths
        contents = .encoded(
            base: hasBase ? Array(base) : MutationCodec.none, mutations: Array(mutations))
    }

    /// The batch with its mutations. Decodes them at each call, unless ``decode()`` was called.
    var decoded: MutationBatch {
        switch contents {
        case .decoded(let batch): return batch
        case .encoded(let base, let mutations):
            guard let base = try? MutationCodec.decode(base),
                let mutations = try? MutationCodec.decode(mutations)
            else { preconditionFailure("the mutations were checked when they were read") }
            return MutationBatch(
                id: id, localWriteTime: localWriteTime, baseMutations: base, mutations: mutations)
        }
    }

    /// Decodes the mutations once, for later uses.
    mutating func decode() -> MutationBatch {
        let batch = decoded
        contents = .decoded(batch)
        return batch
    }

    var mutations: [Mutation] { decoded.mutations }

    /// The mutations in the form of ``MutationCodec``.
    var encoded: (base: [UInt8], mutations: [UInt8]) {
        switch contents {
        case .encoded(let base, let mutations): (base, mutations)
        case .decoded(let batch):
            (MutationCodec.encode(batch.baseMutations), MutationCodec.encode(batch.mutations))
        }
    }

    /// The place in the order of sending: the turn, or the number of a batch without a turn.
    var order: Int64 { if case .number(let turn)? = turn { turn } else { id } }

    /// True if the batch waits for files, or behind such a batch.
    var isHeld: Bool {
        switch turn {
        case .awaitsFiles, .isBehind: true
        case .number, nil: false
        }
    }

    /// The paths of a batch. Most batches have one, which needs no array.
    enum Paths: Equatable, Sendable {
        case one(DocumentPath)
        case several([DocumentPath])
    }
}

extension WaitingBatch.Paths {
    init(of mutations: [Mutation]) {
        if mutations.count == 1 {
            self = .one(mutations[0].path)
        } else {
            self.init(mutations.map(\.path))
        }
    }

    init(_ paths: [DocumentPath]) {
        var seen: Set<DocumentPath> = []
        self = .several(paths.filter { seen.insert($0).inserted })
    }
}

extension WaitingBatch.Paths: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int {
        switch self {
        case .one: 1
        case .several(let paths): paths.count
        }
    }

    subscript(index: Int) -> DocumentPath {
        switch self {
        case .one(let path):
            precondition(index == 0)
            return path
        case .several(let paths): return paths[index]
        }
    }
}
