/** Alerts held in process, for tests without a database. The contract of the store holds for them too. */
import { Clock, Effect, Layer, PubSub, Stream } from "effect"
import {
  type Alert,
  type AlertChange,
  type AlertEvent,
  type AlertPlace,
  type AlertSelection,
  type AlertStep,
  EVENT_LIFE_MS,
  type EventSelection,
  isLive,
  MAX_LIVE_ALERTS,
  type NewAlert,
  NO_TRADES,
  type SeenTrades,
  type Slice,
  statusAt,
  TooManyAlerts,
  TRADE_FIRINGS_MS,
  WalletNotTracked
} from "../../src/api/schemas/Alert.ts"
import type { Address, Mint } from "../../src/domain/Address.ts"
import { fireTrades, keyOfTrade } from "../../src/alerts/walletTrades.ts"
import { AlertStore, type FiringSignal } from "../../src/alerts/AlertStore.ts"
import { afterSighting, type AuthorityRecord, type AuthoritySighting } from "../../src/alerts/authorityRecord.ts"

interface Entry {
  alert: Alert
  removedAtMs: number | null
}

type Firing = AlertEvent & { readonly accountId: string }

/** Newest first; ties by id. */
const compare = (a: AlertPlace, b: AlertPlace): number => {
  if (a.timeMs === b.timeMs) {
    return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
  }
  return b.timeMs - a.timeMs
}

const sliceOf = <Row>(
  rows: ReadonlyArray<Row>,
  placeOf: (row: Row) => AlertPlace,
  { after, limit }: { readonly after: AlertPlace | null; readonly limit: number }
): Slice<Row> => {
  const rest = rows
    .filter((row) => after === null || compare(after, placeOf(row)) < 0)
    .toSorted((a, b) => compare(placeOf(a), placeOf(b)))
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: last !== undefined && rest.length > limit ? placeOf(last) : null }
}

const now = <A, E>(act: (nowMs: number) => Effect.Effect<A, E>) => Effect.flatMap(Clock.currentTimeMillis, act)

/** True when the account tracks the wallet. */
type IsTracked = (accountId: string, wallet: Address) => boolean

