import { Config } from "effect"
import type { Ailing } from "../node/ailing.ts"

/** What is wrong with the funding service. */
export interface FundingAilment {
  /** How requests fail. `frozen` accepts them and never answers. */
  readonly http: "ok" | "500" | "429" | "frozen"
  /** `malformed`: half of the JSON. `foreign`: another owner's data. */
  readonly answers: "ok" | "malformed" | "foreign"
  /** Ids of networks whose balances cannot be read. */
  readonly unread: ReadonlyArray<string>
}

/** A service without faults. */
export const sound: FundingAilment = { http: "ok", answers: "ok", unread: [] }

/**
 * The faults at the start, from settings: `SIMULATOR_FUNDING_HTTP=500`, `SIMULATOR_FUNDING_UNREAD=base-mainnet` and
 * so on.
 */
export const fundingAilmentConfig: Config.Config<FundingAilment> = Config.all({
  http: Config.Literals(["ok", "500", "429", "frozen"], "HTTP").pipe(Config.withDefault(sound.http)),
  answers: Config.Literals(["ok", "malformed", "foreign"], "ANSWERS").pipe(Config.withDefault(sound.answers)),
  unread: Config.String("UNREAD").pipe(
    Config.map((ids) => ids.split(",")),
    Config.withDefault(sound.unread)
  )
}).pipe(Config.nested("SIMULATOR_FUNDING"))

export type FundingFaults = Ailing<FundingAilment>
