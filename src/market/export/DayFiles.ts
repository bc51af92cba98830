/** Exports of whole days as files that are made once and kept. */
import { Context, Effect, Schema } from "effect"
import type { Format } from "../../storage/tableFile.ts"
import type { BarWidth, Dataset } from "./storedRange.ts"

export interface DayRequest {
  readonly dataset: Dataset
  readonly format: Format
  /** A UTC day, such as `2026-11-27`. */
  readonly day: string
  /** Width of candles. */
  readonly width: BarWidth
}

/** A file with every row of a day. */
export interface DayFile {
  readonly path: string
  readonly bytes: number
  /** SHA-256 of the content, in base64url: equal files of two processes have equal tags. */
  readonly tag: string
  /** Stretches of the day whose blocks no node has any more. */
  readonly gaps: number
}

/**
 * Why there is no file. `off`: this service makes none. `unknown`: nothing of the day is stored. `unfinished`: blocks of the
 * day are still to come, or were never read. `making`: the file will be there soon. `busy`: too many files are to be made.
 * `failed`: it could not be made.
 */
export type NoFileReason = "off" | "unknown" | "unfinished" | "making" | "busy" | "failed"

/** There is no file of the day. `detail` is a sentence for the caller. */
export class NoDayFile extends Schema.TaggedError<NoDayFile>()("NoDayFile", {
  reason: Schema.Literals(["off", "unknown", "unfinished", "making", "busy", "failed"]),
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

export interface DayFileReads {
  /** The file of a day. Makes it where it is missing, and waits a little for it. */
  readonly find: (request: DayRequest) => Effect.Effect<DayFile, NoDayFile>
}

/** The files of days; none unless provided. */
export const DayFiles = Context.Reference<DayFileReads>("fathom/market/export/DayFiles", {
  defaultValue: () => ({
    find: () => Effect.fail(new NoDayFile({ reason: "off", detail: "This service makes no files of days." }))
  })
})
