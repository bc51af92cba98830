import type { Address, Mint } from "../domain/Address.ts"
import type { Alert, AlertMetric, SeenTrades, WalletTrade } from "../api/schemas/Alert.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import type { PricedBatch } from "../market/model/TradeBatch.ts"
import { type Rule, triggerOf } from "./evaluate.ts"
import { type Measure, measureKey } from "./Reading.ts"
import { concerns, placeOfTrade, walletTradeOf } from "./walletTrades.ts"

/** A watched alert with its compiled rule. */
export interface Watched {
  readonly alert: Alert
  readonly rule: Rule
}

/** Alerts that watch the same number. It is read once for all of them. */
export interface WatchGroup {
  readonly mint: Mint
  readonly measure: Measure
  readonly alerts: Map<string, Watched>
}

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

/** Every active alert, by token. Alerts on trades are found by wallet. */
export class AlertIndex {
  readonly #byId = new Map<string, Alert>()
  readonly #byWallet = new Map<Address, Map<string, Alert>>()
  readonly #byMint = new Map<Mint, Map<string, WatchGroup>>()

  /**
   * Watches the alert in this version. A paused or final alert is dropped. A version older than the held one is
   * ignored.
   */
  put(alert: Alert): void {
    const held = this.#byId.get(alert.id)
    if (held !== undefined && held.version > alert.version) {
      return
    }
    this.drop(alert.id)
    // An inactive alert is watched too, because it fires as soon as its wallet is tracked again.
    if (alert.status === "active" || alert.status === "inactive") {
      this.#byId.set(alert.id, alert)
      if (alert.wallet !== null) {
        const those = this.#byWallet.get(alert.wallet) ?? new Map<string, Alert>()
        this.#byWallet.set(alert.wallet, those)
        those.set(alert.id, alert)
      } else if (alert.mint !== null) {
        this.#groupOf(alert.mint, alert).alerts.set(alert.id, watchedOf(alert))
      }
    }
  }

  /** Stops watching an alert. */
  drop(id: string): void {
    const alert = this.#byId.get(id)
    if (alert === undefined) {
      return
    }
    this.#byId.delete(id)
    if (alert.wallet !== null) {
      const those = this.#byWallet.get(alert.wallet)
      those?.delete(id)
      if (those?.size === 0) {
        this.#byWallet.delete(alert.wallet)
      }
    } else if (alert.mint !== null) {
      this.#dropFrom(alert.mint, alert)
    }
  }

  /** The groups of alerts on a token. */
  of(mint: Mint): Iterable<WatchGroup> {
    return this.#byMint.get(mint)?.values() ?? []
  }

  /** The pool swaps of a block by token, for watched tokens. */
  swapsOf({ trades }: PricedBatch): ReadonlyMap<Mint, ReadonlyArray<TapeTrade>> {
    const swaps = new Map<Mint, Array<TapeTrade>>()
    for (const trade of trades) {
      if (trade.role !== "wallet" && this.#byMint.has(trade.mint)) {
        const those = swaps.get(trade.mint) ?? []
        swaps.set(trade.mint, those)
        those.push(trade)
      }
    }
    return swaps
  }

  /** The trades of a block that change alerts on wallet trades, in the order of the chain. */
  tradesOf({ trades }: PricedBatch): ReadonlyArray<SeenTrades> {
    const seen = new Map<string, Array<WalletTrade>>()
    for (const trade of trades) {
      const alerts = this.#byWallet.get(trade.wallet)
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

  /** Every watched token. */
  mints(): Iterable<Mint> {
    return this.#byMint.keys()
  }

  /** The tokens with an alert on this metric. */
  mintsOf(metric: AlertMetric): ReadonlySet<Mint> {
    const isOf = (group: WatchGroup) => group.measure.metric === metric
    return new Set(Array.from(this.#byMint).flatMap(([mint, groups]) => (groups.values().some(isOf) ? mint : [])))
  }

  /** The watched version of an alert; null when it is not watched. */
  versionOf(id: string): number | null {
    return this.#byId.get(id)?.version ?? null
  }

  /** The watched versions of these alerts. Alerts that are not watched are left out. */
  versionsOf(ids: Iterable<string>): ReadonlyMap<string, number> {
    return new Map(
      Array.from(ids).flatMap((id) => {
        const version = this.versionOf(id)
        return version === null ? [] : [[id, version] as const]
      })
    )
  }

  /**
   * Stops watching the alerts in `held` that the store did not find: their owner paused or removed them, or they
   * expired. An alert that was resumed after the store was read is held in a newer version, and stays.
   */
  dropMissing(held: ReadonlyMap<string, number>, found: ReadonlyArray<{ readonly id: string }>): void {
    const known = new Set(found.map(({ id }) => id))
    for (const [id, version] of held) {
      if (!known.has(id) && this.versionOf(id) === version) {
        this.drop(id)
      }
    }
  }

  alerts(): Iterable<Alert> {
    return this.#byId.values()
  }

  ids(): Iterable<string> {
    return this.#byId.keys()
  }

  #dropFrom(mint: Mint, { condition, id }: Alert): void {
    const groups = this.#byMint.get(mint)
    const key = measureKey(condition)
    const group = groups?.get(key)
    group?.alerts.delete(id)
    if (group?.alerts.size === 0) {
      groups?.delete(key)
    }
    if (groups?.size === 0) {
      this.#byMint.delete(mint)
    }
  }

  #groupOf(mint: Mint, { condition }: Alert): WatchGroup {
    const groups = this.#byMint.get(mint) ?? new Map<string, WatchGroup>()
    const key = measureKey(condition)
    const group = groups.get(key) ?? { mint, measure: condition, alerts: new Map<string, Watched>() }
    groups.set(key, group)
    this.#byMint.set(mint, groups)
    return group
  }
}
