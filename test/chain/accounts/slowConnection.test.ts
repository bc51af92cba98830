/** Two connections to one node, one of them slow: the state of the feed follows from what both have delivered. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Address, addressToBytes } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { makeOutbox } from "../../../src/chain/accounts/outbox.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { ChainState } from "../../../src/chain/accounts/ChainState.ts"
import { AccountBuffer } from "../../../src/chain/accounts/AccountBuffer.ts"
import { type Position, SocketProgress } from "../../../src/chain/accounts/socketProgress.ts"
import { RelayedWrites } from "../../../src/chain/bus/RelayedWrites.ts"
import { at, clockOf, holding, manyAddresses } from "./accounts.ts"

const A = at(1)
/** An account of the slow connection. */
const LOST = at(2)
const FIRST = 100
const SLOT_MS = 400

const stateOf = (account: OnChainAccount) => ({ slot: account.slot, account })

/** The state of a feed of A with two connections, both at the first slots. */
const sceneWith = Effect.fnUntraced(function* (relay?: RelayedWrites) {
  const time = yield* Clock.Clock
  const wanted = new Set<Address>()
  const buffer = new AccountBuffer((address) => !wanted.has(address))
  const outbox = yield* makeOutbox(1000, () => buffer.everything())
  const state = new ChainState({ buffer, outbox, wanted, commitment: "confirmed", time, relay })
  const progress = new SocketProgress(() => time.currentTimeMillisUnsafe())
  const fast = progress.begin()
  const slow = progress.begin()
  const loseSlowest = () => {
    const isSlow = progress.slowest === slow
    if (isSlow) {
      state.onLost([LOST])
      progress.end(slow)
    }
    return isSlow
  }
  state.watch([A, LOST])
  state.connect({ spread: { reached: () => progress.reached, loseSlowest } })

  /** Everything that a connection delivers of a slot. The first connection has the clock and A. */
  const deliver = (position: Position, slot: number) => {
    const before = progress.reached.slot
    progress.report(position, slot + 1)
    state.onSlot({ slot: slot + 1, parent: slot, root: slot - 31 })
    progress.write(position, slot, true)
    if (position === fast) {
      state.onWrite(CLOCK, stateOf(clockOf(7, 1_700_000_000, slot)))
      state.onWrite(A, stateOf(holding(A, [slot], slot)))
    }
    if (progress.reached.slot > before) {
      state.onCommitted(progress.reached.slot)
    }
    state.settleQuiet()
  }
  /** The first connection delivers the slot. The other one delivers a slot that many before. */
  const pass = Effect.fnUntraced(function* (slot: number, behind: number | null) {
    deliver(fast, slot)
    if (behind !== null) {
      deliver(slow, slot - behind)
    }
    yield* TestClock.adjust(SLOT_MS)
  })
  for (let slot = FIRST; slot < FIRST + 3; slot++) {
    yield* pass(slot, 0)
    const unread = state.unread()
    const states = [clockOf(7, 1_700_000_000, slot), holding(A, [slot], slot), holding(LOST, [slot], slot)]
    state.answer(unread, new Map(states.map((account) => [account.address, stateOf(account)])), 0)
  }
  yield* pass(FIRST + 3, 0)
  return { buffer, fast, pass, progress, slow, state, time }
})
const scene = sceneWith()

it.effect("states are as fresh as the slot that both connections have reached, and as old as its first delivery", () =>
  Effect.gen(function* () {
    const { buffer, pass, state, time } = yield* scene
    const live = state.freshness()
    assert.deepInclude(live, { slot: 103, state: "live", heardAtMs: time.currentTimeMillisUnsafe() - SLOT_MS })
    for (let slot = 104; slot < 114; slot++) {
      yield* pass(slot, null)
      assert.strictEqual(buffer.state(A)?.slot, 103)
      assert.deepStrictEqual(state.freshness(), live)
      // Whoever looks for silence sees that the chain goes on.
      assert.strictEqual(state.heard.slot, slot + 1)
      assert.isAtMost(state.silentMs(), SLOT_MS)
    }
  })
)

