import Dispatch
import Foundation
package import TidemarkModel
package import TidemarkSync

extension SyncEnvironment {
    /// The device's own clock, dice and threads.
    package static func live(_ transport: any Transport) -> SyncEnvironment {
        let ahead = DeviceClock.ahead
        var environment = SyncEnvironment(
            transport: transport, scheduler: DispatchScheduler(),
            now: { Timestamp(date: Date()).advanced(by: ahead) },
            random: { Double.random(in: 0..<1) })
        environment.offload = { DispatchQueue.global(qos: .utility).async(execute: $0) }
        return environment
    }
}

/// The clock of devices in a demo, which lets days pass.
package enum DeviceClock {
    /// How far the clock of a client is ahead that is made while this is set.
    @TaskLocal package static var ahead = Duration.zero
}
