import Foundation
import Synchronization
import TidemarkHealth

/// Passes a source on to the app, and reports each page before the app receives it.
final class WatchedKit: HealthSampleSource {
    private let source: ScriptedHealthSource
    private let report = Mutex<@Sendable () -> Void>({})

    init(_ source: ScriptedHealthSource) { self.source = source }

    /// Calls a function before each page.
    func onPage(_ report: @escaping @Sendable () -> Void) { self.report.withLock { $0 = report } }

    func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage {
        let report = report.withLock { $0 }
        report()
        return try await source.page(kind, after: anchor, limit: limit)
    }

    func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample] {
        try await source.samples(kind, in: range, limit: limit)
    }

    func updates() -> AsyncStream<HealthUpdate> { source.updates() }
}
