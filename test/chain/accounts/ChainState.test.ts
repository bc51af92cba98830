import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../../src/domain/Address.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { AccountBuffer } from "../../../src/chain/accounts/AccountBuffer.ts"
import type { Commitment } from "../../../src/chain/Commitment.ts"
import { ChainState } from "../../../src/chain/accounts/ChainState.ts"
import { settleWhenQuiet } from "../../../src/chain/accounts/followChain.ts"
import { makeOutbox } from "../../../src/chain/accounts/outbox.ts"
import { RelayedWrites } from "../../../src/chain/bus/RelayedWrites.ts"
import { addressToBytes } from "../../../src/domain/Address.ts"
import { randomFrom } from "../../programs/syntheticPools.ts"
import { at } from "../../quotes/toyChain.ts"
import { clockOf, holding, Reader } from "./accounts.ts"

const sceneWith = Effect.fnUntraced(function* (
  relay?: RelayedWrites,
  reportsSlots = false,
  commitment: Commitment = "confirmed"
) {
  const wanted = new Set<Address>()
  const buffer = new AccountBuffer((address) => !wanted.has(address))
  const outbox = yield* makeOutbox(1000, () => buffer.everything())
  const time = yield* Clock.Clock
  const state = new ChainState({ buffer, outbox, wanted, commitment, time, relay, reportsSlots })
  const followed = new Set<Address>()
  let asked = 0
  const node = {
    followed: () => followed.keys(),
    isFollowed: (address: Address) => {
      asked++
      return followed.has(address)
    }
  }
  /** Unfollows and follows as a connection does. Runs `between` after the first step. Refuses these accounts. */
  const sync = (between: () => void = () => {}, refused: ReadonlySet<Address> = new Set()) => {
    state.toUnfollow(node).forEach((address) => followed.delete(address))
    between()
    state.toFollow(node).forEach((address) => refused.has(address) || followed.add(address))
    state.hasFollowed(node.isFollowed)
  }
  const takeAsked = () => {
    const count = asked
    asked = 0
    return count
  }
  state.connect()
  return { buffer, followed, outbox, state, sync, takeAsked, wanted }
})

const sorted = (addresses: Iterable<Address>) => Array.from(new Set(addresses)).toSorted()
const leaseOf = (addresses: ReadonlyArray<Address>, revision: number) =>
  new Map([["other", { revision, accounts: Buffer.concat(addresses.map(addressToBytes)) }]])

describe("the accounts that a connection follows", () => {
  it.effect("are the wanted ones, after any changes, losses and refusals", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 40; seed++) {
        const relay = seed % 2 === 0 ? new RelayedWrites(() => 1) : undefined
        const { followed, state, sync, wanted } = yield* sceneWith(relay)
        const random = randomFrom(seed)
        const below = (n: number) => Math.floor(random() * n)
        const some = () => Array.from({ length: below(4) }, () => at(1 + below(12)))
        let lease: ReadonlyArray<Address> = []
        let revision = 0
        const change = () => {
          const kind = below(5)
          if (kind === 0) {
            const lost = some().filter((address) => followed.delete(address))
            state.onLost(lost)
          } else if (kind === 1) {
            state.unwatch(some())
          } else if (kind === 2 && relay !== undefined) {
            lease = some()
            relay.list(leaseOf(lease, ++revision))
          } else if (kind === 3 && below(5) === 0) {
            followed.clear()
            state.disconnect()
            state.connect()
          } else {
            state.watch(some())
          }
        }
        for (let step = 0; step < 40; step++) {
          change()
          sync(below(2) === 0 ? change : undefined, new Set(some()))
          change()
          sync()
          assert.deepStrictEqual(sorted(followed), sorted([CLOCK, ...wanted, ...lease]), `seed ${seed}, step ${step}`)
        }
      }
    })
  )

  it.effect("are not walked for a change of one of them", () =>
    Effect.gen(function* () {
      const { followed, state, sync, takeAsked } = yield* sceneWith()
      state.watch(Array.from({ length: 200 }, (_, i) => at(i + 1)))
      sync()
      takeAsked()
      state.watch([at(250)])
      state.unwatch([at(1)])
      sync()
      assert.isTrue(followed.has(at(250)))
      assert.isFalse(followed.has(at(1)))
      assert.isAtMost(takeAsked(), 4)
    })
  )
})

