import CoreMetrics
import Synchronization

/// The counts of a pipeline so far.
public struct PictureFigures: Hashable, Sendable, Codable {
    /// The number of calls for a picture.
    public var requests = 0
    public var fromMemory = 0
    /// The number of pictures shown from files. ``smallFiles`` counts those that needed no decode.
    public var fromDisk = 0
    public var smallFiles = 0
    public var fromNetwork = 0
    /// The number of calls that shared the work of another call.
    public var shared = 0
    /// The number of sent requests: first attempts, retries and checks of kept pictures.
    public var sent = 0
    /// The number of complete downloads.
    public var downloads = 0
    /// The number of attempts that continued an interrupted one.
    public var resumed = 0
    /// The number of answers that confirmed a kept picture.
    public var notModified = 0
    /// The bytes of bodies, including interrupted ones.
    public var bytesReceived = 0
    public var decodes = 0
    public var failures = 0

    public init() {}
}

/// Counts, for ``PictureFigures`` and for the process's metrics (`tidemark_pictures_…`).
final class PictureTally: Sendable {
    enum Count: String, CaseIterable {
        case requests, fromMemory, fromDisk, smallFiles, fromNetwork, shared, sent, downloads
        case resumed, notModified, bytesReceived, decodes, failures

        /// The metric's name, and the counter in ``PictureFigures``.
        fileprivate var place: (label: String, path: WritableKeyPath<PictureFigures, Int>) {
            switch self {
            case .requests: ("requests", \.requests)
            case .fromMemory: ("from_memory", \.fromMemory)
            case .fromDisk: ("from_disk", \.fromDisk)
            case .smallFiles: ("small_files", \.smallFiles)
            case .fromNetwork: ("from_network", \.fromNetwork)
            case .shared: ("shared", \.shared)
            case .sent: ("sent", \.sent)
            case .downloads: ("downloads", \.downloads)
            case .resumed: ("resumed", \.resumed)
            case .notModified: ("not_modified", \.notModified)
            case .bytesReceived: ("received_bytes", \.bytesReceived)
            case .decodes: ("decodes", \.decodes)
            case .failures: ("failures", \.failures)
            }
        }
    }

    private let figures = Mutex(PictureFigures())
    private let counters = Count.allCases.map {
        CoreMetrics.Counter(label: "tidemark_pictures_\($0.place.label)")
    }
    private let order = Dictionary(
        uniqueKeysWithValues: Count.allCases.enumerated().map { ($0.element, $0.offset) })

    var current: PictureFigures { figures.withLock { $0 } }

    func add(_ count: Count, _ more: Int = 1) {
        figures.withLock { $0[keyPath: count.place.path] += more }
        if let place = order[count] { counters[place].increment(by: more) }
    }
}
