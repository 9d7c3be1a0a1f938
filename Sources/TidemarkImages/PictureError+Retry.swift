public import TidemarkResilience

extension PictureError: RetryClassifiable {
    public var failure: Failure {
        switch self {
        case .unreachable: Failure(.transient)
        case .serverFailed(429, let delay):
            Failure(.throttled, hint: delay.map { .after($0) }, hadNoEffect: true)
        case .serverFailed(_, let delay): Failure(.transient, hint: delay.map { .after($0) })
        case .tooManyRequests: Failure(.throttled, hadNoEffect: true)
        case .badURL, .notFound, .refused, .tooManyBytes, .tooManyPixels, .tooMuchMemory,
            .notAPicture, .damaged, .unsupported, .storageFailed, .noPicture:
            Failure(.permanent)
        }
    }
}
