import { Context, type Effect, type Stream } from "effect"
import type { Mint } from "../domain/Address.ts"
import type {
  Alert,
  AlertChange,
  AlertEvent,
  AlertFired,
  AlertSelection,
  AlertStep,
  AlertStoreUnavailable,
  EventSelection,
  NewAlert,
  SeenTrades,
  Slice,
  TooManyAlerts,
  WalletNotTracked
} from "../api/schemas/Alert.ts"
import type { AuthoritySighting } from "./authorityRecord.ts"

/** The newest version of an active alert. */
export interface AlertVersion {
  readonly id: string
  readonly version: number
}

/**
 * A firing, or `Missed`: firings since `fromMs` may have been lost. It is in milliseconds since the Unix epoch, and
 * null at the first connection.
 */
export type FiringSignal =
  | ({ readonly _tag: "Fired" } & AlertFired)
  | { readonly _tag: "Missed"; readonly fromMs: number | null }

/** Price alerts and their firings. An alert of another account is not found. */
export class AlertStore extends Context.Service<
  AlertStore,
  {
    /** Stores a new active alert. Fails when the account has as many as it may, or does not track the wallet. */
    create(
      alert: NewAlert,
      limit?: number
    ): Effect.Effect<Alert, TooManyAlerts | WalletNotTracked | AlertStoreUnavailable>
    /** The alert with this id; null when the account has none. */
    find(accountId: string, id: string): Effect.Effect<Alert | null, AlertStoreUnavailable>
    /** One page of the account's alerts, newest first. */
    page(accountId: string, selection: AlertSelection): Effect.Effect<Slice<Alert>, AlertStoreUnavailable>
    /**
     * Locks the alert and applies the change that `decide` returns. Fails as `decide` does. Null when the account has
     * no such alert.
     */
    change<E>(
      accountId: string,
      id: string,
      decide: (alert: Alert) => Effect.Effect<AlertChange, E>
    ): Effect.Effect<Alert | null, E | AlertStoreUnavailable>
    /** Removes an alert. Still true when it is repeated; false when the account never had the alert. */
    remove(accountId: string, id: string): Effect.Effect<boolean, AlertStoreUnavailable>
    /** One page of the account's firings of the last 30 days, newest first. */
    events(accountId: string, selection: EventSelection): Effect.Effect<Slice<AlertEvent>, AlertStoreUnavailable>
    /** The newest version of every active or inactive alert of every account. */
    readonly versions: Effect.Effect<ReadonlyArray<AlertVersion>, AlertStoreUnavailable>
    /** The active and inactive alerts with these ids. */
    load(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /**
     * Takes every step whose alert is still active and at the step's version. The state of an alert is stored together
     * with its firing. When the store fails, no step is taken. Returns the advanced alerts in their new state.
     */
    advance(steps: ReadonlyArray<AlertStep>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /**
     * Applies trades of wallets. Each trade fires an active alert once, however often and by whichever process it is
     * applied (`fireTrades`). The counts of an alert and its firings are stored together, all of them or none. Returns
     * the alerts that were active or inactive, in their new state.
     */
    fire(seen: ReadonlyArray<SeenTrades>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /**
     * Ids of alerts that another process created, changed, removed or advanced. Null when some may have been missed:
     * `versions` then has to be read. The first is null.
     */
    readonly changes: Stream.Stream<string | null>
    /** Firings of every process, this one included, as they are stored. `Missed` may come first. */
    readonly firings: Stream.Stream<FiringSignal>
    /** Stores sighted authorities of tokens, each with the changes since the previous sighting of any process. */
    noteAuthorities(sightings: ReadonlyArray<AuthoritySighting>): Effect.Effect<void, AlertStoreUnavailable>
    /**
     * Times at which authorities changed, in milliseconds since the Unix epoch, oldest first. Tokens without changes
     * are left out.
     */
    readonly authorityChanges: Effect.Effect<ReadonlyMap<Mint, ReadonlyArray<number>>, AlertStoreUnavailable>
    /** Deletes all stored authorities, because the slots of another chain follow. */
    readonly forgetAuthorities: Effect.Effect<void, AlertStoreUnavailable>
    /** Deletes firings, and removed alerts, that are more than 30 days old, and authorities that are not watched any more. */
    readonly purge: Effect.Effect<void, AlertStoreUnavailable>
  }
>()("fathom/alerts/AlertStore") {}
