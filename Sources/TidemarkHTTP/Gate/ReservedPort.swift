import NIOCore
import TidemarkSystem

/// A port that stays this process's while nothing listens at it, so that the system refuses
/// connections and no other process gets the port.
///
/// A socket that is bound and does not listen has both effects. To listen, pass on its descriptor:
/// the port is then never free.
struct ReservedPort: ~Copyable {
    private let descriptor: Int32

    /// - Returns: Nil if another process has got the port, or no descriptor is left.
    init?(_ address: SocketAddress) {
        let bound = socket(address.protocol.rawValue, SystemCalls.streamSocket, 0)
        guard bound >= 0 else { return nil }
        var isBound = Self.bind(bound, to: address)
        if !isBound {
            // Connections of the earlier listener still have the port. While the option is on,
            // other processes can bind the port too.
            Self.setReuse(of: bound, to: true)
            isBound = Self.bind(bound, to: address)
            Self.setReuse(of: bound, to: false)
        }
        guard isBound else {
            close(bound)
            return nil
        }
        descriptor = bound
    }

    deinit { close(descriptor) }

    /// Returns the bound socket, which can listen now. The caller closes it.
    consuming func takeDescriptor() -> Int32 {
        let taken = descriptor
        discard self
        Self.setReuse(of: taken, to: true)
        return taken
    }

    private static func bind(_ descriptor: Int32, to address: SocketAddress) -> Bool {
        address.withSockAddr { SystemCalls.bindSocket(descriptor, to: $0, size: socklen_t($1)) }
            == 0
    }

    private static func setReuse(of descriptor: Int32, to isOn: Bool) {
        var value: Int32 = isOn ? 1 : 0
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