describe("the writes of a source that reports its slots", () => {
  const [a, b] = [at(1), at(2)]
  /** Both accounts at slot 10, after which the state is settled as on a connection. */
  const scene = Effect.gen(function* () {
    const { buffer, state } = yield* sceneWith(undefined, true)
    yield* Effect.forkScoped(settleWhenQuiet(state), { startImmediately: true })
    state.watch([a, b])
    const read = (slot: number) => {
      const states = [a, b].map((address) => [address, { slot, account: holding(address, [slot], slot) }] as const)
      state.answer(state.unread(), new Map(states), 0)
    }
    state.onCommitted(10)
    read(10)
    const quiet = TestClock.adjust("100 millis")
    yield* quiet
    const slots = () => [buffer.state(a)?.slot, buffer.state(b)?.slot]
    const write = (address: Address, slot: number) =>
      state.onWrite(address, { slot, account: holding(address, [slot], slot) })
    assert.deepStrictEqual(slots(), [10, 10])
    return { quiet, read, slots, state, write }
  })

  it.effect("wait for the report of their slot, however long no other write comes", () =>
    Effect.gen(function* () {
      const { quiet, slots, state, write } = yield* scene
      write(a, 11)
      // Half of the slot has come, and then nothing for a while.
      yield* quiet
      assert.deepStrictEqual(slots(), [10, 10])
      write(b, 11)
      yield* quiet
      assert.deepStrictEqual(slots(), [10, 10])
      state.onCommitted(11)
      yield* quiet
      assert.deepStrictEqual(slots(), [11, 11])
    })
  )

  it.effect("end with the next slot where theirs is never reported", () =>
    Effect.gen(function* () {
      const { quiet, slots, state, write } = yield* scene
      write(a, 11)
      yield* quiet
      state.onCommitted(12)
      yield* quiet
      assert.deepStrictEqual(slots(), [11, 10])
      write(a, 13)
      write(b, 14)
      yield* quiet
      assert.deepStrictEqual(slots(), [13, 10])
    })
  )

  it.effect("of a lost connection hold up nothing on the next one", () =>
    Effect.gen(function* () {
      const { quiet, read, slots, state, write } = yield* scene
      write(a, 11)
      yield* quiet
      state.disconnect()
      state.connect()
      // The chain is halted at that slot, so nothing is reported.
      read(11)
      yield* quiet
      assert.deepStrictEqual(slots(), [11, 11])
    })
  )
})

const feed = (reports: boolean, commitment: Commitment = "confirmed") =>
  Effect.gen(function* () {
    const made = yield* sceneWith(undefined, reports, commitment)
    const reader = new Reader()
    yield* made.outbox.events.pipe(
      Stream.runForEach((event) => Effect.sync(() => reader.take(event))),
      Effect.forkScoped({ startImmediately: true })
    )
    return { ...made, reader, taken: TestClock.adjust("1 millis") }
  })

const stateOf = (address: Address, slot: number) => ({ slot, account: holding(address, [slot], slot) })

