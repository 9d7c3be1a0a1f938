#if Server
    public import TidemarkHTTP
    public import TidemarkModel
    public import TidemarkServer
    import TidemarkStore

    /// Accounts in the process of a test, on a port of this machine: what a client of Firebase
    /// Authentication is pointed at.
    ///
    /// ```swift
    /// let local = try LocalFirestore.start()
    /// let accounts = try await LocalAccounts.start(beside: local)
    /// // POST http://HOST/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any
    /// await accounts.stop()
    /// ```
    ///
    /// It answers as `tidemark serve` does. Beside a ``LocalFirestore`` it lives in that one's time,
    /// so that a test can let tokens run out. It answers on a thread of its own, also while tests keep
    /// every thread of Swift's tasks busy. Thread-safe.
    ///
    /// In a package that depends on Tidemark it needs the trait `Server`:
    /// `.package(url: "…", from: "…", traits: ["Server"])`.
    public final class LocalAccounts: Sendable {
        /// The project of callers that name none.
        public var projectID: String { server.settings.project }
        /// The server itself, for what has no name here.
        public let server: AccountsServer
        public let port: Int
        /// As `FIREBASE_AUTH_EMULATOR_HOST` takes it.
        public var host: String { "127.0.0.1:\(port)" }
        /// For ``LocalFirestore/serve(port:callers:)``: only those whose token is good may call.
        public var callers: any CallerGate { AccountsGate(server) }
        private let serving: Task<Void, Never>

        private init(server: AccountsServer, port: Int, serving: Task<Void, Never>) {
            self.server = server
            self.port = port
            self.serving = serving
        }

        /// Starts a server, in memory unless a folder is named.
        ///
        /// - Parameters:
        ///   - local: Whose project and time it has; nil for the machine's time and the project
        ///     `local`.
        ///   - mode: `secure` signs its tokens, which then run out.
        ///   - projectID: The project; nil for that of `local`.
        ///   - dataDirectory: The folder of its file; nil for memory.
        ///   - administrator: What an administrator shows; an emulator takes `owner` too.
        ///   - providers: Whose tokens are believed where ours are signed.
        ///   - port: 0 for a free one.
        /// - Throws: `RPCStatus` when the port cannot be had or the data not be opened.
        public static func start(
            beside local: LocalFirestore? = nil, mode: AccountsSettings.Mode = .emulator,
            projectID: String? = nil, dataDirectory: String? = nil,
            administrator: AccessToken? = nil,
            providers: ProviderKeys = ProviderKeys(), port: Int = 0
        ) async throws(RPCStatus) -> LocalAccounts {
            var settings = AccountsSettings(
                mode, project: projectID ?? local?.projectID ?? "local")
            // Tests sign in often, and what a password costs is not what most of them are about.
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

        /// Ends its connections, gives the port back and lets go of the data.
        public func stop() async {
            serving.cancel()
            await serving.value
            server.close()
        }
    }
#endif
