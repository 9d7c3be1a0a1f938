import Dispatch
import Foundation
package import TidemarkModel
package import TidemarkSync

extension SyncEnvironment {
    /// Returns the environment with the device's clock, random numbers and threads.
    package static func live(_ transport: any Transport) -> SyncEnvironment {
        var environment = SyncEnvironment(
            transport: transport, scheduler: DispatchScheduler(),
            now: { Timestamp(date: Date()) }, random: { Double.random(in: 0..<1) })
        environment.offload = { DispatchQueue.global(qos: .utility).async(execute: $0) }
        return environment
    }
}
