import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Program } from "../../src/programs/Program.ts"
import { SOL } from "../../src/domain/Address.ts"
import {
  TOKEN,
  OTHER,
  POOL,
  VAULT_A,
  VAULT_B,
  POOL_2,
  VAULT_A2,
  VAULT_B2,
  chainWithOnePool,
  settle,
  withBook,
  outOf
} from "./bookScene.ts"
import { at, toyPool, toyProgram, vault } from "../quotes/toyChain.ts"

describe("PoolBook, looking for pools,", () => {
  it.effect("searches again after the upstream failed, with growing pauses, then gives up until asked", () => {
    const chain = chainWithOnePool()
    chain.failures = 1000
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(TOKEN)
        yield* TestClock.adjust("1 minute")
        const spent = chain.searches
        assert.isAbove(spent, 2)
        assert.isBelow(spent, 20)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(chain.searches, spent)
        chain.failures = 0
        yield* book.warm(TOKEN)
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
      })
    )
  })

  it.effect("searches once however often it is asked, and again after a minute to find new pools", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* Effect.repeat(book.warm(TOKEN), { times: 10 })
        yield* settle
        yield* book.warm(TOKEN)
        assert.strictEqual(chain.searches, 2)
        chain.put(
          toyPool({ address: POOL_2, mintA: SOL, mintB: TOKEN, vaultA: VAULT_A2, vaultB: VAULT_B2 }),
          vault(VAULT_A2, 10n),
          vault(VAULT_B2, 10n)
        )
        yield* TestClock.adjust("60 seconds")
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 2)
      })
    )
  })

  it.effect("forgets the mint that went unused longest when there are too many", () => {
    const chain = chainWithOnePool()
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          yield* book.warm(OTHER)
          yield* settle
          book.between(TOKEN, SOL)
          yield* book.warm(at(12))
          yield* settle
          assert.isNotNull(book.between(TOKEN, SOL))
          assert.isNull(book.between(OTHER, SOL))
          yield* book.warm(at(13))
          yield* book.warm(at(14))
          yield* settle
          assert.isNull(book.between(TOKEN, SOL))
          assert.strictEqual(chain.watched.size, 0)
        }),
      { WARM_MINTS: "2" }
    )
  })

  it.effect("keeps pools against SOL when a mint has more pools than the limit", () => {
    const chain = chainWithOnePool().put(
      toyPool({ address: at(2), mintA: TOKEN, mintB: OTHER, vaultA: VAULT_A, vaultB: VAULT_B }),
      toyPool({ address: at(3), mintA: TOKEN, mintB: OTHER, vaultA: VAULT_A, vaultB: VAULT_B })
    )
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          assert.deepStrictEqual(
            book.poolsOf(TOKEN).map(({ address }) => address),
            [POOL]
          )
        }),
      { POOLS_PER_MINT: "1" }
    )
  })

  it.effect("reads pools whose account does not name the mint at the address that follows from it", () => {
    const chain = chainWithOnePool()
    const named: Program = {
      ...toyProgram,
      poolsOf: () => [],
      poolAddressesOf: (mint) => (mint === TOKEN ? [POOL] : [at(99)]),
      needs: (pool, accounts, derive, foundBy) => (foundBy === TOKEN ? toyProgram.needs(pool, accounts, derive) : []),
      decode: (pool, accounts, derive, foundBy) =>
        foundBy === TOKEN ? toyProgram.decode(pool, accounts, derive) : { reason: "unsupported", detail: "no mint" }
    }
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* book.warm(OTHER)
          yield* settle
          assert.deepStrictEqual(outOf(book, 1000n, chain), [250n])
          assert.deepStrictEqual(
            book.between(OTHER, SOL)?.refused.map(({ address, reason }) => [address, reason]),
            [[at(99), "closed"]]
          )
          assert.deepStrictEqual(book.between(TOKEN, SOL)?.refused, [])
        }),
      {},
      [named]
    )
  })

  it.effect("never searches for SOL itself", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(SOL)
        yield* settle
        assert.strictEqual(chain.searches, 0)
      })
    )
  })
})
