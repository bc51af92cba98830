/** `data import` and `data coverage`: blocks of the past into the database, and which days are there. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Duration, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Database from "../../storage/Database.ts"
import { settings } from "./flags.ts"

// Other commands load nothing of the market.
const history = Effect.promise(() => import("../../market/tape/importHistory.ts"))
const stores = Effect.promise(() => import("../ImportStores.ts"))
const sources = Effect.promise(() => import("../../chain/importing/importSettings.ts"))

const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one line of JSON at the end instead of text"),
  Flag.withDefault(false)
)
const genesis = Flag.String("genesis").pipe(
  Flag.withDescription("Genesis hash of the chain, where the source does not name it"),
  Flag.optional
)

interface Day {
  readonly day: string
  readonly missingSeconds: number
}

/** Days for reading, consecutive ones joined. */
export const daysText = (days: ReadonlyArray<Day>): ReadonlyArray<string> => {
  const whole = days.filter(({ missingSeconds }) => missingSeconds === 0)
  const runs: Array<[string, string]> = []
  for (const { day } of whole) {
    const last = runs.at(-1)
    const next = last === undefined ? null : new Date(Date.parse(last[1]) + 86_400_000).toISOString().slice(0, 10)
    if (last !== undefined && next === day) {
      last[1] = day
    } else {
      runs.push([day, day])
    }
  }
  const text = runs.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(", ")
  const partial = days.filter(({ missingSeconds }) => missingSeconds > 0)
  return [
    `Whole days: ${text === "" ? "none" : text}`,
    ...(partial.length === 0
      ? []
      : [
          `Days in part: ${partial
            .slice(0, 20)
            .map(({ day, missingSeconds }) => `${day} (${missingSeconds} s missing)`)
            .join(", ")}${partial.length > 20 ? ` and ${partial.length - 20} more` : ""}`
        ])
  ]
}

const SAID_EVERY = "5 seconds"
const PATIENCE = Duration.minutes(10)

interface Notes {
  readonly blocks: number
  readonly trades: number
  readonly slot: number | null
  readonly timeMs: number | null
}

const sayProgress = (notes: Notes) =>
  Effect.suspend(() =>
    notes.timeMs === null
      ? Effect.void
      : Console.log(
          `${notes.blocks} blocks, ${notes.trades} trades, at slot ${notes.slot} of ${new Date(notes.timeMs).toISOString()}`
        )
  ).pipe(Effect.delay(SAID_EVERY), Effect.forever, Effect.asVoid)

const imported = Command.make(
  "import",
  {
    source: Flag.Literals("source", ["rpc", "file", "portal"]).pipe(
      Flag.withDescription("A node, files, or a portal of blocks (IMPORT)"),
      Flag.optional
    ),
    from: Flag.String("from").pipe(Flag.withDescription("First slot or ISO 8601 time (IMPORT_FROM)"), Flag.optional),
    to: Flag.String("to").pipe(
      Flag.withDescription("Last slot, or first ISO 8601 time after the range (IMPORT_TO)"),
      Flag.optional
    ),
    url: Flag.String("url").pipe(
      Flag.withDescription("Address of the node or portal (IMPORT_URL, SOLANA_RPC_URL)"),
      Flag.optional
    ),
    path: Flag.String("path").pipe(Flag.withDescription("Folder or file with blocks (IMPORT_PATH)"), Flag.optional),
    rate: Flag.Int("rate").pipe(Flag.withDescription("Blocks a second at most (IMPORT_RATE)"), Flag.optional),
    budget: Flag.Int("budget").pipe(Flag.withDescription("Blocks of this run at most"), Flag.optional),
    genesis,
    json
  },
  ({ budget, from, genesis, json, path, rate, source, to, url }) =>
    Effect.gen(function* () {
      const { genesisOf, importSettings } = yield* sources
      const { ImportRefused } = yield* Effect.promise(() => import("../../chain/importing/importSource.ts"))
      const wanted = yield* importSettings
      if (wanted === null) {
        return yield* new ImportRefused({ detail: "IMPORT (--source) has to be rpc, file or portal" })
      }
      const named = yield* genesisOf(wanted.place)
      const given = Option.getOrNull(genesis)
      if (named !== null && given !== null && named !== given) {
        return yield* new ImportRefused({ detail: `the source has the chain ${named}, not ${given}` })
      }
      const chain = named ?? given
      if (chain === null) {
        return yield* new ImportRefused({ detail: "the source does not name its chain: --genesis has to" })
      }
      const { importHistory } = yield* history
      const { layer } = yield* stores
      const request = { ...wanted, genesis: chain, budget: Option.getOrNull(budget), patience: PATIENCE }
      const summary = yield* importHistory(request, (notes) => (json ? Effect.void : sayProgress(notes))).pipe(
        Effect.provide(layer)
      )
      const { blocks, days, holes, slot, trades } = summary
      const lines = [
        slot === null
          ? "The source has no blocks of this range."
          : `Imported ${blocks} blocks with ${trades} trades, up to slot ${slot}.`,
        ...(holes > 0 ? [`The source lacks blocks in ${holes} places. They count as missing.`] : []),
        ...(days.length > 0 ? daysText(days) : [])
      ]
      yield* Console.log(json ? JSON.stringify(summary) : lines.join("\n"))
    }).pipe(
      Effect.provide(NodeHttpClient.layerUndici),
      Effect.provide(
        settings({
          IMPORT: source,
          IMPORT_FROM: from,
          IMPORT_TO: to,
          IMPORT_URL: url,
          IMPORT_PATH: path,
          IMPORT_RATE: rate
        })
      )
    )
).pipe(Command.withDescription("Store blocks of the past, from a node, files or a portal. Goes on where it stopped"))

const coverage = Command.make("coverage", { genesis, json }, ({ genesis, json }) =>
  Effect.gen(function* () {
    yield* Database.isThere
    const { storedCoverage } = yield* history
    const { layerBeside } = yield* stores
    const found = yield* storedCoverage(Option.getOrNull(genesis)).pipe(Effect.provide(layerBeside))
    if (found === null) {
      return yield* Console.log(json ? JSON.stringify({ genesis: Option.getOrNull(genesis) }) : "Nothing is stored.")
    }
    const lines = [
      `Chain ${found.genesis}, slots ${found.firstSlot} to ${found.slot}, ${found.gaps.length} gaps`,
      ...daysText(found.days)
    ]
    yield* Console.log(json ? JSON.stringify(found) : lines.join("\n"))
  })
).pipe(Command.withDescription("Say which days of the chain are stored whole"))

export const historyCommands = [imported, coverage] as const
