import TidemarkModel

extension AttachedFiles {
    static let viewed = RPCStatus(
        .failedPrecondition,
        "Files can be attached only in the process that holds the cache.")

    /// The refusal of a deletion whose objects are not known.
    static func unknown(_ path: DocumentPath) -> RPCStatus {
        RPCStatus(
            .failedPrecondition,
            "\(path) is not on this device, so its files are not known. Read the document first.")
    }

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
        var renamed = kept.map { file in
            var new = file.file
            new.object = new.object.renamed(batch)
            return new
        }
        // The rows exist already, so a retry never exceeds the bounds.
        for index in renamed.indices {
            let file = renamed[index]
            for place in self.mutations.indices {
                Self.setPath(of: file, in: &self.mutations[place])
            }
            if var completion = file.completion {
                Self.setPath(of: file, in: &completion)
                renamed[index].completion = completion
            }
        }
        attached = AttachedFiles(renamed, maxFiles: .max, maxBytes: .max)
    }

    private static func setPath(of file: AttachedFile, in mutation: inout Mutation) {
        guard mutation.path == file.document else { return }
        switch mutation.operation {
        case .set(var fields):
            guard setPath(of: file, in: &fields) else { return }
            mutation.operation = .set(fields)
        case .patch(var fields, let mask):
            guard setPath(of: file, in: &fields) else { return }
            mutation.operation = .patch(fields, mask: mask)
        case .delete, .verify: return
        }
    }

    private static func setPath(of file: AttachedFile, in fields: inout MapValue) -> Bool {
        guard case .map(var value)? = fields[file.field], value[pathKey] != nil else {
            return false
        }
        value[pathKey] = .string(file.object.name)
        fields[file.field] = .map(value)
        return true
    }
}
