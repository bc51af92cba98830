import { Clock, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { recordDir } from "../../chain/recording/recordSettings.ts"
import { isReplaying, replaySettings } from "../../chain/recording/replaySettings.ts"
import * as Logs from "../../operations/Logs.ts"
import { withStartLine } from "../startLine.ts"
import { accounts, settings } from "./flags.ts"

// Other commands load nothing of the service.
const service = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("../App.ts")),
    ({ layer }) => layer
  )
)

const preflight = Effect.flatMap(
  Effect.promise(() => import("../preflight.ts")),
  (checks) => checks.preflight
)

/** Shows the start of a service on the terminal. */
const shownStart = withStartLine(
  {
    write: (text) => void process.stdout.write(text),
    columns: () => process.stdout.columns
  },
  process.uptime() * 1000
)

/** Runs the service on the time of the recording that it plays, when it plays one. */
const inItsTime = <A, E, R>(service: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    if (!(yield* isReplaying)) {
      return yield* service
    }
    const { CurrentReplay, openReplay } = yield* Effect.promise(() => import("../../chain/recording/Replay.ts"))
    const { from, pace, to } = yield* replaySettings
    const opened = yield* openReplay({
      folder: yield* recordDir,
      from: Option.getOrNull(from),
      to: Option.getOrNull(to),
      ...pace
    })
    return yield* service.pipe(
      Effect.provideService(CurrentReplay, opened),
      Effect.provideService(Clock.Clock, opened.clock)
    )
  })

const flags = {
  port: Flag.Int("port").pipe(
    Flag.withDescription("Port to listen on; 0 takes a free one (PORT, 3000)"),
    Flag.optional
  ),
  host: Flag.String("host").pipe(Flag.withDescription("Address to listen on (HOST, 127.0.0.1)"), Flag.optional),
  readyFile: Flag.String("ready-file").pipe(
    Flag.withDescription("File to write once the first quote can be answered (READY_FILE)"),
    Flag.optional
  ),
  role: Flag.Literals("role", ["all", "ingest", "api", "live", "keeper"]).pipe(
    Flag.withDescription("Part of a service that several processes make up (ROLE, all)"),
    Flag.optional
  ),
  dataDir: Flag.String("data-dir").pipe(
    Flag.withDescription("Folder of the embedded database (DATA_DIR, .fathom)"),
    Flag.optional
  ),
  source: Flag.Literals("source", ["rpc", "geyser", "replay"]).pipe(
    Flag.withDescription(
      "replay: play the recording in RECORD_DIR (REPLAY). Otherwise how blocks of the simulated market are read: by calls, or as a gRPC stream (SIMULATOR_SOURCE)"
    ),
    Flag.optional
  ),
  from: Flag.Int("from").pipe(Flag.withDescription("First slot of a replay (REPLAY_FROM)"), Flag.optional),
  to: Flag.Int("to").pipe(Flag.withDescription("Last slot of a replay (REPLAY_TO)"), Flag.optional),
  speed: Flag.String("speed").pipe(
    Flag.withDescription(
      "Speed of a replay: 1 to 100, max, or step: wait after each slot until told to go on (REPLAY_SPEED, 1)"
    ),
    Flag.optional
  ),
  accounts
}

/** The service: the command without a name. */
export const command = Command.make(
  "fathom",
  flags,
  ({ accounts, dataDir, from, host, port, readyFile, role, source, speed, to }) =>
    preflight.pipe(
      Effect.andThen(Logs.settings),
      Effect.flatMap(({ format }) =>
        inItsTime(
          process.stdout.isTTY && format === "pretty" ? shownStart(Layer.launch(service)) : Layer.launch(service)
        )
      ),
      Effect.provide(
        settings({
          PORT: port,
          HOST: host,
          READY_FILE: readyFile,
          DATA_DIR: dataDir,
          ROLE: role,
          ACCOUNTS_DIR: accounts,
          SIMULATOR_SOURCE: Option.filter(source, (chosen) => chosen !== "replay"),
          REPLAY: Option.as(
            Option.filter(source, (chosen) => chosen === "replay"),
            "on"
          ),
          REPLAY_FROM: from,
          REPLAY_TO: to,
          REPLAY_SPEED: speed
        })
      )
    )
).pipe(
  Command.withDescription("Serve the developer API. Without settings: a simulated market and an embedded database")
)
