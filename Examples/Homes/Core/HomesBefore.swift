// tidemark:ignore-file unbounded-listener the app as it was: lint finds what it did

public import ExampleKit
import Foundation
import Tidemark
import TidemarkApp

/// The old app. It creates the account first and the profile at the end of the onboarding. Its
/// launch waits for the profile of the signed-in user.
public final class HomesBefore: PhoneApp {
    private let phone: PhoneEnvironment
    private let stack: TidemarkStack
    private let shown: ScreenModel<HomesModel>
    private let tasks = AppTasks()

    public var screens: AsyncStream<Screen> { shown.screens }

    public init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        shown = ScreenModel(HomesModel(), now: phone.now) { $0.screen(now: $1) }
        stack = try TidemarkStack(HomesAfter.settings(phone.settings))
        tasks.begin(self) { await $0.launch() }
    }

    private func launch() async {
        guard case .signedIn(let user) = await stack.identity.load() else {
            return shown.change { $0.place = .signIn }
        }
        shown.change { $0.place = .settingUp }
        await waitForProfile(user)
    }

    /// Waits until the profile exists, without a timeout.
    private func waitForProfile(_ user: UserID) async {
        let document = stack.firestore.collection(Paths.users).document(user.text)
        do {
            for try await snapshot in document.snapshots where snapshot.exists {
                guard let profile = try? snapshot.data(as: Profile.self) else { continue }
                return show(profile)
            }
        } catch { return }
    }

    private func show(_ profile: Profile) {
        shown.change { model in
            (model.name, model.home) = (profile.name, profile.home)
            model.place = .home
        }
        tasks.begin(self) { await $0.listen() }
    }

    /// Listens to the whole collection, as every screen of the old app did.
    private func listen() async {
        let members = stack.firestore.collection(Paths.members)
            .order(by: Paths.joined, descending: true)
        do {
            for try await snapshot in members.snapshots {
                shown.change { model in
                    model.lines = snapshot.documents.compactMap { document in
                        (try? document.data(as: Member.self)).map {
                            HomesModel.Line(
                                id: document.documentID, member: $0,
                                isPending: document.metadata.hasPendingWrites)
                        }
                    }
                    model.state = .quiet
                }
            }
        } catch {
            shown.change { $0.state = .failed(reason: "Something went wrong.", wayOut: nil) }
        }
    }

    // MARK: User actions

    public func tap(_ id: String, _ text: String) async {
        switch id {
        case "begin":
            shown.change { $0.place = .opening }
            tasks.begin(self) { await $0.makeAccount() }
        case "name":
            shown.change { model in
                model.name = text
                model.place = .onboarding(step: 1)
            }
        case "home": tasks.begin(self) { await $0.writeProfile(home: text) }
        default: break
        }
    }

    private func makeAccount() async {
        let user = phone.settings.user
        do throws(AccountError) {
            _ = try await stack.accounts?.signIn(with: user.appleCredential)
            shown.change { model in
                model.message = nil
                model.place = .onboarding(step: 0)
            }
        } catch {
            shown.change { model in
                model.message = error.message
                model.place = .signIn
            }
        }
    }

    /// Writes the profile through the durable queue. Does not wait for the server.
    private func writeProfile(home: String) async {
        guard let user = stack.identity.user else { return }
        let profile = Profile(name: shown.value.name, home: home)
        do {
            _ = try await stack.firestore.collection(Paths.users).document(user.text)
                .enqueueSetData(["name": profile.name, "home": profile.home])
            show(profile)
        } catch { shown.change { $0.message = "Something went wrong." } }
    }

    public func readPlan() async -> [String] {
        [
            "Wait for the profile: 1 read.",
            "Listen to everybody in the home again: a read for each.",
        ]
    }

    public func close() async {
        tasks.cancel()
        await stack.close()
        shown.finish()
    }
}
