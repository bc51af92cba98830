/** A bus of account writes inside this process. */
import { Clock, Effect, Layer } from "effect"
import {
  ACCOUNT_BOUNDS,
  AccountBus,
  type AccountBusBounds,
  type Lease,
  type Leases,
  makeAccountBus
} from "../../src/storage/bus/AccountBus.ts"
import { makeMemoryLog } from "../../src/storage/bus/busLog.ts"

const keyOf = (chain: string, owner: string) => `${chain} ${owner}`

const makeMemoryLeases = (leaseMs: number): Leases => {
  const held = new Map<string, Lease & { readonly chain: string; readonly untilMs: number }>()
  const put = (chain: string, lease: Lease, nowMs: number) =>
    held.set(keyOf(chain, lease.owner), { ...lease, chain, untilMs: nowMs + leaseMs })
  const now = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    held.forEach(({ untilMs }, key) => untilMs <= nowMs && held.delete(key))
    return nowMs
  })
  return {
    lease: (chain, lease) => Effect.map(now, (nowMs) => void put(chain, lease, nowMs)),
    renew: (chain, owner, revision) =>
      Effect.map(now, (nowMs) => {
        const lease = held.get(keyOf(chain, owner))
        if (lease?.revision !== revision) {
          return false
        }
        put(chain, lease, nowMs)
        return true
      }),
    release: (chain, owner) => Effect.sync(() => void held.delete(keyOf(chain, owner))),
    leases: (chain, known) =>
      Effect.map(now, () => {
        const own = Array.from(held.values()).filter((lease) => lease.chain === chain)
        return new Map(
          own.map(({ accounts, owner, revision }) => [
            owner,
            { revision, accounts: known.get(owner) === revision ? null : accounts }
          ])
        )
      })
  }
}

/** Entries and leases in memory. */
export const layer = (bounds: AccountBusBounds = ACCOUNT_BOUNDS): Layer.Layer<AccountBus> =>
  Layer.sync(AccountBus, () =>
    makeAccountBus(
      makeMemoryLog(bounds, ({ length }: Uint8Array) => length),
      makeMemoryLeases(bounds.leaseMs)
    )
  )
