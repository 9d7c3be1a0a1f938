/// How many files and connections this process may have open.
package enum DescriptorLimit {
    /// More than this many are never asked for: a table of descriptors costs memory too.
    private static let most: rlim_t = 65_536
    /// What every system grants that has no other limit.
    private static let least: rlim_t = 10_240

    /// Raises the soft limit as far as the hard one allows, up to 65,536. A limit that is higher stays.
    ///
    /// - Returns: The soft limit that holds now.
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
