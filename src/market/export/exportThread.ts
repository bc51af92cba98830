/** Exports in a thread of its own, so that encoding a large file holds up nothing else. */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Redacted, Schema } from "effect"
import { rmSync, statSync } from "node:fs"
import { Worker } from "node:worker_threads"
import type { ExportRequest } from "./exportRows.ts"

/** The address of the database, as a thread can receive it. */
export interface ExportDatabase {
  readonly url: string | undefined
  readonly host: string | undefined
  readonly port: number | undefined
  readonly database: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
}

export interface ExportJob {
  readonly database: ExportDatabase
  readonly request: ExportRequest
}

export type ExportReply =
  | { readonly _tag: "made"; readonly tag: string; readonly gaps: number }
  | { readonly _tag: "failed"; readonly detail: string }

/** An export that came to no file. */
export class ExportStopped extends Schema.TaggedError<ExportStopped>()("ExportStopped", {
  detail: Schema.String,
  isTooLarge: Schema.Boolean
}) {}

/** Limit of the thread's heap. One group of a Parquet file is in it. */
const resourceLimits = { maxOldGenerationSizeMb: 384 }
const entry = new URL("./exportWorker.ts", import.meta.url)

/** Longest time of one export. Its statements end with it. */
const DEADLINE = Duration.minutes(30)

/** How often the size of the unfinished file is looked at. */
const LOOK_MS = 250

const TOO_LARGE = "the file is larger than its room"

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const stopped = (detail: string, isTooLarge = false) => Effect.fail(new ExportStopped({ detail, isTooLarge }))

/** What an unfinished file may take. */
export interface ExportRoom {
  readonly mostBytes: number
  /** Is told the size of the unfinished file while it grows. */
  readonly grown: (bytes: number) => void
}

/** Waits for the reply of a thread. Fails once the unfinished file has more than `mostBytes`. */
const replyOf = (worker: Worker, part: string, { grown, mostBytes }: ExportRoom) =>
  Effect.callback<ExportReply, ExportStopped>((resume) => {
    const look = setInterval(() => {
      const bytes = sizeOf(part)
      if (bytes > mostBytes) {
        resume(stopped(TOO_LARGE, true))
      } else {
        grown(bytes)
      }
    }, LOOK_MS)
    worker.once("exit", (code) => {
      clearInterval(look)
      resume(stopped(`the thread ended with ${code}`))
    })
    worker.on("message", (reply: ExportReply) => resume(Effect.succeed(reply)))
    worker.on("error", (error: Error) => resume(stopped(error.message)))
  })

/** Writes the file and returns its tag. Fails, and leaves no file, once it is too large or takes more than 30 minutes. */
export const exportInThread = (job: ExportJob, room: ExportRoom) => {
  const { file } = job.request
  const workerData: ExportJob = { ...job, request: { ...job.request, statementMs: Duration.toMillis(DEADLINE) } }
  return Effect.acquireUseRelease(
    Effect.sync(() => new Worker(entry, { workerData, name: "export", resourceLimits })),
    (worker) =>
      Effect.timeoutOrElse(replyOf(worker, `${file}.part`, room), {
        duration: DEADLINE,
        orElse: () => stopped(`it took more than ${Duration.toMinutes(DEADLINE)} minutes`)
      }),
    (worker) => Effect.promise(() => worker.terminate())
  ).pipe(
    Effect.flatMap((reply) =>
      reply._tag === "failed"
        ? stopped(reply.detail)
        : sizeOf(file) > room.mostBytes
          ? stopped(TOO_LARGE, true)
          : Effect.succeed(reply)
    ),
    Effect.onError(() => Effect.sync(() => [file, `${file}.part`].forEach((path) => rmSync(path, { force: true }))))
  )
}

const revealed = (secret: PgClient.PgClientConfig["password"]): string | undefined =>
  Redacted.isRedacted(secret) ? Redacted.value(secret) : undefined

/** The parts of a client's configuration that a thread needs. */
export const databaseOf = ({
  database,
  host,
  password,
  port,
  url,
  username
}: PgClient.PgClientConfig): ExportDatabase => ({
  url: revealed(url),
  host,
  port,
  database,
  username,
  password: revealed(password)
})
