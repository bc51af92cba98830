import type { Address, Mint } from "../domain/Address.ts"
import type { Alert, AlertMetric, SeenTrades, WalletTrade } from "../domain/wallets/Alert.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import type { PricedBatch } from "../market/tape/TradeBatch.ts"
import { type Rule, triggerOf } from "./evaluate.ts"
import type { Measure } from "./Reading.ts"
import { concerns, placeOfTrade, walletTradeOf } from "./walletTrades.ts"

/** A watched alert with its compiled rule. */
export interface Watched {
  readonly alert: Alert
  readonly rule: Rule
}

/** Alerts that watch the same number: it is read once for all of them. */
export interface WatchGroup {
  readonly mint: Mint
  readonly measure: Measure
  readonly alerts: Map<string, Watched>
}

const measureKey = ({ metric, source, windowSeconds }: Measure): string => `${metric} ${windowSeconds ?? ""} ${source}`

const watchedOf = (alert: Alert): Watched => ({
  alert,
  rule: {
    trigger: triggerOf(alert.condition),
    repeats: alert.recurrence === "repeat",
    cooldownMs: (alert.cooldownSeconds ?? 0) * 1000,
    // Block times are whole seconds.
    sinceMs: alert.createdAtMs - (alert.createdAtMs % 1000)
  }
})

/** Every active alert, found by its token, and those on trades by their wallet. */
export class AlertIndex {
  private readonly byId = new Map<string, Alert>()
  private readonly byWallet = new Map<Address, Map<string, Alert>>()
  private readonly byMint = new Map<Mint, Map<string, WatchGroup>>()

  /** Watches the alert as it is now; one that is paused or final is dropped. An older version than the one held is ignored. */
  put(alert: Alert): void {
    const held = this.byId.get(alert.id)
    if (held !== undefined && held.version > alert.version) {
      return
    }
    this.drop(alert.id)
    // An inactive one fires as soon as its wallet is tracked again.
    if (alert.status === "active" || alert.status === "inactive") {
      this.byId.set(alert.id, alert)
      if (alert.wallet !== null) {
        const those = this.byWallet.get(alert.wallet) ?? new Map<string, Alert>()
        this.byWallet.set(alert.wallet, those)
        those.set(alert.id, alert)
      } else if (alert.mint !== null) {
        this.groupOf(alert.mint, alert).alerts.set(alert.id, watchedOf(alert))
      }
    }
  }

  /** Stops watching an alert. */
  drop(id: string): void {
    const alert = this.byId.get(id)
    if (alert === undefined) {
      return
    }
    this.byId.delete(id)
    if (alert.wallet !== null) {
      const those = this.byWallet.get(alert.wallet)
      those?.delete(id)
      if (those?.size === 0) {
        this.byWallet.delete(alert.wallet)
      }
    } else if (alert.mint !== null) {
      this.dropFrom(alert.mint, alert)
    }
  }

  /** The groups of alerts on a token. */
  of(mint: Mint): Iterable<WatchGroup> {
    return this.byMint.get(mint)?.values() ?? []
  }

  /** The pool swaps of a block by token, of the tokens of which something is watched. */
  swapsOf({ trades }: PricedBatch): ReadonlyMap<Mint, ReadonlyArray<TapeTrade>> {
    const swaps = new Map<Mint, Array<TapeTrade>>()
    for (const trade of trades) {
      if (trade.role !== "wallet" && this.byMint.has(trade.mint)) {
        const those = swaps.get(trade.mint) ?? []
        swaps.set(trade.mint, those)
        those.push(trade)
      }
    }
    return swaps
  }

  /** The trades of a block that change alerts on the trades of a wallet, in the order of the chain. */
  tradesOf({ trades }: PricedBatch): ReadonlyArray<SeenTrades> {
    const seen = new Map<string, Array<WalletTrade>>()
    for (const trade of trades) {
      const alerts = this.byWallet.get(trade.wallet)
      const walletTrade = alerts === undefined ? null : walletTradeOf(trade)
      if (alerts === undefined || walletTrade === null) {
        continue
      }
      for (const alert of alerts.values()) {
        if (concerns(alert, walletTrade)) {
          const those = seen.get(alert.id) ?? []
          seen.set(alert.id, those)
          those.push(walletTrade)
        }
      }
    }
    return Array.from(seen, ([id, those]) => ({
      id,
      trades: those.toSorted((a, b) => placeOfTrade(a) - placeOfTrade(b))
    }))
  }

  /** Every token of which something is watched. */
  mints(): Iterable<Mint> {
    return this.byMint.keys()
  }

  /** The tokens of which this metric is watched. */
  mintsOf(metric: AlertMetric): ReadonlySet<Mint> {
    const isOf = (group: WatchGroup) => group.measure.metric === metric
    return new Set(Array.from(this.byMint).flatMap(([mint, groups]) => (groups.values().some(isOf) ? mint : [])))
  }

  /** The version that is held of an alert; null when it is not watched. */
  versionOf(id: string): number | null {
    return this.byId.get(id)?.version ?? null
  }

  /** The versions that are held of these alerts, without those that are not watched. */
  versionsOf(ids: Iterable<string>): ReadonlyMap<string, number> {
    return new Map(
      Array.from(ids).flatMap((id) => {
        const version = this.versionOf(id)
        return version === null ? [] : [[id, version] as const]
      })
    )
  }

  /**
   * Stops watching those of `held` that the store did not find: their owner has paused or removed them, or they have expired.
   * One that was resumed since the store was asked is held in a newer version, and stays.
   */
  dropMissing(held: ReadonlyMap<string, number>, found: ReadonlyArray<{ readonly id: string }>): void {
    const known = new Set(found.map(({ id }) => id))
    for (const [id, version] of held) {
      if (!known.has(id) && this.versionOf(id) === version) {
        this.drop(id)
      }
    }
  }

  /** The alerts that are watched. */
  alerts(): Iterable<Alert> {
    return this.byId.values()
  }

  /** The ids of the alerts that are watched. */
  ids(): Iterable<string> {
    return this.byId.keys()
  }

  private dropFrom(mint: Mint, { condition, id }: Alert): void {
    const groups = this.byMint.get(mint)
    const key = measureKey(condition)
    const group = groups?.get(key)
    group?.alerts.delete(id)
    if (group?.alerts.size === 0) {
      groups?.delete(key)
    }
    if (groups?.size === 0) {
      this.byMint.delete(mint)
    }
  }

  private groupOf(mint: Mint, { condition }: Alert): WatchGroup {
    const groups = this.byMint.get(mint) ?? new Map<string, WatchGroup>()
    const key = measureKey(condition)
    const group = groups.get(key) ?? { mint, measure: condition, alerts: new Map<string, Watched>() }
    groups.set(key, group)
    this.byMint.set(mint, groups)
    return group
  }
}
