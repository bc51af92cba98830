import { assert, describe, it } from "@effect/vitest"
import type { ProgramChecks } from "../../../src/chain/decoding/swapChecks.ts"
import { DecodingWatch } from "../../../src/market/memory/DecodingWatch.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** 2026-10-08 15:00 UTC. */
const THREE = Date.UTC(2026, 9, 8, 15)

const checks = (confirmed: number, counts: ProgramChecks["counts"] = {}, dex = "pumpswap"): ProgramChecks => ({
  dex,
  counts: { confirmed, ...counts }
})

const watchOf = (isExpected = true) => new DecodingWatch(() => isExpected)

/** A block a minute, from the minute after the newest on. */
const run = (watch: DecodingWatch, minutes: number, each: ProgramChecks) => {
  const from = watch.newestMs ?? THREE - MINUTE
  for (let minute = 1; minute <= minutes; minute++) {
    watch.add(from + minute * MINUTE, [each])
  }
}

const pumpswap = (watch: DecodingWatch) => watch.read().find(({ dex }) => dex === "pumpswap")

describe("the share of confirmed swaps", () => {
  it("falls: since when, from what and to what", () => {
    const watch = watchOf()
    run(watch, 80, checks(998, { one_sided: 2 }))
    assert.isNull(pumpswap(watch)?.drift)
    run(watch, 10, checks(710, { unknown: 290 }))
    assert.deepStrictEqual(pumpswap(watch)?.drift, {
      sinceMs: THREE + 80 * MINUTE,
      before: 0.998,
      detail: "The confirmed share of pumpswap fell from 99.8 % to 71 % since 16:20."
    })
    assert.strictEqual(pumpswap(watch)?.share, 0.71)
  })

  it("drifts until it is back, and the drift is not learned", () => {
    const watch = watchOf()
    run(watch, 30, checks(1000))
    run(watch, 600, checks(710, { unknown: 290 }))
    assert.strictEqual(pumpswap(watch)?.drift?.sinceMs, THREE + 30 * MINUTE)
    assert.strictEqual(pumpswap(watch)?.drift?.before, 1)
    run(watch, 10, checks(1000))
    assert.isNull(pumpswap(watch)?.drift)
  })

  it("does not drift by chance, or by a few swaps among many", () => {
    const watch = watchOf()
    for (let minute = 0; minute < 300; minute++) {
      watch.add(THREE + minute * MINUTE, [checks(195, { one_sided: (minute * 7) % 11 })])
      assert.isNull(pumpswap(watch)?.drift)
    }
    run(watch, 10, checks(10_000, { unknown: 10 }))
    assert.isNull(pumpswap(watch)?.drift)
  })

  it("is unknown without traffic, and a drift lasts until traffic ends it", () => {
    const watch = watchOf()
    run(watch, 30, checks(100))
    run(watch, 5, checks(50, { unknown: 50 }))
    run(watch, 20, { dex: "other", counts: { confirmed: 1 } })
    assert.isNull(pumpswap(watch)?.share)
    assert.strictEqual(pumpswap(watch)?.swaps, 0)
    assert.strictEqual(pumpswap(watch)?.drift?.sinceMs, THREE + 30 * MINUTE)
    assert.include(pumpswap(watch)?.drift?.detail, "to unknown since 15:30")
  })

  it("is too low from the start where nearly all swaps should be confirmed", () => {
    const [expected, other] = [watchOf(), watchOf(false)]
    run(expected, 5, checks(60, { unknown: 40 }))
    run(other, 5, checks(60, { unknown: 40 }))
    assert.strictEqual(pumpswap(expected)?.drift?.detail, "The confirmed share of pumpswap is 60 % since 15:00.")
    assert.isNull(pumpswap(expected)?.drift?.before)
    assert.isNull(pumpswap(other)?.drift)
  })

  it("says nothing with too few swaps", () => {
    const watch = watchOf()
    run(watch, 4, checks(0, { unknown: 10 }))
    assert.isNull(pumpswap(watch)?.drift)
  })

  it("is never shown as 100 % while a swap is not confirmed", () => {
    const watch = watchOf()
    run(watch, 30, checks(100_000, { one_sided: 1 }))
    run(watch, 5, checks(100_000, { unknown: 50_000 }))
    assert.include(pumpswap(watch)?.drift?.detail, "from 99.9 % to")
  })
})

describe("contradicted swaps", () => {
  it("drift although they are few among many", () => {
    const watch = watchOf()
    run(watch, 90, checks(2000))
    run(watch, 9, checks(2000, { contradicted: 2 }))
    assert.deepStrictEqual(pumpswap(watch)?.drift, {
      sinceMs: THREE + 90 * MINUTE,
      before: null,
      detail: "18 swaps of pumpswap were contradicted by their events or balances since 16:30."
    })
  })

  it("are as usual where they always were as many", () => {
    const watch = watchOf(false)
    run(watch, 200, checks(2000, { contradicted: 1 }))
    assert.isNull(pumpswap(watch)?.drift)
  })
})

describe("the hours", () => {
  it("have what was seen, confirmed, left out and unknown", () => {
    const watch = watchOf()
    watch.add(THREE, [{ dex: "pumpswap", counts: { confirmed: 3, unmoved: 1, unknown: 2 }, tags: { "0a": 2 } }])
    watch.add(THREE + HOUR, [checks(5)])
    const hours = pumpswap(watch)?.hours.map(({ counts, startMs, tags }) => [
      startMs,
      counts.confirmed,
      counts.unmoved,
      counts.unknown,
      Object.fromEntries(tags)
    ])
    assert.deepStrictEqual(hours, [
      [THREE + HOUR, 5, 0, 0, {}],
      [THREE, 3, 1, 2, { "0a": 2 }]
    ])
  })

  it("are bounded, and so are instructions and programs", () => {
    const watch = watchOf()
    for (let hour = 0; hour < 100; hour++) {
      const tags = Object.fromEntries(Array.from({ length: 50 }, (_, tag) => [`t${hour} ${tag}`, 1]))
      watch.add(THREE + hour * HOUR, [{ dex: "pumpswap", counts: { unknown: 50 }, tags }, checks(1, {}, `dex ${hour}`)])
    }
    assert.strictEqual(pumpswap(watch)?.hours.length, 6)
    const [newest] = pumpswap(watch)?.hours ?? []
    assert.strictEqual(newest?.tags.size, 8)
    assert.strictEqual(newest?.tags.get("others"), 43)
    assert.strictEqual(watch.read().length, 64)
  })
})

describe("a clock that steps back", () => {
  it("by a little counts a block as of the newest one", () => {
    const watch = watchOf()
    watch.add(THREE, [checks(1)])
    watch.add(THREE - 30 * MINUTE, [checks(1)])
    assert.strictEqual(watch.newestMs, THREE)
    assert.strictEqual(pumpswap(watch)?.swaps, 2)
  })

  it("by hours begins the minutes anew, and keeps what was learned", () => {
    const watch = watchOf()
    run(watch, 60, checks(1000))
    watch.add(THREE + 1000 * HOUR, [checks(1)])
    watch.add(THREE + HOUR, [checks(1)])
    assert.strictEqual(watch.newestMs, THREE + HOUR)
    assert.strictEqual(pumpswap(watch)?.swaps, 1)
    run(watch, 5, checks(710, { unknown: 290 }))
    assert.deepInclude(pumpswap(watch)?.drift, { before: 1, sinceMs: THREE + HOUR + MINUTE })
    assert.isTrue(pumpswap(watch)?.hours.every(({ startMs }) => startMs <= THREE + HOUR))
  })
})
