import Foundation

/// The proxies of requests to this machine.
package enum LoopbackProxies {
    /// The names of this machine, in the form of the variable `no_proxy`.
    private static let names = ["127.0.0.1", "localhost", "::1"]

    /// Lets requests to this machine use no proxy.
    ///
    /// On Linux, URLSession uses the proxy that `http_proxy` names for every host that `no_proxy`
    /// does not name. Programs call this function before they start threads, because it changes
    /// a variable of the process, which its children inherit.
    package static func avoid() {
        #if canImport(FoundationNetworking)
            if let hosts = exemptions(ProcessInfo.processInfo.environment) {
                setenv("no_proxy", hosts, 1)
            }
        #endif
    }

    /// Returns the value of `no_proxy` with the names of this machine; nil if it names every host.
    ///
    /// `NO_PROXY` counts where `no_proxy` is missing or empty, as in libcurl. The result contains
    /// the hosts of `NO_PROXY`, because libcurl ignores that variable once `no_proxy` is set.
    package static func exemptions(_ variables: [String: String]) -> String? {
        let values = ["no_proxy", "NO_PROXY"].compactMap { variables[$0] }
        let hosts = (values.first { !$0.isEmpty } ?? "").split { $0 == "," || $0 == " " }
            .map(String.init)
        if hosts.contains("*") { return nil }
        return (hosts + names.filter { !hosts.contains($0) }).joined(separator: ",")
    }
}
