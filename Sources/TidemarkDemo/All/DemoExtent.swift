/// The part of the journeys that a demo plays.
enum DemoExtent: Sendable {
    /// A tenth of everything, for a debug build.
    case small
    /// Every row, on the networks that show most about it.
    case telling
    /// Every row on every network.
    case full

    /// Returns the history for the three clients. It is short, because `make demo` shows their
    /// table within seconds.
    func ofFirstTable(_ history: History) -> History {
        self == .full ? history : history.prefix(2_000)
    }

    /// The networks of the chat rows. A slow network shows the cost of waiting; a network that is
    /// absent at first shows the content on the device.
    var chats: [DemoNetwork] {
        self == .telling ? [.threeG, .offline] : DemoNetwork.allCases
    }

    /// The number of messages in the longest chat, at a scale of 1. The old app reads all of them
    /// on each network.
    ///
    /// `small` plays a tenth of its value: 2,000 messages, because the 150 that Tidemark reads are
    /// then still 90 % fewer.
    var longChat: Int {
        switch self {
        case .small: 20_000
        case .telling: 10_000
        case .full: 100_000
        }
    }

    /// The networks of the messaging rows. Written messages must survive failing calls.
    var messages: [DemoNetwork] {
        self == .telling ? [.failing, .offline] : DemoNetwork.allCases
    }

    /// The networks of the health rows. A device works on its own file, so the network matters
    /// little.
    var health: [DemoNetwork] { self == .full ? DemoNetwork.allCases : [.healthy] }

    /// True if the demo also imports ten years of health data, from 1.2 GB.
    var hasDecade: Bool { self == .full }

    var launches: LaunchDemo {
        switch self {
        case .small:
            LaunchDemo(
                documents: 1_000, launches: 3, secondsBefore: 6, wholeLaunches: 1,
                networks: [.healthy, .threeG])
        case .telling:
            LaunchDemo(
                documents: 20_000, launches: 40, secondsBefore: 10, wholeLaunches: 2,
                networks: [.healthy, .threeG, .blackhole, .captive])
        case .full: LaunchDemo()
        }
    }

    var signUps: SignUpDemo {
        switch self {
        case .small: SignUpDemo(networks: [.healthy], together: 16)
        case .telling: SignUpDemo(networks: [.healthy, .threeG], together: 32)
        case .full: SignUpDemo()
        }
    }

    /// A day with a chat app. A longer one tells no more: its minutes are alike.
    var day: DayDemo {
        switch self {
        case .small: .small
        case .telling: DayDemo(minutes: 1)
        case .full: DayDemo()
        }
    }

    /// The rows with pictures. They have separate divisors, because a thousand photographs take
    /// minutes.
    var pictures: [PictureRow] {
        switch self {
        case .small: PictureRow.all(scale: 10)
        case .telling: PictureRow.all(scale: 1, scrollScale: 10)
        case .full: PictureRow.all(scale: 1)
        }
    }
}
