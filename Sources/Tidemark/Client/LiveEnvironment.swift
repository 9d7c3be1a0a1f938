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
    /// A client that is created while this value is set has a clock that is ahead by the value.
    @TaskLocal package static var ahead = Duration.zero
}
