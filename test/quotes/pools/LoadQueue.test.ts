import { assert, describe, it } from "@effect/vitest"
import type { Mint } from "../../../src/domain/Address.ts"
import { type Load, LoadQueue } from "../../../src/quotes/pools/LoadQueue.ts"
import { at } from "../toyChain.ts"

const queueOf = () => new LoadQueue({ workers: 2, refreshing: 1 })

/** Checks every waiting mint, in 100 ms. */
const checkAll = (queue: LoadQueue, exists: (mint: Mint) => boolean = () => true): ReadonlyArray<Mint> => {
  const mints = queue.takeUnchecked(100)
  queue.checked(mints, exists, 100)
  return mints
}

const takeAll = (queue: LoadQueue): ReadonlyArray<Mint> => {
  checkAll(queue)
  const mints: Array<Mint> = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    mints.push(next.mint)
    queue.done(next, 500)
  }
  return mints
}

const taken = (queue: LoadQueue): Load => {
  checkAll(queue)
  return queue.take() ?? assert.fail("the queue is empty")
}

describe("LoadQueue", () => {
  it("gives requested mints before mints that are searched again", () => {
    const queue = queueOf()
    queue.searchAgain(at(1))
    queue.ask(at(2), "key")
    queue.ask(at(3), null)
    assert.deepStrictEqual(takeAll(queue), [at(3), at(2), at(1)])
  })

  it("lets the requesters take turns", () => {
    const queue = queueOf()
    ;[1, 2, 3].forEach((n) => queue.ask(at(n), "flood"))
    queue.ask(at(9), "other")
    assert.deepStrictEqual(takeAll(queue), [at(1), at(9), at(2), at(3)])
  })

  it("lets a key have 32 mints pending until one of them is loaded, and the service any number", () => {
    const queue = queueOf()
    const asked = (requester: string | null) =>
      Array.from({ length: 40 }, (_, n) => queue.ask(at(n + (requester === null ? 100 : 0)), requester))
    assert.strictEqual(asked("key").filter((isQueued) => isQueued).length, 32)
    const first = taken(queue)
    assert.strictEqual(asked(null).filter((isQueued) => isQueued).length, 40)
    assert.isFalse(queue.ask(at(50), "key"))
    assert.isTrue(queue.ask(first.mint, "key"))
    queue.done(first, 500)
    assert.isTrue(queue.ask(at(50), "key"))
    assert.isFalse(queue.ask(at(51), "key"))
  })

  it("checks the mints of keys first, in turns, and drops mints that do not exist", () => {
    const queue = queueOf()
    const junk = Array.from({ length: 31 }, (_, n) => at(n + 20))
    for (const mint of [...junk, at(1)]) {
      queue.ask(mint, "key")
    }
    queue.ask(at(9), "other")
    queue.ask(at(5), null)
    assert.deepStrictEqual(queue.take(), { mint: at(5), isRequested: true })
    assert.isUndefined(queue.take())
    assert.isFalse(queue.ask(at(2), "key"))
    assert.deepStrictEqual(queue.takeUnchecked(2), [at(20), at(9)])
    queue.checked([at(20), at(9)], (mint) => mint === at(9), 100)
    assert.isTrue(queue.ask(at(2), "key"))
    assert.lengthOf(
      checkAll(queue, (mint) => !junk.includes(mint)),
      32
    )
    assert.deepStrictEqual(takeAll(queue), [at(9), at(1), at(2)])
  })

  it("keeps workers free for requested mints", () => {
    const queue = queueOf()
    ;[1, 2].forEach((n) => queue.searchAgain(at(n)))
    const again = taken(queue)
    assert.isUndefined(queue.take())
    queue.searchAgain(again.mint)
    queue.done(again, 10_000)
    assert.deepStrictEqual(takeAll(queue), [at(2)])
  })

  it("searches a mint that is requested during a search at once, and not a second time", () => {
    const queue = queueOf()
    ;[1, 2].forEach((n) => queue.searchAgain(at(n)))
    queue.ask(at(2), "key")
    queue.searchAgain(at(2))
    assert.deepStrictEqual(takeAll(queue), [at(2), at(1)])
  })

  it("estimates when a mint is ready from the mean time of a load, the turns before it and the workers", () => {
    const queue = queueOf()
    ;[1, 2, 3, 4].forEach((n) => queue.ask(at(n), "key"))
    queue.ask(at(9), "other")
    assert.strictEqual(queue.readyInMs(at(4)), 1850)
    assert.strictEqual(queue.fitsInMs("key"), 100)
    checkAll(queue)
    // 500 ms a load and two workers: four places and one turn of the other key.
    assert.strictEqual(queue.readyInMs(at(4)), 1750)
    assert.strictEqual(queue.readyInMs(at(9)), 1000)
    assert.strictEqual(queue.fitsInMs("key"), 1000)
    const first = taken(queue)
    assert.strictEqual(queue.fitsInMs("key"), 500)
    queue.done(first, 1500)
    assert.strictEqual(queue.readyInMs(at(9)), 1400)
  })
})
