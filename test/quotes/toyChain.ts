/** A chain in a map, and an AMM program small enough to check by hand. */
import { Effect, Layer, Queue, Stream } from "effect"
import { type Pool, type Program, refused, type Swap, type Unpriceable } from "../../src/programs/interface/Program.ts"
import { readAddress, readU64 } from "../../src/programs/layout/bytes.ts"
import { productInputTo } from "../../src/programs/math/priceMove.ts"
import { plainMint } from "../../src/programs/layout/tokenAccount.ts"
import type { OnChainAccount, ChainClock } from "../../src/domain/OnChainAccount.ts"
import { type Address, addressFromBytes, addressToBytes, type Mint } from "../../src/domain/Address.ts"
import { type ChainEvent, ChainFeed, type Freshness } from "../../src/chain/ChainFeed.ts"
import { ChainUnavailable } from "../../src/chain/ChainUnavailable.ts"
import type { Commitment } from "../../src/chain/Commitment.ts"

/** The address whose bytes are all `n`. */
export const at = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n))

const TOY: Address = at(200)
const VAULTS: Address = at(201)

const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value, true)
  return bytes
}

const join = (...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => Array.from(part)))

/** A vault with this balance. */
export const vault = (address: Address, amount: bigint, slot = 1): OnChainAccount => ({
  address,
  owner: VAULTS,
  lamports: 1n,
  data: u64(amount),
  slot
})

/** A pool account: both mints, both vaults, and a mode. Only mode 0 is priced. */
export const toyPool = (
  fields: { address: Address; mintA: Mint; mintB: Mint; vaultA: Address; vaultB: Address; mode?: number },
  slot = 1
): OnChainAccount => ({
  address: fields.address,
  owner: TOY,
  lamports: 1n,
  data: join(
    addressToBytes(fields.mintA),
    addressToBytes(fields.mintB),
    addressToBytes(fields.vaultA),
    addressToBytes(fields.vaultB),
    Uint8Array.of(fields.mode ?? 0)
  ),
  slot
})

const refusal = (reason: Unpriceable["reason"], detail: string): Unpriceable => ({ reason, detail })

const decode: Program["decode"] = (account, accounts) => {
  const mode = account.data[128]
  if (mode === 1) {
    return refusal("unsupported", "mode 1")
  }
  if (mode === 2) {
    return refusal("closed", "mode 2")
  }
  const a = accounts(readAddress(account.data, 64))
  const b = accounts(readAddress(account.data, 96))
  if (a === undefined || b === undefined || a === null || b === null) {
    return refusal("incomplete", "vault")
  }
  const reserves: [bigint, bigint] = [readU64(a.data, 0), readU64(b.data, 0)]
  return constantProduct(account.address, readAddress(account.data, 0), readAddress(account.data, 32), reserves, {
    slot: Math.max(account.slot, a.slot, b.slot)
  })
}

/** x·y = k without a fee. Takes at most `most` units in. `exactOut` adds a swap with an exact output. */
export const constantProduct = (
  address: Address,
  mintA: Mint,
  mintB: Mint,
  [a, b]: [bigint, bigint],
  {
    dex = "toy",
    slot = 1,
    most = 2n ** 64n,
    exactOut = false
  }: { dex?: string; slot?: number; most?: bigint; exactOut?: boolean } = {}
): Pool => ({
  address,
  dex,
  mintA,
  mintB,
  slot,
  swap: (aToB, amount) => {
    const [from, to] = aToB ? [a, b] : [b, a]
    const amountIn = amount < most ? amount : most
    const amountOut = (to * amountIn) / (from + amountIn)
    const ending = amountOut === 0n ? "refused" : amountIn < amount ? "exhausted" : "filled"
    return { ending, amountIn, amountOut }
  },
  ...(exactOut && {
    swapExactOut: (aToB: boolean, amountOut: bigint): Swap => {
      const [from, to] = aToB ? [a, b] : [b, a]
      const amountIn = amountOut < to ? (from * amountOut + to - amountOut - 1n) / (to - amountOut) : most + 1n
      return amountIn > most ? refused : { ending: "filled", amountIn, amountOut }
    }
  }),
  marginalRate: (aToB) => (aToB ? { numerator: b, denominator: a } : { numerator: a, denominator: b }),
  feeRate: () => ({ numerator: 0n, denominator: 1n }),
  inputTo: (aToB, share) => {
    const amountIn = productInputTo(aToB ? a : b, share)
    return { amountIn: amountIn < most ? amountIn : most, complete: amountIn <= most }
  }
})

