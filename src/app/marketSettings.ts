import { Config, Effect, Option, Schema } from "effect"
import { addressOf, type Mint } from "../domain/Address.ts"
import { isReplaying } from "../chain/recording/replaySettings.ts"
import { rpcUrlSetting } from "../chain/rpc/rpcSettings.ts"

/** Endpoint of a Solana node: `SOLANA_RPC_URL`. */
export const nodeUrl = Config.option(rpcUrlSetting)

/** The market that the settings choose: a replay, a recording in `ACCOUNTS_DIR`, otherwise a node, otherwise the simulator. */
export const chosenMarket = Effect.gen(function* () {
  if (yield* isReplaying) {
    return { kind: "replay" } as const
  }
  const folder = yield* Config.option(Config.String("ACCOUNTS_DIR"))
  if (Option.isSome(folder)) {
    return { kind: "recording", folder: folder.value } as const
  }
  return Option.isSome(yield* nodeUrl) ? ({ kind: "node" } as const) : ({ kind: "simulated" } as const)
})

/** `QUOTE_ENGINE`: direct pools with a SOL leg, or routes of several hops. */
export const quoteEngine = Config.Literals(["native", "router"], "QUOTE_ENGINE").pipe(
  Config.withDefault("native" as const)
)

const partsOf = (list: string): ReadonlyArray<string> => list.split(",").flatMap((part) => part.trim() || [])

const MintList = Schema.String.check(
  Schema.makeFilter(
    (list) =>
      partsOf(list).every((part) => addressOf(part) !== undefined) ||
      "must be Solana addresses in base58, 32 to 44 characters each, with commas between"
  )
)

/** `PRELOAD_MINTS`: mints to load at start instead of `mints`. */
export const preloadedMints = (mints: ReadonlyArray<Mint>): Config.Config<ReadonlyArray<Mint>> =>
  Config.schema(MintList, "PRELOAD_MINTS").pipe(
    Config.map((list) => partsOf(list).flatMap((part) => addressOf(part) ?? [])),
    Config.withDefault(mints)
  )

/** True for a simulated market. Other upstreams are simulated with it. */
export const isSimulated = Effect.map(chosenMarket, ({ kind }) => kind === "simulated")
