import Testing

@testable import TidemarkImages

struct TrafficTests {
    private func id(_ number: Int) -> PictureID {
        PictureID(address: "\(number)", version: nil)
    }

    private func job(_ number: Int, _ kind: Traffic.Kind = .download, bytes: Int = 0) -> Traffic.Job
    {
        Traffic.Job(number: number, kind: kind, id: id(number), bytes: bytes)
    }

    private func queue(
        _ traffic: inout Traffic, _ number: Int, _ priority: PicturePriority = .visible
    ) -> [Traffic.Effect] {
        _ = traffic.step(.joined(id(number), priority))
        return traffic.step(.queued(job(number)))
    }

    @Test func `no more run than may`() {
        var traffic = Traffic(PictureTraffic(downloads: 2))
        #expect(queue(&traffic, 1) == [.start(1)])
        #expect(queue(&traffic, 2) == [.start(2)])
        #expect(queue(&traffic, 3) == [])
        #expect(traffic.step(.ended(1)) == [.start(3)])
    }

    @Test func `the most urgent is next, and of these who came first`() {
        var traffic = Traffic(PictureTraffic(downloads: 1, prefetches: 1))
        _ = queue(&traffic, 0)
        for (number, priority) in [
            (1, PicturePriority.prefetch), (2, .nearby), (3, .visible), (4, .visible), (5, .nearby),
        ] {
            _ = queue(&traffic, number, priority)
        }
        var order: [Traffic.Effect] = []
        var running = 0
        while let next = traffic.step(.ended(running)).first {
            order.append(next)
            if case .start(let number) = next { running = number }
        }
        #expect(order == [3, 4, 2, 5, 1].map { .start($0) })
    }

    @Test func `one that waits is raised when it is seen, and lowered when it is not`() {
        var traffic = Traffic(PictureTraffic(downloads: 1, prefetches: 1))
        _ = queue(&traffic, 0)
        for number in 1...3 { _ = queue(&traffic, number, .prefetch) }
        _ = traffic.step(.joined(id(3), .visible))
        _ = traffic.step(.joined(id(2), .visible))
        _ = traffic.step(.left(id(3), .visible))
        #expect(traffic.priority(id(3)) == .prefetch)
        #expect(traffic.step(.ended(0)) == [.start(2)])
        #expect(traffic.step(.ended(2)) == [.start(1)])
    }

    @Test func `prefetching leaves room for what is seen`() {
        var traffic = Traffic(PictureTraffic(downloads: 3, prefetches: 1))
        #expect(queue(&traffic, 1, .prefetch) == [.start(1)])
        #expect(queue(&traffic, 2, .prefetch) == [])
        #expect(queue(&traffic, 3) == [.start(3)])
        #expect(traffic.step(.joined(id(2), .nearby)) == [.start(2)], "it counts as what it is now")
    }

    @Test func `one that is given up takes no turn`() {
        var traffic = Traffic(PictureTraffic(downloads: 1, prefetches: 1))
        _ = queue(&traffic, 0)
        _ = queue(&traffic, 1)
        _ = queue(&traffic, 2)
        #expect(traffic.step(.withdrawn(1)) == [])
        #expect(traffic.step(.ended(0)) == [.start(2)])
        #expect(traffic.waitingCount == 0)
    }

    @Test func `decodes share their bytes, and a large one runs alone`() {
        var traffic = Traffic(PictureTraffic(decodes: 4, decodeBytes: 100))
        #expect(traffic.step(.queued(job(1, .decode, bytes: 60))) == [.start(1)])
        #expect(traffic.step(.queued(job(2, .decode, bytes: 60))) == [])
        #expect(traffic.step(.queued(job(3, .decode, bytes: 30))) == [], "behind the one before it")
        #expect(traffic.step(.ended(1)) == [.start(2), .start(3)])
        #expect(traffic.step(.queued(job(4, .decode, bytes: 500))) == [])
        _ = traffic.step(.ended(2))
        #expect(traffic.step(.ended(3)) == [.start(4)])
        #expect(traffic.step(.queued(job(5, .decode, bytes: 1))) == [])
        #expect(traffic.step(.ended(4)) == [.start(5)])
    }

    @Test func `at the bound the least urgent is refused, the newest of these`() {
        var traffic = Traffic(PictureTraffic(downloads: 1, prefetches: 1, waiting: 3))
        _ = queue(&traffic, 0)
        _ = queue(&traffic, 1, .prefetch)
        _ = queue(&traffic, 2, .prefetch)
        _ = queue(&traffic, 3, .visible)
        #expect(queue(&traffic, 4, .visible) == [.refuse(2)])
        #expect(queue(&traffic, 5, .prefetch) == [.refuse(5)])
        #expect(traffic.waitingCount == 3)
    }

    @Test func `nothing is lost or run twice, and bounds hold, whatever happens`() {
        for seed in 1...40 as ClosedRange<UInt64> {
            var dice = PictureGenerator(seed: seed)
            let limits = PictureTraffic(
                downloads: 3, prefetches: 1, decodes: 2, decodeBytes: 50, waiting: 20)
            var traffic = Traffic(limits)
            var waiting: Set<Int> = []
            var running: [Int: Traffic.Job] = [:]
            var jobs: [Int: Traffic.Job] = [:]
            var wants: [(PictureID, PicturePriority)] = []
            func check(_ effects: [Traffic.Effect]) {
                for effect in effects {
                    switch effect {
                    case .start(let number):
                        #expect(waiting.remove(number) != nil, "started once, seed \(seed)")
                        running[number] = jobs[number]
                    case .refuse(let number):
                        #expect(waiting.remove(number) != nil, "refused once, seed \(seed)")
                    }
                }
                let decodes = running.values.filter { $0.kind == .decode }
                #expect(running.count - decodes.count <= limits.downloads)
                #expect(decodes.count <= limits.decodes)
                let bytes = decodes.reduce(0) { $0 + $1.bytes }
                #expect(bytes <= limits.decodeBytes || decodes.count == 1, "seed \(seed)")
                #expect(traffic.waitingCount == waiting.count && waiting.count <= limits.waiting)
                #expect(traffic.runningCount == running.count)
            }
            for number in 0..<500 {
                let priority = PicturePriority.allCases[Int(dice.next() % 3)]
                switch dice.next() % 6 {
                case 0, 1:
                    let picture = id(Int(dice.next() % 12))
                    let job = Traffic.Job(
                        number: number, kind: dice.next() % 2 == 0 ? .decode : .download,
                        id: picture, bytes: Int(dice.next() % 70))
                    jobs[number] = job
                    waiting.insert(number)
                    check(traffic.step(.queued(job)))
                case 2:
                    wants.append((id(Int(dice.next() % 12)), priority))
                    check(traffic.step(.joined(wants[wants.count - 1].0, priority)))
                case 3 where !wants.isEmpty:
                    let want = wants.remove(at: Int(dice.next() % UInt64(wants.count)))
                    check(traffic.step(.left(want.0, want.1)))
                case 4:
                    guard let one = waiting.min() else { continue }
                    waiting.remove(one)
                    check(traffic.step(.withdrawn(one)))
                default:
                    guard let one = running.keys.min() else { continue }
                    running[one] = nil
                    check(traffic.step(.ended(one)))
                }
            }
            while let one = running.keys.min() {
                running[one] = nil
                check(traffic.step(.ended(one)))
            }
            #expect(waiting.isEmpty, "all come to their turn, seed \(seed)")
        }
    }
}
