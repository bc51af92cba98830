/** Settings of imports, for the service and for the command. */
import { Config, Effect, Option, Result, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { countSetting } from "../../domain/countSetting.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import { rpcUrlSetting } from "../rpc/rpcSettings.ts"
import { recordedGenesis } from "./fileBlocks.ts"
import { type ImportPlace, type ImportRange, ImportRefused } from "./importSource.ts"
import { portalGenesis } from "./portalBlocks.ts"
import { nodeCalls, nodeGenesis } from "./rpcBlocks.ts"

/** The public portal of mainnet. */
const PORTAL = "https://portal.sqd.dev/datasets/solana-mainnet"

/** A bound of a range: a slot in digits, or a time in ISO 8601. */
type Bound = { readonly slot: number } | { readonly ms: number }

const boundOf = (text: string): Bound | null => {
  if (/^\d{1,10}$/u.test(text)) {
    return { slot: Number(text) }
  }
  const ms = /^\d{4}-\d{2}/u.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? null : { ms }
}

const BoundText = Schema.String.check(
  Schema.makeFilter((text) => boundOf(text) !== null || "must be a slot, or a time such as 2026-11-28T00:00:00Z")
)

const bound = (name: string): Config.Config<Option.Option<Bound>> =>
  Config.map(Config.option(Config.schema(BoundText, name)), Option.flatMapNullishOr(boundOf))

const slotOf = (found: Option.Option<Bound>): number | null =>
  Option.isSome(found) && "slot" in found.value ? found.value.slot : null

const msOf = (found: Option.Option<Bound>): number | null =>
  Option.isSome(found) && "ms" in found.value ? found.value.ms : null

const urlSetting = Config.option(
  Config.schema(
    Schema.String.check(
      Schema.makeFilter(
        (text) => (/^https?:\/\//u.test(text) && URL.canParse(text)) || "must be a URL with http or https"
      )
    ),
    "IMPORT_URL"
  )
)

/** What to import; null without a source. */
export interface ImportSettings {
  readonly place: ImportPlace
  readonly range: ImportRange
  readonly rate: number | null
}

const placeOf = (
  source: "rpc" | "file" | "portal",
  {
    nodes,
    path,
    url
  }: {
    readonly nodes: Option.Option<ReadonlyArray<string>>
    readonly path: Option.Option<string>
    readonly url: Option.Option<string>
  }
): Result.Result<ImportPlace, ImportRefused> => {
  if (source === "file") {
    return Option.isSome(path)
      ? Result.succeed({ _tag: "file", path: path.value })
      : Result.fail(new ImportRefused({ detail: "IMPORT_PATH (--path) has to name the files" }))
  }
  if (source === "portal") {
    return Result.succeed({ _tag: "portal", url: Option.getOrElse(url, () => PORTAL).replace(/\/+$/u, "") })
  }
  const node = Option.getOrUndefined(url) ?? Option.getOrUndefined(nodes)?.[0]
  return node === undefined
    ? Result.fail(new ImportRefused({ detail: "IMPORT_URL (--url) or SOLANA_RPC_URL has to name a node" }))
    : Result.succeed({ _tag: "rpc", url: node })
}

const parts = Config.all({
  source: Config.option(Config.Literals(["rpc", "file", "portal"], "IMPORT")),
  from: bound("IMPORT_FROM"),
  to: bound("IMPORT_TO"),
  url: urlSetting,
  path: Config.option(Config.String("IMPORT_PATH")),
  rate: countSetting("IMPORT_RATE", 0)
})

/** Every setting of imports, to check it. */
export const importParts: Config.Config<unknown> = parts

/**
 * `IMPORT` (`rpc`, `file` or `portal`; nothing is imported without it), `IMPORT_FROM` and `IMPORT_TO` (a slot, or a time
 * in ISO 8601), `IMPORT_URL`, `IMPORT_PATH` and `IMPORT_RATE` (blocks a second; 0 for no bound, which is the default).
 * The last slot is included, the last moment is not.
 */
export const importSettings = Effect.gen(function* () {
  const { from, rate, source, to, ...where } = yield* parts
  if (Option.isNone(source)) {
    return null
  }
  const nodes = yield* Config.option(rpcUrlSetting)
  const place = yield* Effect.fromResult(placeOf(source.value, { ...where, nodes }))
  const range = { fromSlot: slotOf(from), toSlot: slotOf(to), fromMs: msOf(from), toMs: msOf(to) }
  if (place._tag !== "file" && Option.isNone(from)) {
    return yield* new ImportRefused({ detail: "IMPORT_FROM (--from) has to name where the import begins" })
  }
  return { place, range, rate: rate === 0 ? null : rate } satisfies ImportSettings
})

/** The genesis hash of a source's chain; null when the source does not name it. */
export const genesisOf = (
  place: ImportPlace
): Effect.Effect<string | null, ChainUnavailable | ImportRefused, HttpClient.HttpClient> => {
  switch (place._tag) {
    case "rpc":
      return Effect.flatMap(nodeCalls(place.url), nodeGenesis)
    case "file":
      return recordedGenesis(place.path)
    case "portal":
      return Effect.succeed(portalGenesis(place.url))
  }
}
