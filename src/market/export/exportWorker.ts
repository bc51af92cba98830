/** The module that runs in the thread which exports one day. */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Redacted, String as Text } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { parentPort, workerData } from "node:worker_threads"
import { lowerThreadPriority } from "../../chain/blocks/threadPriority.ts"
import { exportRows } from "./exportRows.ts"
import type { ExportJob, ExportReply } from "./exportThread.ts"

const job: ExportJob = workerData

const digestOf = (path: string) =>
  Effect.promise(async () => {
    const hash = createHash("sha256")
    for await (const piece of createReadStream(path)) {
      hash.update(piece)
    }
    return hash.digest("base64url")
  })

const hidden = (text: string | undefined) => (text === undefined ? undefined : Redacted.make(text))

const database = PgClient.layer({
  ...job.database,
  url: hidden(job.database.url),
  password: hidden(job.database.password),
  applicationName: "fathom export",
  maxConnections: 2,
  connectTimeout: Duration.seconds(5),
  startupParameters: { statement_timeout: String(job.request.statementMs ?? 0) },
  transformQueryNames: Text.camelToSnake,
  transformResultNames: Text.snakeToCamel
})

const program = Effect.gen(function* () {
  const { gaps } = yield* exportRows(job.request)
  const reply: ExportReply = { _tag: "made", tag: yield* digestOf(job.request.file), gaps: gaps.length }
  return reply
}).pipe(
  Effect.provide(database),
  Effect.catchCause((cause) => Effect.succeed<ExportReply>({ _tag: "failed", detail: String(cause) }))
)

lowerThreadPriority()
parentPort?.postMessage(await Effect.runPromise(program), [])
