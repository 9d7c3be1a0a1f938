import Foundation
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@testable import TidemarkFiles

struct `The configuration of a session that sends files` {
    @Test func `is one of the system's, and starts at once`() {
        let configuration = BackgroundConfiguration.make("app.files")
        #expect(!configuration.isDiscretionary && configuration.sessionSendsLaunchEvents)
        #expect(configuration.timeoutIntervalForResource == 86_400)
        #if os(Linux)
            #expect(stubBackgroundIdentifiers.withLock { $0 } == ["app.files"])
        #endif
    }
}
