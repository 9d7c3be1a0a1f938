/// A file layer that a test inserts between SQLite and a store's files, for example a disk that
/// fails or loses unsynced data.
package enum StoreLayer {
    /// The name under which the layer is registered with SQLite, for stores opened in this task;
    /// nil for the system's layer.
    @TaskLocal package static var name: String?

    /// Replaces the system's function that moves a file over another; nil for the system's.
    @TaskLocal package static var replacing:
        (@Sendable (_ path: String, _ new: String) throws -> Void)?

    #if TIDEMARK_DEFECTS
        /// If true, pages are read without verifying their checksums: a planted defect.
        @TaskLocal package static var trustsPages = false

        static var verifiesPages: Bool { !trustsPages }
    #else
        static let verifiesPages = true
    #endif
}
