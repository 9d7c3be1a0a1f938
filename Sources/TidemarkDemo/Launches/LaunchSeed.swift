import ExampleKit
import Foundation
import StampsCore
import Tidemark
import TidemarkModel
import TidemarkPhones

/// The data on the server and on the phones before the launches. Two users have used the app for
/// some time, one as it was and one on Tidemark.
struct LaunchSeed {
    private static let users = 5_000
    private static let ownStamps = 2_000
    /// The limit for the first use, which loads all stamps.
    private static let patience = Duration.seconds(600)

    /// The number of stamps on the server.
    let documents: Int

    /// Fills the server, and plays the first use of both phones on a healthy network.
    func phones(
        _ ground: LaunchGround, _ pictures: LaunchPictures
    ) async throws -> [PhoneSide: StampsPhone] {
        ProgressLine.show("\(documents) documents on the server")
        let direct = DirectServer(ground.server)
        try await direct.play(stamps, together: 500)
        try await direct.play(Self.people, together: 500)
        var phones: [PhoneSide: StampsPhone] = [:]
        for side in PhoneSide.allCases {
            var user = PhoneUser(id: "", name: "Ada", email: "ada@\(side.rawValue).test")
            let secrets = ground.folder.appendingPathComponent("desk-\(side.rawValue)").path
            user.id = try await user.signUp(at: ground.gates.direct.accounts, secrets: secrets)
            try await direct.play([Self.person(user.id, name: user.name, stamps: Self.ownStamps)])
            phones[side] = StampsPhone(
                side: side, folder: ground.folder, user: user, pictures: pictures.place)
        }
        await direct.close()
        ProgressLine.show("\(documents) documents on the device")
        for (side, phone) in phones {
            let isComplete = try await FirstUse.play(
                .stamps, side: side, settings: phone.settings(ground.gates.direct, "preparation"),
                patience: Self.patience)
            if !isComplete { throw FirstUseFailed(side: side) }
        }
        return phones
    }

    private var stamps: [Mutation] {
        (0..<documents).map { number in
            let time = Value.timestamp(
                Timestamp(seconds: 1_700_000_000 + Int64(number), nanoseconds: 0))
            return Mutation(
                path: DocumentPath(unchecked: "stamps/s\(number)"),
                .set([
                    "name": .string("Stamp \(number)"), "country": .string("Fiji"),
                    "picture": .string("\(number)"), "createdAt": time, "updatedAt": time,
                ]))
        }
    }

    private static var people: [Mutation] {
        (0..<users).map { person("c\($0)", name: "Collector \($0)", stamps: $0) }
    }

    private static func person(_ id: String, name: String, stamps: Int) -> Mutation {
        Mutation(
            path: DocumentPath(unchecked: "users/\(id)"),
            .set(["name": .string(name), "totalStamps": .integer(Int64(stamps))]))
    }
}

private struct FirstUseFailed: Error, CustomStringConvertible {
    let side: PhoneSide
    var description: String { "The app \(side.rawValue) was not ready at its first use." }
}