it.effect("a connection that stays ten slots behind makes states older", () =>
  Effect.gen(function* () {
    const { buffer, pass, state, time } = yield* scene
    for (let slot = 104; slot < 114; slot++) {
      yield* pass(slot, null)
    }
    for (let slot = 114; slot < 120; slot++) {
      yield* pass(slot, 10)
      const { heardAtMs, slot: shown } = state.freshness()
      assert.deepStrictEqual([shown, buffer.state(A)?.slot], [slot - 10, slot - 10])
      assert.strictEqual(time.currentTimeMillisUnsafe() - (heardAtMs ?? 0), 11 * SLOT_MS)
    }
  })
)

it.effect("a connection that stays behind is late, even below the bound", () =>
  Effect.gen(function* () {
    const { fast, pass, progress, slow } = yield* scene
    let slot = 104
    for (; slot < 107; slot++) {
      yield* pass(slot, null)
    }
    // Three slots behind do not count as lag.
    for (; slot < 180; slot++) {
      yield* pass(slot, 3)
      assert.isFalse(progress.isLate(slow))
    }
    yield* pass(slot++, null)
    const from = slot
    while (!progress.isLate(slow)) {
      yield* pass(slot++, 5)
      assert.isBelow(slot, from + 40)
    }
    assert.isAtLeast(slot, from + 30)
    assert.isFalse(progress.isLate(fast))
  })
)

it.effect("a connection that holds up too many writes is dropped, and no slot is divided", () =>
  Effect.gen(function* () {
    const relay = new RelayedWrites(() => 1)
    relay.lead()
    const { buffer, pass, state } = yield* sceneWith(relay)
    const many = manyAddresses(2000)
    // Half of the writes are for this process, the other half for another one.
    state.watch(many)
    state.answer(state.unread(), new Map(many.map((address) => [address, stateOf(holding(address, [0], 103))])), 0)
    const others = Buffer.concat([LOST, ...many].map((address) => Buffer.from(addressToBytes(address))))
    relay.list(new Map([["other", { revision: 1, accounts: others }]]))
    state.toFollow({ isFollowed: () => true })
    state.hasFollowed(() => true)
    state.settleQuiet()
    yield* pass(104, 0)
    assert.strictEqual(state.freshness().state, "live")
    relay.takeAll()
    let slot = 105
    for (; state.freshness().state === "live"; slot++) {
      yield* pass(slot, null)
      for (const address of many) {
        state.onWrite(address, stateOf(holding(address, [slot], slot)))
        const [first] = many
        // Either all accounts of this slot, or all of the slot before.
        assert.isFalse(first !== undefined && (buffer.state(first)?.slot ?? 0) >= slot)
      }
      assert.isBelow(slot, 120)
    }
    // Eight slots of 4,000 writes wait. The writes of the next slot are too many.
    assert.strictEqual(slot, 114)
    const messages = relay.takeAll()
    const withWrites = messages.filter(({ writes }) => writes.length > 0)
    const lost = messages.findIndex(({ unfollowed }) => unfollowed.includes(LOST))
    assert.isAtLeast(lost, 0)
    assert.isTrue(withWrites.every((message) => messages.indexOf(message) >= lost))
    withWrites.forEach(({ slot: sent, writes }) =>
      assert.isTrue(writes.every(([, written]) => written.slot <= sent) && sent < slot - 1)
    )
  })
)

it.effect("with too many writes of one slot, the writes for other processes wait for the slot to end", () =>
  Effect.gen(function* () {
    const relay = new RelayedWrites(() => 1)
    relay.lead()
    const { state } = yield* sceneWith(relay)
    const many = manyAddresses(33_000)
    relay.list(
      new Map([
        ["other", { revision: 1, accounts: Buffer.concat(many.map((address) => Buffer.from(addressToBytes(address)))) }]
      ])
    )
    relay.takeAll()
    state.heard.connect(undefined)
    many.forEach((address) => state.onWrite(address, { slot: 110, account: null }))
    const sent = relay.takeAll().filter(({ writes }) => writes.length > 0)
    assert.deepStrictEqual(
      sent.map(({ slot }) => slot),
      [109]
    )
  })
)
