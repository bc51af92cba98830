/** Alerts in Postgres. Every query has a deadline. */
import { Clock, Duration, Effect, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import {
  type Alert,
  type AlertChange,
  type AlertSelection,
  type AlertStep,
  AlertStoreUnavailable,
  type EventSelection,
  isAlertId,
  type NewAlert,
  type SeenTrades
} from "../api/schemas/Alert.ts"
import { ChangeChannel } from "../storage/ChangeChannel.ts"
import { bounded } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { AlertStore, type FiringSignal } from "./AlertStore.ts"
import { makeAlertTable, readFiring } from "./alertTable.ts"
import type { AuthoritySighting } from "./authorityRecord.ts"
import { makeAuthorityTable } from "./authorityTable.ts"
import { makeFire } from "./tradeFiringTable.ts"

/** A request waits for these reads, so they have to answer within this time. */
const READ_DEADLINE = Duration.millis(400)
const WRITE_DEADLINE = Duration.seconds(5)

const unavailable = (cause: unknown) => new AlertStoreUnavailable({ cause })

const now = <A, E>(act: (nowMs: number) => Effect.Effect<A, E>) => Effect.flatMap(Clock.currentTimeMillis, act)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const channel = yield* ChangeChannel
  const table = makeAlertTable(sql, channel)
  const authorities = makeAuthorityTable(sql)
  const fire = makeFire(sql, channel)
  const read = bounded(READ_DEADLINE, unavailable)
  const write = bounded(WRITE_DEADLINE, unavailable)

  return AlertStore.of({
    create: Effect.fn("AlertStore.create")((alert: NewAlert, limit?: number) =>
      now((nowMs) => write(transaction(sql, table.create(alert, nowMs, limit))))
    ),
    // Text that is not an id may hold characters that the database rejects.
    find: Effect.fn("AlertStore.find")((accountId: string, id: string) =>
      isAlertId(id) ? now((nowMs) => read(table.find(accountId, id, nowMs))) : Effect.succeed(null)
    ),
    page: Effect.fn("AlertStore.page")((accountId: string, selection: AlertSelection) =>
      now((nowMs) => read(table.page(accountId, selection, nowMs)))
    ),
    change: <E>(accountId: string, id: string, decide: (alert: Alert) => Effect.Effect<AlertChange, E>) =>
      (isAlertId(id)
        ? now((nowMs) => write(transaction(sql, table.change(accountId, id, decide, nowMs))))
        : Effect.succeed(null)
      ).pipe(Effect.withSpan("AlertStore.change")),
    remove: Effect.fn("AlertStore.remove")((accountId: string, id: string) =>
      isAlertId(id) ? now((nowMs) => write(table.remove(accountId, id, nowMs))) : Effect.succeed(false)
    ),
    events: Effect.fn("AlertStore.events")((accountId: string, selection: EventSelection) =>
      now((nowMs) => read(table.events(accountId, selection, nowMs)))
    ),
    versions: now((nowMs) => write(table.versions(nowMs))),
    load: Effect.fn("AlertStore.load")((ids: ReadonlyArray<string>) =>
      ids.length === 0 ? Effect.succeed([]) : now((nowMs) => write(table.load(ids, nowMs)))
    ),
    advance: Effect.fn("AlertStore.advance")((steps: ReadonlyArray<AlertStep>) =>
      now((nowMs) => write(table.advance(steps, nowMs)))
    ),
    fire: Effect.fn("AlertStore.fire")((seen: ReadonlyArray<SeenTrades>) =>
      seen.length === 0 ? Effect.succeed([]) : now((nowMs) => write(transaction(sql, fire(seen, nowMs))))
    ),
    changes: channel.changes("alerts").pipe(
      Stream.filter((signal) => signal._tag === "Missed" || !signal.isOwn),
      Stream.map((signal) => (signal._tag === "Missed" ? null : signal.subject))
    ),
    firings: Stream.callback<FiringSignal>((queue) =>
      Effect.flatMap(Clock.Clock, (clock) => {
        /** A firing is stored at most one write deadline after its time. */
        const missedMs = (gapMs: number) => clock.currentTimeMillisUnsafe() - gapMs - Duration.toMillis(WRITE_DEADLINE)
        const signalOf = (text: string): FiringSignal => {
          const fired = readFiring(text)
          return fired === null ? { _tag: "Missed", fromMs: missedMs(0) } : { _tag: "Fired", ...fired }
        }
        return channel.subscribe("firings", {
          onChange: (text) => Queue.offerUnsafe(queue, signalOf(text)),
          onConnected: (gapMs) =>
            Effect.sync(() =>
              Queue.offerUnsafe(queue, { _tag: "Missed", fromMs: gapMs === null ? null : missedMs(gapMs) })
            )
        })
      })
    ),
    noteAuthorities: Effect.fn("AlertStore.noteAuthorities")((sightings: ReadonlyArray<AuthoritySighting>) =>
      sightings.length === 0 ? Effect.void : now((nowMs) => write(transaction(sql, authorities.note(sightings, nowMs))))
    ),
    authorityChanges: write(authorities.changes),
    forgetAuthorities: write(authorities.forget),
    purge: now((nowMs) => Effect.andThen(table.purge(nowMs, write), authorities.purge(nowMs, write)))
  })
})

/** Alerts in the table `alerts`. */
export const layer: Layer.Layer<AlertStore, never, SqlClient.SqlClient | ChangeChannel> = Layer.effect(AlertStore, make)
