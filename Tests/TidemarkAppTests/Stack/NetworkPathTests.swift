import Testing

@testable import TidemarkApp

/// Tests the signals for changes of a network's path.
struct `A network's path` {
    private let wifi = NetworkPath(ways: ["en0", "10.0.0.1"])
    private let cellular = NetworkPath(isExpensive: true, ways: ["pdp_ip0"])
    private let none = NetworkPath(isUsable: false)

    /// Returns the signals for each path of a sequence.
    private func signals(_ paths: NetworkPath...) -> [[AppSignal]] {
        var machine = NetworkPathMachine()
        return paths.map { machine.step($0) }
    }

    @Test func `is no change when it is told first`() {
        #expect(signals(wifi) == [[]])
        #expect(signals(none) == [[.networkIsGone]])
        #expect(signals(cellular) == [[.networkIsExpensive(true)]])
    }

    @Test func `is told once while it stays`() {
        #expect(signals(wifi, wifi, wifi) == [[], [], []])
        #expect(signals(wifi, none, none) == [[], [.networkIsGone], []])
    }

    @Test func `is a network that is back, or another one`() {
        #expect(signals(wifi, none, wifi) == [[], [.networkIsGone], [.networkIsBack]])
        #expect(signals(none, wifi) == [[.networkIsGone], [.networkIsBack]])
        let other = NetworkPath(ways: ["en0", "192.168.0.1"])
        #expect(signals(wifi, other) == [[], [.networkIsBack]])
        #expect(
            signals(wifi, cellular, wifi) == [
                [], [.networkIsExpensive(true), .networkIsBack],
                [.networkIsExpensive(false), .networkIsBack],
            ])
    }

    @Test func `saves data when the user asks for it, whatever the network costs`() {
        var constrained = wifi
        constrained.isConstrained = true
        #expect(
            signals(wifi, constrained, wifi) == [
                [], [.networkSavesData(true)], [.networkSavesData(false)],
            ])
        var both = cellular
        both.isConstrained = true
        #expect(
            signals(cellular, both, wifi) == [
                [.networkIsExpensive(true)], [.networkSavesData(true)],
                [.networkIsExpensive(false), .networkSavesData(false), .networkIsBack],
            ])
        // A path without a network reports no change of the cost.
        let noneOfCellular = NetworkPath(isUsable: false, isExpensive: false)
        #expect(
            signals(cellular, noneOfCellular, cellular) == [
                [.networkIsExpensive(true)], [.networkIsGone], [.networkIsBack],
            ])
    }
}
