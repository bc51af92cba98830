/** The log of the process: format, level, and folding of repeated failures. */
import { Clock, Config, Console, Effect, Layer, Logger, References, Schema } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { FOLD_MS, makeFold } from "./fold.ts"
import { jsonLine, type LogRecord, logRecord, prettyLine } from "./logRecord.ts"

const LEVELS = { error: "Error", warn: "Warn", info: "Info", debug: "Debug", trace: "Trace" } as const

type Level = keyof typeof LEVELS

const names = Object.keys(LEVELS) as ReadonlyArray<Level>

/** Settings: `LOG_FORMAT` (`pretty`, or `json` for one object a line) and `LOG_LEVEL` (`info`). */
export const settings = Config.all({
  format: Config.schema(Schema.Literals(["pretty", "json"]), "LOG_FORMAT").pipe(Config.withDefault("pretty" as const)),
  level: Config.schema(Schema.Literals(names), "LOG_LEVEL").pipe(Config.withDefault("info" as const))
})

/**
 * Writes one line per event to standard output. When the same warning or error repeats, the first three of ten
 * seconds are written and the rest are counted. Afterwards the newest of the counted ones is written, with their
 * number as `times`.
 */
export const layer: Layer.Layer<never, Config.ConfigError> = Layer.unwrap(
  Effect.gen(function* () {
    const { format, level } = yield* settings
    const clock = yield* Clock.Clock
    const lineOf = format === "json" ? jsonLine : prettyLine
    const fold = makeFold()
    const nowMs = () => monotonicMs(clock)
    const logger = Logger.make<unknown, void>((options) => {
      const record = logRecord(options)
      if (fold.admit(record, nowMs())) {
        options.fiber.getRef(Console.Console).log(lineOf(record))
      }
    })
    const write = (records: ReadonlyArray<LogRecord>) =>
      Effect.forEach(records, (record) => Console.log(lineOf(record)), { discard: true })
    const flush = Effect.suspend(() => write(fold.due(nowMs())))
    const flushing = Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Effect.suspend(() => write(fold.due(Number.POSITIVE_INFINITY))))
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(FOLD_MS), flush)))
    })
    return Layer.mergeAll(
      Logger.layer([logger, Logger.tracerLogger]),
      Layer.succeed(References.MinimumLogLevel, LEVELS[level]),
      Layer.effectDiscard(flushing)
    )
  })
)