describe("readers of a feed that has missed writes", () => {
  const [a, b] = [at(1), at(2)]
  /** A live feed with both accounts and the clock at slot 10, whose readers have taken everything. */
  const scene = Effect.fnUntraced(function* (commitment: Commitment = "confirmed") {
    const { reader, state, taken } = yield* feed(true, commitment)
    state.watch([a, b])
    const read = (slot: number, addresses: ReadonlyArray<Address> = [a, b]) => {
      const requested = new Map(Array.from(state.unread()).filter(([address]) => addresses.includes(address)))
      state.answer(requested, new Map(addresses.map((address) => [address, stateOf(address, slot)])), 0)
      state.settle(slot)
    }
    const write = (address: Address, slot: number) => {
      state.onWrite(address, stateOf(address, slot))
      state.onCommitted(slot)
      state.settle(slot)
    }
    const readClock = (slot: number) => {
      state.answer(state.unread(), new Map([[CLOCK, { slot, account: clockOf(1, 1000 + slot, slot) }]]), 0)
    }
    state.onCommitted(10)
    readClock(10)
    read(10)
    yield* taken
    state.settle(10)
    const seen = () => {
      const { slot, state: name } = state.freshness()
      // The clock that quotes are computed by is of the same slot as the accounts.
      assert.strictEqual(name === "reloading" ? state.clock().slot : slot, slot)
      return [name, slot, reader.bytes(a)?.[0], reader.bytes(b)?.[0]]
    }
    assert.deepStrictEqual(seen(), ["live", 10, 10, 10])
    return { read, reader, readClock, seen, state, taken, write }
  })

  it.effect("keep the last whole state until all of it is read again, and then get one snapshot", () =>
    Effect.gen(function* () {
      const { read, reader, seen, state, taken, write } = yield* scene()
      state.onLost([a, b])
      write(a, 12)
      read(13, [b])
      yield* taken
      assert.deepStrictEqual(seen(), ["reloading", 10, 10, 10])
      const before = reader.snapshots.length
      read(14, [a])
      // Until the reader has taken it.
      assert.deepStrictEqual(seen(), ["reloading", 10, 10, 10])
      yield* taken
      assert.deepStrictEqual(seen(), ["live", 12, 14, 13])
      assert.deepStrictEqual(
        reader.snapshots.slice(before).map(({ isAfterGap }) => isAfterGap),
        [true]
      )
    })
  )

  it.effect("know its age also after the connection is lost", () =>
    Effect.gen(function* () {
      const { read, readClock, seen, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      state.disconnect()
      yield* taken
      assert.deepStrictEqual(seen(), ["down", 10, 10, 10])
      state.connect()
      write(b, 14)
      readClock(15)
      read(15, [a])
      yield* taken
      assert.deepStrictEqual(seen(), ["reloading", 10, 10, 10])
      read(16, [b])
      yield* taken
      assert.deepStrictEqual(seen(), ["live", 14, 15, 16])
    })
  )

  it.effect("get what is polled meanwhile, with all that was held back", () =>
    Effect.gen(function* () {
      const { read, seen, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      state.adopt(13, new Map([a, b].map((address) => [address, stateOf(address, address === a ? 13 : 12)])))
      yield* taken
      assert.deepStrictEqual(seen(), ["polling", 13, 13, 12])
      write(b, 14)
      yield* taken
      assert.deepStrictEqual(seen(), ["polling", 13, 13, 12])
      read(15, [a])
      yield* taken
      assert.deepStrictEqual(seen(), ["live", 14, 15, 14])
    })
  )

  it.effect("get what is known after five seconds, and nothing counts as whole", () =>
    Effect.gen(function* () {
      const { read, readClock, seen, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      yield* TestClock.adjust("5 seconds")
      write(b, 13)
      assert.deepStrictEqual(seen(), ["reloading", 10, 10, 10])
      yield* taken
      write(b, 14)
      yield* taken
      assert.deepStrictEqual(seen(), ["loading", 14, 10, 14])
      state.disconnect()
      assert.deepStrictEqual(seen(), ["loading", 14, 10, 14])
      state.connect()
      readClock(15)
      read(15)
      yield* taken
      assert.deepStrictEqual(seen(), ["live", 14, 15, 15])
    })
  )

  it.effect("have no whole state on another chain", () =>
    Effect.gen(function* () {
      const { seen, state } = yield* scene()
      state.onLost([a])
      assert.strictEqual(seen()[0], "reloading")
      state.startAnew()
      assert.strictEqual(seen()[0], "loading")
    })
  )

  it.effect("have none where the chain has dropped the block of their state", () =>
    Effect.gen(function* () {
      const { seen, state } = yield* scene("processed")
      state.onSlot({ slot: 11, parent: 9, root: 0 })
      assert.strictEqual(seen()[0], "loading")
    })
  )

  /** A feed over a WebSocket that has both accounts at slot 43. */
  const webSocket = Effect.gen(function* () {
    const made = yield* feed(false)
    const { state, taken } = made
    state.watch([a, b])
    state.onSlot({ slot: 43, parent: 42, root: 11 })
    state.answer(
      state.unread(),
      new Map([
        [CLOCK, { slot: 43, account: clockOf(1, 1043, 43) }],
        [a, stateOf(a, 43)],
        [b, stateOf(b, 43)]
      ]),
      0
    )
    state.settleQuiet()
    yield* taken
    return made
  })

  it.effect("have the newest settled slot of a WebSocket, not the root", () =>
    Effect.gen(function* () {
      const { reader, state } = yield* webSocket
      state.settleQuiet()
      yield* TestClock.adjust("400 millis")
      state.onSlot({ slot: 44, parent: 43, root: 12 })
      const live = state.freshness()
      state.onLost([a])
      const kept = state.freshness()
      assert.deepStrictEqual([live.state, live.slot, reader.bytes(a)?.[0]], ["live", 44, 43])
      assert.deepStrictEqual([kept.state, kept.slot, state.clock().slot], ["reloading", 43, 43])
    })
  )

  it.effect("have no older state because the slot before the newest one settles once more", () =>
    Effect.gen(function* () {
      const { seen, state, write } = yield* scene()
      write(a, 11)
      write(b, 12)
      state.settle(11)
      state.onLost([a])
      assert.deepStrictEqual(seen().slice(0, 2), ["reloading", 12])
    })
  )

  it.effect("have the state of one gap in the next one", () =>
    Effect.gen(function* () {
      const { read, seen, state, taken, write } = yield* scene()
      state.onLost([a, b])
      write(a, 12)
      read(14)
      yield* taken
      assert.deepStrictEqual(seen(), ["live", 12, 14, 14])
      state.onLost([a])
      const { slot } = state.freshness()
      assert.deepStrictEqual([slot, state.clock().slot], [12, 12])
    })
  )

  it.effect("have what was sent before the next gap once they have taken it", () =>
    Effect.gen(function* () {
      const { read, reader, state, taken, write } = yield* scene()
      state.onLost([a, b])
      write(a, 12)
      read(12)
      state.onLost([a])
      yield* taken
      assert.deepStrictEqual(
        [state.freshness().state, state.freshness().slot, reader.bytes(a)?.[0]],
        ["reloading", 12, 12]
      )
    })
  )

  it.effect("lack what is held back also after the last account with a gap has left", () =>
    Effect.gen(function* () {
      const { reader, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      yield* taken
      state.unwatch([a])
      yield* taken
      const { slot, state: name } = state.freshness()
      assert.deepStrictEqual([name, slot, reader.bytes(b)?.[0]], ["reloading", 10, 10])
    })
  )

  it.effect("lack it also after that account is watched again and the connection is lost", () =>
    Effect.gen(function* () {
      const { reader, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      state.unwatch([a])
      state.watch([a])
      state.disconnect()
      yield* TestClock.adjust("1 seconds")
      yield* taken
      const { slot, state: name } = state.freshness()
      assert.deepStrictEqual([name, slot, reader.bytes(b)?.[0]], ["down", 10, 10])
    })
  )

  it.effect("know its age where a connection is lost while slots come late", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.isBehind = true
      state.onLost([a, b])
      write(b, 15)
      state.disconnect()
      yield* taken
      assert.deepStrictEqual(seen(), ["down", 10, 10, 10])
    })
  )

  it.effect("know its age where a connection is lost while slots are repeated", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      state.disconnect()
      state.connect({ isReplayed: true })
      write(b, 12)
      state.onCommitted(12)
      write(b, 15)
      state.disconnect()
      yield* taken
      assert.deepStrictEqual(seen(), ["down", 10, 10, 10])
    })
  )

  it.effect("have none where the chain has dropped a polled block", () =>
    Effect.gen(function* () {
      const { seen, state, taken } = yield* scene("processed")
      state.disconnect()
      state.adopt(13, new Map([a, b].map((address) => [address, stateOf(address, 13)])))
      yield* taken
      state.connect()
      assert.deepStrictEqual(seen(), ["polling", 13, 13, 13])
      state.onSlot({ slot: 14, parent: 12, root: 0 })
      assert.strictEqual(seen()[0], "loading")
    })
  )

  it.effect("do not have the waiting writes of a lost connection", () =>
    Effect.gen(function* () {
      const { reader, state } = yield* scene()
      state.onWrite(a, stateOf(a, 11))
      state.onWrite(a, stateOf(a, 12))
      state.disconnect()
      yield* TestClock.adjust("1 millis")
      const down = state.freshness()
      state.connect()
      const again = state.freshness()
      assert.deepStrictEqual(
        [down.state, down.slot, again.state, again.slot, reader.bytes(a)?.[0]],
        ["down", 11, "reloading", 11, 11]
      )
    })
  )

  it.effect("know its age after the chain has stood still", () =>
    Effect.gen(function* () {
      const { state } = yield* scene("processed")
      const at10 = state.freshness().heardAtMs
      yield* TestClock.adjust("5 seconds")
      state.onSlot({ slot: 11, parent: 10, root: 0 })
      state.onLost([a])
      const { heardAtMs, slot, state: name } = state.freshness()
      assert.deepStrictEqual([name, slot, heardAtMs], ["reloading", 10, at10])
    })
  )

  it.effect("have what a full queue was replaced by", () =>
    Effect.gen(function* () {
      const wanted = new Set<Address>()
      const buffer = new AccountBuffer((address) => !wanted.has(address))
      const outbox = yield* makeOutbox(1, () => buffer.everything())
      const state = new ChainState({
        buffer,
        outbox,
        wanted,
        commitment: "confirmed",
        time: yield* Clock.Clock,
        reportsSlots: true
      })
      state.connect()
      state.watch([a])
      state.onCommitted(10)
      state.answer(
        state.unread(),
        new Map([
          [CLOCK, { slot: 10, account: clockOf(1, 1010, 10) }],
          [a, stateOf(a, 10)]
        ]),
        0
      )
      state.settle(10)
      for (const slot of [11, 12, 13]) {
        state.onWrite(a, stateOf(a, slot))
        state.onCommitted(slot)
        state.settle(slot)
      }
      state.onLost([a])
      const reader = new Reader()
      yield* outbox.events.pipe(
        Stream.runForEach((event) => Effect.sync(() => reader.take(event))),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(
        [state.freshness().state, state.freshness().slot, reader.bytes(a)?.[0]],
        ["reloading", 13, 13]
      )
    })
  )

  it.effect("have the slots that came late in order, when a gap follows them", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.isBehind = true
      write(a, 15)
      yield* taken
      state.onLost([b])
      state.isBehind = false
      yield* taken
      assert.deepStrictEqual(seen(), ["reloading", 15, 15, 10])
    })
  )

  it.effect("have them when the connection is lost", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.isBehind = true
      write(a, 15)
      yield* taken
      state.disconnect()
      assert.deepStrictEqual(seen(), ["down", 15, 15, 10])
      assert.strictEqual(state.clock().slot, 15)
    })
  )

  it.effect("keep the whole state while slots come late in a gap", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.onLost([a])
      state.isBehind = true
      write(b, 15)
      yield* taken
      assert.deepStrictEqual(seen(), ["reloading", 10, 10, 10])
    })
  )

  it.effect("have the slots that were repeated when the connection is lost again", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.disconnect()
      state.connect({ isReplayed: true })
      state.onCommitted(10)
      write(a, 12)
      write(b, 13)
      yield* taken
      state.disconnect()
      assert.deepStrictEqual(seen(), ["down", 13, 12, 13])
      assert.strictEqual(state.clock().slot, 13)
    })
  )

  it.effect("have the last settled slot of a WebSocket without a pause", () =>
    Effect.gen(function* () {
      const { reader, state, taken } = yield* webSocket
      for (let slot = 44; slot <= 100; slot++) {
        yield* TestClock.adjust("400 millis")
        state.onSlot({ slot, parent: slot - 1, root: slot - 32 })
        if (slot > 45) {
          state.onWrite(a, stateOf(a, slot - 2))
        }
      }
      yield* taken
      const live = state.freshness()
      state.disconnect()
      const down = state.freshness()
      assert.deepStrictEqual([live.state, live.slot, reader.bytes(a)?.[0]], ["live", 100, 97])
      const ageMs = (live.heardAtMs ?? 0) - (down.heardAtMs ?? 0)
      assert.deepStrictEqual([down.state, down.slot, state.clock().slot, ageMs], ["down", 97, 97, 1200])
    })
  )

  it.effect("get a snapshot after a gap also where nothing was held back", () =>
    Effect.gen(function* () {
      const { read, reader, seen, state, taken } = yield* scene()
      const before = reader.snapshots.length
      state.onLost([a, b])
      assert.deepStrictEqual(seen(), ["reloading", 10, 10, 10])
      read(14)
      const [name] = seen()
      yield* taken
      assert.deepStrictEqual(
        [name, ...reader.snapshots.slice(before).map(({ isAfterGap }) => isAfterGap)],
        ["reloading", true]
      )
    })
  )

  it.effect("have what they took, whether somebody asked meanwhile or not", () =>
    Effect.gen(function* () {
      const { read, seen, state, taken, write } = yield* scene()
      write(a, 11)
      yield* taken
      write(b, 12)
      yield* taken
      state.onLost([a])
      write(b, 13)
      read(14, [a])
      assert.deepStrictEqual(seen(), ["reloading", 12, 11, 12])
    })
  )

  it.effect("keep the whole state while the accounts are read after an outage", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      state.disconnect()
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(seen(), ["down", 10, 10, 10])
      state.connect()
      state.onCommitted(25)
      yield* taken
      assert.deepStrictEqual(seen(), ["reloading", 10, 10, 10])
    })
  )

  it.effect("have no whole state where the chain has dropped a block on its way to them", () =>
    Effect.gen(function* () {
      const { read, seen, state, taken, write } = yield* scene("processed")
      state.onLost([a])
      write(b, 12)
      read(12, [a])
      state.onSlot({ slot: 13, parent: 11, root: 0 })
      yield* taken
      assert.strictEqual(seen()[0], "loading")
    })
  )

  it.effect("keep the whole state when a late write of a dropped block comes", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene("processed")
      state.onSlot({ slot: 13, parent: 10, root: 0 })
      write(b, 14)
      yield* taken
      state.onLost([a])
      assert.deepStrictEqual(seen(), ["reloading", 14, 10, 14])
      state.onWrite(a, stateOf(a, 12))
      assert.deepStrictEqual(seen(), ["reloading", 14, 10, 14])
    })
  )

  it.effect("lack an account that a poll brought first, until it is read", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      const c = at(3)
      state.disconnect()
      state.watch([c])
      state.adopt(13, new Map([a, b, c].map((address) => [address, stateOf(address, 13)])))
      state.connect({ isReplayed: true })
      state.onCommitted(13)
      write(c, 14)
      state.settleQuiet()
      yield* taken
      assert.notStrictEqual(seen()[0], "live")
    })
  )

  it.effect("do not get what is held back while the connection is lost", () =>
    Effect.gen(function* () {
      const { seen, state, taken, write } = yield* scene()
      state.onLost([a])
      write(b, 12)
      state.unwatch([a])
      state.disconnect()
      state.settleQuiet()
      yield* taken
      assert.deepStrictEqual(seen(), ["down", 10, 10, 10])
    })
  )
})
