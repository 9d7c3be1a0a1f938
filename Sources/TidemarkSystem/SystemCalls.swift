/// System calls that differ between systems, or whose names clash with names of this project.
package enum SystemCalls {
    /// The socket type for `socket` and `getaddrinfo`: a connection that carries bytes in order.
    package static let streamSocket: Int32 = {
        #if canImport(Darwin)
            SOCK_STREAM
        #elseif canImport(Glibc)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }()

    /// - Returns: 0, or -1 with `errno`.
    package static func bindSocket(
        _ socket: Int32, to address: UnsafePointer<sockaddr>, size: socklen_t
    ) -> Int32 {
        bind(socket, address, size)
    }

    /// - Returns: The number of bytes read, 0 at the end, or -1 with `errno`.
    package static func readBytes(
        _ file: Int32, to: UnsafeMutableRawPointer, count: Int
    ) -> Int {
        read(file, to, count)
    }

    /// - Returns: The number of bytes written, or -1 with `errno`.
    package static func writeBytes(
        _ file: Int32, from: UnsafeRawPointer, count: Int
    ) -> Int {
        write(file, from, count)
    }

    /// Returns when a file's bytes are on the disk itself. On Apple's systems, `fsync` alone leaves
    /// them in the disk's cache.
    ///
    /// - Returns: 0, or -1 with `errno`.
    package static func syncToDisk(_ file: Int32) -> Int32 {
        #if canImport(Darwin)
            // Some file systems lack this call.
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return fsync(file)
    }

    /// Swaps two file names in one step.
    ///
    /// - Returns: False if the file system cannot do so; nothing has changed then.
    package static func exchange(_ one: String, _ other: String) -> Bool {
        #if canImport(Darwin)
            renamex_np(one, other, UInt32(RENAME_SWAP)) == 0
        #else
            // Calls the C library's `renameat2`, whose declaration is visible to C only.
            typealias Rename =
                @convention(c) (
                    Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
                ) -> Int32
            guard let symbol = dlsym(nil, "renameat2") else { return false }
            let exchange: UInt32 = 2
            return unsafeBitCast(symbol, to: Rename.self)(
                AT_FDCWD, one, AT_FDCWD, other, exchange) == 0
        #endif
    }

    /// The maximum memory that this process has used so far, in bytes, as the system reports it.
    package static var peakBytes: Int {
        var usage = rusage()
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #elseif canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return 1_024 * usage.ru_maxrss
        #else
            getrusage(RUSAGE_SELF, &usage)
            return 1_024 * usage.ru_maxrss
        #endif
    }
}
