import { assert, describe, it } from "@effect/vitest"
import { IndexProgress } from "../../src/pools/poolIndex/IndexProgress.ts"
import { listingsOf } from "../../src/pools/poolIndex/PoolEntries.ts"
import { toyProgram } from "../quotes/toyChain.ts"

const whole = () => {
  const listings = listingsOf([toyProgram])
  const progress = new IndexProgress(listings)
  listings.forEach((listing) => progress.finish(listing, 1))
  return progress
}

describe("the state of the index of pools", () => {
  it("is stale until a slot was stored, and again 30 s after the receipt of the last that was", () => {
    const progress = whole()
    assert.deepInclude(progress.state(0), { status: "stale", reason: "source_stale", share: 1 })
    progress.keptAtMs = 1000
    assert.strictEqual(progress.state(31_000).status, "known")
    // Slots that are heard and not stored do not keep the index up.
    progress.heardAtMs = 31_000
    assert.strictEqual(progress.state(31_001).status, "stale")
  })

  it("names what to set where the stream is refused, also once every program was read", () => {
    const progress = whole()
    progress.isStreamRefused = true
    assert.match(progress.state(0).advice ?? "", /Set GEYSER_URL to one that does, or POOL_INDEX=off/u)
    progress.isStreamRefused = false
    assert.isUndefined(progress.state(0).advice)
  })
})
