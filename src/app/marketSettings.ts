import { Config, Effect, Option } from "effect"
import { rpcUrlSetting } from "../solana/rpc/rpcSettings.ts"

/** Endpoint of a Solana node: `SOLANA_RPC_URL`. */
export const nodeUrl = Config.option(rpcUrlSetting)

/** The market that the settings choose: a recording in `ACCOUNTS_DIR`, else a node, else the simulator. */
export const chosenMarket = Effect.gen(function* () {
  const folder = yield* Config.option(Config.String("ACCOUNTS_DIR"))
  if (Option.isSome(folder)) {
    return { kind: "recording", folder: folder.value } as const
  }
  return Option.isSome(yield* nodeUrl) ? ({ kind: "node" } as const) : ({ kind: "simulated" } as const)
})

/** True for a simulated market, beside which other upstreams are simulated too. */
export const isSimulated = Effect.map(chosenMarket, ({ kind }) => kind === "simulated")
