import { assert, describe, it } from "@effect/vitest"
import { IndexProgress } from "../../../src/quotes/pools/IndexProgress.ts"
import { listingsOf } from "../../../src/quotes/pools/PoolEntries.ts"
import { toyProgram } from "../toyChain.ts"

const whole = () => {
  const listings = listingsOf([toyProgram])
  const progress = new IndexProgress(listings)
  listings.forEach((listing) => progress.finish(listing, 1))
  return progress
}

describe("the state of the index of pools", () => {
  it("is stale until a slot is stored, and again 30 s after the last stored slot arrived", () => {
    const progress = whole()
    assert.deepInclude(progress.state(0), { status: "stale", reason: "source_stale", share: 1 })
    progress.keptAtMs = 1000
    assert.strictEqual(progress.state(31_000).status, "known")
    // Slots that arrive and are not stored do not keep the index current.
    progress.heardAtMs = 31_000
    assert.strictEqual(progress.state(31_001).status, "stale")
  })

  it("names the setting that helps when the stream is refused, even after every program was read", () => {
    const progress = whole()
    progress.isStreamRefused = true
    assert.match(progress.state(0).advice ?? "", /Set GEYSER_URL to one that does, or POOL_INDEX=off/u)
    progress.isStreamRefused = false
    assert.isUndefined(progress.state(0).advice)
  })

  it("retries a failed snapshot after a time that doubles up to ten minutes, and starts over after a stored one", () => {
    const [listing, ...others] = listingsOf([toyProgram])
    assert.isDefined(listing)
    const progress = new IndexProgress([listing, ...others])
    const waits = Array.from({ length: 9 }, (_, n) => progress.fail(listing, n % 2 === 0 ? "unread" : "unstored", 0))
    assert.deepStrictEqual(
      waits.map((ms) => ms / 1000),
      [5, 10, 20, 40, 80, 160, 320, 600, 600]
    )
    assert.isUndefined(progress.next(599_999))
    assert.strictEqual(progress.next(600_000), listing)
    progress.finish(listing, 1)
    progress.lose()
    assert.strictEqual(progress.fail(listing, "unread", 0), 5000)
    assert.strictEqual(progress.fail(listing, "refused", 0), 3_600_000)
  })

  it("advises after the node has failed three times in a row to give a snapshot, but not when the database fails", () => {
    const [listing] = listingsOf([toyProgram])
    assert.isDefined(listing)
    const progress = new IndexProgress([listing])
    progress.fail(listing, "unread", 0)
    progress.fail(listing, "unread", 0)
    assert.deepInclude(progress.state(0), { status: "unavailable", reason: "source_gap" })
    progress.fail(listing, "unread", 0)
    const { advice, reason } = progress.state(0)
    assert.strictEqual(reason, "not_captured")
    assert.match(advice ?? "", /again and again for toy: raise SOLANA_SCAN_TIMEOUT, set SOLANA_RPC_URL/u)
    progress.fail(listing, "unstored", 0)
    assert.isNull(progress.advice)
  })
})
