import Dispatch
import Foundation
package import TidemarkModel
package import TidemarkSync

extension SyncEnvironment {
    /// Returns the environment with the device's clock, random numbers and threads.
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

/// The clock of the devices of a demo in which days pass.
package enum DeviceClock {
    /// The time by which the clock of a client is ahead that is created while this is set.
    @TaskLocal package static var ahead = Duration.zero
}
