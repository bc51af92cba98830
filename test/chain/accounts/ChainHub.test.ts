import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Queue, References } from "effect"
import { TestClock } from "effect/testing"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import type { ChainEvent } from "../../../src/chain/ChainFeed.ts"
import { ChainHub } from "../../../src/chain/accounts/ChainHub.ts"
import { type Address, SOL } from "../../../src/domain/Address.ts"
import { PoolBook } from "../../../src/quotes/pools/PoolBook.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import { at, ToyChain, toyPool, toyProgram, vault } from "../../quotes/toyChain.ts"
import { classicMint } from "../../tokens/mints.ts"

const [FIRST, SECOND] = [at(1), at(2)]

/** A book that records its events and when they were received. */
class Ledger {
  readonly heard: Array<readonly [Address, OnChainAccount | null, number]> = []

  readonly apply = (event: ChainEvent, heardAtMs: number) =>
    Effect.sync(() => {
      for (const [address, account] of event._tag === "Writes" ? event.accounts : event.snapshot.accounts) {
        this.heard.push([address, account, heardAtMs])
      }
    })

  amounts(address: Address): ReadonlyArray<number | null | undefined> {
    return this.heard.filter(([emitted]) => emitted === address).map(([, account]) => account && account.data[0])
  }
}

const settle = TestClock.adjust(0).pipe(Effect.repeat({ times: 20 }))

const withHub = <A, E>(
  chain: ToyChain,
  use: (join: (ledger: Ledger) => ReturnType<ChainHub["Service"]["join"]>) => Effect.Effect<A, E, ChainHub>
) =>
  ChainHub.use((hub) => use((ledger) => hub.join(ledger.apply))).pipe(
    Effect.provide([ChainHub.layer.pipe(Layer.provide(chain.layer)), Layer.succeed(References.MinimumLogLevel, "None")])
  )

const chainOfTwo = () => new ToyChain().put(vault(FIRST, 10n), vault(SECOND, 20n))

