import { Config, Effect } from "effect"

/** What is wrong with the funding service right now. */
export interface FundingAilment {
  /** How requests end. `frozen` accepts them and never answers. */
  readonly http: "ok" | "500" | "429" | "frozen"
  /** `malformed`: half of the JSON. `foreign`: what somebody else would be told. */
  readonly answers: "ok" | "malformed" | "foreign"
  /** Ids of networks whose balances cannot be read. */
  readonly unread: ReadonlyArray<string>
}

/** A service in good health. */
export const sound: FundingAilment = { http: "ok", answers: "ok", unread: [] }

/** What ails it from the start: `SIMULATOR_FUNDING_HTTP=500`, `SIMULATOR_FUNDING_UNREAD=base-mainnet` and so on. */
export const fundingAilmentConfig: Config.Config<FundingAilment> = Config.all({
  http: Config.Literals(["ok", "500", "429", "frozen"], "HTTP").pipe(Config.withDefault(sound.http)),
  answers: Config.Literals(["ok", "malformed", "foreign"], "ANSWERS").pipe(Config.withDefault(sound.answers)),
  unread: Config.String("UNREAD").pipe(
    Config.map((ids) => ids.split(",")),
    Config.withDefault(sound.unread)
  )
}).pipe(Config.nested("SIMULATOR_FUNDING"))

/** Makes the simulated service fail, on demand. */
export interface FundingFaults {
  /** What is wrong now. */
  readonly current: () => FundingAilment
  /** Changes what is named and leaves the rest. */
  readonly set: (change: Partial<FundingAilment>) => Effect.Effect<void>
  /** Puts everything right. */
  readonly clear: Effect.Effect<void>
}

/** The control of one service's faults. */
export const makeFundingFaults = (initial: FundingAilment): FundingFaults => {
  let current = initial
  const set = (change: Partial<FundingAilment>) =>
    Effect.sync(() => {
      current = { ...current, ...change }
    })
  return { current: () => current, set, clear: set(sound) }
}
