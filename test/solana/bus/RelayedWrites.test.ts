import { assert, describe, it } from "@effect/vitest"
import type { Address } from "../../../src/domain/Address.ts"
import { RelayedWrites } from "../../../src/solana/bus/AccountRelay.ts"
import { at } from "../accounts/accounts.ts"

const A = at(1)
const B = at(2)

const bytesOf = (...bytes: ReadonlyArray<number>) =>
  Uint8Array.from(bytes.flatMap((byte) => Array.from({ length: 32 }, () => byte)))

/** The lease of one process on A and B. */
const LISTED = new Map([["one", { revision: 3, accounts: bytesOf(1, 2) }]])

/** A relay that leads, with the lease followed since slot 10 as far as the node does. */
const scene = (isFollowed: (address: Address) => boolean = () => true) => {
  let sessions = 0
  const relay = new RelayedWrites(() => ++sessions)
  /** Follows the accounts of all leases, of which writes have arrived up to this slot. */
  const follow = (slot: number, follows: (address: Address) => boolean = () => true) => {
    Array.from(relay.followed())
    relay.hasFollowed(follows, slot)
  }
  /** The messages that wait. */
  const sent = () =>
    relay.takeAll().map(({ leases, refused, slot, writes }) => ({
      slot,
      leases: Object.fromEntries(leases),
      refused,
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
  it("is missing in a message, so that its owner reads anew what was not passed on", () => {
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
