import NIOCore
import TidemarkServer

/// The bytes of a direction through a gate, at the pace of its network. Use it only on the gate's
/// event loop.
final class GateDirection {
    /// The number of bytes under way at which reading stops.
    private static let highWater = 512 << 10
    private static let lowWater = 128 << 10
    /// The maximum size of a forwarded piece; larger reads are divided, so a narrow network is
    /// steady.
    private static let pieceBytes = 4 * 1_460

    private let loop: any EventLoop
    private let source: any Channel
    private let destination: any Channel
    private var pacing: Pacing
    private var queue: [(due: Duration, bytes: ByteBuffer)] = []
    private var queuedBytes = 0
    private var isHeld = false
    private var isFinished = false
    private var isReading = false
    /// True while pieces are written. A write reports a full destination immediately, which asks
    /// for a drain.
    private var isForwarding = false
    private var timer: Scheduled<Void>?

    init(from source: any Channel, to destination: any Channel, _ pacing: Pacing) {
        loop = source.eventLoop
        self.source = source
        self.destination = destination
        self.pacing = pacing
    }

    /// Starts or continues reading and forwarding.
    func go(_ pacing: Pacing) {
        self.pacing.change(to: pacing)
        isHeld = false
        drain()
    }

    /// Stops reading and forwarding until ``go(_:)``.
    func hold() {
        isHeld = true
        timer?.cancel()
        timer = nil
        updateReading()
    }

    func push(_ bytes: ByteBuffer) {
        var bytes = bytes
        if queue.isEmpty, !isHeld, !isForwarding, pacing.isImmediate {
            return destination.writeAndFlush(bytes, promise: nil)
        }
        while let piece = bytes.readSlice(length: min(bytes.readableBytes, Self.pieceBytes)),
            piece.readableBytes > 0
        {
            let due = pacing.arrival(of: piece.readableBytes, at: now) { .random(in: 0..<1) }
            queue.append((due, piece))
            queuedBytes += piece.readableBytes
        }
        drain()
    }

    /// Records that the source has sent everything: the destination is closed after the last bytes
    /// arrive.
    func finish() {
        isFinished = true
        drain()
    }

    private var now: Duration {
        .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds))
    }

    func drain() {
        guard !isHeld, !isForwarding else { return updateReading() }
        let now = now
        forward(queue.prefix { $0.due <= now }.count)
        if queue.isEmpty, isFinished { destination.close(promise: nil) }
        if let first = queue.first?.due { wake(after: first - now) }
        updateReading()
    }

    /// Writes the first pieces of the queue.
    private func forward(_ count: Int) {
        if count == 0 { return }
        isForwarding = true
        defer { isForwarding = false }
        let pieces = queue.prefix(count)
        queue.removeFirst(count)
        for piece in pieces {
            queuedBytes -= piece.bytes.readableBytes
            destination.write(piece.bytes, promise: nil)
        }
        destination.flush()
    }

    private func wake(after delay: Duration) {
        timer?.cancel()
        timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
            self?.drain()
        }
    }

    /// Starts or stops the source. A destination without room or a full queue stops it, so the
    /// other end notices a slow network.
    func updateReading() {
        let limit = isReading ? Self.highWater : Self.lowWater
        let wanted = !isHeld && !isFinished && queuedBytes < limit && destination.isWritable
        guard wanted != isReading else { return }
        isReading = wanted
        source.setOption(.autoRead, value: wanted).whenFailure { _ in }
    }
}

extension Pacing {
    fileprivate var isImmediate: Bool {
        latency == .zero && jitter == .zero && bytesPerSecond == nil && loss == 0
    }
}
