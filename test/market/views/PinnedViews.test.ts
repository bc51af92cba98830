import { assert, describe, it } from "@effect/vitest"
import { PinnedViews } from "../../../src/market/views/PinnedViews.ts"

const limits = { lifeMs: 60_000, most: 2, sharedMs: 2000 }

/** What a first page does: the recent one, or a new one. */
const open = (views: PinnedViews<number>, key: string, nowMs: number, view: number) =>
  views.recent(key, nowMs) ?? views.add(key, nowMs, view)

describe("pinned views", () => {
  it("are shared for a moment by those who ask for the same", () => {
    const views = new PinnedViews<number>("here", limits)
    assert.strictEqual(open(views, "a", 0, 1).view, 1)
    assert.strictEqual(open(views, "a", 1999, 2).view, 1)
    assert.strictEqual(open(views, "b", 1999, 3).view, 3)
    assert.strictEqual(open(views, "a", 2000, 4).view, 4)
  })

  it("can be read until they end, whoever shares them, and not by another process", () => {
    const views = new PinnedViews<number>("here", limits)
    const { pin } = open(views, "a", 0, 1)
    assert.strictEqual(views.get({ ...pin, place: 20 }, 60_000), 1)
    assert.isNull(views.get(pin, 60_001))
    assert.isNull(views.get({ ...pin, origin: "there" }, 0))
    assert.isNull(views.get({ ...pin, view: 99 }, 0))
  })

  it("are a bounded number, the oldest going first", () => {
    const views = new PinnedViews<number>("here", limits)
    const pins = [1, 2, 3].map((n) => open(views, String(n), n, n).pin)
    assert.deepStrictEqual(
      pins.map((pin) => views.get(pin, 3)),
      [null, 2, 3]
    )
  })
})
