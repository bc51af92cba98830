import { assert, describe, it } from "@effect/vitest"
import { type CountedRow, UsageCounts } from "../../../src/access/usage/UsageCounts.ts"

const DAY_MS = 86_400_000
const one = { id: "key_1", accountId: "ada" }
const two = { id: "key_2", accountId: "ada" }

/** Counts with a clock that stands still until it is moved. */
const scene = (mostRows?: number) => {
  const time = { nowMs: 5 * DAY_MS - 1000, monotonicMs: 100 }
  const counts = new UsageCounts({ nowMs: () => time.nowMs, monotonicMs: () => time.monotonicMs }, mostRows)
  const ask = (caller = one, operation = "spot.quote", isError = false) =>
    counts.request({ caller, operation, units: isError ? 0 : 2, isError, bytes: 10 })
  const pass = (ms: number) => {
    time.nowMs += ms
    time.monotonicMs += ms
  }
  return { ask, counts, pass, time }
}

const shortOf = ({ bytes, day, errors, keyId, operation, requests, streamMs, units }: CountedRow) =>
  `${day} ${keyId} ${operation}: ${requests} ${units} ${errors} ${bytes} ${streamMs}`

describe("usage that is counted in memory", () => {
  it("has one row for each credential, operation and day", () => {
    const { ask, counts, pass } = scene()
    ask()
    ask(one, "spot.quote", true)
    ask(two)
    ask(one, "market.chart")
    pass(1000)
    ask()
    assert.deepStrictEqual(counts.take().map(shortOf), [
      "4 key_1 spot.quote: 2 2 1 20 0",
      "4 key_2 spot.quote: 1 2 0 10 0",
      "4 key_1 market.chart: 1 2 0 10 0",
      "5 key_1 spot.quote: 1 2 0 10 0"
    ])
    assert.deepStrictEqual(counts.take(), [])
  })

  it("adds units that are charged later, and takes refunds back", () => {
    const { counts } = scene()
    counts.addUnits(one, "spot.stream", 1)
    counts.addUnits(one, "spot.stream", 1)
    counts.addUnits(one, "spot.stream", -1)
    assert.deepStrictEqual(counts.take().map(shortOf), ["4 key_1 spot.stream: 0 1 0 0 0"])
  })

  it("counts an open stream at each flush and its end once, by a clock that is never set", () => {
    const { counts, pass, time } = scene()
    let sent = 5
    const close = counts.open(one, "spot.stream", () => sent)
    pass(400.5)
    assert.deepStrictEqual(counts.take().map(shortOf), ["4 key_1 spot.stream: 0 0 0 5 400"])
    sent = 25
    pass(99.5)
    time.nowMs -= DAY_MS
    close()
    close()
    assert.deepStrictEqual(counts.take().map(shortOf), ["3 key_1 spot.stream: 0 0 0 20 100"])
    pass(1000)
    assert.deepStrictEqual(counts.take(), [])
  })

  it("is bounded: beyond that only known rows go on", () => {
    const { ask, counts } = scene(2)
    ask(one)
    ask(two)
    ask(one, "market.chart")
    ask(one)
    assert.deepStrictEqual(counts.take().map(shortOf), [
      "4 key_1 spot.quote: 2 4 0 20 0",
      "4 key_2 spot.quote: 1 2 0 10 0"
    ])
    assert.strictEqual(counts.uncounted, 1)
    ask(one, "market.chart")
    assert.strictEqual(counts.take().length, 1)
  })
})
