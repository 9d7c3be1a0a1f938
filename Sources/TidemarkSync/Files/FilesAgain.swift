import TidemarkModel

extension AttachedFiles {
    static let viewed = RPCStatus(
        .failedPrecondition,
        "Files can be attached only in the process that holds the cache.")

    /// Returns why these files would exceed a bound; nil if they would not.
    func refusal(beside totals: (files: Int, bytes: Int64)) -> RPCStatus? {
        if totals.files + files.count > maxFiles {
            return RPCStatus(
                .resourceExhausted, "The queue of files is full: \(totals.files) files wait.")
        }
        // The sizes are those of files on this disk, whose sum cannot overflow.
        if totals.bytes + files.reduce(0, { $0 + $1.size }) > maxBytes {
            return RPCStatus(
                .resourceExhausted, "The queue of files is full: \(totals.bytes) bytes wait.")
        }
        return nil
    }
}

/// Another attempt of a refused batch with files. The objects of the first attempt are deleted, and
/// a name is never reused, so the files get new names, and the documents the new paths.
struct FilesAgain {
    /// The key of a file's path in the value of its field.
    static let pathKey = "path"

    private(set) var mutations: [Mutation]
    /// The files with their new names. A batch without files has nil.
    private(set) var attached: AttachedFiles?

    init(_ mutations: [Mutation], files: [QueuedFile], batch: Int64) {
        self.mutations = mutations
        let kept = files.filter { $0.state == .rejected }
        if kept.isEmpty { return }
        let renamed = kept.map { file in
            var new = file.file
            new.object = new.object.renamed(batch)
            return new
        }
        // The rows exist already, so a retry never exceeds the bounds.
        attached = AttachedFiles(renamed, maxFiles: .max, maxBytes: .max)
        for file in renamed { setPath(of: file) }
    }

    private mutating func setPath(of file: AttachedFile) {
        for index in mutations.indices where mutations[index].path == file.document {
            switch mutations[index].operation {
            case .set(var fields):
                guard setPath(of: file, in: &fields) else { continue }
                mutations[index].operation = .set(fields)
            case .patch(var fields, let mask):
                guard setPath(of: file, in: &fields) else { continue }
                mutations[index].operation = .patch(fields, mask: mask)
            case .delete, .verify: continue
            }
        }
    }

    private func setPath(of file: AttachedFile, in fields: inout MapValue) -> Bool {
        guard case .map(var value)? = fields[file.field], value[Self.pathKey] != nil else {
            return false
        }
        value[Self.pathKey] = .string(file.object.name)
        fields[file.field] = .map(value)
        return true
    }
}
