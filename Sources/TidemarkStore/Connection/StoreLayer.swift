/// What lies between SQLite and the files of a store, where a test has put a layer of its own there: a
/// disk that loses what was not synced, or fails.
package enum StoreLayer {
    /// The name under which it is registered with SQLite, for stores that are opened within; nil for the
    /// system's.
    @TaskLocal package static var name: String?

    /// In the place of the system's way to put a file in the place of another one; nil for the system's.
    @TaskLocal package static var replacing:
        (@Sendable (_ path: String, _ new: String) throws -> Void)?

    #if TIDEMARK_DEFECTS
        /// As if pages were read without a look at their checksums: a planted defect.
        @TaskLocal package static var trustsPages = false

        static var verifiesPages: Bool { !trustsPages }
    #else
        static let verifiesPages = true
    #endif
}
