/** Accounts and readers for tests of chain feeds. */
import { Effect, Stream } from "effect"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { Address, addressFromBytes } from "../../../src/domain/Address.ts"
import type { ChainEvent, ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"

/** The address whose bytes are all `n`. */
export const at = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n))

/** This many addresses, all different. */
export const manyAddresses = (count: number): ReadonlyArray<Address> =>
  Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(32).fill(7)
    new DataView(bytes.buffer).setUint32(0, i)
    return addressFromBytes(bytes)
  })

export const OWNER: Address = Address.make("whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc")

/** An account that holds these bytes. */
export const holding = (address: Address, bytes: ReadonlyArray<number>, slot = 100): OnChainAccount => ({
  address,
  owner: OWNER,
  lamports: 5n,
  data: Uint8Array.from(bytes),
  slot
})

/** The clock sysvar. */
export const clockOf = (epoch: number, unixTimestamp: number, slot = 100): OnChainAccount => {
  const data = new Uint8Array(40)
  const view = new DataView(data.buffer)
  view.setBigUint64(0, BigInt(slot), true)
  view.setBigUint64(16, BigInt(epoch), true)
  view.setBigInt64(32, BigInt(unixTimestamp), true)
  return {
    address: CLOCK,
    owner: Address.make("Sysvar1111111111111111111111111111111111111"),
    lamports: 1n,
    data,
    slot
  }
}

/** All events of a feed, and the state of a reader that applies them. */
export class Reader {
  readonly events: Array<ChainEvent> = []
  readonly known = new Map<Address, OnChainAccount | null>()

  take(event: ChainEvent): void {
    this.events.push(event)
    const { accounts } = event._tag === "Writes" ? event : event.snapshot
    for (const [address, account] of accounts) {
      this.known.set(address, account)
    }
  }

  /** The last bytes of an account; null when it does not exist, undefined when it was never emitted. */
  bytes(address: Address): ReadonlyArray<number> | null | undefined {
    const account = this.known.get(address)
    return account === undefined || account === null ? account : Array.from(account.data)
  }

  get snapshots(): ReadonlyArray<ChainEvent & { readonly _tag: "Snapshot" }> {
    return this.events.filter((event) => event._tag === "Snapshot")
  }

  get writes(): ReadonlyArray<ChainEvent & { readonly _tag: "Writes" }> {
    return this.events.filter((event) => event._tag === "Writes")
  }
}

/** Reads the feed until the scope closes. */
export const readFeed = Effect.fnUntraced(function* (feed: ChainFeed["Service"]) {
  const reader = new Reader()
  yield* feed.events.pipe(
    Stream.runForEach((event) => Effect.sync(() => reader.take(event))),
    Effect.forkScoped({ startImmediately: true })
  )
  return reader
})

/** Waits in real time until the condition holds. */
export const until = Effect.fnUntraced(function* (what: string, condition: () => boolean) {
  for (let tries = 0; tries < 20_000; tries++) {
    if (condition()) {
      return
    }
    yield* Effect.sleep("5 millis")
  }
  return yield* Effect.die(new Error(`waited in vain until ${what}`))
})
