import Testing
import TidemarkModel

@testable import TidemarkPipelines

struct `Functions of times` {
    @Test func `add, subtract and compare times`() {
        check(
            """
            current_timestamp() => ts'2027-01-15T08:00:00Z'
            timestamp_add(ts'2026-01-01T00:00:00Z', 'day', 1) => ts'2026-01-02T00:00:00Z'
            timestamp_add(ts'2026-01-01T00:00:00Z', 'microsecond', -1) => ts'2025-12-31T23:59:59.999999Z'
            timestamp_add(ts'2026-01-01T00:00:00Z', 'fortnight', 1) => error 'unknown unit'
            timestamp_add(ts'9999-12-31T00:00:00Z', 'day', 2) => error 'outside'
            timestamp_add(ts'2026-01-01T00:00:00Z', 'day', 9223372036854775807) => error
            timestamp_add(null, 'day', 1) => null
            timestamp_add('a', 'day', 1) => error
            timestamp_subtract(ts'2026-01-01T00:00:00Z', 'hour', 2) => ts'2025-12-31T22:00:00Z'
            timestamp_sub(ts'2026-01-01T00:00:00Z', 'minute', 2) => ts'2025-12-31T23:58:00Z'
            timestamp_subtract(ts'0001-01-01T00:00:00Z', 'second', 1) => error
            timestamp_diff(ts'2026-01-01T02:34:56Z', ts'2026-01-01T00:00:00Z', 'hour') => 2
            timestamp_diff(ts'2026-01-01T02:34:56Z', ts'2026-01-01T00:00:00Z', 'minute') => 154
            timestamp_diff(ts'2026-01-01T00:00:00Z', ts'2026-01-01T02:34:56Z', 'hour') => -2
            timestamp_to_unix_seconds(ts'1969-12-31T23:59:59.5Z') => -1
            timestamp_to_unix_millis(ts'1993-04-28T12:01:00.654321Z') => 735998460654
            timestamp_to_unix_micros(ts'1993-04-28T12:01:00.654321Z') => 735998460654321
            unix_seconds_to_timestamp(735998460) => ts'1993-04-28T12:01:00Z'
            unix_millis_to_timestamp(-1) => ts'1969-12-31T23:59:59.999Z'
            unix_micros_to_timestamp(1) => ts'1970-01-01T00:00:00.000001Z'
            unix_seconds_to_timestamp(9223372036854775807) => error
            unix_seconds_to_timestamp(1.5) => error
            """)
    }

    /// 28 November 2026 is a Saturday.
    @Test func `cut times to periods`() {
        check(
            """
            timestamp_trunc(ts'2026-11-28T13:42:39.654321Z', 'microsecond') => ts'2026-11-28T13:42:39.654321Z'
            timestamp_trunc(ts'2026-11-28T13:42:39.654321Z', 'millisecond') => ts'2026-11-28T13:42:39.654Z'
            timestamp_trunc(ts'2026-11-28T13:42:39.654Z', 'second') => ts'2026-11-28T13:42:39Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'minute') => ts'2026-11-28T13:42:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'hour') => ts'2026-11-28T13:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'day') => ts'2026-11-28T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'week') => ts'2026-11-22T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'week(monday)') => ts'2026-11-23T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'week(saturday)') => ts'2026-11-28T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'isoweek') => ts'2026-11-23T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'month') => ts'2026-11-01T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'quarter') => ts'2026-10-01T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T13:42:39Z', 'year') => ts'2026-01-01T00:00:00Z'
            timestamp_trunc(ts'2027-01-02T00:00:00Z', 'isoyear') => ts'2025-12-29T00:00:00Z'
            timestamp_trunc(ts'2026-11-28T03:00:00Z', 'day', 'America/New_York') => ts'2026-11-27T05:00:00Z'
            timestamp_trunc(ts'2026-11-28T03:00:00Z', 'day', '+05:30') => ts'2026-11-27T18:30:00Z'
            timestamp_trunc(ts'2026-11-01T12:00:00Z', 'day', 'America/New_York') => ts'2026-11-01T04:00:00Z'
            timestamp_trunc(ts'2026-11-28T03:00:00Z', 'day', 'Nowhere/None') => error 'unknown time zone'
            timestamp_trunc(ts'2026-11-28T03:00:00Z', 'dayofweek') => error
            timestamp_trunc(ts'2026-11-28T03:00:00Z', 'age') => error 'unknown part'
            timestamp_trunc(null, 'day') => null
            """)
    }

    @Test func `show the parts of a time`() {
        check(
            """
            timestamp_extract(ts'2026-11-28T13:42:39.654321Z', 'microsecond') => 654321
            timestamp_extract(ts'2026-11-28T13:42:39.654321Z', 'millisecond') => 654
            timestamp_extract(ts'2026-11-28T13:42:39Z', 'second') => 39
            timestamp_extract(ts'2026-11-28T13:42:39Z', 'minute') => 42
            timestamp_extract(ts'2026-11-28T13:42:39Z', 'hour') => 13
            timestamp_extract(ts'2026-11-28T23:30:00Z', 'hour', 'Europe/Berlin') => 0
            timestamp_extract(ts'2026-11-28T13:42:39Z', 'day') => 28
            timestamp_extract(ts'2026-11-28T13:42:39Z', 'dayofweek') => 7
            timestamp_extract(ts'2026-11-29T13:42:39Z', 'dayofweek') => 1
            timestamp_extract(ts'2026-11-28T13:42:39Z', 'dayofyear') => 332
            timestamp_extract(ts'2026-01-03T00:00:00Z', 'week') => 0
            timestamp_extract(ts'2026-01-04T00:00:00Z', 'week') => 1
            timestamp_extract(ts'2026-11-28T00:00:00Z', 'week') => 47
            timestamp_extract(ts'2026-11-28T00:00:00Z', 'isoweek') => 48
            timestamp_extract(ts'2027-01-01T00:00:00Z', 'isoweek') => 53
            timestamp_extract(ts'2027-01-01T00:00:00Z', 'isoyear') => 2026
            timestamp_extract(ts'2026-11-28T00:00:00Z', 'month') => 11
            timestamp_extract(ts'2026-11-28T00:00:00Z', 'quarter') => 4
            timestamp_extract(ts'2026-11-28T00:00:00Z', 'year') => 2026
            timestamp_extract(ts'1969-12-31T23:59:59Z', 'second') => 59
            timestamp_extract('a', 'year') => error
            """)
    }
}
