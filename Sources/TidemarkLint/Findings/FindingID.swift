/// The names of the checks. Each has a page in `Documentation/Lint`.
package enum FindingID: String, Codable, Sendable, CaseIterable {
    case unboundedListener = "unbounded-listener"
    case wholeCollectionRead = "whole-collection-read"
    case pipelineScan = "pipeline-scan"
    case listenerNeverRemoved = "listener-never-removed"
    case listenerOnAppear = "listener-on-appear"
    case readInLoop = "read-in-loop"
    case countedByDownload = "counted-by-download"
    case serverSourceAtLaunch = "server-source-at-launch"
    case sequentialReads = "sequential-reads"
    case timestampInDefaults = "timestamp-in-defaults"
    case offsetPage = "offset-page"
    case listenerBesidePages = "listener-beside-pages"
    case tooManyValues = "too-many-values"
    case clientClock = "client-clock"
    case writesInLoop = "writes-in-loop"
    case batchWithoutBound = "batch-without-bound"
    case counterOverwritten = "counter-overwritten"
    case readAfterWrite = "read-after-write"
    case missingIndex = "missing-index"
    case unprovableQuery = "unprovable-query"
    case listenerErrorIgnored = "listener-error-ignored"
    case writeErrorIgnored = "write-error-ignored"
    case accountBeforeProfile = "account-before-profile"
    case retryWithoutBound = "retry-without-bound"
    case decodeOnMain = "decode-on-main"
    case secretInDocument = "secret-in-document"
    case writeWithoutChangeTime = "write-without-change-time"
    case deleteWithoutMark = "delete-without-mark"
    case ignoredWithoutReason = "ignored-without-reason"

    package var severity: Severity {
        switch self {
        case .readAfterWrite, .secretInDocument, .missingIndex, .unprovableQuery: .error
        case .sequentialReads, .decodeOnMain, .wholeCollectionRead, .pipelineScan, .clientClock,
            .ignoredWithoutReason, .batchWithoutBound:
            .note
        default: .warning
        }
    }

    /// A short title for lists.
    package var title: String {
        switch self {
        case .unboundedListener: "A listener without a limit"
        case .wholeCollectionRead: "A read of a whole collection"
        case .pipelineScan: "A pipeline that reads a whole collection"
        case .listenerNeverRemoved: "A listener that nothing removes"
        case .listenerOnAppear: "Another listener on each appearance"
        case .readInLoop: "A read for each element of a list"
        case .countedByDownload: "Documents downloaded to be counted or summed"
        case .serverSourceAtLaunch: "A read that waits for the server during launch"
        case .sequentialReads: "Reads that wait for each other needlessly"
        case .timestampInDefaults: "A query from a time kept in UserDefaults"
        case .offsetPage: "A page that reads what comes before it"
        case .listenerBesidePages: "A listener without a limit beside pages"
        case .tooManyValues: "More values than a filter allows"
        case .clientClock: "The device's clock in a document"
        case .writesInLoop: "A write for each element of a list"
        case .batchWithoutBound: "A batch without a bound"
        case .counterOverwritten: "A counter read and written back"
        case .readAfterWrite: "A transaction that reads after a write"
        case .missingIndex: "A query without its index"
        case .unprovableQuery: "A query that the rules refuse"
        case .listenerErrorIgnored: "A listener without error handling"
        case .writeErrorIgnored: "A write whose error is dropped"
        case .accountBeforeProfile: "An account made before its profile"
        case .retryWithoutBound: "A retry without a bound"
        case .decodeOnMain: "Decoding on the main thread"
        case .secretInDocument: "A secret in a document"
        case .writeWithoutChangeTime: "A write that a feed does not find"
        case .deleteWithoutMark: "A delete that a feed does not find"
        case .ignoredWithoutReason: "A finding ignored without a reason"
        }
    }

    package var page: String { "Documentation/Lint/\(rawValue).md" }
}
