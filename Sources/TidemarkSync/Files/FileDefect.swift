/// A defect of the queue of files that a test plants, to see that the test's checks find it. Only
/// debug builds can plant one.
enum FileDefect: CaseIterable {
    /// A batch is sent although the objects of its files do not exist.
    case sentWithoutFile
    /// A refused document leaves the batch that would complete it in the queue.
    case completionKept
    /// The objects of a document are deleted before the server has acknowledged its deletion.
    case removedBeforeDocument
    /// The objects of a deleted document are never deleted.
    case removalForgotten
}
