public import ExampleKit
import Tidemark

extension Example {
    /// Journey 5: a sign-up that cannot be left half done.
    public static let homes: Example = {
        var homes = Example(
            name: "homes", title: "Homes",
            problem: """
                Signing in made the account, and the profile came at the end. Ended in between, the app \
                waited for a profile that nobody would ever write.
                """,
            promise: """
                The sign-up is in a journal before the account exists, and what is typed before the next \
                step is shown. Whatever ends the app, the next launch goes on where it stopped.
                """,
            before: HomesBefore.self, after: HomesAfter.self, seed: HomesWorld.seed,
            others: HomesWorld.others, truth: HomesWorld.truth, story: story)
        homes.isUsedBefore = false
        homes.hasPhotos = true
        return homes
    }()

    private static let story = [
        StoryScene(
            "Ada opens the app for the first time, on 3G.", [.network(.threeG), .launch],
            seconds: 4),
        StoryScene("She signs in with Apple.", [.tap("begin")], seconds: 5),
        StoryScene("She types her name.", [.tap("name", text: "Ada")], seconds: 2),
        StoryScene("A call comes in, and the system ends the app.", [.kill], seconds: 2),
        StoryScene(
            "She opens it again. One phone knows what she had typed; the other waits for a profile.",
            [.launch], seconds: 7),
        StoryScene("She names her home.", [.tap("home", text: "Elm Street 4")], seconds: 1),
        StoryScene(
            "The app is killed while account and profile are being made, and opened again.",
            [.kill, .launch], seconds: 9, until: .fresh),
        StoryScene("Two neighbours join.", [.others(2)], seconds: 4),
        StoryScene(
            "Airplane mode, and the app is opened.", [.kill, .airplane(true), .launch], seconds: 5),
        StoryScene(
            "A good network again. One phone is at home; the other still waits.",
            [.airplane(false), .network(.healthy)], seconds: 5, until: .fresh),
        StoryScene(
            "On 3G, she chooses a picture for her profile.", [.network(.threeG), .tap("photo")],
            seconds: 2),
        StoryScene(
            "The app is killed while the picture is on its way, and opened again.",
            [.kill, .launch], seconds: 8),
        StoryScene("The picture was on disk, and arrives.", [], seconds: 4),
    ]
}

/// The server's data and the other users of the story.
enum HomesWorld {
    static let names = [
        "Bo", "Cleo", "Dan", "Edda", "Finn", "Gro", "Hal", "Ines", "Jon", "Kim", "Lea", "Mats",
    ]

    static func seed(_ project: PhoneProject) async throws {
        for number in 0..<6 {
            let time = project.dayStart.advanced(by: .seconds(-86_400 * (6 - number)))
            try await write(number, to: project, joined: time, updated: time)
        }
    }

    static func others(_ project: PhoneProject, _ n: Int) async throws {
        let now = FieldValue.serverTimestamp()
        try await write(6 + n, to: project, joined: now, updated: now)
    }

    private static func write(
        _ number: Int, to project: PhoneProject, joined: Any, updated: Any
    ) async throws {
        let name = names[number % names.count]
        try await project.firestore.document("\(Paths.members)/m\(number)")
            .setData(["name": name, Paths.joined: joined, Paths.updated: updated])
    }

    static func truth(_ project: PhoneProject) async throws -> [String] {
        let answer = try await project.firestore.collection(Paths.members)
            .order(by: Paths.joined, descending: true).limit(to: Paths.window)
            .getDocuments(source: .server)
        return answer.documents.map(\.documentID)
    }
}