export const toyProgram: Program = {
  dex: "toy",
  programId: TOY,
  poolsOf: (mint) => [0, 32].map((offset) => ({ matches: [{ offset, bytes: addressToBytes(mint) }] })),
  isPool: (account) => account.owner === TOY,
  needs: (pool) => [readAddress(pool.data, 64), readAddress(pool.data, 96)],
  decode
}

/**
 * A chain that a test writes to. Watching an account answers with a snapshot at once, unless the account is withheld.
 */
export class ToyChain {
  readonly accounts = new Map<Address, OnChainAccount>()
  readonly watched = new Set<Address>()
  readonly withheld = new Set<Address>()
  /** Mints without a pool. */
  readonly mints = new Set<Mint>()
  searches = 0
  reads = 0
  failures = 0
  /** Programs whose accounts the node refuses to search. */
  readonly refused = new Set<Address>()
  readFailures = 0
  fresh: Freshness = { slot: 1, heardAtMs: 0, state: "live" }
  time: ChainClock = { slot: 1, epoch: 0, unixTimestamp: 0 }
  commitment: Commitment = "confirmed"
  readonly events: Queue.Queue<ChainEvent> = Effect.runSync(Queue.unbounded<ChainEvent>())

  put(...accounts: ReadonlyArray<OnChainAccount>): this {
    for (const account of accounts) {
      this.accounts.set(account.address, account)
    }
    return this
  }

  write(slot: number, ...accounts: ReadonlyArray<OnChainAccount>): void {
    this.put(...accounts)
    const seen = accounts.filter(({ address }) => this.watched.has(address))
    const written = new Map(seen.map((account) => [account.address, account]))
    Queue.offerUnsafe(this.events, { _tag: "Writes", slot, accounts: written })
  }

  /** The account. A mint of a pool or of `mints` that has no account is a plain mint. */
  mintAt(address: Address): OnChainAccount | null {
    const named = Array.from(this.accounts.values()).some(
      ({ data, owner }) => owner === TOY && [0, 32].some((offset) => readAddress(data, offset) === address)
    )
    return this.accounts.get(address) ?? (named || this.mints.has(address) ? plainMint(address) : null)
  }

  close(address: Address): void {
    this.accounts.delete(address)
    this.tell([address])
  }

  tell(addresses: Iterable<Address>): void {
    const told = Array.from(addresses, (address): [Address, OnChainAccount | null] => [
      address,
      this.accounts.get(address) ?? null
    ])
    Queue.offerUnsafe(this.events, { _tag: "Snapshot", snapshot: { slot: 1, accounts: new Map(told) } })
  }

  readonly layer: Layer.Layer<ChainFeed> = Layer.sync(ChainFeed, () =>
    ChainFeed.of({
      accountsOf: ({ programId, matches }) =>
        Effect.suspend(() => {
          this.searches++
          if (this.failures > 0) {
            this.failures--
            return Effect.fail(new ChainUnavailable({ reason: "timeout", detail: "toy" }))
          }
          if (this.refused.has(programId)) {
            const detail = "getProgramAccounts: -32010 excluded"
            return Effect.fail(new ChainUnavailable({ reason: "invalid", detail, rpcCode: -32010, isRefused: true }))
          }
          const found = Array.from(this.accounts.values()).filter(
            ({ owner, data }) =>
              owner === programId &&
              matches.every(({ offset, bytes }) => bytes.every((byte, i) => data[offset + i] === byte))
          )
          return Effect.succeed({ slot: 1, accounts: new Map(found.map((account) => [account.address, account])) })
        }),
      read: (addresses) =>
        Effect.suspend(() => {
          this.reads++
          if (this.readFailures > 0) {
            this.readFailures--
            return Effect.fail(new ChainUnavailable({ reason: "timeout", detail: "toy" }))
          }
          return Effect.succeed({
            slot: 1,
            accounts: new Map(addresses.map((address) => [address, this.mintAt(address)]))
          })
        }),
      watch: (addresses) =>
        Effect.sync(() => {
          const added = Array.from(addresses).filter((address) => !this.watched.has(address))
          for (const address of added) {
            this.watched.add(address)
          }
          this.tell(added.filter((address) => !this.withheld.has(address)))
        }),
      unwatch: (addresses) =>
        Effect.sync(() => {
          for (const address of addresses) {
            this.watched.delete(address)
          }
        }),
      events: Stream.fromQueue(this.events),
      freshness: () => this.fresh,
      clock: () => this.time,
      commitment: this.commitment
    })
  )
}
