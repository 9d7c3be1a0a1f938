import TidemarkModel

/// The part of a call's page about functions: the commit that caused a delivery, and what the
/// function then did.
struct TrafficRelationsPart {
    let entry: TrafficEntry
    let relations: TrafficRelations

    @HTMLBuilder var body: HTML {
        if let cause = relations.cause {
            Tag.p {
                "Made while "
                link(cause, "\(cause.client ?? "a function") handled \(cause.asked)")
                ". That function probably made this call."
            }
        }
        if entry.links.event != nil { delivery }
        if !relations.deliveries.isEmpty { table("Functions that were told", relations.deliveries) }
    }

    @HTMLBuilder private var delivery: HTML {
        Tag.p {
            if let commit = relations.commit {
                "Caused by "
                link(commit, "\(commit.method) \(commit.id)")
                " of \(commit.caller.isEmpty ? "an unnamed client" : commit.caller)."
            } else {
                "The commit is not in this list: it is old, or no client made it."
            }
        }
        if relations.calls.isEmpty {
            Tag.p { "No call of the function was seen." }
        } else {
            Tag.p {
                """
                The function made \(relations.calls.count.grouped) calls, probably, with \
                \(sum(\.reads).grouped) reads, \(sum(\.writes).grouped) writes and \
                \(sum(\.deletes).grouped) deletes: $\(price) for 100,000 such events.
                """
            }
            table("Calls of the function", relations.calls)
        }
    }

    private func sum(_ figure: KeyPath<TrafficEntry, Int>) -> Int {
        relations.calls.reduce(0) { $0 + $1[keyPath: figure] }
    }

    /// The price of the reads for 100,000 events, in US dollars and cents.
    private var price: String {
        let cents = (Double(sum(\.reads)) * ReadPrices.multiRegion.per100000 * 100).rounded()
        let whole = Int(cents)
        let rest = whole % 100
        return "\(whole / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    private func link(_ entry: TrafficEntry, _ text: String) -> HTML {
        Tag.a(.href(PagePath(["traffic", "\(entry.id)"]))) { Tag.bdi { text } }
    }

    private func table(_ title: String, _ entries: [TrafficEntry]) -> HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label(title)) {
            Tag.table {
                Tag.caption { title }
                Tag.thead {
                    Tag.tr {
                        for name in ["Call", "Request", "Client", "Reads", "Time", "Outcome"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody {
                    for entry in entries {
                        Tag.tr {
                            Tag.th(.scope("row")) { link(entry, entry.method) }
                            Tag.td(.class("asked")) { Tag.bdi { entry.asked } }
                            Tag.td { entry.caller }
                            Tag.td(.class("number")) { entry.reads.grouped }
                            Tag.td(.class("number")) { entry.timeText }
                            Tag.td(.class(entry.outcome == "OK" ? "ok" : "outcome")) {
                                entry.outcome ?? "open"
                            }
                        }
                    }
                }
            }
        }
    }
}
