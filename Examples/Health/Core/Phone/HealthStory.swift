public import ExampleKit
import Foundation
import Tidemark
import TidemarkHealth

extension Example {
    public static let health = {
        var example = HealthProject.example
        // The story is about the first launch.
        example.isUsedBefore = false
        return example
    }()
}

extension HealthProject {
    fileprivate static let example = Example(
        name: "health", title: "Health",
        problem:
            "Ninety days of hours were stored in one go before the screen could be used, and the "
            + "steps of a day came from a second source that counted watch and phone both.",
        promise: "The newest seven days first, the rest behind the screen, newest first, and never "
            + "from the beginning again. All figures are of the same hours.",
        before: HealthBefore.self, after: HealthAfter.self,
        seed: { _ in },
        others: { try await HealthProject($0).act($1) },
        secondDevice: [
            StoryAction("days", "Send the days of an old phone") {
                try await HealthProject($0).sendOldDays()
            }
        ],
        truth: { HealthProject($0).days(of: 7) },
        story: [
            StoryScene(
                "An old phone has sent its days. This one holds nothing but what its own health "
                    + "store gives.", [.network(.healthy), .secondDevice("days"), .launch],
                seconds: 10, until: .content),
            StoryScene("A walk: the figures follow it.", [.tap("walk")], seconds: 5),
            StoryScene(
                "The app is killed while it works, and launched again.", [.kill, .launch],
                seconds: 8, until: .content),
            StoryScene(
                "Without a network: the screen is the same.", [.airplane(true), .kill, .launch],
                seconds: 6, until: .content),
            StoryScene("Another walk, offline.", [.tap("walk")], seconds: 5),
            StoryScene(
                "On 3G the days go on where they were, and nothing on the screen waits for them.",
                [.airplane(false), .network(.threeG)], seconds: 12),
        ])
}

/// The server's data and the other devices of the story.
struct HealthProject {
    private let collection: CollectionReference
    private let firstDay: HealthDay
    private let today: HealthDay

    init(_ project: PhoneProject) {
        collection = project.firestore.collection("users/\(project.user.id)/days")
        firstDay = Self.day(project.dayStart)
        today = Self.day(project.now)
    }

    private static func day(_ time: Timestamp) -> HealthDay {
        HealthDay(
            seconds: time.seconds,
            offset: TimeZone.current.secondsFromGMT(for: time.dateValue()) / 60)
    }

    /// Returns the last days of the phones, newest first.
    func days(of count: Int) -> [String] {
        (0..<Int64(count)).map { "\(HealthDay(number: today.number - $0))" }
    }

    /// Sends days before the phone's own history, each with one hour of steps.
    func sendOldDays() async throws {
        let batch = collection.firestore.batch()
        for number in 1...10 {
            add(
                HealthDay(number: firstDay.number - Int64(PhoneHealth.days + number)), steps: 400,
                to: batch)
        }
        try await batch.commit()
    }

    /// Sends an old day again, as another device would.
    func act(_ number: Int) async throws {
        let batch = collection.firestore.batch()
        let day = firstDay.number - Int64(PhoneHealth.days + 1 + number % 10)
        add(HealthDay(number: day), steps: Int64(500 + number), to: batch)
        try await batch.commit()
    }

    private func add(_ day: HealthDay, steps: Int64, to batch: WriteBatch) {
        let noon = day.number * 86_400 + 43_200
        batch.setData(
            [
                "day": Timestamp(seconds: day.number * 86_400, nanoseconds: 0),
                "updatedAt": FieldValue.serverTimestamp(),
                "kinds": [
                    "steps": [
                        "start": [noon], "offset": [Int64(0)], "sum": [steps * 1_000_000],
                        "lastTime": [noon + 3_599],
                    ]
                ],
            ], forDocument: collection.document("\(day)"))
    }
}
