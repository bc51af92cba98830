/** ClickHouse over HTTP, with its own client. */
import { createClient } from "@clickhouse/client"
import { Duration, Effect, Layer, Stream } from "effect"
import { Readable } from "node:stream"
import { within } from "../deadline.ts"
import { ClickHouse, ClickHouseUnavailable } from "./ClickHouse.ts"

/** Requests at the same time. Further ones wait for a connection. */
const CONNECTIONS = 16
/** The server ends a query this long after the caller has stopped waiting for it. */
const SERVER_MARGIN_SECONDS = 1

const unavailable = (cause: unknown) => new ClickHouseUnavailable({ cause })

const settingsOf = (deadline: Duration.Duration) => ({
  max_execution_time: Math.ceil(Duration.toSeconds(deadline)) + SERVER_MARGIN_SECONDS
})

const bytesOf = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => Buffer.concat(chunks)

/** The server at this address. No request is sent before the first statement. */
export const layer = (url: string): Layer.Layer<ClickHouse> =>
  Layer.effect(
    ClickHouse,
    Effect.gen(function* () {
      const client = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createClient({
            url,
            application: "fathom",
            max_open_connections: CONNECTIONS,
            request_timeout: Duration.toMillis(Duration.minutes(10)),
            // Without it, a busy event loop could use a connection that the server has already closed.
            keep_alive: { eagerly_destroy_stale_sockets: true },
            compression: { request: false, response: false },
            // Failures are logged elsewhere, with the purpose of the statement.
            log: { level: 127 }
          })
        ),
        (client) => Effect.promise(() => client.close())
      )

      const rows = (query: string, deadline: Duration.Duration, isWhole: boolean) =>
        Effect.tryPromise({
          try: (signal) =>
            client.exec({
              query: `${query} FORMAT RowBinary`,
              abort_signal: signal,
              // When the server sends an answer as a whole, a failed query shows in the status instead of at the end
              // of the answer.
              clickhouse_settings: { ...settingsOf(deadline), ...(isWhole && { wait_end_of_query: 1 }) }
            }),
          catch: unavailable
        })

      const read = (query: string, deadline: Duration.Duration) =>
        rows(query, deadline, true).pipe(
          Effect.flatMap(({ stream }) =>
            Effect.tryPromise({
              try: (signal) => {
                signal.addEventListener("abort", () => stream.destroy())
                return Array.fromAsync(stream as AsyncIterable<Uint8Array>)
              },
              catch: unavailable
            })
          ),
          Effect.map(bytesOf),
          within(deadline, unavailable)
        )

      const run = (statement: string, deadline: Duration.Duration) =>
        Effect.tryPromise({
          try: (signal) =>
            client.command({ query: statement, abort_signal: signal, clickhouse_settings: settingsOf(deadline) }),
          catch: unavailable
        }).pipe(Effect.asVoid, within(deadline, unavailable))

      return ClickHouse.of({
        read,
        run,
        stream: (query, deadline) =>
          Stream.unwrap(
            Effect.map(within(deadline, unavailable)(rows(query, deadline, false)), ({ stream }) =>
              Stream.fromAsyncIterable(stream as AsyncIterable<Uint8Array>, unavailable)
            )
          ),
        insert: ({ columns, rows, table, token }, deadline) =>
          Effect.tryPromise({
            try: (signal) =>
              client.exec({
                query: `INSERT INTO ${table} (${columns}) FORMAT RowBinary`,
                values: Readable.from([rows], { objectMode: false }),
                abort_signal: signal,
                clickhouse_settings: {
                  ...settingsOf(deadline),
                  insert_deduplicate: 1,
                  insert_deduplication_token: token,
                  deduplicate_blocks_in_dependent_materialized_views: 1,
                  async_insert: 0
                }
              }),
            catch: unavailable
          }).pipe(
            Effect.tap(({ stream }) => Effect.sync(() => stream.resume())),
            Effect.asVoid,
            within(deadline, unavailable)
          )
      })
    })
  )
