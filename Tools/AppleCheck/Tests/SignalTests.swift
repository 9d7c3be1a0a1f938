import Foundation
import Network
import Testing

@testable import TidemarkApp

/// Runs the real adapter on a monitor that reports the paths that a test sets.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `Signals of the system` {
    private let wifi = NWPath(stub: .satisfied, ["en0"], gateways: ["10.0.0.1"])

    @Test func `come from the path, and are told once`() async {
        var signals = AppSignals.system.stream().makeAsyncIterator()
        NWPathMonitor.stubTell(wifi)
        NWPathMonitor.stubTell(NWPath(stub: .unsatisfied, []))
        #expect(await signals.next() == .networkIsGone, "the first path is no change")
        NWPathMonitor.stubTell(NWPath(stub: .satisfied, ["pdp_ip0"], isExpensive: true))
        #expect(await signals.next() == .networkIsExpensive(true))
        #expect(await signals.next() == .networkIsBack)
        NWPathMonitor.stubTell(NWPath(stub: .requiresConnection, []))
        #expect(await signals.next() == .networkIsGone)
        NWPathMonitor.stubTell(wifi)
        #expect(await signals.next() == .networkIsExpensive(false))
        #expect(await signals.next() == .networkIsBack)
        NWPathMonitor.stubTell(NWPath(stub: .satisfied, ["en0"], gateways: ["192.168.0.1"]))
        #expect(await signals.next() == .networkIsBack, "another network over the same interface")
    }

    @Test func `come from notifications`() async {
        var signals = AppSignals.system.stream().makeAsyncIterator()
        for (name, signal) in [
            ("UIApplicationProtectedDataDidBecomeAvailable", AppSignal.protectedDataIsReadable),
            ("UIApplicationWillEnterForegroundNotification", .cameForward),
            ("UIApplicationDidEnterBackgroundNotification", .wentBack),
            ("NSProcessInfoPowerStateDidChangeNotification", .powerIsLow(false)),
        ] {
            NotificationCenter.default.post(name: Notification.Name(name), object: nil)
            #expect(await signals.next() == signal)
        }
    }

    @Test func `end with their reader`() async {
        let task = Task {
            for await _ in AppSignals.system.stream() {}
        }
        while NWPathMonitor.stubCount == 0 { await Task.yield() }
        task.cancel()
        await task.value
        #expect(NWPathMonitor.stubCount == 0)
    }
}
