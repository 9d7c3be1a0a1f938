import Synchronization

/// Compares the bytes of a stored copy with its digest, on another thread than the one that sends
/// the copy's chunks.
final class CopyComparison: Sendable {
    private let facts: FileFacts
    private let folder: FileFolder
    private let task = Mutex<Task<UploadMachine.CopyState, Never>?>(nil)

    init(_ facts: FileFacts, in folder: FileFolder) {
        (self.facts, self.folder) = (facts, folder)
    }

    /// Looks for the copy and its size. Reads none of its bytes.
    func look() async -> UploadMachine.CopyState {
        await DiskThread.run { [folder, facts] in
            guard let path = folder.copy(facts.copy) else { return .missing }
            guard let size = FileCopy.size(of: path) else { return .unreadable }
            return size == facts.digest.size ? .same : .changed
        }
    }

    /// Looks for the copy, and begins the comparison if it is there.
    func begin() async -> UploadMachine.CopyState {
        let state = await look()
        if state == .same { start() }
        return state
    }

    /// Waits for the comparison. A copy that could not be read is compared from its begin.
    func end() async -> UploadMachine.CopyState {
        let state = await (task.withLock { $0 } ?? start()).value
        if state == .unreadable { cancel() }
        return state
    }

    @discardableResult private func start() -> Task<UploadMachine.CopyState, Never> {
        let begun = Task { [folder, facts] in
            let isOver = Flag()
            return await withTaskCancellationHandler {
                await DiskThread.run {
                    Self.compare(facts, in: folder) { !isOver.isSet }
                }
            } onCancel: {
                isOver.set()
            }
        }
        task.withLock { old in
            old?.cancel()
            old = begun
        }
        return begun
    }

    private static func compare(
        _ facts: FileFacts, in folder: FileFolder, while isWanted: () -> Bool
    ) -> UploadMachine.CopyState {
        guard let path = folder.copy(facts.copy) else { return .missing }
        guard let digest = FileCopy.digest(of: path, while: isWanted) else { return .unreadable }
        return digest == facts.digest ? .same : .changed
    }

    /// Ends the comparison within a part of the copy.
    func cancel() {
        task.withLock { task in
            task?.cancel()
            task = nil
        }
    }

    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }
}
