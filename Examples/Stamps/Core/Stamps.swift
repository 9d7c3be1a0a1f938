public import ExampleKit
import Tidemark

extension Example {
    /// Journey 1: a launch that nothing can block.
    public static let stamps: Example = {
        var stamps = Example(
            name: "stamps", title: "Stamps",
            problem: """
                The app checked the connection before it showed anything. With a server that hangs, \
                everything waited behind the check.
                """,
            promise: """
                What the device holds is on the screen first, whatever the network does. News, rank and \
                diagnosis follow.
                """,
            before: StampsBefore.self, after: StampsAfter.self, hasAccount: true,
            seed: StampsWorld.seed, others: StampsWorld.others,
            secondDevice: [
                StoryAction("collect", "Collect ten stamps") { project in
                    try await project.firestore.collection(Paths.users).document(project.user.id)
                        .updateData([Paths.total: FieldValue.increment(Int64(10))])
                }
            ],
            truth: StampsWorld.truth,
            story: story)
        stamps.hasPhotos = true
        return stamps
    }()

    private static let story = [
        StoryScene(
            """
            A good network. Both phones were used yesterday, and are used again.
            """, [.launch], seconds: 6, until: .content),
        StoryScene("Three new stamps are issued.", [.others(3)], seconds: 3),
        StoryScene(
            "On 3G, a stamp of the user's own is added with a photo.",
            [.network(.threeG), .tap("add", text: "Penny Black, Britain")], seconds: 2),
        StoryScene(
            """
            Both apps are killed while the photo is on its way, and opened again. One held the photo \
            in memory.
            """, [.kill, .launch], seconds: 8, until: .content),
        StoryScene("The other had it on disk: stamp and photo arrive.", [], seconds: 8),
        StoryScene(
            """
            The server hangs: each call takes 18 s. Both apps are ended, and opened again. Look \
            which one shows its stamps.
            """, [.kill, .network(.slow), .launch], seconds: 8),
        StoryScene(
            """
            Killed in the middle, and opened where packets vanish: a train, a cellar.
            """, [.kill, .network(.blackhole), .launch], seconds: 8),
        StoryScene(
            "Airplane mode, and four more stamps are issued meanwhile.",
            [.kill, .network(.healthy), .airplane(true), .launch, .others(4)], seconds: 5),
        StoryScene(
            "The network is back: one phone goes on by itself.", [.airplane(false)],
            seconds: 5),
        StoryScene(
            "Both are opened once more on a good network.", [.kill, .launch], seconds: 6,
            until: .content),
    ]
}

/// The server's data and the other users of the story.
enum StampsWorld {
    static let stamps = 300
    static let users = 240
    /// The number of stamps of the phone's user; 200 others have more.
    static let ownStamps = 40

    private static let countries = [
        "Åland", "Bhutan", "Chile", "Denmark", "Estonia", "Fiji", "Ghana", "Hungary", "Iceland",
        "Japan", "Kenya", "Latvia",
    ]
    private static let motifs = [
        "Lighthouse", "Steam train", "Kingfisher", "Alpine flower", "Old town", "Comet",
        "Sailing ship",
    ]

    private static func fields(of number: Int, created: Any, updated: Any) -> [String: Any] {
        [
            "name": "\(motifs[number % motifs.count]) No. \(number + 1)",
            "country": countries[number % countries.count], "picture": "\(number)",
            Paths.created: created, Paths.updated: updated,
        ]
    }

    static func seed(_ project: PhoneProject) async throws {
        let batch = project.firestore.batch()
        for number in 0..<stamps {
            let time = project.dayStart.advanced(by: .seconds(-600 * (stamps - number)))
            batch.setData(
                fields(of: number, created: time, updated: time),
                forDocument: project.firestore.document("\(Paths.stamps)/s\(number)"))
        }
        try await batch.commit()
        let people = project.firestore.batch()
        for number in 0..<users {
            people.setData(
                ["name": "Collector \(number + 1)", Paths.total: number + 1],
                forDocument: project.firestore.document("\(Paths.users)/u\(number)"))
        }
        people.setData(
            ["name": project.user.name, Paths.total: ownStamps],
            forDocument: project.firestore.document("\(Paths.users)/\(project.user.id)"))
        try await people.commit()
    }

    static func others(_ project: PhoneProject, _ n: Int) async throws {
        let now = FieldValue.serverTimestamp()
        try await project.firestore.document("\(Paths.stamps)/n\(n)")
            .setData(fields(of: stamps + n, created: now, updated: now))
    }

    static func truth(_ project: PhoneProject) async throws -> [String] {
        let answer = try await project.firestore.collection(Paths.stamps)
            .order(by: Paths.created, descending: true).limit(to: Paths.window)
            .getDocuments(source: .server)
        return answer.documents.map(\.documentID)
    }
}