describe("ChainHub", () => {
  it.effect(
    "gives a second book the states that the first already follows, with their original time of receipt",
    () => {
      const chain = chainOfTwo()
      const [early, late] = [new Ledger(), new Ledger()]
      return withHub(chain, (join) =>
        Effect.gen(function* () {
          const one = yield* join(early)
          const two = yield* join(late)
          yield* one.watch([FIRST])
          yield* settle
          yield* TestClock.adjust("5 seconds")
          late.heard.length = 0
          yield* two.watch([FIRST])
          assert.deepStrictEqual(late.heard, [[FIRST, vault(FIRST, 10n), 0]])
          assert.strictEqual(early.heard.length, 1)
        }).pipe(Effect.scoped)
      )
    }
  )

  it.effect("follows an account until the last book has unwatched it", () => {
    const chain = chainOfTwo()
    return withHub(chain, (join) =>
      Effect.gen(function* () {
        const one = yield* join(new Ledger())
        const two = yield* join(new Ledger())
        yield* one.watch([FIRST, SECOND])
        yield* two.watch([FIRST, FIRST])
        yield* one.unwatch([FIRST, SECOND, at(3)])
        assert.deepStrictEqual(Array.from(chain.watched), [FIRST])
        yield* two.unwatch([FIRST])
        assert.strictEqual(chain.watched.size, 0)
      }).pipe(Effect.scoped)
    )
  })

  it.effect("unwatches a book's accounts when the book's scope closes", () => {
    const chain = chainOfTwo()
    return withHub(chain, (join) =>
      Effect.gen(function* () {
        const staying = yield* join(new Ledger())
        yield* staying.watch([FIRST])
        const leaving = new Ledger()
        yield* Effect.scoped(Effect.flatMap(join(leaving), (book) => book.watch([FIRST, SECOND])))
        assert.deepStrictEqual(Array.from(chain.watched), [FIRST])
        leaving.heard.length = 0
        chain.write(2, vault(FIRST, 11n, 2))
        yield* settle
        assert.deepStrictEqual(leaving.heard, [])
      }).pipe(Effect.scoped)
    )
  })

  it.effect("applies each event to every book before the next event", () => {
    const chain = chainOfTwo()
    const order: Array<string> = []
    return ChainHub.use((hub) =>
      Effect.gen(function* () {
        const note = (name: string) => (event: ChainEvent) =>
          Effect.sync(() => void order.push(`${name} ${event._tag === "Writes" ? event.slot : "snapshot"}`))
        const one = yield* hub.join(note("one"))
        yield* hub.join(note("two"))
        yield* one.watch([FIRST])
        chain.write(2, vault(FIRST, 11n, 2))
        chain.write(3, vault(FIRST, 12n, 3))
        yield* settle
        assert.deepStrictEqual(order, ["one snapshot", "two snapshot", "one 2", "two 2", "one 3", "two 3"])
      })
    ).pipe(Effect.scoped, Effect.provide(ChainHub.layer.pipe(Layer.provide(chain.layer))))
  })

  it.effect("emits an unchanged account again on refresh, to the books that follow it", () => {
    const chain = chainOfTwo()
    const ledger = new Ledger()
    return withHub(chain, (join) =>
      Effect.gen(function* () {
        const book = yield* join(ledger)
        yield* book.watch([FIRST])
        yield* settle
        yield* TestClock.adjust("1 hour")
        yield* book.refresh([FIRST, SECOND])
        yield* settle
        assert.deepStrictEqual(
          ledger.heard.map(([address, , heardAtMs]) => [address, heardAtMs]),
          [
            [FIRST, 0],
            [FIRST, 3_600_000]
          ]
        )
        assert.deepStrictEqual(Array.from(chain.watched), [FIRST])
      }).pipe(Effect.scoped)
    )
  })

  it.effect("is shared by all books that are built together, so that no event goes to only one of them", () => {
    const [MINT, POOL] = [at(10), at(20)]
    const pool = toyPool({ address: POOL, mintA: MINT, mintB: SOL, vaultA: FIRST, vaultB: SECOND })
    const chain = chainOfTwo().put(pool, classicMint(MINT))
    return Effect.gen(function* () {
      const pools = yield* PoolBook
      const tokens = yield* TokenBook
      yield* pools.warm(MINT)
      yield* tokens.warm(MINT)
      yield* settle
      for (let slot = 2; slot < 30; slot++) {
        chain.write(slot, classicMint(MINT, { slot }), vault(FIRST, BigInt(slot), slot))
        yield* settle
        assert.strictEqual(tokens.read(MINT)?.observation.slot, slot)
        assert.strictEqual(pools.poolsOf(MINT)[0]?.slot, slot)
      }
    }).pipe(
      Effect.provide(
        Layer.mergeAll(PoolBook.layerPrograms([toyProgram]), TokenBook.layer).pipe(Layer.provide(chain.layer))
      )
    )
  })

  it.effect("survives a book that fails, and an event that makes no sense", () => {
    const chain = chainOfTwo()
    const ledger = new Ledger()
    return ChainHub.use((hub) =>
      Effect.gen(function* () {
        yield* hub.join(() => Effect.die(new Error("a bug")))
        const book = yield* hub.join(ledger.apply)
        yield* book.watch([FIRST])
        yield* settle
        const accounts = new Map<never, never>()
        accounts[Symbol.iterator] = () => {
          throw new Error("not what a feed sends")
        }
        Queue.offerUnsafe(chain.events, { _tag: "Writes", slot: 2, accounts })
        chain.write(3, vault(FIRST, 12n, 3))
        yield* settle
        assert.deepStrictEqual(ledger.amounts(FIRST), [10, 12])
      })
    ).pipe(
      Effect.scoped,
      Effect.provide([
        ChainHub.layer.pipe(Layer.provide(chain.layer)),
        Layer.succeed(References.MinimumLogLevel, "None")
      ])
    )
  })
})
