import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import type { ChainEvent, Snapshot } from "../../../src/chain/ChainFeed.ts"
import { makeOutbox } from "../../../src/chain/accounts/outbox.ts"
import { at, holding, Reader } from "./accounts.ts"

const write = (slot: number): ChainEvent => ({
  _tag: "Writes",
  slot,
  accounts: new Map([[at(1), holding(at(1), [slot], slot)]])
})

/** An outbox of three events. Its snapshot of everything is one account as last emitted. */
const scene = Effect.gen(function* () {
  let last = 0
  const everything = (): Snapshot => ({
    slot: last,
    accounts: new Map<Address, OnChainAccount | null>([[at(1), holding(at(1), [last], last)]])
  })
  const outbox = yield* makeOutbox(3, everything)
  const offer = (slot: number) => {
    last = slot
    return outbox.offer(write(slot))
  }
  const take = (count: number) =>
    Effect.gen(function* () {
      const reader = new Reader()
      yield* outbox.events.pipe(
        Stream.take(count),
        Stream.runForEach((event) => Effect.sync(() => reader.take(event)))
      )
      return reader
    })
  return { outbox, offer, take }
})

describe("an outbox", () => {
  it.effect("returns events in order", () =>
    Effect.gen(function* () {
      const { outbox, take, offer } = yield* scene
      assert.deepStrictEqual([1, 2, 3].map(offer), [false, false, false])
      assert.isFalse(outbox.isLagging())
      assert.deepStrictEqual(
        (yield* take(3)).writes.map(({ slot }) => slot),
        [1, 2, 3]
      )
    })
  )

  it.effect("replaces the queued events with one snapshot when full, and goes on from there", () =>
    Effect.gen(function* () {
      const { outbox, take, offer } = yield* scene
      assert.deepStrictEqual([1, 2, 3, 4, 5].map(offer), [false, false, false, true, false])
      assert.isTrue(outbox.isLagging())

      const reader = yield* take(2)
      assert.deepStrictEqual(
        reader.events.map((event) => event._tag),
        ["Snapshot", "Writes"]
      )
      assert.deepStrictEqual(reader.bytes(at(1)), [5])
      assert.isFalse(outbox.isLagging())
    })
  )

  it.effect("counts its reader as lagging until it has taken the marked events", () =>
    Effect.gen(function* () {
      const { outbox, take, offer } = yield* scene
      offer(1)
      outbox.markLagging()
      assert.isTrue(outbox.isLagging())
      yield* take(1)
      assert.isFalse(outbox.isLagging())
      offer(2)
      assert.isFalse(outbox.isLagging())
    })
  )
})
