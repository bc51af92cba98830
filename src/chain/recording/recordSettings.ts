/** Settings of recordings. */
import { Config, Duration } from "effect"
import { join } from "node:path"
import { countSetting, durationSetting } from "../../domain/countSetting.ts"
import { dataDir } from "../../storage/Database.ts"

const MIB = 1024 * 1024
const DEFAULT_MIB = 10_240
const LEAST_MIB = 16

/** `RECORD` (off): `on` keeps account writes and blocks in files. */
export const isRecording: Config.Config<boolean> = Config.Literals(["on", "off"], "RECORD").pipe(
  Config.withDefault("off" as const),
  Config.map((value) => value === "on")
)

/** `RECORD_DIR`: the folder of the recording; by default the folder `recording` in `DATA_DIR`. */
export const recordDir: Config.Config<string> = Config.flatMap(dataDir, (folder) =>
  Config.String("RECORD_DIR").pipe(Config.withDefault(join(folder, "recording")))
)

/** What a recording may keep. */
export interface RecordBounds {
  /** Size of all files together. The oldest files are removed first. */
  readonly mostBytes: number
  /** How long a file stays after it was last written. */
  readonly keptMs: number
}

/** `RECORD_MIB` (10240) and `RECORD_KEPT` (24 h). */
export const recordBounds: Config.Config<RecordBounds> = Config.all({
  mostBytes: Config.map(countSetting("RECORD_MIB", DEFAULT_MIB, LEAST_MIB), (mib) => mib * MIB),
  keptMs: durationSetting("RECORD_KEPT").pipe(
    Config.withDefault(Duration.hours(24)),
    Config.map((kept) => Duration.toMillis(kept))
  )
})
