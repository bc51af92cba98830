/** Writes a new compressed file of lines. The file gets its name only when it is complete. */
import { Effect, type Scope } from "effect"
import { closeSync, createWriteStream, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { pipeline } from "node:stream/promises"
import { createZstdCompress } from "node:zlib"
import { BackupFailed } from "./format.ts"

/** Each write waits for the disk. */
export interface LineWriter {
  readonly write: (line: string) => Effect.Effect<void, BackupFailed>
  /** Ends the file, waits until it is on disk, and then names it. */
  readonly finish: Effect.Effect<void, BackupFailed>
}

const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/**
 * Opens a file that only its owner can read. It is called `FILE.part` until it is finished. The scope removes an
 * unfinished file. Fails when the file exists or cannot be written.
 */
export const writeLines = (file: string): Effect.Effect<LineWriter, BackupFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const part = `${file}.part`
    const failed = (cause: unknown) => new BackupFailed({ file, detail: reason(cause) })
    if (existsSync(file)) {
      return yield* new BackupFailed({ file, detail: "the file exists already" })
    }
    // A killed run may have left this file.
    yield* Effect.try({ try: () => rmSync(part, { force: true }), catch: failed })
    const fd = yield* Effect.try({ try: () => openSync(part, "wx", 0o600), catch: failed })
    const zstd = createZstdCompress()
    let failure: unknown
    const written = pipeline(zstd, createWriteStream(part, { fd })).catch((cause: unknown) => {
      failure = cause
    })
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        zstd.destroy()
        return written
      }).pipe(Effect.andThen(Effect.sync(() => rmSync(part, { force: true }))))
    )
    const ended = Effect.flatMap(
      Effect.promise(() => written),
      () => (failure === undefined ? Effect.void : Effect.fail(failed(failure)))
    )
    const settle = () => {
      const handle = openSync(part, "r")
      fsyncSync(handle)
      closeSync(handle)
      renameSync(part, file)
    }
    return {
      write: (line) =>
        Effect.callback((resume) => {
          zstd.write(`${line}\n`, (cause) => {
            resume(cause ? Effect.fail(failed(failure ?? cause)) : Effect.void)
          })
        }),
      finish: Effect.suspend(() => {
        zstd.end()
        return Effect.andThen(ended, Effect.try({ try: settle, catch: failed }))
      })
    }
  })
