import { Context, Effect, Layer } from "effect"
import type {
  Alert,
  AlertChange,
  AlertEvent,
  AlertSelection,
  AlertStep,
  AlertStoreUnavailable,
  EventSelection,
  NewAlert,
  Slice,
  TooManyAlerts
} from "../domain/wallets/Alert.ts"
import { makeMemoryAlerts } from "./memoryAlerts.ts"

/** Which version of an active alert is the newest. */
export interface AlertVersion {
  readonly id: string
  readonly version: number
}

/** Price alerts and their firings. An alert of another account is as absent as one that never was. */
export class AlertStore extends Context.Service<
  AlertStore,
  {
    /** Keeps a new alert, active. Fails when the account holds as many as it may. */
    create(alert: NewAlert): Effect.Effect<Alert, TooManyAlerts | AlertStoreUnavailable>
    /** The alert of that id; null when the account has none. */
    find(accountId: string, id: string): Effect.Effect<Alert | null, AlertStoreUnavailable>
    /** One page of the account's alerts, newest first. */
    page(accountId: string, selection: AlertSelection): Effect.Effect<Slice<Alert>, AlertStoreUnavailable>
    /**
     * Changes what `decide` says, which sees the alert as it is and which nothing overtakes; its refusal is the failure.
     * Null when the account has no such alert.
     */
    change<E>(
      accountId: string,
      id: string,
      decide: (alert: Alert) => Effect.Effect<AlertChange, E>
    ): Effect.Effect<Alert | null, E | AlertStoreUnavailable>
    /** Takes an alert away, and says so again when asked again. False when the account never had it. */
    remove(accountId: string, id: string): Effect.Effect<boolean, AlertStoreUnavailable>
    /** One page of the account's firings of the last 30 days, newest first. */
    events(accountId: string, selection: EventSelection): Effect.Effect<Slice<AlertEvent>, AlertStoreUnavailable>
    /** The newest version of every active alert of every account. */
    readonly versions: Effect.Effect<ReadonlyArray<AlertVersion>, AlertStoreUnavailable>
    /** Those of the alerts that are active. */
    load(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /**
     * Takes every step whose alert is still active and at the version that was looked at, all of them or, when the store
     * fails, none: the alert's state and its firing in one. Gives the alerts that moved, as they are now.
     */
    advance(steps: ReadonlyArray<AlertStep>): Effect.Effect<ReadonlyArray<Alert>, AlertStoreUnavailable>
    /** Forgets firings, and alerts that were taken away, of more than 30 days ago. */
    readonly purge: Effect.Effect<void, AlertStoreUnavailable>
  }
>()("fathom/alerts/AlertStore") {
  /** Alerts held in memory, for tests and for those who embed us. */
  static readonly layerMemory: Layer.Layer<AlertStore> = Layer.effect(
    AlertStore,
    Effect.sync(() => AlertStore.of(makeMemoryAlerts()))
  )
}