const makeAlerts = Effect.fnUntraced(function* (isTracked: IsTracked) {
  const changed = yield* PubSub.unbounded<string>()
  const firedNow = yield* PubSub.unbounded<FiringSignal>()
  const entries = new Map<string, Entry>()
  const firings = new Map<string, Firing>()
  const authorities = new Map<Mint, AuthorityRecord>()

  const asOf = (alert: Alert, nowMs: number): Alert => {
    const status = statusAt(alert, nowMs)
    const isLost = alert.wallet !== null && !isTracked(alert.accountId, alert.wallet)
    return { ...alert, status: status === "active" && isLost ? "inactive" : status }
  }

  const entryOf = (accountId: string, id: string): Entry | null => {
    const entry = entries.get(id)
    return entry?.alert.accountId === accountId ? entry : null
  }

  const standing = (nowMs: number): ReadonlyArray<Alert> =>
    Array.from(entries.values())
      .filter(({ removedAtMs }) => removedAtMs === null)
      .map(({ alert }) => asOf(alert, nowMs))

  const create = (
    created: NewAlert,
    nowMs: number,
    limit = MAX_LIVE_ALERTS
  ): Effect.Effect<Alert, TooManyAlerts | WalletNotTracked> => {
    const live = standing(nowMs).filter(({ accountId, status }) => accountId === created.accountId && isLive(status))
    if (live.length >= limit) {
      return Effect.fail(new TooManyAlerts())
    }
    if (created.wallet !== null && !isTracked(created.accountId, created.wallet)) {
      return Effect.fail(new WalletNotTracked())
    }
    const alert: Alert = {
      ...created,
      tally: NO_TRADES,
      status: "active",
      updatedAtMs: created.createdAtMs,
      lastTriggeredAtMs: null,
      triggerCount: 0,
      version: 1
    }
    entries.set(alert.id, { alert, removedAtMs: null })
    PubSub.publishUnsafe(changed, alert.id)
    return Effect.succeed(alert)
  }

  const write = (
    entry: Entry,
    change: AlertChange | Pick<Alert, "lastTriggeredAtMs" | "tally">,
    nowMs: number
  ): Alert => {
    const { alert } = entry
    entry.alert = { ...alert, ...change, updatedAtMs: nowMs, version: alert.version + 1 }
    PubSub.publishUnsafe(changed, alert.id)
    return asOf(entry.alert, nowMs)
  }

  const advance = ({ firing, id, version, watch }: AlertStep, nowMs: number): ReadonlyArray<Alert> => {
    const entry = entries.get(id)
    const isTheSame = entry?.removedAtMs === null && entry.alert.version === version
    if (!isTheSame || statusAt(entry.alert, nowMs) !== "active") {
      return []
    }
    const { accountId, condition, mint, recurrence, tally, triggerCount } = entry.alert
    if (firing === null) {
      const counts = watch.mark === 0 ? { ...tally, countedTo: 0 } : tally
      return [write(entry, { ...watch, tally: counts }, nowMs)]
    }
    if (mint === null) {
      return []
    }
    const count = triggerCount + 1
    const eventId = `evt_${id.slice("al_".length)}_${count}`
    const event = { ...firing, eventId, alertId: id, mint, condition, firedAtMs: nowMs, trade: null }
    firings.set(eventId, { ...event, accountId })
    PubSub.publishUnsafe(firedNow, { _tag: "Fired", accountId, event })
    const status = recurrence === "once" ? ("triggered" as const) : ("active" as const)
    const fired = { ...watch, status, triggerCount: count, lastTriggeredAtMs: nowMs }
    return [write(entry, fired, nowMs)]
  }

  const fire = ({ id, trades }: SeenTrades, nowMs: number): ReadonlyArray<Alert> => {
    const entry = entries.get(id)
    const alert = entry?.removedAtMs === null ? asOf(entry.alert, nowMs) : null
    if (entry === undefined || alert === null || !["active", "inactive"].includes(alert.status)) {
      return []
    }
    const before = Array.from(firings.values()).flatMap(({ alertId, firedAtMs, trade }) =>
      alertId === id && trade !== null && firedAtMs > nowMs - TRADE_FIRINGS_MS ? [keyOfTrade(trade)] : []
    )
    const outcome = fireTrades(alert, trades, { keys: new Set(before), count: before.length }, nowMs)
    if (alert.status !== "active" || outcome.tally === alert.tally) {
      return [alert]
    }
    const { accountId, condition, recurrence, triggerCount } = alert
    outcome.firings.forEach((firing, i) => {
      const eventId = `evt_${id.slice("al_".length)}_${triggerCount + i + 1}`
      const event = { ...firing, eventId, alertId: id, condition, firedAtMs: nowMs }
      firings.set(eventId, { ...event, accountId })
      PubSub.publishUnsafe(firedNow, { _tag: "Fired", accountId, event })
    })
    const count = outcome.firings.length
    const fired = count === 0 ? {} : { lastTriggeredAtMs: nowMs, triggerCount: triggerCount + count }
    const status = count > 0 && recurrence === "once" ? ("triggered" as const) : ("active" as const)
    return [write(entry, { ...fired, status, tally: outcome.tally }, nowMs)]
  }

  const purge = (nowMs: number): void => {
    const before = nowMs - EVENT_LIFE_MS
    for (const { eventId, firedAtMs } of firings.values()) {
      if (firedAtMs < before) {
        firings.delete(eventId)
      }
    }
    for (const [id, { removedAtMs }] of entries) {
      if (removedAtMs !== null && removedAtMs < before) {
        entries.delete(id)
      }
    }
  }

  return AlertStore.of({
    firings: Stream.fromPubSub(firedNow),
    changes: Stream.concat(Stream.succeed(null), Stream.fromPubSub(changed)),

    create: Effect.fn("AlertStore.create")((alert: NewAlert, limit?: number) =>
      now((nowMs) => create(alert, nowMs, limit))
    ),

    find: Effect.fn("AlertStore.find")((accountId: string, id: string) =>
      now((nowMs) => {
        const entry = entryOf(accountId, id)
        return Effect.succeed(entry === null || entry.removedAtMs !== null ? null : asOf(entry.alert, nowMs))
      })
    ),

    page: Effect.fn("AlertStore.page")((accountId: string, selection: AlertSelection) =>
      now((nowMs) => {
        const { mint, status } = selection
        const rows = standing(nowMs).filter(
          (alert) =>
            alert.accountId === accountId &&
            (mint === null || alert.mint === mint) &&
            (status === null || alert.status === status)
        )
        return Effect.succeed(sliceOf(rows, ({ createdAtMs: timeMs, id }) => ({ timeMs, id }), selection))
      })
    ),

    change: <E>(accountId: string, id: string, decide: (alert: Alert) => Effect.Effect<AlertChange, E>) =>
      now((nowMs): Effect.Effect<Alert | null, E> => {
        const entry = entryOf(accountId, id)
        return entry === null || entry.removedAtMs !== null
          ? Effect.succeed(null)
          : Effect.map(decide(asOf(entry.alert, nowMs)), (change) => write(entry, change, nowMs))
      }).pipe(Effect.withSpan("AlertStore.change")),

    remove: Effect.fn("AlertStore.remove")((accountId: string, id: string) =>
      now((nowMs) => {
        const entry = entryOf(accountId, id)
        if (entry !== null) {
          entry.removedAtMs ??= nowMs
          PubSub.publishUnsafe(changed, id)
        }
        return Effect.succeed(entry !== null)
      })
    ),

    events: Effect.fn("AlertStore.events")((accountId: string, selection: EventSelection) =>
      now((nowMs) => {
        const from = Math.max(nowMs - EVENT_LIFE_MS, selection.sinceMs ?? 0)
        const rows = Array.from(firings.values()).filter(
          (firing) =>
            firing.accountId === accountId &&
            firing.firedAtMs >= from &&
            (selection.alertId === null || firing.alertId === selection.alertId)
        )
        const { next, rows: shown } = sliceOf(
          rows,
          ({ eventId: eventKey, firedAtMs: timeMs }) => ({ timeMs, id: eventKey }),
          selection
        )
        return Effect.succeed({ next, rows: shown.map(({ accountId: _accountId, ...event }): AlertEvent => event) })
      })
    ),

    versions: now((nowMs) =>
      Effect.succeed(
        standing(nowMs)
          .filter(({ status }) => status === "active" || status === "inactive")
          .map(({ id, version }) => ({ id, version }))
      )
    ),

    load: Effect.fn("AlertStore.load")((ids: ReadonlyArray<string>) =>
      now((nowMs) => {
        const wanted = new Set(ids)
        return Effect.succeed(
          standing(nowMs).filter(({ id, status }) => wanted.has(id) && ["active", "inactive"].includes(status))
        )
      })
    ),

    advance: Effect.fn("AlertStore.advance")((steps: ReadonlyArray<AlertStep>) =>
      now((nowMs) => Effect.succeed(steps.flatMap((step) => advance(step, nowMs))))
    ),

    noteAuthorities: Effect.fn("AlertStore.noteAuthorities")((sightings: ReadonlyArray<AuthoritySighting>) =>
      now((nowMs) =>
        Effect.sync(() =>
          sightings.forEach((sighting) =>
            authorities.set(sighting.mint, afterSighting(authorities.get(sighting.mint) ?? null, sighting, nowMs))
          )
        )
      )
    ),

    authorityChanges: Effect.sync(
      () =>
        new Map(
          Array.from(authorities.values())
            .filter(({ changesMs }) => changesMs.length > 0)
            .map(({ changesMs, mint }) => [mint, changesMs])
        )
    ),

    forgetAuthorities: Effect.sync(() => authorities.clear()),

    fire: Effect.fn("AlertStore.fire")((seen: ReadonlyArray<SeenTrades>) =>
      now((nowMs) => Effect.succeed(seen.flatMap((each) => fire(each, nowMs))))
    ),

    purge: now((nowMs) => Effect.sync(() => purge(nowMs)))
  })
})

/** An alert store of one process, which has no changes of others, for accounts that track these wallets. */
export const layerOf = (isTracked: IsTracked): Layer.Layer<AlertStore> =>
  Layer.effect(
    AlertStore,
    Effect.map(makeAlerts(isTracked), (store) => AlertStore.of({ ...store, changes: Stream.succeed(null) }))
  )

/** The same, where every wallet is tracked. */
export const layer: Layer.Layer<AlertStore> = layerOf(() => true)

/** An alert store that signals every change as another process's change. */
export const layerShared: Layer.Layer<AlertStore> = Layer.effect(
  AlertStore,
  makeAlerts(() => true)
)
