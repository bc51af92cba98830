import { Context } from "effect"
import type { Mint } from "../domain/Address.ts"

/** The market that the service answers from. */
export class MarketSource extends Context.Service<
  MarketSource,
  {
    /** For people: "a simulated market". */
    readonly description: string
    /** True when no real money is involved: then keys may be printed. */
    readonly sandbox: boolean
    /** Mints to load at start. */
    readonly mints: ReadonlyArray<Mint>
  }
>()("fathom/app/MarketSource") {}
