import BackgroundTasks
import Foundation
import Synchronization
import Testing
import Tidemark
import os

@testable import TidemarkApp

/// Runs the real adapter on a scheduler that the tests control.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `A task of the system's` {
    private let refresh = BackgroundTask(
        "app.refresh", .refresh, every: .seconds(3_600), time: .seconds(25))

    private func completions(_ task: BGTask?) async -> [Bool] {
        while task?.stubCompletions.isEmpty == true { await Task.yield() }
        return task?.stubCompletions ?? []
    }

    @Test func `is three calls of an app's`() async throws {
        BGTaskScheduler.stubReset()
        let work = BackgroundWork([.outbox: { true }])
        let refresh = BackgroundTask(
            "app.refresh", .refresh, every: .seconds(3_600), time: .seconds(25))
        refresh.register { work }
        try refresh.schedule()
        #expect(BGTaskScheduler.stubRequests.count == 1)
        #expect(await completions(BGTaskScheduler.stubRun("app.refresh")) == [true])
    }

    @Test(arguments: [true, false]) func `does its work, and asks for the next one`(
        isDone: Bool
    ) async throws {
        BGTaskScheduler.stubReset()
        #expect(refresh.register { BackgroundWork([.outbox: { isDone }]) })
        #expect(BGTaskScheduler.stubRequests.isEmpty)
        let task = BGTaskScheduler.stubRun("app.refresh")
        #expect(await completions(task) == [isDone])
        let request = try #require(BGTaskScheduler.stubRequests.first)
        #expect(request.identifier == "app.refresh" && request is BGAppRefreshTaskRequest)
        let wait = try #require(request.earliestBeginDate).timeIntervalSinceNow
        #expect((3_500...3_600).contains(wait))
    }

    @Test func `ends when the system wants it to, once`() async {
        BGTaskScheduler.stubReset()
        let stopped = Mutex(false)
        #expect(
            refresh.register {
                BackgroundWork([
                    .feeds: {
                        while !Task.isCancelled { await Task.yield() }
                        stopped.withLock { $0 = true }
                        return true
                    }
                ])
            })
        let task = BGTaskScheduler.stubRun("app.refresh")
        task?.expirationHandler?()
        #expect(await completions(task) == [false])
        while !stopped.withLock(\.self) { await Task.yield() }
        #expect(task?.stubCompletions == [false])
    }

    @Test func `asks for a network, and for power`() throws {
        BGTaskScheduler.stubReset()
        for needsPower in [true, false] {
            try BackgroundTask(
                "app.history", .processing(needsPower: needsPower), every: .seconds(60),
                time: .seconds(180)
            ).schedule()
            let request = BGTaskScheduler.stubRequests.last as? BGProcessingTaskRequest
            #expect(request?.requiresExternalPower == needsPower)
            #expect(request?.requiresNetworkConnectivity == true)
        }
    }

    @Test func `says where it may not`() {
        BGTaskScheduler.stubReset(refuses: true)
        #expect(!refresh.register { BackgroundWork([:]) })
        #expect(throws: BGTaskScheduler.StubRefused.self) { try refresh.schedule() }
    }
}

struct `The system's log` {
    @Test func `shows what names nobody, and hides the rest`() {
        let sink = LogSink.system(Logger(subsystem: "app", category: "tidemark"))
        sink.stubLog(.debug, "listen stream opened")
        sink.stubLog(.fault, "users/ada")
        #expect(
            Logger.stubLines == [
                "tidemark debug listen stream opened", "tidemark fault <private>",
            ])
    }
}
