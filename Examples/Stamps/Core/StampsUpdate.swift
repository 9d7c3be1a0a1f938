public import ExampleKit
import Tidemark

extension Example {
    /// The day on which the app of journey 1 switches from FirebaseFirestore.
    public static let update: Example = {
        var example = stamps
        example.name = "update"
        example.title = "Stamps: the day you switch"
        example.problem = """
            The app was updated overnight, and the new version has no FirebaseFirestore. Its cache \
            is on the phone, but the app as it was cannot read it: nothing is shown without a \
            network, and the first screen is billed again.
            """
        example.promise = """
            The cache is taken over. The first launch shows what the last one before the update \
            showed, and reads what changed since.
            """
        example.isUsedBefore = false
        example.rulesOf = stamps.name
        example.secondDevice = []
        example.oldUse = OldUse(
            queries: { project in
                let stamps = project.firestore.collection(Paths.stamps)
                return [stamps.order(by: Paths.created, descending: true)]
            },
            documents: { project in
                [project.firestore.document("\(Paths.users)/\(project.user.id)")]
            })
        example.story = [
            StoryScene(
                "The first launch after the update is in airplane mode.",
                [.airplane(true), .launch], seconds: 7),
            StoryScene(
                "Three new stamps are issued, and the network is back.",
                [.others(3), .airplane(false)], seconds: 6),
            StoryScene(
                """
                The server hangs: each call takes 18 s. Both apps are ended, and opened again.
                """, [.kill, .network(.slow), .launch], seconds: 8),
            StoryScene(
                "Both are opened once more on a good network.",
                [.kill, .network(.healthy), .launch], seconds: 8, until: .fresh),
        ]
        return example
    }()
}
