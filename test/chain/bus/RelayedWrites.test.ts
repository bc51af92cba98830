import { assert, describe, it } from "@effect/vitest"
import type { Address } from "../../../src/domain/Address.ts"
import { RelayedWrites } from "../../../src/chain/bus/RelayedWrites.ts"
import { at } from "../accounts/accounts.ts"

const A = at(1)
const B = at(2)

const bytesOf = (...bytes: ReadonlyArray<number>) =>
  Uint8Array.from(bytes.flatMap((byte) => Array.from({ length: 32 }, () => byte)))

/** The lease of one process on A and B. */
const LISTED = new Map([["one", { revision: 3, accounts: bytesOf(1, 2) }]])

/** A relay that leads. The lease is followed since slot 10, as far as the node follows it. */
const scene = (isFollowed: (address: Address) => boolean = () => true) => {
  let sessions = 0
  const relay = new RelayedWrites(() => ++sessions)
  /** Follows the accounts of all leases. Their writes have arrived up to this slot. */
  const follow = (slot: number, follows: (address: Address) => boolean = () => true) => {
    Array.from(relay.followed())
    relay.hasFollowed(follows, slot)
  }
  /** The messages that wait. */
  const sent = () =>
    relay.takeAll().map(({ leases, slot, unfollowed, writes }) => ({
      slot,
      leases: Object.fromEntries(leases),
      unfollowed,
      writes: writes.map(([address]) => address)
    }))
  relay.lead()
  relay.connect()
  relay.list(LISTED)
  relay.end(10, 10)
  follow(10, isFollowed)
  sent()
  return { relay, follow, sent }
}

describe("a lease that ends and is taken again between two slots", () => {
  it("is missing from a message, so that its owner reads again what was not passed on", () => {
    const { follow, relay, sent } = scene()
    relay.list(new Map())
    assert.isFalse(relay.take(A, { slot: 11, account: null }))
    relay.list(LISTED)
    follow(10)
    relay.end(11, 11)
    assert.deepStrictEqual(
      sent().map(({ leases, slot }) => [slot, leases]),
      [
        [10, {}],
        [10, { one: 3 }],
        [11, { one: 3 }]
      ]
    )
  })
})

describe("an account", () => {
  it("that was refused counts as followed once every slot that had begun before has ended", () => {
    const { follow, relay, sent } = scene((address) => address !== B)
    relay.end(20, 20)
    assert.deepStrictEqual(sent().at(-1), { slot: 20, leases: { one: 3 }, unfollowed: [B], writes: [] })
    // Writes of slot 23 had arrived, but none of B.
    follow(23)
    relay.beat()
    relay.end(22, 22)
    // Checking again does not make it later.
    follow(25)
    relay.end(23, 23)
    assert.deepStrictEqual(
      sent().map(({ slot, unfollowed }) => [slot, unfollowed]),
      [
        [20, [B]],
        [22, [B]],
        [23, []]
      ]
    )
  })

  it("that is refused is named as refused in the next message", () => {
    const { follow, relay, sent } = scene()
    follow(11, (address) => address !== B)
    relay.beat()
    assert.deepStrictEqual(sent(), [{ slot: 10, leases: { one: 3 }, unfollowed: [B], writes: [] }])
  })

  it("that is lost is named at once, while the others of its lease stay followed", () => {
    const { follow, relay, sent } = scene()
    relay.lose([B, at(9)])
    follow(11)
    relay.end(11, 11)
    assert.deepStrictEqual(
      sent().map(({ leases, slot, unfollowed }) => [slot, leases, unfollowed]),
      [
        [10, { one: 3 }, [B]],
        [11, { one: 3 }, []]
      ]
    )
    // Losing an account that only this process follows is no news.
    relay.lose([at(9)])
    assert.deepStrictEqual(sent(), [])
  })
})

it("a lease that changes at every look is followed at the slot of each of its revisions", () => {
  const { follow, relay, sent } = scene()
  relay.list(new Map([["one", { revision: 4, accounts: bytesOf(1, 2, 3) }]]))
  follow(12)
  follow(13)
  relay.list(new Map([["one", { revision: 5, accounts: bytesOf(1, 2, 3, 4) }]]))
  follow(13)
  relay.end(12, 12)
  relay.end(13, 13)
  assert.deepStrictEqual(
    sent().map(({ leases, slot }) => [slot, leases]),
    [
      [12, { one: 4 }],
      [13, { one: 5 }]
    ]
  )
})

it("a revision adds and removes accounts of its lease, and the accounts of other leases stay", () => {
  const { relay } = scene()
  const other = { revision: 1, accounts: bytesOf(2, 5) }
  relay.list(
    new Map([
      ["one", { revision: 4, accounts: bytesOf(1, 3) }],
      ["other", other]
    ])
  )
  const followed = () => new Set(relay.followed())
  assert.deepStrictEqual(followed(), new Set([A, at(3), B, at(5)]))
  for (const n of [1, 2, 3, 5]) {
    assert.deepStrictEqual(new Uint8Array(relay.bytesOf(at(n))), bytesOf(n))
  }
  relay.list(
    new Map([
      ["one", { revision: 5, accounts: bytesOf(3, 4) }],
      ["other", { revision: 1, accounts: null }]
    ])
  )
  assert.deepStrictEqual(followed(), new Set([at(3), at(4), B, at(5)]))
  relay.list(new Map([["one", { revision: 5, accounts: null }]]))
  assert.deepStrictEqual(followed(), new Set([at(3), at(4)]))
  assert.isFalse(relay.follows(B))
})
