public import Foundation
public import TidemarkResilience

/// The settings and bounds of a pipeline.
public struct ImageSettings: Sendable {
    /// The treatment of an expired picture.
    public enum Staleness: Sendable {
        /// Show the expired picture and ask the server in the background; the next request shows
        /// the new picture. With `no-cache` or `must-revalidate`, ask first.
        case showAndAsk
        /// Ask the server first; show the expired picture when the server cannot be reached.
        case askFirst
    }

    /// The bound of decoded pictures in memory, in bytes.
    public var memoryBytes: Int
    /// The bound of files on disk, in bytes.
    public var diskBytes: Int
    /// The time after which an unused picture is removed from disk.
    public var diskAge: Duration
    public var limits: PictureLimits
    public var traffic: PictureTraffic
    /// The retries of downloads. The time of an attempt begins when its request is sent.
    public var retry: RetryPolicy
    public var staleness: Staleness
    /// The time during which a failed picture (404, not a picture, too large) is not requested
    /// again.
    public var failureMemory: Duration

    /// - Precondition: No number is negative.
    public init(
        memoryBytes: Int = 64 << 20, diskBytes: Int = 150 << 20,
        diskAge: Duration = .seconds(30 * 86_400),
        limits: PictureLimits = PictureLimits(), traffic: PictureTraffic = PictureTraffic(),
        retry: RetryPolicy = .pictures, staleness: Staleness = .showAndAsk,
        failureMemory: Duration = .seconds(60)
    ) {
        precondition(memoryBytes >= 0 && diskBytes >= 0 && diskAge >= .zero)
        self.memoryBytes = memoryBytes
        self.diskBytes = diskBytes
        self.diskAge = diskAge
        self.limits = limits
        self.traffic = traffic
        self.retry = retry
        self.staleness = staleness
        self.failureMemory = failureMemory
    }
}

extension RetryPolicy {
    /// The default retries: 4 retries after 0.5 s, doubled up to 8 s, with random jitter. Each
    /// attempt has 30 s; the next one continues where it ended.
    public static let pictures = RetryPolicy(
        maxRetries: 4, initialDelay: .milliseconds(500), factor: 2, maximumDelay: .seconds(8),
        jitter: .equal, attemptTimeout: .seconds(30))
}

/// A pipeline's network, clocks and random numbers, which tests replace.
public struct ImageEnvironment: Sendable {
    public var transport: any PictureTransport
    /// The clock that measures retries.
    public var clock: any Clock<Duration>
    /// Milliseconds since 1970.
    public var wallClock: @Sendable () -> Int64
    /// Returns a random number in `0 ..< 1`.
    public var random: @Sendable () -> Double
    public var connectivity: Connectivity
    /// The access to pictures with `gs://` addresses; nil if there is none.
    public var bucket: PictureBucket?

    public init(
        transport: any PictureTransport = HTTPPictureTransport(),
        clock: any Clock<Duration> = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Int64 = {
            Int64(Date().timeIntervalSince1970 * 1_000)
        },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        connectivity: Connectivity = .always, bucket: PictureBucket? = nil
    ) {
        self.transport = transport
        self.clock = clock
        self.wallClock = wallClock
        self.random = random
        self.connectivity = connectivity
        self.bucket = bucket
    }
}
