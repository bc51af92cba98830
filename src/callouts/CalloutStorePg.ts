/** Callouts in Postgres. Every query has a deadline. */
import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  type AttributedTrade,
  type CalloutSelection,
  CalloutStoreUnavailable,
  isCalloutId,
  NewCallout
} from "../api/schemas/Callout.ts"
import { watchCalls } from "../operations/SourceMonitor.ts"
import { bounded, type Broken } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { CalloutStore } from "./CalloutStore.ts"
import { makeCalloutTable } from "./calloutTable.ts"

/** A request waits for these reads, so they have to answer within this time. */
const READ_DEADLINE = Duration.millis(400)
const WRITE_DEADLINE = Duration.seconds(5)

const unavailable = (cause: unknown) => new CalloutStoreUnavailable({ cause })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = makeCalloutTable(sql)
  const now = Clock.currentTimeMillis
  const watched = yield* watchCalls("callouts")
  const read = <A, R>(effect: Effect.Effect<A, Broken, R>) => watched(bounded(READ_DEADLINE, unavailable)(effect))
  const write = <A, E, R>(effect: Effect.Effect<A, E | Broken, R>) =>
    watched(bounded(WRITE_DEADLINE, unavailable)(effect))

  return CalloutStore.of({
    post: Effect.fn("CalloutStore.post")((callout: NewCallout) =>
      Effect.flatMap(now, (nowMs) => write(transaction(sql, table.post(NewCallout.make(callout), nowMs))))
    ),
    // Text that is not an id may hold characters that the database rejects.
    remove: Effect.fn("CalloutStore.remove")((id: string) =>
      isCalloutId(id) ? write(table.remove(id)) : Effect.succeed(false)
    ),
    find: Effect.fn("CalloutStore.find")((id: string) =>
      isCalloutId(id) ? Effect.flatMap(now, (nowMs) => read(table.find(id, nowMs))) : Effect.succeed(null)
    ),
    page: Effect.fn("CalloutStore.page")((selection: CalloutSelection) =>
      Effect.flatMap(now, (nowMs) => read(table.page(selection, nowMs)))
    ),
    recordClick: Effect.fn("CalloutStore.recordClick")((id: string, clicks = 1) =>
      isCalloutId(id)
        ? Effect.flatMap(now, (nowMs) => Effect.asVoid(read(table.recordClick(id, clicks, nowMs))))
        : Effect.void
    ),
    attribute: Effect.fn("CalloutStore.attribute")((trade: AttributedTrade) =>
      isCalloutId(trade.calloutId) ? write(transaction(sql, table.attribute(trade))) : Effect.succeed(false)
    )
  })
})

/** Callouts in the table `callouts`. */
export const layer: Layer.Layer<CalloutStore, never, SqlClient.SqlClient> = Layer.effect(CalloutStore, make)
