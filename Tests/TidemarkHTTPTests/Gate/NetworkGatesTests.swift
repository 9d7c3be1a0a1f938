import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing
import TidemarkServer
import TidemarkTesting

@testable import TidemarkHTTP

/// The two gates of a server, which follow the orders of one board.
@Suite(.timeLimit(.minutes(2))) struct NetworkGatesTests {
    private static let group = MultiThreadedEventLoopGroup.singleton

    /// Two servers that greet each connection, behind gates.
    private struct Place {
        let board: FaultBoard
        let ports: [Int]

        /// Returns what a new connection meets at each of the two ports.
        func heard() async throws -> [Heard] {
            var heard: [Heard] = []
            for port in ports { heard.append(try await Heard(at: port)) }
            return heard
        }
    }

    /// The answer to the first bytes of a connection.
    private enum Heard: Equatable {
        case refused, portal, server

        init(at port: Int) async throws {
            let answer = NetworkGatesTests.group.next().makePromise(of: String.self)
            let channel: any Channel
            do {
                channel = try await ClientBootstrap(group: NetworkGatesTests.group)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(Listener(answer))
                        }
                    }
                    .connect(host: "127.0.0.1", port: port).get()
            } catch {
                answer.succeed("")
                self = .refused
                return
            }
            try await channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
            let text = try await answer.futureResult.get()
            try? await channel.close()
            self = text.hasPrefix("HTTP/1.1 302 ") ? .portal : .server
        }
    }

    /// Passes the first bytes on.
    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let answer: EventLoopPromise<String>

        init(_ answer: EventLoopPromise<String>) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            answer.succeed(String(buffer: unwrapInboundIn(data)))
        }
        func channelInactive(context: ChannelHandlerContext) {
            answer.fail(ChannelError.eof)
        }
    }

    private func play(
        _ network: NetworkProfile = .healthy, _ body: (Place) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let storage = NetworkGate(host: "127.0.0.1", port: 0)
        let gates = NetworkGates(
            firestore: NetworkGate(host: "127.0.0.1", port: 0), storage: storage)
        let board = FaultBoard(FaultyTransport(local.server), gates: gates, network: network)
        var ports: [Int] = []
        for gate in [gates.firestore, storage] {
            let server = try await ServerBootstrap(group: Self.group)
                .childChannelInitializer { channel in
                    channel.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                .bind(host: "127.0.0.1", port: 0).get()
            ports.append(
                try await board.open(gate, to: try #require(server.localAddress?.port)))
        }
        try await body(Place(board: board, ports: ports))
        await gates.close()
        await local.stop()
    }

    @Test func `follow each order, and the state names their network`() async throws {
        try await play { place in
            let expected: [(NetworkProfile, Heard)] = [
                (.captive, .portal), (.refuse, .refused), (.healthy, .server), (.refuse, .refused),
                (.captive, .portal), (.threeG, .server), (.slowBackend, .server),
            ]
            for (network, answer) in expected {
                try await place.board.order(network: network, rules: nil)
                #expect(place.board.state.network == network.rawValue)
                let heard = try await place.heard()
                #expect(heard == [answer, answer], "\(network)")
            }
        }
    }

    @Test(arguments: [(NetworkProfile.captive, false), (.refuse, true)])
    fileprivate func `open in the network that was chosen at the start`(
        network: NetworkProfile, isRefused: Bool
    ) async throws {
        try await play(network) { place in
            let expected: Heard = isRefused ? .refused : .portal
            let heard = try await place.heard()
            #expect(heard == [expected, expected])
        }
    }

    /// Orders that arrive together are played one after the other.
    @Test func `end with one network after many orders at a time`() async throws {
        try await play { place in
            for _ in 0..<20 {
                await withTaskGroup { group in
                    for network in [NetworkProfile.refuse, .captive, .healthy, .refuse, .healthy] {
                        group.addTask { [board = place.board] in
                            try? await board.order(network: network, rules: nil)
                        }
                    }
                }
                let expected: Heard =
                    switch place.board.state.network {
                    case "refuse": .refused
                    case "captive": .portal
                    default: .server
                    }
                let heard = try await place.heard()
                #expect(heard == [expected, expected])
            }
        }
    }
}

/// The effects of networks on whole requests of the storage port.
struct ObjectNetworkTests {
    /// A latency, an error and a lost response are the effects that requests play. A network with
    /// another one would be healthy for files without a sign.
    @Test func `rules of networks for every call have effects that requests play`() {
        for network in NetworkProfile.allCases {
            for rule in network.rules where rule.method == nil {
                var played = FaultEffects()
                played.latency = rule.effects.latency
                played.error = rule.effects.error
                played.losesResponse = rule.effects.losesResponse
                #expect(rule.effects == played, "\(network)")
            }
        }
    }

    @Test(arguments: NetworkProfile.allCases)
    func `a request meets the rules for every call`(network: NetworkProfile) {
        // The calls take each number once: 0, 1/1000 and so on, in a mixed order.
        let number = Mutex(0)
        let objects = ObjectNetwork {
            number.withLock { number in
                number = (number + 617) % 1_000
                return Double(number) / 1_000
            }
        }
        objects.order(network)
        var (late, refused, lost) = (0, 0, 0)
        for _ in 0..<1_000 {
            let effects = objects.effects()
            if effects?.latency == .seconds(18) { late += 1 }
            if effects?.error != nil {
                refused += 1
            } else if effects?.losesResponse == true {
                lost += 1
            }
        }
        switch network {
        case .slowBackend: #expect((late, refused, lost) == (1_000, 0, 0))
        case .flaky:
            #expect(late == 0)
            #expect((100...200).contains(refused) && (100...200).contains(lost))
        default: #expect((late, refused, lost) == (0, 0, 0))
        }
        objects.order(.healthy)
        #expect(objects.effects() == nil)
    }
}
