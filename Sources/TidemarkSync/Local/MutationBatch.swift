import TidemarkModel
import TidemarkStore

/// Mutations that are applied together, and wait for the server.
struct MutationBatch: Equatable, Sendable {
    let id: Int64
    let localWriteTime: Timestamp
    /// The values of fields before an increment or a similar transform. A newer base may already
    /// include the transform; these values prevent a second count.
    let baseMutations: [Mutation]
    let mutations: [Mutation]

    /// The paths of all mutations, each once, in the order of their first mutation.
    var paths: WaitingBatch.Paths { WaitingBatch.Paths(of: mutations) }
}

extension MutationBatch {
    /// The same batch of completions, which removes the fields of the files instead.
    var withoutFiles: MutationBatch {
        MutationBatch(
            id: id, localWriteTime: localWriteTime, baseMutations: baseMutations,
            mutations: mutations.map { mutation in
                guard case .patch(_, let mask) = mutation.operation else { return mutation }
                var empty = mutation
                empty.operation = .patch(MapValue(), mask: mask)
                return empty
            })
    }
}

// MARK: - The local view

extension MutationBatch {
    /// Applies the effect of the batch to this document, as it looks before the server has
    /// answered.
    ///
    /// - Parameter contents: The ``Mutation/plainContents`` of the only mutation, if they are
    ///   known.
    func apply(to document: inout LocalDocument, setTo contents: EncodedFields? = nil) {
        for mutation in baseMutations where mutation.path == document.path {
            apply(mutation, to: &document)
        }
        for mutation in mutations where mutation.path == document.path {
            apply(mutation, to: &document, setTo: contents)
        }
    }

    private func apply(
        _ mutation: Mutation, to document: inout LocalDocument, setTo contents: EncodedFields? = nil
    ) {
        guard mutation.precondition.holds(for: document.isFound ? document.version : nil) else {
            return
        }
        if case .verify = mutation.operation { return }
        if let contents {
            document.kind = .found
            document.contents = contents
            document.hasLocalMutations = true
            return
        }
        let current = document.isFound ? document.contents.decoded : nil
        let outcome = mutation.applied(to: current) { previous in
            .pendingServerTimestamp(
                localWriteTime: localWriteTime, previous: previous?.lastRealValue)
        }
        document.kind = outcome.fields == nil ? .missing : .found
        document.contents = outcome.fields.map(EncodedFields.init) ?? .empty
        document.hasLocalMutations = true
    }

    /// Returns the values below the transforms whose second application changes the result. For a
    /// missing document, the values are empty. For an unknown document, they cannot be known.
    static func baseMutations(
        for mutation: Mutation, on document: LocalDocument
    ) -> Mutation? {
        guard document.kind == .found || document.kind == .missing else { return nil }
        let fields = document.contents.decoded
        var base = MapValue()
        var mask: [FieldPath] = []
        for transform in mutation.transforms {
            let previous = fields[transform.field]
            switch transform.operation {
            case .increment:
                base[transform.field] = previous?.isNumber == true ? previous : .integer(0)
            case .minimum, .maximum:
                guard let previous, previous.isNumber else { continue }
                base[transform.field] = previous
            case .serverTimestamp, .arrayUnion, .arrayRemove: continue
            }
            mask.append(transform.field)
        }
        if mask.isEmpty { return nil }
        return Mutation(
            path: mutation.path, .patch(base, mask: mask), precondition: .exists(true))
    }
}

extension Value {
    fileprivate var lastRealValue: Value? {
        if case .pendingServerTimestamp(_, let previous) = self { previous } else { self }
    }
}

// MARK: - The server's version

extension Mutation {
    /// Returns the contents of a document after it was set to this mutation, encoded; nil for all
    /// other mutations.
    var plainContents: EncodedFields? {
        guard case .set(let fields) = operation, transforms.isEmpty else { return nil }
        return EncodedFields(fields)
    }

    /// Returns the server's document after it acknowledged this mutation.
    ///
    /// - Returns: Nil if the acknowledgement adds nothing about the document.
    func acknowledged(
        on base: StoredDocument?, _ result: MutationResult, commitTime: Timestamp
    ) -> StoredDocument? {
        let version = result.updateTime ?? commitTime
        var document = StoredDocument(
            path: path, kind: .found, contents: .empty, createTime: base?.createTime ?? version,
            updateTime: version, readTime: commitTime, hasCommittedMutations: true)
        if base?.kind != .found { document.createTime = version }
        let current = base?.kind == .found ? base!.contents.decoded : nil
        switch operation {
        case .verify: return nil
        case .delete: document.kind = .missing
        case .set(let fields):
            document.contents = EncodedFields(withResults(result, on: fields))
        case .patch:
            // The server could apply the patch, so the document exists, but its contents are
            // unknown here.
            let held = precondition.holds(for: current == nil ? nil : base?.updateTime)
            guard held else {
                document.kind = .unknown
                return document
            }
            var plain = self
            plain.transforms = []
            let fields = plain.applied(to: current) { _ in .null }.fields ?? MapValue()
            document.contents = EncodedFields(withResults(result, on: fields))
        }
        return document
    }

    /// Applies the server's results of the transforms. The results on arrays are computed, because
    /// the server reports null for them.
    private func withResults(_ result: MutationResult, on fields: MapValue) -> MapValue {
        var fields = fields
        for (index, transform) in transforms.enumerated() {
            let reported =
                index < result.transformResults.count ? result.transformResults[index] : .null
            switch transform.operation {
            case .arrayUnion, .arrayRemove:
                let alone = Mutation(
                    path: path, .patch(MapValue(), mask: []), transforms: [transform])
                fields = alone.applied(to: fields) { _ in .null }.fields ?? fields
            case .serverTimestamp, .increment, .maximum, .minimum:
                fields[transform.field] = reported
            }
        }
        return fields
    }
}
