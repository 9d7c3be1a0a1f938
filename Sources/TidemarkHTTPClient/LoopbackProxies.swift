import Foundation

/// The proxies of requests to this machine.
package enum LoopbackProxies {
    /// The names of this machine, in the form of the variable `no_proxy`.
    private static let names = ["127.0.0.1", "localhost", "::1"]

    /// Lets requests to this machine use no proxy.
    ///
    /// On Linux, URLSession uses the proxy that `http_proxy` names for every host that `no_proxy`
    /// does not name. Programs call this function before they start threads, because it changes
    /// the variables of the process, which its children inherit.
    package static func avoid() {
        #if canImport(FoundationNetworking)
            let variables = ProcessInfo.processInfo.environment
            for name in ["no_proxy", "NO_PROXY"] {
                guard let value = exempting(variables[name]) else { continue }
                setenv(name, value, 1)
            }
        #endif
    }

    /// Returns the value of `no_proxy` with the names of this machine; nil if it names every host.
    package static func exempting(_ value: String?) -> String? {
        let hosts = (value ?? "").split { $0 == "," || $0 == " " }.map(String.init)
        if hosts.contains("*") { return nil }
        return (hosts + names.filter { !hosts.contains($0) }).joined(separator: ",")
    }
}
