import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Address, SOL } from "../../../src/domain/Address.ts"
import { NOT_INDEXED, PoolIndex } from "../../../src/quotes/pools/PoolIndex.ts"
import { Requester } from "../../../src/quotes/pools/Requester.ts"
import { POOL, POOL_2, TOKEN, VAULT_A2, VAULT_B2, chainWithOnePool, outOf, settle, withBook } from "./bookScene.ts"
import { at, toyPool, toyProgram, vault } from "../toyChain.ts"

const { programId } = toyProgram

/** An index of the toy program, whole or not, with these pools for every mint. */
const indexOf = (...pools: ReadonlyArray<Address>) => {
  const index = { isWhole: true, pools: [...pools], asked: new Array<number>() }
  const service = {
    poolsOf: (_: Address, slot: number) =>
      Effect.sync(() => {
        index.asked.push(slot)
        return index.isWhole
          ? { whole: new Set([programId]), pools: index.pools.map((address) => ({ programId, address })) }
          : NOT_INDEXED
      })
  }
  const withIndex = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, PoolIndex, service)
  return { index, withIndex }
}

describe("PoolBook, with an index of pools,", () => {
  it.effect("loads a mint without a search, with one read of its pools", () => {
    const chain = chainWithOnePool()
    const { index, withIndex } = indexOf(POOL)
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.deepStrictEqual(outOf(book, 100n, chain), [45n])
        assert.strictEqual(chain.searches, 0)
        assert.strictEqual(chain.reads, 1)
        assert.deepStrictEqual(index.asked, [1])
        assert.isNull(book.lacking(TOKEN))
      })
    ).pipe(withIndex)
  })

  it.effect("reads only new pools when it looks again, and keeps one that the index lacks for a moment", () => {
    const chain = chainWithOnePool()
    const { index, withIndex } = indexOf(POOL)
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        yield* TestClock.adjust("60 seconds")
        yield* settle
        assert.strictEqual(chain.reads, 1)
        chain.put(
          toyPool({ address: POOL_2, mintA: SOL, mintB: TOKEN, vaultA: VAULT_A2, vaultB: VAULT_B2 }),
          vault(VAULT_A2, 10n),
          vault(VAULT_B2, 10n)
        )
        index.pools = [POOL_2]
        yield* TestClock.adjust("60 seconds")
        yield* settle
        assert.strictEqual(chain.reads, 2)
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 2)
        assert.strictEqual(chain.searches, 0)
      })
    ).pipe(withIndex)
  })

  it.effect("searches while a program is not whole, so that missing pools are not mistaken for no pools", () => {
    const chain = chainWithOnePool()
    const { index, withIndex } = indexOf()
    index.isWhole = false
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
        assert.strictEqual(chain.searches, 2)
      })
    ).pipe(withIndex)
  })

  it.effect("leaves out a closed pool, and does not read it again at once", () => {
    const chain = chainWithOnePool()
    const { withIndex } = indexOf(POOL, at(77))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        const known = book.between(TOKEN, SOL)
        assert.deepStrictEqual([known?.pools.length, known?.refused], [1, []])
        const { reads } = chain
        yield* TestClock.adjust("60 seconds")
        yield* settle
        assert.strictEqual(chain.reads, reads)
      })
    ).pipe(withIndex)
  })

  it.effect("searches once for a mint without indexed pools, before it counts as a mint without pools", () => {
    const chain = chainWithOnePool()
    chain.mints.add(at(50))
    const { withIndex } = indexOf()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(at(50))
        yield* settle
        assert.deepStrictEqual(book.between(at(50), SOL), { pools: [], refused: [] })
        assert.strictEqual(chain.searches, 2)
      })
    ).pipe(withIndex)
  })

  it.effect("finds a pool that is newer than the index, for a token without another pool", () => {
    const chain = chainWithOnePool()
    const { withIndex } = indexOf()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* Effect.provideService(book.warm(TOKEN), Requester, "key")
        yield* settle
        assert.deepStrictEqual(outOf(book, 100n, chain), [45n])
        assert.isNull(book.lacking(TOKEN))
        const { searches } = chain
        yield* TestClock.adjust("60 seconds")
        yield* settle
        assert.strictEqual(chain.searches, searches)
      })
    ).pipe(withIndex)
  })

  it.effect("finds a pool that the node has later than the index", () => {
    const chain = chainWithOnePool()
    chain.mints.add(TOKEN)
    const pool = chain.accounts.get(POOL)
    chain.accounts.delete(POOL)
    const { withIndex } = indexOf(POOL)
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.deepStrictEqual(book.between(TOKEN, SOL)?.pools, [])
        chain.put(...(pool === undefined ? [] : [pool]))
        yield* TestClock.adjust("60 seconds")
        yield* settle
        assert.deepStrictEqual(outOf(book, 100n, chain), [45n])
      })
    ).pipe(withIndex)
  })

  it.effect("does not count a token as one without pools while the search of a program is refused", () => {
    const chain = chainWithOnePool()
    chain.mints.add(at(50))
    chain.refused.add(programId)
    const { withIndex } = indexOf()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(at(50))
        yield* settle
        assert.strictEqual(book.lacking(at(50)), "not_captured")
      })
    ).pipe(withIndex)
  })

  it.effect("ranks the pools of a mint with too many by their reserves", () => {
    const chain = chainWithOnePool()
    const { withIndex } = indexOf(POOL, POOL_2)
    chain.put(
      toyPool({ address: POOL_2, mintA: SOL, mintB: TOKEN, vaultA: VAULT_A2, vaultB: VAULT_B2 }),
      vault(VAULT_A2, 10n),
      vault(VAULT_B2, 10n)
    )
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
          assert.strictEqual(book.leftOut(TOKEN), 1)
          assert.strictEqual(book.lacking(TOKEN), "limit_clipped")
        }),
      { POOLS_PER_MINT: "1" }
    ).pipe(withIndex)
  })

  it.effect("reads left-out pools again after ten minutes, and new ones at the next look", () => {
    const chain = chainWithOnePool()
    const { index, withIndex } = indexOf(POOL, POOL_2)
    const put = (address: Address) =>
      chain.put(toyPool({ address, mintA: SOL, mintB: TOKEN, vaultA: VAULT_A2, vaultB: VAULT_B2 }))
    put(POOL_2)
    const look = Effect.andThen(TestClock.adjust("60 seconds"), settle)
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          const { reads } = chain
          yield* Effect.repeat(look, { times: 4 })
          assert.strictEqual(chain.reads, reads)
          assert.strictEqual(book.leftOut(TOKEN), 1)
          put(at(70))
          index.pools.push(at(70))
          yield* look
          // The account of the new pool, its reserves, and the reserves of the kept pool.
          assert.strictEqual(chain.reads, reads + 2)
          assert.strictEqual(book.leftOut(TOKEN), 2)
          yield* look
          assert.strictEqual(chain.reads, reads + 2)
          yield* TestClock.adjust("4 minutes")
          yield* settle
          assert.strictEqual(chain.reads, reads + 4)
          assert.strictEqual(book.leftOut(TOKEN), 2)
        }),
      { POOLS_PER_MINT: "1" }
    ).pipe(withIndex)
  })
})
