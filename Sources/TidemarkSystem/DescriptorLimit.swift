/// The limit of files and connections that this process may have open.
package enum DescriptorLimit {
    /// The highest limit that is asked for: a table of descriptors costs memory too.
    private static let most: rlim_t = 65_536
    /// The limit that a system without a limit of descriptors grants.
    private static let least: rlim_t = 10_240

    /// Raises the soft limit as far as the hard limit allows, up to 65,536. A higher soft limit is
    /// kept.
    ///
    /// - Returns: The soft limit afterwards.
    @discardableResult
    package static func raise() -> Int {
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0 else { return 256 }
        for wanted in [min(limits.rlim_max, most), min(limits.rlim_max, least)]
        where wanted > limits.rlim_cur {
            var raised = limits
            raised.rlim_cur = wanted
            if setrlimit(resource, &raised) == 0 { return Int(wanted) }
        }
        return Int(clamping: limits.rlim_cur)
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
