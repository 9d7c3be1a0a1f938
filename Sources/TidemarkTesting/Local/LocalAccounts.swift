#if Server
    public import TidemarkHTTP
    public import TidemarkModel
    public import TidemarkServer
    import TidemarkStore

    /// A server of accounts in the process of a test, on a port of this machine. Clients of
    /// Firebase Authentication can use it.
    ///
    /// ```swift
    /// let local = try LocalFirestore.start()
    /// let accounts = try await LocalAccounts.start(beside: local)
    /// // POST http://HOST/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any
    /// await accounts.stop()
    /// ```
    ///
    /// The server behaves like `tidemark serve`. If it starts beside a ``LocalFirestore``, it uses
    /// the same virtual time, with which a test can make tokens expire. It runs on a separate
    /// thread, even while tests use all threads of Swift's tasks. Thread-safe.
    ///
    /// A package that depends on Tidemark needs the trait `Server` for this class:
    /// `.package(url: "…", from: "…", traits: ["Server"])`.
    public final class LocalAccounts: Sendable {
        /// The project of callers that name no project.
        public var projectID: String { server.settings.project }
        /// The server, for functions that this class does not offer.
        public let server: AccountsServer
        public let port: Int
        /// The address in the form of `FIREBASE_AUTH_EMULATOR_HOST`.
        public var host: String { "127.0.0.1:\(port)" }
        /// Admits only callers with a valid token, for ``LocalFirestore/serve(port:callers:)``.
        public var callers: any CallerGate { AccountsGate(server) }
        private let serving: Task<Void, Never>

        private init(server: AccountsServer, port: Int, serving: Task<Void, Never>) {
            self.server = server
            self.port = port
            self.serving = serving
        }

        /// Starts a server, in memory unless a folder is given.
        ///
        /// - Parameters:
        ///   - local: The server whose project and time are used; nil for the machine's time and
        ///     the project `local`.
        ///   - mode: With `secure`, tokens are signed and expire.
        ///   - projectID: The project; nil for the project of `local`.
        ///   - dataDirectory: The folder of the accounts' file; nil keeps the accounts in memory.
        ///   - administrator: The token of administrators. An emulator also accepts `owner`.
        ///   - providers: The providers whose tokens are trusted if tokens are signed.
        ///   - port: The port; 0 for a free port.
        /// - Throws: `RPCStatus` if the port is in use, or the data cannot be opened.
        public static func start(
            beside local: LocalFirestore? = nil, mode: AccountsSettings.Mode = .emulator,
            projectID: String? = nil, dataDirectory: String? = nil,
            administrator: AccessToken? = nil,
            providers: ProviderKeys = ProviderKeys(), port: Int = 0
        ) async throws(RPCStatus) -> LocalAccounts {
            var settings = AccountsSettings(
                mode, project: projectID ?? local?.projectID ?? "local")
            // A quick hash is enough, because tests sign in often and rarely test the hash.
            settings.passwords = .quick
            return try await start(
                settings, beside: local, dataDirectory: dataDirectory, administrator: administrator,
                providers: providers, port: port)
        }

        package static func start(
            _ settings: AccountsSettings, beside local: LocalFirestore?,
            dataDirectory: String? = nil,
            administrator: AccessToken? = nil, providers: ProviderKeys = ProviderKeys(),
            port: Int = 0
        ) async throws(RPCStatus) -> LocalAccounts {
            do {
                let server: AccountsServer
                if let local {
                    server = try await AccountsServer(
                        settings, dataDirectory: dataDirectory, access: administrator,
                        providers: providers, environment: .live(now: { local.now }))
                } else {
                    server = try await AccountsServer(
                        settings, dataDirectory: dataDirectory, access: administrator,
                        providers: providers)
                }
                return try await serve(server, port)
            } catch let status as RPCStatus {
                throw status
            } catch {
                throw RPCStatus(.unavailable, (error as? StoreError)?.message ?? "\(error)")
            }
        }

        private static func serve(_ server: AccountsServer, _ port: Int) async throws
            -> LocalAccounts
        {
            let (events, sink) = AsyncStream.makeStream(of: Result<Int, RPCStatus>.self)
            let thread = ServingThread("tidemark.local.accounts")
            let serving = Task(executorPreference: thread) {
                do {
                    try await server.run(host: "127.0.0.1", port: port) { sink.yield(.success($0)) }
                } catch { sink.yield(.failure(RPCStatus(.unavailable, "\(error)"))) }
            }
            for await event in events {
                return LocalAccounts(server: server, port: try event.get(), serving: serving)
            }
            throw RPCStatus(.cancelled, "Cancelled before it was open.")
        }

        /// Closes the connections, the port and the data.
        public func stop() async {
            serving.cancel()
            await serving.value
            server.close()
        }
    }
#endif
