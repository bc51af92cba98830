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
} from "../domain/wallets/Alert.ts"
import type { AuthoritySighting } from "./authorityRecord.ts"

/** The newest version of an active alert. */
export interface AlertVersion {
  readonly id: string
  readonly version: number
}

/**
 * A firing, or `Missed`: firings from `fromMs` on may not have been received, in milliseconds since the Unix epoch, null when
 * none were before.
 */
export type FiringSignal =
  | ({ readonly _tag: "Fired" } & AlertFired)
  | { readonly _tag: "Missed"; readonly fromMs: number | null }

/** Price alerts and their firings. An alert of another account is not found. */
export class AlertStore extends Context.Service<
  AlertStore,
  {
    /** Keeps a new alert, active. Fails when the account holds as many as it may, or does not track the wallet. */
    create(
      alert: NewAlert,
      limit?: number
    ): Effect.Effect<Alert, TooManyAlerts | WalletNotTracked | AlertStoreUnavailable>
    /** The alert of that id; null when the account has none. */
    find(accountId: string, id: string): Effect.Effect<Alert | null, AlertStoreUnavailable>
    /** One page of the account's alerts, newest first. */
    page(accountId: string, selection: AlertSelection): Effect.Effect<Slice<Alert>, AlertStoreUnavailable>
    /**
     * Applies the change that `decide` returns for the alert, which is locked meanwhile. Fails as `decide` does.
     * Null when the account has no such alert.
     */
    change<E>(
      accountId: string,
      id: string,
      decide: (alert: Alert) => Effect.Effect<AlertChange, E>
    ): Effect.Effect<Alert | null, E | AlertStoreUnavailable>
    /** Removes an alert. True again when it is repeated; false when the account never had it. */
    remove(accountId: string, id: string): Effect.Effect<boolean, AlertStoreUnavailable>
    /** One page of the account's firings of the last 30 days, newest first. */
    events(accountId: string, selection: EventSelection): Effect.Effect<Slice<AlertEvent>, AlertStoreUnavailable>
    /** The newest version of every active or inactive alert of every account. */
    readonly versions: Effect.Effect<ReadonlyArray<AlertVersion>, AlertStoreUnavailable>
    /** The active or inactive ones among the alerts. */
    load(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /**
     * Takes every step whose alert is still active and at the step's version, all of them or, when the store fails, none: the
     * alert's state and its firing together. Returns the alerts that were advanced, in their new state.
     */
    advance(steps: ReadonlyArray<AlertStep>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /**
     * Takes trades of wallets, of which each fires an active alert once, however often it is taken and by whichever process
     * (`fireTrades`): the counts of the alert and its firings together, all of them or none. Returns the alerts that were active or inactive, in their
     * new state.
     */
    fire(seen: ReadonlyArray<SeenTrades>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /**
     * Ids of alerts that another process created, changed, removed or advanced; null when some may have been missed, so that
     * `versions` has to be read. The first is null.
     */
    readonly changes: Stream.Stream<string | null>
    /** Firings of every process, this one included, as they are stored. `Missed` may come first. */
    readonly firings: Stream.Stream<FiringSignal>
    /** Keeps the authorities of tokens as they were seen, each with the changes since the sighting before it of any process. */
    noteAuthorities(sightings: ReadonlyArray<AuthoritySighting>): Effect.Effect<void, AlertStoreUnavailable>
    /** Times of the changes of authorities in milliseconds since the Unix epoch, the oldest first, of tokens that have some. */
    readonly authorityChanges: Effect.Effect<ReadonlyMap<Mint, ReadonlyArray<number>>, AlertStoreUnavailable>
    /** Deletes what is kept of authorities: the slots of another chain follow. */
    readonly forgetAuthorities: Effect.Effect<void, AlertStoreUnavailable>
    /** Deletes firings, and removed alerts, that are more than 30 days old, and authorities that are not watched any more. */
    readonly purge: Effect.Effect<void, AlertStoreUnavailable>
  }
>()("fathom/alerts/AlertStore") {}
