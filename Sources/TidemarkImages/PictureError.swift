public import TidemarkWords

/// The reason why a picture could not be loaded.
public enum PictureError: Error, Hashable, Sendable {
    /// The address is not `http` or `https`, or has no host; or it is a `gs://` address that the
    /// pipeline's ``ImageEnvironment/bucket`` does not have.
    case badURL
    /// The server has no such picture (404, 410).
    case notFound
    /// The server refused the request (401, 403 and the other 4xx). For an object, 401 also means
    /// that another user signed in before the request was sent.
    case refused(status: Int)
    /// The server did not answer, or every attempt was interrupted.
    case unreachable
    /// The server failed (5xx) or is overloaded (429).
    case serverFailed(status: Int, retryAfter: Duration?)
    /// The file has more than ``PictureLimits/maximumBytes``; the value is its size, if the server
    /// stated it.
    case tooManyBytes(Int?)
    /// The header states more than ``PictureLimits/maximumPixels``. Nothing was decoded.
    case tooManyPixels(PictureSize)
    /// The decode would need more than ``PictureLimits/maximumDecodeBytes``. Nothing was decoded.
    case tooMuchMemory(PictureSize)
    case notAPicture
    /// The file is damaged.
    case damaged
    /// The format is not supported.
    case unsupported(String)
    /// The device's disk is full or cannot be written.
    case storageFailed
    /// Too many requests are waiting.
    case tooManyRequests
    /// The user has no picture.
    case noPicture

    /// The next step that a caller can take.
    public enum Recovery: Hashable, Sendable {
        case waitForNetwork
        case retry(after: Duration?)
        case freeStorage
        /// Show a placeholder.
        case showPlaceholder
    }

    public var recovery: Recovery {
        switch self {
        case .unreachable: .waitForNetwork
        case .serverFailed(_, let delay): .retry(after: delay)
        case .tooManyRequests: .retry(after: nil)
        case .storageFailed: .freeStorage
        case .badURL, .notFound, .refused, .tooManyBytes, .tooManyPixels, .tooMuchMemory,
            .notAPicture, .damaged, .unsupported, .noPicture:
            .showPlaceholder
        }
    }

    /// The sentence in the app's language.
    public var message: String { sentence.localized() }

    /// A sentence for the person who uses the app. It names no type, code or path.
    public var sentence: Sentence {
        switch self {
        case .badURL: Sentence("picture.badURL", "This picture's address can't be used.")
        case .notFound: Sentence("picture.notFound", "This picture no longer exists.")
        case .refused: Sentence("picture.refused", "You don't have access to this picture.")
        case .unreachable:
            Sentence(
                "picture.unreachable",
                "This picture couldn't be loaded. Check your connection.")
        case .serverFailed:
            Sentence(
                "picture.serverFailed",
                "The service is busy. We'll try this picture again shortly.")
        case .tooManyBytes, .tooManyPixels, .tooMuchMemory:
            Sentence("picture.tooManyBytes", "This picture is too large to be shown.")
        case .notAPicture: Sentence("picture.notAPicture", "This isn't a picture.")
        case .damaged: Sentence("picture.damaged", "This picture is damaged.")
        case .unsupported: Sentence("picture.unsupported", "Pictures of this kind can't be shown.")
        case .storageFailed:
            Sentence("picture.storageFailed", "There's no room left to keep this picture.")
        case .tooManyRequests:
            Sentence("picture.tooManyRequests", "Too many pictures are being loaded at once.")
        case .noPicture: Sentence("picture.noPicture", "There's no picture of this person.")
        }
    }

    /// True if the server says that the picture no longer exists, or denies it to this caller.
    var isGone: Bool {
        switch self {
        case .notFound, .refused: true
        default: false
        }
    }

    init(_ problem: PictureHeader.Problem) {
        switch problem {
        case .needsMoreBytes, .damaged: self = .damaged
        case .notAPicture: self = .notAPicture
        case .unsupported(let kind): self = .unsupported(kind)
        }
    }
}

/// The largest picture that is downloaded and decoded.
public struct PictureLimits: Hashable, Sendable {
    /// The maximum number of bytes of a download.
    public var maximumBytes: Int
    /// The maximum number of pixels. A phone's largest camera has 48 million.
    public var maximumPixels: Int
    /// The maximum number of bytes of memory for one decode.
    public var maximumDecodeBytes: Int

    /// - Precondition: All values are positive.
    public init(
        maximumBytes: Int = 32 << 20, maximumPixels: Int = 100_000_000,
        maximumDecodeBytes: Int = 256 << 20
    ) {
        precondition(maximumBytes > 0 && maximumPixels > 0 && maximumDecodeBytes > 0)
        self.maximumBytes = maximumBytes
        self.maximumPixels = maximumPixels
        self.maximumDecodeBytes = maximumDecodeBytes
    }

    /// Checks the limits that need only the header of the picture.
    func check(_ header: PictureHeader) throws(PictureError) {
        if header.stored.pixels > maximumPixels { throw .tooManyPixels(header.size) }
        if header.wholeBytes > maximumDecodeBytes { throw .tooMuchMemory(header.size) }
    }
}
