import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import type { Program } from "../../src/amm/Program.ts"
import { SOL } from "../../src/domain/Address.ts"
import { PoolBook } from "../../src/quotes/PoolBook.ts"
import { at, ToyChain, toyPool, toyProgram, vault } from "./toyChain.ts"

const TOKEN = at(10)
const OTHER = at(11)
const [POOL, VAULT_A, VAULT_B] = [at(20), at(21), at(22)]
const [POOL_2, VAULT_A2, VAULT_B2] = [at(30), at(31), at(32)]

const first = toyPool({ address: POOL, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A, vaultB: VAULT_B })
const second = toyPool({ address: POOL_2, mintA: OTHER, mintB: TOKEN, vaultA: VAULT_A2, vaultB: VAULT_B2 })

const chainWithOnePool = () => new ToyChain().put(first, vault(VAULT_A, 1000n), vault(VAULT_B, 500n))

/** Lets every fiber do what it can without time passing. */
const settle = TestClock.adjust(0).pipe(Effect.repeat({ times: 20 }))

const withBook = <A, E>(
  chain: ToyChain,
  use: (book: PoolBook["Service"]) => Effect.Effect<A, E>,
  settings: Record<string, string> = {},
  programs: ReadonlyArray<Program> = [toyProgram]
) =>
  PoolBook.use(use).pipe(
    Effect.provide(
      PoolBook.layerPrograms(programs).pipe(
        Layer.provide(chain.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
      )
    )
  )

const outOf = (book: PoolBook["Service"], amount: bigint, chain: ToyChain) =>
  book.between(TOKEN, SOL)?.pools.map((pool) => pool.swap(true, amount, chain.time).amountOut)

describe("PoolBook", () => {
  it.effect("is cold until somebody asks, then knows the pair from both sides", () => {
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

  it.effect("answers an empty list, not cold, for a mint that has no pools", () =>
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

  it.effect("reads a write of several accounts whole, in the turn it arrives", () => {
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

  it.effect("follows an account a pool starts to need and lets go of the one it left", () => {
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
      })
    )
  })

  it.effect("names why a pool is refused, and prices it once it opens", () => {
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

  it.effect("drops every pool at an event it cannot apply, and loads them again when asked", () => {
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
