/// How much of the journeys is played.
enum DemoExtent: Sendable {
    /// A tenth of everything, for a build for debugging.
    case small
    /// Every row, on the networks that tell most of it.
    case telling
    /// Every row on every network.
    case full

    /// Items of the three clients. `make demo` shows their table within seconds; of more items it would
    /// come later.
    func ofFirstTable(_ history: History) -> History {
        self == .full ? history : history.prefix(2_000)
    }

    /// A slow network shows what waiting costs, and one that comes back what is there without it.
    var chats: [DemoNetwork] {
        self == .telling ? [.threeG, .offline] : DemoNetwork.allCases
    }

    /// Messages of the longest chat, of which the old app reads all on each network.
    ///
    /// `small` plays a tenth of it: 2,000, of which 150 are still 90 % fewer.
    var longChat: Int {
        switch self {
        case .small: 20_000
        case .telling: 10_000
        case .full: 100_000
        }
    }

    /// What is written must survive calls that fail.
    var messages: [DemoNetwork] {
        self == .telling ? [.failing, .offline] : DemoNetwork.allCases
    }

    /// A device works on its file, whatever the network.
    var health: [DemoNetwork] { self == .full ? DemoNetwork.allCases : [.healthy] }

    /// Whether ten years of health are imported too, from 1.2 GB.
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

    /// Each row by a divisor of its own: a thousand photographs take minutes.
    var pictures: [PictureRow] {
        switch self {
        case .small: PictureRow.all(scale: 10)
        case .telling: PictureRow.all(scale: 1, scrollScale: 10)
        case .full: PictureRow.all(scale: 1)
        }
    }
}
