import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Program } from "../../../src/programs/interface/Program.ts"
import { addressFromBytes, type Mint, SOL } from "../../../src/domain/Address.ts"
import { Requester } from "../../../src/quotes/pools/Requester.ts"
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
import { at, ToyChain, toyPool, toyProgram, vault } from "../toyChain.ts"

/** Gives each of these mints a pool against SOL. */
const chainWithPools = (...mints: ReadonlyArray<number>) =>
  new ToyChain().put(
    ...mints.flatMap((n) => [
      toyPool({ address: at(100 + n), mintA: at(n), mintB: SOL, vaultA: at(130 + n), vaultB: at(160 + n) }),
      vault(at(130 + n), 1000n),
      vault(at(160 + n), 500n)
    ])
  )

const mintOf = (n: number): Mint =>
  addressFromBytes(
    new Uint8Array(32)
      .fill(77)
      .fill(n % 256, 30)
      .fill(n >> 8, 31)
  )

const asKey = <A>(effect: Effect.Effect<A>, key = "key") => Effect.provideService(effect, Requester, key)

describe("PoolBook, looking for pools,", () => {
  it.effect("retries a search after the node failed, with growing pauses, then gives up until the next request", () => {
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

  it.effect("searches once however often it is requested, and again after a minute to find new pools", () => {
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
    const chain = chainWithPools(10, 12, 13, 14)
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          for (const mint of [TOKEN, at(12), at(13)]) {
            yield* book.warm(mint)
            yield* settle
            assert.isNotNull(book.between(mint, SOL))
          }
          yield* book.warm(at(14))
          yield* settle
          assert.isNull(book.between(TOKEN, SOL))
          assert.isNotNull(book.between(at(13), SOL))
        }),
      { WARM_MINTS: "3" }
    )
  })

  it.effect("does not let mints that are never used push out mints in use", () => {
    const chain = chainWithPools(...Array.from({ length: 20 }, (_, n) => 10 + n))
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          assert.isNotNull(book.between(TOKEN, SOL))
          for (let n = 11; n < 30; n++) {
            yield* book.warm(at(n))
            yield* settle
          }
          assert.isNotNull(book.between(TOKEN, SOL))
          assert.isNotNull(book.between(at(29), SOL))
          assert.isNull(book.between(at(12), SOL))
        }),
      { WARM_MINTS: "8" }
    )
  })

  it.effect("reads one account of a mint that does not exist, and remembers that for a minute", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* asKey(book.warm(at(50))))._tag, "Queued")
        yield* settle
        assert.deepStrictEqual(book.between(at(50), SOL), { pools: [], refused: [] })
        assert.strictEqual((yield* asKey(book.warm(at(50))))._tag, "Loaded")
        yield* TestClock.adjust("59 seconds")
        assert.isTrue(book.isLoaded(at(50)))
        assert.deepStrictEqual([chain.reads, chain.searches, chain.watched.size], [1, 0, 0])
        yield* TestClock.adjust("1 second")
        assert.isFalse(book.isLoaded(at(50)))
        assert.isNull(book.between(at(50), SOL))
      })
    )
  })

  it.effect("drops a mint without pools at once, unless the service itself needs it", () => {
    const chain = chainWithOnePool()
    chain.mints.add(at(50)).add(at(51))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* asKey(book.warm(at(50)))
        yield* book.warm(at(51))
        yield* settle
        assert.isTrue(book.isLoaded(at(50)) && book.isLoaded(at(51)))
        const spent = chain.searches
        // At the next search of every mint in memory.
        yield* TestClock.adjust("60 seconds")
        yield* settle
        assert.strictEqual(chain.searches, spent + 2)
        assert.isFalse(book.isLoaded(at(50)))
        assert.isTrue(book.isLoaded(at(51)))
      })
    )
  })

  it.effect("loads a mint of another key at once, however many mints one key requests", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        const asked = yield* Effect.forEach(
          Array.from({ length: 1000 }, (_, n) => mintOf(n)),
          (mint) => asKey(book.warm(mint), "flood")
        )
        // Some are loaded while others are still being requested.
        assert.isBelow(asked.filter(({ _tag }) => _tag === "Queued").length, 100)
        const refused = asked.find(({ _tag }) => _tag === "TooMany")
        assert.isAbove(refused?._tag === "TooMany" ? refused.fitsInMs : 0, 0)
        yield* asKey(book.warm(TOKEN), "other")
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
      })
    )
  })

  it.effect("checks the mints of a key together, so that junk does not hold up its real ones", () => {
    const chain = chainWithOnePool()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        const junk = Array.from({ length: 31 }, (_, n) => mintOf(n))
        yield* Effect.forEach([...junk, TOKEN], (mint) => asKey(book.warm(mint)))
        yield* settle
        assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
        assert.isTrue(junk.every((mint) => book.isLoaded(mint)))
        assert.isBelow(chain.reads, 5)
        assert.strictEqual(chain.searches, 2)
      })
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

  it.effect("reads pools whose account does not name the mint at the address that follows from the mint", () => {
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
