import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import { learnPools } from "../../../src/quotes/pools/learnPools.ts"
import { PoolCache } from "../../../src/quotes/pools/PoolCache.ts"
import { makeDeriveAddress } from "../../../src/chain/programAddress.ts"
import { at, toyPool, toyProgram, vault } from "../toyChain.ts"
import { chainWithOnePool, OTHER, POOL, POOL_2, settle, TOKEN, VAULT_A2, VAULT_B2, withBook } from "./bookScene.ts"

const created = [
  toyPool({ address: POOL_2, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A2, vaultB: VAULT_B2 }),
  vault(VAULT_A2, 10n),
  vault(VAULT_B2, 10n)
]

describe("a pool that a trade names", () => {
  it.effect("is quoted without another search", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        const { searches } = chain
        chain.put(...created)
        book.learn(TOKEN, POOL_2)
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 2)
        assert.strictEqual(chain.searches, searches)
      })
    )
  })

  it.effect("is read once, whether it is known, of another mint or no pool", () => {
    const chain = chainWithOnePool().put(...created)
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          const { reads } = chain
          for (let turn = 0; turn < 3; turn++) {
            book.learn(TOKEN, POOL)
            book.learn(OTHER, POOL_2)
            book.learn(TOKEN, at(99))
            yield* settle
          }
          assert.strictEqual(chain.reads - reads, 1)
        }),
      { POOL_REFRESH: "1 hour" }
    )
  })

  it.effect("is left out and counted when its mint has as many pools as it may", () => {
    const chain = chainWithOnePool()
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          chain.put(...created)
          book.learn(TOKEN, POOL_2)
          yield* settle
          assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
          assert.strictEqual(book.leftOut(TOKEN), 1)
        }),
      { POOLS_PER_MINT: "1" }
    )
  })

  it.effect("is read when a later trade names it, after a failure of the node", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        chain.put(...created)
        chain.readFailures = 1
        book.learn(TOKEN, POOL_2)
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
        book.learn(TOKEN, POOL_2)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 2)
      })
    )
  })

  it.effect("is read again later when the node does not have it yet", () => {
    const chain = chainWithOnePool()
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          // The node is a slot behind the block of the trade.
          book.learn(TOKEN, POOL_2)
          yield* settle
          const { reads } = chain
          chain.put(...created)
          book.learn(TOKEN, POOL_2)
          yield* settle
          assert.strictEqual(chain.reads, reads)
          yield* TestClock.adjust("10 seconds")
          book.learn(TOKEN, POOL_2)
          yield* settle
          assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 2)
        }),
      { POOL_REFRESH: "1 hour" }
    )
  })

  it.effect("is learned for both of its tokens by one trade", () => {
    const chain = chainWithOnePool().put(
      toyPool({ address: at(40), mintA: OTHER, mintB: SOL, vaultA: at(41), vaultB: at(42) }),
      vault(at(41), 10n),
      vault(at(42), 10n)
    )
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* book.warm(OTHER)
          yield* settle
          chain.put(
            toyPool({ address: POOL_2, mintA: TOKEN, mintB: OTHER, vaultA: VAULT_A2, vaultB: VAULT_B2 }),
            ...created.slice(1)
          )
          const { reads } = chain
          book.learn(TOKEN, POOL_2)
          book.learn(OTHER, POOL_2)
          yield* settle
          assert.strictEqual(chain.reads - reads, 1)
          // Neither token lacks it, so further trades cause no read.
          book.learn(TOKEN, POOL_2)
          book.learn(OTHER, POOL_2)
          yield* settle
          assert.strictEqual(chain.reads - reads, 1)
          assert.strictEqual(book.between(TOKEN, OTHER)?.pools.length, 1)
        }),
      { POOL_REFRESH: "1 hour" }
    )
  })

  it.effect("is read again when its mint left the memory meanwhile and came back", () =>
    Effect.gen(function* () {
      const answered = yield* Latch.make()
      const [pool] = created
      const read = () => Effect.as(answered.await, { slot: 1, accounts: new Map([[POOL_2, pool ?? null]]) })
      const cache = new PoolCache(makeDeriveAddress())
      const load = () => {
        cache.setPools(TOKEN, [])
        cache.setReady(TOKEN)
      }
      const learn = yield* learnPools(cache, { read }, [toyProgram], 10, Effect.void)
      load()
      learn(TOKEN, POOL_2)
      yield* settle
      cache.forget(TOKEN)
      yield* answered.open
      yield* settle
      load()
      learn(TOKEN, POOL_2)
      yield* settle
      assert.deepStrictEqual(
        cache.foundOf(TOKEN).map(({ address }) => address),
        [POOL_2]
      )
    })
  )
})
