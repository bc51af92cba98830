import { assert, describe, it } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import {
  TOKEN,
  OTHER,
  POOL,
  VAULT_A,
  VAULT_B,
  POOL_2,
  VAULT_A2,
  VAULT_B2,
  second,
  chainWithOnePool,
  settle,
  withBook,
  outOf
} from "./bookScene.ts"
import type { Program } from "../../../src/programs/interface/Program.ts"
import { ToyChain, toyPool, toyProgram, vault } from "../toyChain.ts"

describe("PoolBook", () => {
  it.effect("is cold until the first request, then knows the pair from both sides", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        assert.isNull(book.between(TOKEN, SOL))
        yield* book.warm(TOKEN)
        yield* settle
        assert.deepStrictEqual(outOf(book, 1000n, chain), [250n])
        assert.strictEqual(book.between(SOL, TOKEN)?.pools.length, 1)
        assert.strictEqual(book.poolsOf(SOL).length, 1)
        assert.deepStrictEqual(Array.from(chain.watched).toSorted(), [POOL, VAULT_A, VAULT_B].toSorted())
      })
    )
  })

  it.effect("finds a pool by its address once its mint was requested", () =>
    withBook(chainWithOnePool(), (book) =>
      Effect.gen(function* () {
        assert.isNull(book.poolAt(POOL))
        yield* book.warm(TOKEN)
        yield* settle
        assert.strictEqual(book.poolAt(POOL), book.poolsOf(TOKEN)[0])
        assert.isNull(book.poolAt(POOL_2))
      })
    )
  )

  it.effect("returns an empty list for a mint without pools, and does not call it cold", () =>
    withBook(new ToyChain(), (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.deepStrictEqual(book.between(TOKEN, SOL), { pools: [], refused: [] })
      })
    )
  )

  it.effect("keeps pools against other mints for prices, and out of the pair", () => {
    const chain = chainWithOnePool().put(second, vault(VAULT_A2, 5n), vault(VAULT_B2, 5n))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
        assert.strictEqual(book.poolsOf(TOKEN).length, 2)
        assert.strictEqual(book.between(TOKEN, OTHER)?.pools[0]?.address, POOL_2)
      })
    )
  })

  it.effect("decodes a changed pool ahead of readers only while it is read, and for a reader always", () => {
    const chain = chainWithOnePool()
    const decoded = { times: 0 }
    const counting: Program = {
      ...toyProgram,
      decode: (...given) => {
        decoded.times++
        return toyProgram.decode(...given)
      }
    }
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          const write = (slot: number, amount: bigint) => {
            chain.write(slot, vault(VAULT_A, amount, slot))
            return settle
          }
          yield* book.warm(TOKEN)
          yield* settle
          outOf(book, 1000n, chain)
          const { times } = decoded
          yield* write(2, 2000n)
          assert.strictEqual(decoded.times, times + 1)
          yield* write(3, 3000n)
          yield* write(4, 1000n)
          assert.strictEqual(decoded.times, times + 1)
          assert.deepStrictEqual(outOf(book, 1000n, chain), [250n])
          assert.strictEqual(decoded.times, times + 2)
        }),
      {},
      [counting]
    )
  })

  it.effect("applies a write of several accounts as a whole, in the turn it arrives", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        const before = book.between(TOKEN, SOL)
        assert.strictEqual(book.between(TOKEN, SOL), before)
        chain.write(7, vault(VAULT_A, 3000n, 7), vault(VAULT_B, 9000n, 7))
        yield* settle
        assert.deepStrictEqual(outOf(book, 3000n, chain), [4500n])
        assert.strictEqual(book.between(TOKEN, SOL)?.pools[0]?.slot, 7)
      })
    )
  })

  it.effect("watches an account that a pool starts to need, and unwatches the one it no longer needs", () => {
    const chain = chainWithOnePool().put(vault(VAULT_B2, 4000n))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        chain.withheld.add(VAULT_B2)
        chain.write(2, toyPool({ address: POOL, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A, vaultB: VAULT_B2 }, 2))
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.refused[0]?.reason, "incomplete")
        assert.isFalse(chain.watched.has(VAULT_B))
        chain.tell([VAULT_B2])
        yield* settle
        assert.deepStrictEqual(outOf(book, 1000n, chain), [2000n])
      })
    )
  })

  it.effect("stays cold while a pool is being read, for ten seconds at most", () => {
    const chain = chainWithOnePool()
    chain.withheld.add(VAULT_A)
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.isNull(book.between(TOKEN, SOL))
        yield* TestClock.adjust("10 seconds")
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.refused[0]?.reason, "incomplete")
        assert.strictEqual(book.lacking(TOKEN), "backfill_running")
        chain.tell([VAULT_A])
        yield* settle
        assert.isNull(book.lacking(TOKEN))
        assert.strictEqual(book.lacking(SOL), "not_captured")
      })
    )
  })

  it.effect("states why a pool is refused, and prices it once it opens", () => {
    const pool = { address: POOL, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A, vaultB: VAULT_B }
    const chain = chainWithOnePool().put(toyPool({ ...pool, mode: 2 }))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.deepStrictEqual(book.between(TOKEN, SOL)?.refused, [
          { address: POOL, dex: "toy", reason: "closed", detail: "mode 2" }
        ])
        chain.write(2, toyPool(pool, 2))
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
        chain.close(POOL)
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.refused[0]?.reason, "closed")
      })
    )
  })

  it.effect("refuses one malformed pool and keeps pricing the others", () => {
    const chain = chainWithOnePool().put(
      toyPool({ address: POOL_2, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A2, vaultB: VAULT_B2 }),
      { ...vault(VAULT_A2, 1n), data: new Uint8Array(3) },
      vault(VAULT_B2, 1n)
    )
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
        assert.strictEqual(book.between(TOKEN, SOL)?.refused[0]?.reason, "malformed")
      })
    )
  })

  it.effect("drops every pool when an event cannot be applied, and loads them again on request", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* settle
        const accounts = new Map<never, never>()
        accounts[Symbol.iterator] = () => {
          throw new Error("not what a feed sends")
        }
        Queue.offerUnsafe(chain.events, { _tag: "Writes", slot: 2, accounts })
        yield* settle
        assert.isNull(book.between(TOKEN, SOL))
        assert.strictEqual(chain.watched.size, 0)
        yield* book.warm(TOKEN)
        yield* settle
        assert.deepStrictEqual(outOf(book, 1000n, chain), [250n])
      })
    )
  })
})
