import { assert, describe, it } from "@effect/vitest"
import { PinnedViews } from "../../../src/market/memory/PinnedViews.ts"

const limits = { lifeMs: 60_000, most: 2, sharedMs: 2000 }

/** Opens the recent view of a key, or a new one. */
const open = (views: PinnedViews<number>, key: string, nowMs: number, view: number) =>
  views.recent(key, nowMs) ?? views.add(key, nowMs, view)

describe("pinned views", () => {
  it("are shared by first pages of one key within two seconds", () => {
    const views = new PinnedViews<number>("here", limits)
    assert.strictEqual(open(views, "a", 0, 1).view, 1)
    assert.strictEqual(open(views, "a", 1999, 2).view, 1)
    assert.strictEqual(open(views, "b", 1999, 3).view, 3)
    assert.strictEqual(open(views, "a", 2000, 4).view, 4)
  })

  it("can be read for their whole life by every caller that shares them, and not by another process", () => {
    const views = new PinnedViews<number>("here", limits)
    const { pin } = open(views, "a", 0, 1)
    assert.strictEqual(views.get({ ...pin, place: 20 }, 60_000), 1)
    assert.isNull(views.get(pin, 60_001))
    assert.isNull(views.get({ ...pin, origin: "there" }, 0))
    assert.isNull(views.get({ ...pin, view: 99 }, 0))
    assert.strictEqual(views.get(open(views, "a", 1999, 2).pin, 61_999), 1)
  })

  it("end when they match or can no longer be read, and report it", () => {
    const ended: Array<number> = []
    const views = new PinnedViews<number>("here", limits, (view) => ended.push(view))
    open(views, "a", 0, 1)
    open(views, "b", 1, 2)
    views.endWhere((view) => view === 2)
    views.expire(62_000)
    assert.deepStrictEqual(ended, [2])
    views.expire(62_001)
    assert.deepStrictEqual(ended, [2, 1])
  })

  it("are bounded: the oldest ends first", () => {
    const views = new PinnedViews<number>("here", limits)
    const pins = [1, 2, 3].map((n) => open(views, String(n), n, n).pin)
    assert.deepStrictEqual(
      pins.map((pin) => views.get(pin, 3)),
      [null, 2, 3]
    )
  })
})
